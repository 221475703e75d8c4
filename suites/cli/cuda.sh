# Lists of GPUs: what no machine has, and what this one does not have or does.
. "$(dirname "$0")/common.sh"

# refuse STATUS WORD COMMAND...: one line that has the word.
refuse()
{
    status=$1
    word=$2
    shift 2
    expect_status "$status" "$lockstep" "$@"
    [ "$(wc -l <err)" -eq 1 ] || fail "not one line: $(cat err)"
    grep -q -- "$word" err || fail "no $word: $(cat err)"
}

if "$lockstep" devices --devices cuda:x 2>&1 | grep -q 'no CUDA part'; then
    refuse 77 'no CUDA part' devices --devices cuda:all
    refuse 1 'no CUDA part' devices --devices cuda:0
    exit 0
fi
for list in x 0- 9999999 0, 1-0 all,0 0,,1; do
    for command in devices check sweep tutorial; do
        refuse 2 "cuda:$list" "$command" --devices "cuda:$list"
    done
done
refuse 1 cuda:99999 devices --devices cuda:99999

# In the words of the runtime, with versions.
expect_status 0 "$lockstep" devices
grep -q '^  CUDA ' out || fail "no line about CUDA: $(cat out)"
tr -s ' \n' ' ' <out | grep -q 'driver [0-9.]*, runtime [0-9.]*' || fail "no versions: $(cat out)"
status=0
"$lockstep" devices --devices cuda:all >out 2>err || status=$?
if [ "$status" -eq 77 ]; then
    for command in devices check sweep tutorial; do
        refuse 77 'cudaGetDeviceCount: .*runtime' "$command" --devices cuda:all
        refuse 1 'cudaGetDeviceCount: .*runtime' "$command" --devices cuda:0
    done
    refuse 1 cudaGetDeviceCount check --devices cuda:all --require-devices 1
else
    [ "$status" -eq 0 ] || fail "neither GPUs nor none: $(cat err)"
fi
