# The tutorial's sizes for host, 1, 2, 3 and 8 devices, compared exactly.
. "$(dirname "$0")/common.sh"

# shards SIZE...: the lines of one batch of $batch rows.
shards() {
    for size in "$@"; do
        printf '\tIn Model: input size [%s, 5] output size [%s, 2]\n' "$size" "$size"
    done
    printf 'Outside: input size [%s, 5] output_size [%s, 2]\n' "$batch" "$batch"
}

# log THIRTY TEN: three batches of 30 cut into the first list, one of 10 into the second.
log() {
    for _ in 1 2 3; do
        batch=30
        shards $1
    done
    batch=10
    shards $2
}

check() {
    expect_status 0 "$lockstep" tutorial --devices "$1"
    diff wanted out || fail "tutorial --devices $1"
}

log '30' '10' >wanted
check host
check virt:1
{ echo "Let's use 2 virtual devices!"; log '15 15' '5 5'; } >wanted
check virt:2
check virt:2+lag
{ echo "Let's use 3 virtual devices!"; log '10 10 10' '4 4 2'; } >wanted
check virt:3
{ echo "Let's use 8 virtual devices!"; log '4 4 4 4 4 4 4 2' '2 2 2 2 2'; } >wanted
check virt:8
