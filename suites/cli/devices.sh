# The text of devices: every slot, at most 80 columns; what is not here has its own status.
. "$(dirname "$0")/common.sh"

expect_status 0 "$lockstep" devices --devices virt:3
expect_count 3 '^  [0-2]    virt:[0-2] ' out
expect_count 1 'hwloc' out
expect_count 0 '.\{81\}' out
expect_status 0 "$lockstep" devices --devices host --backend cpu-ref
expect_count 1 'cpu-ref' out
expect_status 0 "$lockstep" devices
expect_status 77 "$lockstep" devices --devices cuda:all
expect_count 1 CUDA err
expect_status 1 "$lockstep" devices --devices cuda:0
expect_count 1 CUDA err
