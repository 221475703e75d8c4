# The limits of control groups: devices, the default list, plans and what is recorded follow them.
. "$(dirname "$0")/common.sh"
planted=$3

# has WORD NUMBER: that number stands at WORD in out.
has() {
    grep -q "\"$1\": $2[,}]*$" out || fail "$1 is not $2: $(grep "\"$1\"" out)"
}
number_of() {
    sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" "$2" | head -n 1
}

LOCKSTEP_TEST_ROOT=$folder/root
export LOCKSTEP_TEST_ROOT LD_PRELOAD="$planted"
mkdir -p root/proc/self root/sys/fs/cgroup/job/part
printf '0::/job/part\n' >root/proc/self/cgroup

expect_status 0 "$lockstep" devices --format json
memory=$(number_of usable_mem_bytes out)
has mem_bytes "$memory"

# 1.9 processors are one that a device can have: two devices share it.
printf '190000 100000\n' >root/sys/fs/cgroup/job/cpu.max
printf '1073741824\n' >root/sys/fs/cgroup/job/part/memory.max
expect_status 0 "$lockstep" devices --devices virt:2 --format json
has usable_cores 1
has usable_pus 1
has usable_mem_bytes 1073741824
has mem_bytes "$memory"
has oversubscribed true
expect_status 0 "$lockstep" devices
expect_count 1 '^Devices    virt:1,' out
expect_count 1 '^  usable     1 core, 1 processing unit$' out
expect_count 1 'memory .*, 1 GiB usable$' out
sweep 0 seen.jsonl --devices virt:2 --counts 1,2 --mode dp
[ "$(number_of usable_pus seen.jsonl)" = 1 ] || fail "recorded: $(head -n 1 seen.jsonl)"
[ "$(number_of mem_bytes seen.jsonl)" = 1073741824 ] || fail "recorded: $(head -n 1 seen.jsonl)"
grep -q '"oversubscribed": *true' seen.jsonl || fail "two devices in the time of one are no evidence"
grep -q '"oversubscribed": *false' seen.jsonl || fail "one device has its processor"
expect_status 0 "$lockstep" report --out page seen.jsonl

# A cell that needs more than the limit is refused, whatever memory the machine has.
refuse 'this machine has 1; ' "$lockstep" sweep --devices virt:1 --workload gpt2 --batch 1 --out large.jsonl
printf 'max\n' >root/sys/fs/cgroup/job/part/memory.max
printf '3:cpu,cpuacct:/job\n7:memory:/elsewhere\n0::/\n' >root/proc/self/cgroup
mkdir -p root/sys/fs/cgroup/cpu/job root/sys/fs/cgroup/memory
printf '100000\n' >root/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us
printf '100000\n' >root/sys/fs/cgroup/cpu/job/cpu.cfs_period_us
printf '2147483648\n' >root/sys/fs/cgroup/memory/memory.limit_in_bytes
expect_status 0 "$lockstep" devices --format json
has usable_pus 1
has usable_mem_bytes 2147483648

# Both versions are there at once: controllers of version 2 have their files under "unified".
printf '7:memory:/elsewhere\n0::/job\n' >root/proc/self/cgroup
rm -r root/sys/fs/cgroup/job
mkdir -p root/sys/fs/cgroup/unified/job
expect_status 0 "$lockstep" devices --format json
has usable_mem_bytes 2147483648
printf '150000 100000\n' >root/sys/fs/cgroup/unified/job/cpu.max
printf '1073741824\n' >root/sys/fs/cgroup/unified/job/memory.max
expect_status 0 "$lockstep" devices --devices virt:2 --format json
has usable_pus 1
has usable_mem_bytes 1073741824
has oversubscribed true
