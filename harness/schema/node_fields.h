/* schema/node_fields.h: the fields of the node that the devices are in: its NUMA nodes, GPUs and
 * network ports. Each is a row, as in schema/field_list.h, which explains the letters.
 *
 * A number that could not be read is null, never 0; the field `absent` of its GPU says why. */
#ifndef HARNESS_RECORD_NODE_FIELDS_H
#define HARNESS_RECORD_NODE_FIELDS_H

/* If there are more, they are counted, but not listed. */
#define RECORD_MAX_NUMA  32
#define RECORD_MAX_GPUS  16
#define RECORD_MAX_LINKS 18
#define RECORD_MAX_NICS  32

/* clang-format off */

#define RECORD_NUMA_FIELDS(T, I, F, N) \
I(node, -1, INT_MAX, FIRST, MACHINE, "", "NUMA node", "its number") \
I(package, -1, INT_MAX, FIRST, MACHINE, "", "package", "that it is in, -1: of none, or of several") \
I(cores, 0, INT_MAX, FIRST, MACHINE, "", "number of cores", "beside it") \
I(pus, 0, INT_MAX, FIRST, MACHINE, "", "number of processing units", "beside it") \
T(cpus, 128, FIRST, MACHINE, "list of numbers", "processing units", "list of them such as `0-3,8`") \
F(REAL, memory_bytes, LATER, CONDITION, "bytes", "memory", "of the node")

/* A GPU of the node, even if the sweep does not use it. */
#define RECORD_GPU_FIELDS(T, I, F, N) \
T(bus, 16, FIRST, MACHINE, "PCI address", "PCI address", "`0000:19:00.0`") \
T(model, 64, FIRST, MACHINE, "", "model", "as it calls itself, empty: unknown") \
F(BOOL, shown, LATER, CONDITION, "", "visibility", "NVML shows it; else only the PCI bus knows it, and all its numbers but those of the bus are `null`") \
T(uuid_hash, 17, LATER, HOST, "16 hex digits or none", "UUID", "stands for the UUID, which is not stored; empty: unknown") \
F(REAL, numa_node, LATER, MACHINE, "number, -1: none", "NUMA node", "the node next to it, by sysfs") \
F(REAL, memory_bytes, LATER, MACHINE, "bytes", "memory", "of the GPU") \
F(REAL, pcie_generation_max, LATER, MACHINE, "generation", "best PCIe generation", "that GPU and slot can have") \
F(REAL, pcie_width_max, LATER, MACHINE, "lanes", "best PCIe width", "that GPU and slot can have") \
F(REAL, clock_sm_max_hz, LATER, MACHINE, "Hz", "highest SM clock", "that it can have") \
F(REAL, clock_memory_max_hz, LATER, MACHINE, "Hz", "highest memory clock", "that it can have") \
F(REAL, clock_sm_set_hz, LATER, SYSTEM, "Hz", "application SM clock", "as it is set") \
F(REAL, clock_memory_set_hz, LATER, SYSTEM, "Hz", "application memory clock", "as it is set") \
F(REAL, power_limit_w, LATER, SYSTEM, "W", "power limit", "that is enforced") \
F(REAL, power_limit_default_w, LATER, MACHINE, "W", "default power limit", "of this model") \
F(REAL, ecc_mode, LATER, SYSTEM, "0 or 1", "ECC", "1: its memory has ECC, 0: it has not") \
F(REAL, mig_mode, LATER, SYSTEM, "0 or 1", "MIG", "1: it is divided into instances, 0: it is not") \
F(REAL, persistence, LATER, SYSTEM, "0 or 1", "persistence mode", "1: the driver keeps it initialised, 0: not") \
T(absent, 768, LATER, CONDITION, "", "list of absent facts", "which numbers are `null`, and why: `not supported: mig_mode; no such function: rows_pending`") \
N(reading, MEMBER(reading, record_reading_fields), FIRST, "object", CONDITION, "", "as it was when the sweep began, see below")

/* The state of a GPU at one time. */
#define RECORD_READING_FIELDS(T, I, F, N) \
F(REAL, throttle, LATER, CONDITION, "bits", "throttle reasons", "as NVML names them: 1 idle, 2 clocks that were set, 4 power cap, 8 hardware slowdown, 16 sync boost, 32 software thermal slowdown, 64 hardware thermal slowdown, 128 hardware power brake, 256 display clocks") \
F(REAL, clock_sm_hz, LATER, CONDITION, "Hz", "SM clock", "now") \
F(REAL, clock_memory_hz, LATER, CONDITION, "Hz", "memory clock", "now") \
F(REAL, temperature_c, LATER, CONDITION, "degrees C", "temperature", "of the chip") \
F(REAL, power_w, LATER, CONDITION, "W", "power", "that it takes") \
F(REAL, energy_j, LATER, CONDITION, "J", "energy", "that it has taken since the driver was loaded") \
F(REAL, slowed_power_ns, LATER, CONDITION, "ns", "time of the power cap", "since the driver was loaded, with clocks kept low by the power limit") \
F(REAL, slowed_thermal_ns, LATER, CONDITION, "ns", "time of thermal slowdown", "since the driver was loaded, with clocks kept low by heat") \
F(REAL, pcie_generation, LATER, CONDITION, "generation", "PCIe generation", "now: an idle GPU may have a lower one") \
F(REAL, pcie_width, LATER, CONDITION, "lanes", "PCIe width", "now") \
F(REAL, ecc_corrected, LATER, CONDITION, "errors", "corrected memory errors", "since the driver was loaded") \
F(REAL, ecc_uncorrected, LATER, CONDITION, "errors", "uncorrected memory errors", "since the driver was loaded") \
F(REAL, ecc_corrected_ever, LATER, CONDITION, "errors", "corrected memory errors of all time", "in the life of the GPU") \
F(REAL, ecc_uncorrected_ever, LATER, CONDITION, "errors", "uncorrected memory errors of all time", "in the life of the GPU") \
F(REAL, rows_corrected, LATER, CONDITION, "rows", "rows remapped for corrected errors", "of its memory") \
F(REAL, rows_uncorrected, LATER, CONDITION, "rows", "rows remapped for uncorrected errors", "of its memory") \
F(REAL, rows_pending, LATER, CONDITION, "0 or 1", "pending remapping", "1: rows wait for a reset to be remapped") \
F(REAL, rows_failed, LATER, CONDITION, "0 or 1", "failed remapping", "1: a row could not be remapped: the GPU has to be replaced") \
F(REAL, used_bytes, LATER, CONDITION, "bytes", "memory in use", "by whomever") \
F(REAL, foreign_processes, LATER, CONDITION, "processes", "number of foreign processes", "that compute on it beside the one that reads this; `null`: unknown, as in a container that cannot see which process is which") \
N(links, LIST(WRITTEN, link, n_links, RECORD_MAX_LINKS, record_nvlink_fields), LATER, "objects", CONDITION, "", "its NVLinks, see below; empty: it has none, or they are unknown")

#define RECORD_NVLINK_FIELDS(T, I, F, N) \
F(REAL, active, LATER, CONDITION, "0 or 1", "state", "1: it is up, 0: it is down") \
T(to, 16, LATER, MACHINE, "PCI address", "other end", "PCI address of the GPU or switch there; empty: unknown") \
F(REAL, crc_flit, LATER, CONDITION, "errors", "CRC errors of flits", "since the driver was loaded") \
F(REAL, crc_data, LATER, CONDITION, "errors", "CRC errors of data", "since the driver was loaded") \
F(REAL, replays, LATER, CONDITION, "errors", "replays", "since the driver was loaded") \
F(REAL, recoveries, LATER, CONDITION, "errors", "recoveries", "since the driver was loaded")

/* A GPU among the devices of a cell, around its measured steps. */
#define RECORD_WATCHED_FIELDS(T, I, F, N) \
T(bus, 16, FIRST, CONDITION, "PCI address", "PCI address", "which GPU of the first line this is") \
N(before, MEMBER(before, record_reading_fields), FIRST, "object", CONDITION, "", "as it was before the first measured step, see below") \
N(during, MEMBER(during, record_during_fields), FIRST, "object", CONDITION, "", "while they were measured, see below") \
N(after, MEMBER(after, record_reading_fields), FIRST, "object", CONDITION, "", "as it was after the last of them")

/* The time series, all with the same number of elements. */
#define RECORD_DURING_FIELDS(T, I, F, N) \
F(SERIES, at_ns, LATER, CONDITION, "ns", "times", "when the others were read, from `before` on") \
F(SERIES, throttle, LATER, CONDITION, "bits", "throttle reasons", "as above") \
F(SERIES, clock_sm_hz, LATER, CONDITION, "Hz", "SM clocks", "at these times") \
F(SERIES, temperature_c, LATER, CONDITION, "degrees C", "temperatures", "at these times") \
F(SERIES, power_w, LATER, CONDITION, "W", "powers", "at these times")

/* A port of a network card. */
#define RECORD_NIC_FIELDS(T, I, F, N) \
T(name, 32, FIRST, CONDITION, "", "name", "`mlx5_0 port 1`, `eth0`") \
T(bus, 16, LATER, CONDITION, "PCI address", "PCI address", "of its card, empty: unknown") \
T(layer, 16, LATER, CONDITION, "", "kind", "`InfiniBand`, `Ethernet`") \
T(state, 32, LATER, CONDITION, "", "state", "as the system calls it, e.g. `ACTIVE`, `DOWN`; empty: unknown") \
F(REAL, numa_node, LATER, CONDITION, "number, -1: none", "NUMA node", "beside it") \
F(REAL, rate_bits_per_s, LATER, CONDITION, "bits/s", "rate", "of its link")

/* clang-format on */

#endif
