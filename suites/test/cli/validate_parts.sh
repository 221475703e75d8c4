# `lockstep validate` of the parts of a machine: each limit has a result, can fail, and a part that
# was not measured is no pass.
#   validate_parts.sh LOCKSTEP FOLDER MAKE_RECORDS
. "$(dirname "$0")/validate_common.sh"

for kind in old machine machine-lame machine-slowed machine-flipped; do
    "$make_records" $kind $kind.jsonl || fail "make_records $kind"
done

cell='workload: tutorial, mode: dp, devices: 2, batch: 30'
floor='statistic: floor'

# row METRIC GOOD BAD MORE IS: a limit that the machine keeps, and one that it does not.
row() {
    limit "$1" "$2" "$cell$4" binding "$floor" | profile good.yaml
    validate 0 good.yaml machine.jsonl
    prints "^PASS $1 .*; is $5"
    limit "$1" "$3" "$cell$4" binding "$floor" | profile bad.yaml
    validate 1 bad.yaml machine.jsonl
    prints "^FAIL $1 .*, device [01]: "
    expect_status 0 "$lockstep" validate check good.yaml machine.jsonl
    grep -q "^good.yaml:6: $1 .*: OK: would fail .* [0-9]* % \\(lower\\|higher\\) than measured$" out || fail "fires"
    validate 3 good.yaml old.jsonl
    prints "UNMEASURED $1 .* a launch of the cell has no $1"
    expect_status 1 "$lockstep" validate check good.yaml old.jsonl
    grep -q "it stays UNMEASURED even at 0.3 of the speed" err || fail "unmeasured"
}
row matrix_product 'min: 330 GFLOP/s' 'min: 340 GFLOP/s' '' '33[0-9][.0-9]* GFLOP/s \['
validate 1 bad.yaml machine.jsonl
prints 'do: look at device [01]: clock, cooling; mend, then measure once '
row product_spread 'max: 1.03 x' 'max: 0.99 x' '' '1[.0-9]* x \['
# The first half of the time is faster, and does not count.
row sustained_product 'min: 270 GFLOP/s' 'min: 300 GFLOP/s' '' '2[78][0-9][.0-9]* GFLOP/s \['
row sustained_spread 'max: 1.03 x' 'max: 0.99 x' '' '1[.0-9]* x \['
row peer_copy 'min: 16 GB/s' 'min: 17 GB/s' ', bytes: 16 MiB' '16.[0-9]* GB/s \['
# The copy back to the host takes longer than the copy from it.
row host_copy 'min: 13 GB/s' 'min: 14 GB/s' ', bytes: 64 MiB' '13.[0-9]* GB/s \['
row memory_bandwidth 'min: 33 GB/s' 'min: 34 GB/s' ', bytes: 128 MiB' '33.[0-9]* GB/s \['

# The slower direction decides; one that is missing or has another size is no pass.
limit host_copy 'min: 13 GB/s' "$cell, bytes: 64 MiB" binding "$floor" | profile good.yaml
limit host_copy 'min: 14 GB/s' "$cell, bytes: 64 MiB" binding "$floor" | profile bad.yaml
sed 's/"from_host"/"x"/; s/"to_host"/"from_host"/; s/"x"/"to_host"/' machine.jsonl >turned.jsonl
validate 0 good.yaml turned.jsonl
validate 1 bad.yaml turned.jsonl
prints 'FAIL host_copy .*, device [01]: at least 14 GB/s; is 13.[0-9]* GB/s'
for edit in 's/"from_host"/"x"/' 's/"to_host"/"x"/' 's/"to_host":{"work":67108864/"to_host":{"work":134217728/'; do
    sed "$edit" machine.jsonl >half.jsonl
    ! cmp -s machine.jsonl half.jsonl || fail "$edit changes nothing"
    validate 3 good.yaml half.jsonl
    prints 'UNMEASURED host_copy .* a launch of the cell has no host_copy of these bytes'
done

# The properties of the host are in the first line of a file, its load is in each launch. The
# numbers of a worse host break the limit; a number that the records do not have is no pass. fact
# METRIC GOOD BAD WORST UNKNOWN: UNKNOWN is a command for sed that makes it unknown.
fact() {
    limit "$1" "$2" "$cell" | profile good.yaml
    validate 0 good.yaml machine.jsonl
    prints "^PASS $1 "
    limit "$1" "$3" "$cell" | profile bad.yaml
    validate 1 bad.yaml machine.jsonl
    prints "^FAIL $1 "
    expect_status 0 "$lockstep" validate check good.yaml machine.jsonl
    grep -q "^good.yaml:6: $1 .*: OK: would fail at $4$" out || fail "fires"
    [ -n "$5" ] || return 0
    sed "$5" machine.jsonl >unknown.jsonl
    ! cmp -s machine.jsonl unknown.jsonl || fail "$5 changes nothing"
    validate 3 good.yaml unknown.jsonl
    prints "UNMEASURED $1 .* a launch of the cell has no $1"
}
fact memlock 'min: 8 MiB' 'min: 32 GiB' '0 B' 's/"memlock_bytes":[0-9.]*/"memlock_bytes":null/'
fact shm_size 'min: 1 GiB' 'min: 8 GiB' '0 B' 's/"shm_bytes":[0-9.]*,//'
fact governor 'min: 1 x' 'min: 2 x' '0 x' 's/"governor":"performance"/"governor":"unknown"/'
# A record with cores and without hardware threads is refused.
fact threads_per_core 'max: 2 x' 'max: 1 x' '64 x' ''
# Where the system shows hardware threads and no cores, as without /sys on some processors, the
# ratio is not known.
sed '1s/"cores":4,/"cores":0,/' machine.jsonl >threads.jsonl
limit threads_per_core 'max: 2 x' "$cell" | profile threads.yaml ''
validate 0 threads.yaml machine.jsonl
validate 3 threads.yaml threads.jsonl
prints 'UNMEASURED threads_per_core .* a launch of the cell has no threads_per_core'
fact foreign_share 'max: 0.05 x' 'max: 0.01 x' '1 x' 's/"foreign_frac":[0-9.]*/"foreign_frac":null/'
fact stolen_share 'max: 2 %' 'max: 0.5 %' '1 x' 's/"steal_frac":[0-9.]*/"steal_frac":null/'
sed 's/"numa_balancing":0.0/"numa_balancing":1.0/' machine.jsonl >balancing.jsonl
limit numa_balancing 'max: 0 x' "$cell" | profile balancing.yaml
validate 0 balancing.yaml machine.jsonl
validate 1 balancing.yaml balancing.jsonl
prints 'sysctl kernel.numa_balancing=0'
expect_status 0 "$lockstep" validate check balancing.yaml machine.jsonl
sed 's/"governor":"performance"/"governor":"powersave"/' machine.jsonl >powersave.jsonl
limit governor 'min: 1 x' "$cell" | profile governor.yaml
validate 1 governor.yaml powersave.jsonl
# One launch at the same time as another program is not shown, if all are it is a failure.
limit foreign_share 'max: 0.025 x' "$cell" | profile some.yaml
validate 3 some.yaml machine.jsonl
prints 'OPEN foreign_share'
# A limit that the worst host keeps accepts every host.
limit threads_per_core 'max: 100 x' "$cell" | profile never.yaml
expect_status 1 "$lockstep" validate check never.yaml machine.jsonl
grep -q 'it stays PASS even at its worst' err || fail "never"

# A bandwidth at another size, or at any, is another number.
limit peer_copy 'min: 1 GB/s' "$cell, bytes: 16 GiB" binding "$floor" | profile size.yaml
validate 3 size.yaml machine.jsonl
prints 'UNMEASURED peer_copy .* a launch of the cell has no peer_copy of these bytes'
limit peer_copy 'min: 1 GB/s' "$cell" binding "$floor" | profile size.yaml
validate 3 size.yaml machine.jsonl
prints 'UNMEASURED'

# The slow one of two devices is named: it is compared with the other one, not with the mean of both.
for metric in product_spread sustained_spread; do
    limit $metric 'max: 1.03 x' "$cell" binding "$floor" | profile lame.yaml
    validate 1 lame.yaml machine-lame.jsonl
    prints "^FAIL $metric of .*, device 1: at most 1.03 x; is 1.0[45][0-9]* x \\["
    prints 'swap it with another device'
done
limit peer_copy 'min: 16 GB/s' "$cell, bytes: 16 MiB" binding "$floor" | profile lame.yaml
validate 1 lame.yaml machine-lame.jsonl
prints '^FAIL peer_copy of .*, device 1: at least 16 GB/s; is 8.[0-9]* GB/s'
limit host_copy 'min: 13 GB/s' "$cell, bytes: 64 MiB" binding "$floor" | profile lame.yaml
validate 1 lame.yaml machine-lame.jsonl
prints '^FAIL host_copy of .*, device 1: at least 13 GB/s; is 6.[0-9]* GB/s .* copies between a device and the host are slow'
limit memory_bandwidth 'min: 33 GB/s' "$cell, bytes: 128 MiB" binding "$floor" | profile lame.yaml
validate 1 lame.yaml machine-lame.jsonl
prints '^FAIL memory_bandwidth of .*, device 1: at least 33 GB/s; is 16.[0-9]* GB/s .* copies within a device are slow'

# A single device has no other one to compare with, and copies to the host only.
alone='workload: tutorial, mode: dp, devices: 1, batch: 30'
limit matrix_product 'min: 330 GFLOP/s' "$alone" binding "$floor" | profile alone.yaml
validate 0 alone.yaml machine.jsonl
limit host_copy 'min: 13 GB/s' "$alone, bytes: 64 MiB" binding "$floor" | profile alone.yaml
validate 0 alone.yaml machine.jsonl
limit peer_copy 'min: 1 GB/s' "$alone, bytes: 16 MiB" binding "$floor" | profile alone.yaml
validate 3 alone.yaml machine.jsonl
prints 'UNMEASURED peer_copy'
limit product_spread 'max: 1.03 x' "$alone" binding "$floor" | profile alone.yaml
validate 3 alone.yaml machine.jsonl
prints 'UNMEASURED product_spread'

# A device that is slow on purpose can be found, and is never all right; one that goes wrong
# differently is INVALID, whatever its times are.
limit product_spread 'max: 1.03 x' "$cell" binding "$floor" | profile purpose.yaml
limit product_spread 'max: 1.07 x' "$cell" binding "$floor" | profile kept.yaml
validate 1 purpose.yaml machine-slowed.jsonl
prints 'FAIL product_spread .*, device 1: '
validate 3 kept.yaml machine-slowed.jsonl
prints 'INVALID product_spread .* a device is slow on purpose NOT SHOWN'
validate 3 purpose.yaml machine-flipped.jsonl
prints 'INVALID .* launches \(are\|is\) not verified'
sed 's/"steps_checked":[0-9]*/"steps_checked":0/' machine-slowed.jsonl >unchecked.jsonl
validate 3 purpose.yaml unchecked.jsonl
prints 'INVALID .* launches \(are\|is\) not verified'

# A limit is learned for each part, in its direction; all sessions keep the limits, and a slow
# device does not.
class=$(printf '7%063d' 0)
for sitting in 1 2 3 4 5 6; do
    sed "s/feedface00000031/feedface0000010$sitting/;1s/\"machine_class\":\"\"/\"machine_class\":\"$class\"/
        s/\"start_epoch_ns\":\"1795/\"start_epoch_ns\":\"179$sitting/
        1s/2026-11-21/2026-11-1$sitting/" machine.jsonl >sitting$sitting.jsonl
done
expect_status 0 "$lockstep" validate learn sitting[1-6].jsonl
mv out learned.yaml
for counts in 'step_time 12' 'device_spread 4' 'matrix_product 12' 'product_spread 4' \
    'sustained_product 12' 'sustained_spread 4' 'peer_copy 4' 'host_copy 12' 'memory_bandwidth 12'; do
    expect_count "${counts#* }" "metric: ${counts% *}" learned.yaml
done
expect_count 52 '    min: ' learned.yaml
expect_count 12 'bytes: 67108864 B}' learned.yaml
expect_count 12 'bytes: 134217728 B}' learned.yaml
sed 's/feedface00000102/feedface00000107/' sitting2.jsonl >another.jsonl
validate 0 learned.yaml another.jsonl
expect_status 0 "$lockstep" validate check learned.yaml sitting1.jsonl
expect_count 76 'OK: would fail' out
sed "1s/\"machine_class\":\"\"/\"machine_class\":\"$class\"/" machine-lame.jsonl >lame.jsonl
validate 1 learned.yaml lame.jsonl
prints 'FAIL product_spread .*, device 1'

expect_status 0 "$lockstep" validate learn --about product_spread,matrix_product sitting[1-6].jsonl
expect_count 16 '  - metric: ' out
expect_count 4 '  - metric: product_spread' out
for about in product_sprea moved governor product_spread,x; do
    expect_status 2 "$lockstep" validate learn --about $about sitting[1-6].jsonl
    grep -q "^lockstep validate learn: --about: no limit of '[a-z_]*' is learned" err || fail "$(cat err)"
done
expect_status 2 "$lockstep" validate learn --about step_time sitting[1-5].jsonl
