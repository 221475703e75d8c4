# No line that a command prints for people is wider than 80 columns. A complaint and --version are one line for
# programs, whatever its length, and so is the path of a file.
#   widths.sh LOCKSTEP FOLDER
. "$(dirname "$0")/common.sh"
export OPENBLAS_NUM_THREADS=1 COLUMNS=80
unset ARGP_HELP_FMT

# fits FILE...: and is not empty.
fits()
{
    for file in "$@"; do
        [ -s "$file" ] || fail "nothing in $file of $ran"
        ! LC_ALL=C.UTF-8 grep '.\{81\}' "$file" >wide || fail "$ran: $(cat wide)"
    done
}

# shown COMMAND...: whatever its status is, but for misuse.
shown()
{
    ran="$*"
    status=0
    "$lockstep" "$@" >out 2>err || status=$?
    [ "$status" -ne 2 ] && [ "$status" -lt 128 ] || fail "status $status: $ran: $(cat err)"
    fits out
}

shown --help
for command in devices tutorial sweep report compare baseline validate profile fleet forecast check soak selftest train bench; do
    shown $command --help
done
for command in copy reduce overlap limits; do
    shown bench $command --help
done
shown profile --metrics
shown check --list
shown check --rules
shown check --devices virt:2 --only SPLIT-01.sizes
shown devices --devices virt:4
shown devices --devices virt:4 --tree
shown tutorial --devices virt:2
shown soak --devices virt:2 --iterations 2 --batch 8 --workload mlp:8,6,4

# A sweep whose names are long, and what is made of it.
long=mlp:1024,1000,1000,1000,8,8,8,8,8,8,8,8,8,8,8,8
quick='--bind none --devices virt:2+500us+100MB/s --seconds 0.01 --steps 3:5 --warmup 1:0'
shown sweep $quick --mode plain,ddp --counts 1,2 --batch 8,16 --launches 2 --workload $long --workload mlp:64,8 --out cells.jsonl
fits err
shown sweep $quick --collective allreduce,alltoall --sizes 1024,1048576 --out copies.jsonl
fits err
shown sweep $quick --mode plain --counts 1 --batch 8 --launches 2 --workload $long --out other.jsonl
shown compare cells.jsonl other.jsonl --allow-dirty
"$lockstep" --version | grep -q 'Release)\|RelWithDebInfo)' || exit 0
for to in 2 64 65536; do
    shown forecast cells.jsonl --allow-dirty --to $to
done
