# The demo makes a page of what was measured, whatever became of the sweep. Nothing is installed or
# built here: around the script is a tree whose program is a stand-in for sweep only.
scripts=$(cd "$(dirname "$0")/../../../scripts" && pwd)
. "$(dirname "$0")/common.sh"

mkdir -p tree/scripts tree/build/release/harness
cp "$scripts/demo" tree/scripts
for script in bootstrap build; do
    printf '#!/bin/sh\n' >tree/scripts/$script
    chmod +x tree/scripts/$script
done
cat >tree/build/release/harness/lockstep <<EOF
#!/bin/sh
if [ "\$1" = sweep ]; then
    printf '%s\n' "\$@" >arguments
    [ -z "\$NOTHING" ] || exit "\$STATUS"
    "$lockstep" "\$@" || exit
    exit "\$STATUS"
fi
exec "$lockstep" "\$@"
EOF
chmod +x tree/build/release/harness/lockstep
grid='--bind none --devices virt:1 --batch 10,20 --workload mlp:4,4 --seconds 0.01 --steps 2:4'

for status in 1 2 130; do
    rm -rf tree/results
    expect_status "$status" env NOTHING= STATUS="$status" tree/scripts/demo $grid
    expect_count 1 '^page:    .*/index.html$' out
    [ -s tree/results/local/report/index.html ] || fail "no page after status $status"
    expect_count 1 '"launches":6,' tree/results/local/sweep-*.jsonl
done
# Arguments replace the defaults.
rm -rf tree/results
expect_status 1 env NOTHING= STATUS=1 tree/scripts/demo $grid --launches=2 --mode plain
expect_count 4 '"schema":"lockstep/cell/' tree/results/local/sweep-*.jsonl
rm -rf tree/results
expect_status 2 env NOTHING=1 STATUS=2 tree/scripts/demo $grid
expect_count 1 'measured nothing' err
[ ! -e tree/results/local/report/index.html ] || fail "a page of nothing"
# A value with the words of an option is no option: the defaults stay.
expect_status 2 env NOTHING=1 STATUS=2 tree/scripts/demo --launcher 'mpiexec -n {n} -l -t 1 -w x -W -O --batch 8 -N'
for option in --launches --seconds --wait --workload --batch; do
    expect_count 1 "^$option\$" arguments
done
# Letters are options.
expect_status 2 env NOTHING=1 STATUS=2 tree/scripts/demo -l2 -t 1 -W -w mlp:4,4 -n 8
expect_count 0 '^--[lswb]' arguments
expect_status 2 env NOTHING=1 STATUS=2 tree/scripts/demo --nccl-tests 'all_reduce_perf -b 8'
expect_count 0 '^--workload$\|^--batch$' arguments
expect_count 1 '^--launches$' arguments
