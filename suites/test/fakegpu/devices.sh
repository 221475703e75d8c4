# The GPUs in the text and JSON of the program: which there are, which reach each other, which are
# hidden, how many slots one has; and the tutorial on them.
. "$(dirname "$0")/../cli/common.sh"

export LOCKSTEP_FAKE_GPUS=4

# shows WORDS LIST: the text is at most 80 columns wide and has the words.
shows() {
    expect_status 0 "$lockstep" devices --devices "$2"
    expect_count 0 '.\{81\}' out
    grep -q -- "$1" out || fail "no '$1' for $2"
}
usable=$("$lockstep" devices --format json | sed -n 's/.*"usable_cores": \([0-9]*\).*/\1/p')
crowded=$([ "$usable" -ge 4 ] || echo ', oversubscribed')
shows "^Devices    cuda:all, backend cuda, communicator peer$crowded\$" cuda:all
expect_count 4 '^  [0-3]    cuda:[0-3] ' out
expect_count 4 '^  cuda:[0-3]  *Fake GPU, .*PCI 0000:1[0-3]:00.0' out
expect_count 1 '^  CUDA       4 GPUs; driver [0-9.]*, runtime [0-9.]*, cuBLAS [0-9.]*$' out
expect_count 1 '^  NCCL       \([0-9.]*, for communicator nccl\|this build has no NCCL part\)' out
[ -n "$crowded" ] || expect_count 0 'oversubscribed\|several slots' out
shows 'PCI 0000:12:00.0' cuda:2-3
expect_count 2 '^  cuda:[0-9]  *Fake GPU' out

# Refused peer access is reported.
with LOCKSTEP_FAKE_PEER=0 shows 'communicator peer-staged' cuda:all
grep -q 'no peer access' out || fail "nothing about peer access"
with LOCKSTEP_FAKE_PEER=0 shows 'communicator peer$' cuda:1
expect_count 0 'no peer access' out
with LOCKSTEP_FAKE_PEER=0 expect_status 0 "$lockstep" devices --devices cuda:0,1 --format json
expect_count 1 '"communicator": "peer-staged"' out

# Several slots on one GPU are of no use for times.
shows 'communicator peer, oversubscribed$' cuda:0,0,0
for name in 'cuda:0 ' 'cuda:0#1 ' 'cuda:0#2 '; do
    grep -q "^  [0-2]    $name" out || fail "no slot $name"
done
expect_count 3 'Fake GPU.*PCI 0000:10:00.0' out
grep -q 'several slots on one GPU' out || fail "nothing about shared GPUs"
expect_status 0 "$lockstep" devices --devices cuda:0,0,0 --format json
expect_count 1 '"oversubscribed": true' out
expect_count 3 '"bus": "0000:10:00.0"' out

# Hidden GPUs are not there, and the others count from 0.
with CUDA_VISIBLE_DEVICES=3,1 shows 'CUDA       2 GPUs' cuda:all
grep -q '^  cuda:0  *Fake GPU.*PCI 0000:13' out || fail "cuda:0 is not the first shown"
with CUDA_VISIBLE_DEVICES=2 shows '^  cuda:0  *Fake GPU.*PCI 0000:12' cuda:all
expect_count 1 '1 GPU;' out

# The tutorial prints on GPUs what it prints on virtual devices.
expect_status 0 "$lockstep" tutorial --devices virt:3
sed 's/virtual devices/GPUs/' out >wanted
expect_status 0 "$lockstep" tutorial --devices cuda:0-2
cmp out wanted || fail "the tutorial differs on GPUs: $(diff out wanted)"
expect_status 0 "$lockstep" tutorial --devices cuda:1,1,1
cmp out wanted || fail "the tutorial differs on slots of one GPU: $(diff out wanted)"
expect_status 0 "$lockstep" tutorial --devices virt:1
mv out wanted
with CUDA_VISIBLE_DEVICES=2 expect_status 0 "$lockstep" tutorial --devices cuda:all
cmp out wanted || fail "the tutorial differs on one GPU: $(diff out wanted)"

# A check counts the devices that there are.
expect_status 0 "$lockstep" check --devices cuda:all --require-devices 4 --only 'SPLIT-*' --jobs 2
grep -q 'with 4 devices' out || fail "not 4 devices"
