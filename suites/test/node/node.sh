# Facts of machines that are played back: an NVML that reads a file, a folder for /sys, and a
# processor that hwloc makes up. usage: node.sh SHOW FOLDER LIBRARIES MACHINES
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../cli/common.sh"
show=$1 libraries=$3 machines=$4
export HWLOC_SYNTHETIC='package:2 [numanode(memory=1082331758592)] core:52 pu:2'
library=$libraries/new/libnvidia-ml.so.1
root=$folder/root

# put PATH TEXT: writes a file of the root.
put() {
    mkdir -p "$root/sys/$(dirname "$1")"
    printf '%s\n' "$2" >"$root/sys/$1"
}

# pci BUS VENDOR CLASS DEVICE NUMA: makes a device with a link of generation 5 and 16 lanes.
pci() {
    at=bus/pci/devices/0000:$1:00.0
    put "$at/vendor" "$2"
    put "$at/class" "$3"
    put "$at/device" "$4"
    put "$at/numa_node" "$5"
    put "$at/current_link_speed" '32.0 GT/s PCIe'
    put "$at/max_link_speed" '32.0 GT/s PCIe'
    put "$at/current_link_width" 16
    put "$at/max_link_width" 16
}

# port NAME BUS NUMA STATE: makes an InfiniBand port of 400 Gb/s.
port() {
    put "class/infiniband/$1/device/uevent" "DRIVER=mlx5_core
PCI_SLOT_NAME=0000:$2:00.0"
    put "class/infiniband/$1/device/numa_node" "$3"
    put "class/infiniband/$1/ports/1/link_layer" InfiniBand
    put "class/infiniband/$1/ports/1/state" "$4"
    put "class/infiniband/$1/ports/1/rate" '400 Gb/sec (4X NDR)'
}

# gpus VENDOR CLASS DEVICE: makes eight GPUs, a console that is none, a switch, ports and a card.
gpus() {
    rm -rf "$root"
    for bus in 19 3b 4c 5d; do pci $bus "$1" "$2" "$3" 0; done
    for bus in 9b bb cb db; do pci $bus "$1" "$2" "$3" 1; done
    pci 03 0x1a03 0x030000 0x2000 0
    pci 05 0x10de 0x068000 0x22a3 0
    port mlx5_0 18 0 '4: ACTIVE'
    port mlx5_1 9a 1 '1: DOWN'
    put class/net/eth0/device/uevent 'PCI_SLOT_NAME=0000:86:00.0'
    put class/net/eth0/device/numa_node -1
    put class/net/eth0/type 1
    put class/net/eth0/operstate up
    put class/net/eth0/speed 25000
    put class/net/lo/type 772
    put class/net/docker0/type 1
}

play() {
    export LOCKSTEP_PLAYED_NVML="$machines/$1.txt"
}

# says FORM WORDS: the description of this machine has the words, in at most 80 columns.
says() {
    expect_status 0 "$show" "$library" "$root" "$1"
    case $1 in
    words | tree) narrow out ;;
    esac
    tr '\n' ' ' <out | tr -s ' |' ' ' >flat
    grep -qF -- "$2" flat || fail "no '$2'"
}

says_not() {
    expect_status 0 "$show" "$library" "$root" "$1"
    tr '\n' ' ' <out | tr -s ' |' ' ' >flat
    if grep -qF -- "$2" flat; then fail "'$2' is said"; fi
}

# watched BUS WORDS: a line about two readings of a GPU has the words.
watched() {
    expect_status 0 "$show" "$library" "$root" watch "$1"
    grep -qFx -- "$2" out || fail "no '$2'"
}

gpus 0x10de 0x030200 0x2330

play h100x8
says words 'NVML 12.550.54.15, driver 550.54.15'
expect_count 8 '^  0000:.*NVIDIA H100 80GB HBM3, PCIe 5 x16, NUMA node [01]$' out
says words '345 MHz of 1980 (set: 1980), memory 2619 of 2619; 71 W of 700; 31 degrees C; throttle reasons: idle'
says words 'memory 81559 MiB, in use 512; ECC on, errors corrected 0, uncorrected 0 (ever 0, 0); rows remapped 0 and 0, foreign processes 0'
says words '18 of 18 NVLinks up: 5 to 0000:05:00.0, 5 to 0000:06:00.0, 4 to 0000:07:00.0, 4 to 0000:08:00.0'
says_not words absent
expect_count 1 NOTE out
says words 'NOTE mlx5_1 port 1: DOWN'
watched 0000:19:00.0 'no doubt'
expect_count 1 '' out
says tree '+- package 0 +- NUMA node 0: 52 cores, 104 processing units (0-103), 1008 GiB +- GPU 0000:19:00.0 NVIDIA H100 80GB HBM3, 79.65 GiB, PCIe 5 x16 +- 18 of 18 NVLinks up: 5 to'
says tree '+- port mlx5_0 port 1 InfiniBand, 400 Gb/s, ACTIVE, PCI 0000:18:00.0 +- package 1'
says tree '+- near no NUMA node that is known +- port eth0 Ethernet, 25 Gb/s, up, PCI 0000:86:00.0'
expect_count 8 '^|  |  +- GPU 0000:.[0-9a-f]:00.0' out
expect_count 3 '+- port' out
cmp "$here/expected_tree.txt" out || fail "another picture: $(diff "$here/expected_tree.txt" out)"
says json '"uuid_hash":"'
expect_count 0 'GPU-0000' out
says json '"gpus_on_bus":8.0'

# A GPU that fell off is known by its bus, and does not disappear silently.
play h100x8_missing
says words 'NOTE GPU 0000:bb:00.0 is on the PCI bus, and NVML does not show it'
says words '0000:bb:00.0 PCI 10de:2330, PCIe 5 x16, NUMA node 1 absent: not shown by NVML: all but the PCI link'
says tree 'GPU 0000:bb:00.0 PCI 10de:2330, unknown memory, PCIe 5 x16, not shown by NVML'
expect_count 8 '+- GPU' out
expect_count 7 'H100' out

play h100x8_link_down
says words 'NOTE GPU 0000:4c:00.0: 1 of 18 NVLinks down: 7'
says words 'NOTE GPU 0000:4c:00.0: 6 errors of NVLinks'
says tree 'GPU 0000:4c:00.0 NVIDIA H100 80GB HBM3, 79.65 GiB, PCIe 5 x16 +- 17 of 18 NVLinks up'
says json '"active":0.0'
watched 0000:4c:00.0 'no doubt'
watched 0000:4c:00.0 'GPU 0000:4c:00.0: 1 of 18 NVLinks down'

play h100x8_power_cap
says words 'throttle reasons: power cap'
watched 0000:db:00.0 'no doubt'
watched 0000:db:00.0 'GPU 0000:db:00.0: at its power limit in 2 of 2 readings'

# Values that are not supported are absent with a reason, and have no number. Names are escaped.
play half
says words 'NVIDIA Example <GPU> & Co'
says words 'absent: not supported: memory_bytes, clock_sm_set_hz, clock_memory_set_hz, power_limit_default_w, ecc_mode, mig_mode, energy_j, slowed_power_ns, slowed_thermal_ns, ecc_corrected, ecc_uncorrected, ecc_corrected_ever, ecc_uncorrected_ever, rows_corrected, rows_uncorrected, rows_pending, rows_failed, used_bytes, foreign_processes, links.active, links.crc_flit, links.crc_data, links.replays, links.recoveries'
says words '; not permitted: power_w'
says words 'memory unknown MiB, in use unknown; ECC unknown, errors corrected unknown, uncorrected unknown (ever unknown, unknown); rows remapped unknown and unknown, foreign processes unknown'
says words 'unknown W of 700'
says_not words 4711
says html 'NVIDIA Example &lt;GPU&gt; &amp; Co'
says_not html '<GPU>'
says json '"ecc_mode":null'
says json '"links":[]'
says_not json 4711
watched 0000:19:00.0 'no doubt'

# An old NVML lacks some functions, and no others.
play h100x8
library=$libraries/old/libnvidia-ml.so.1
says words 'absent: no such function: mig_mode, energy_j, slowed_power_ns, slowed_thermal_ns, rows_corrected, rows_uncorrected, rows_pending, rows_failed, foreign_processes NOTE'
says words '345 MHz of 1980 (set: 1980), memory 2619 of 2619; 71 W of 700; 31 degrees C; throttle reasons: idle'
says words "18 of 18 NVLinks up absent: no such function" # to whom is not known
says json '"rows_pending":null'
library=$libraries/new/libnvidia-ml.so.1

# Two readings of GPUs that had problems.
play fake_thermal
watched 0000:11:00.0 'GPU 0000:11:00.0: software thermal slowdown in 1 of 2 readings, at most 89 degrees C'
watched 0000:10:00.0 'no doubt'
play fake_ecc
watched 0000:13:00.0 'GPU 0000:13:00.0: 2 uncorrected memory errors while it was measured'
watched 0000:10:00.0 'GPU 0000:10:00.0: 5 corrected memory errors while it was measured'
watched 0000:10:00.0 'no doubt'
play fake_power_cap
watched 0000:12:00.0 'GPU 0000:12:00.0: 1 process of others computed on it'

# NVML without a driver, no NVML, and a file that is no library.
play nothing
says words '8 GPUs on the PCI bus, and NVML cannot be used: Driver Not Loaded (9)'
library=$folder/none/libnvidia-ml.so.1
says words '8 GPUs on the PCI bus, and no NVML: '
echo 'no library' >broken.so
library=$folder/broken.so
says words 'and no NVML: '
library=$libraries/empty/libnvidia-ml.so.1
says words 'this NVML cannot be used: it has no nvmlInit_v2'

# 8 x MI300X without NVML: only the places of the GPUs are known.
gpus 0x1002 0x120000 0x74a1
library=$folder/none/libnvidia-ml.so.1
says words 'NOTE 8 GPUs on the PCI bus, and no NVML: '
expect_count 1 'NOTE.*GPU' out
expect_count 8 'PCI 1002:74a1, PCIe 5 x16, NUMA node [01]$' out
expect_count 8 'absent: no NVML: all but the PCI link' out
says tree 'GPU 0000:19:00.0 PCI 1002:74a1, unknown memory, PCIe 5 x16, not shown by NVML'
says json '"memory_bytes":null'

# Without GPUs, ports and /sys nothing is said about them.
rm -rf "$root"
expect_status 0 "$show" "$library" "$root" words
[ ! -s out ] || fail "words about no GPU"
says tree '+- NUMA node 1'
says json '"gpus_on_bus":null'
