/* schema/field_list.h: every field of a record. Each is a row with its name, its unit, its role and
 * its meaning.
 *
 * The structs of record/record.h, the tables that read, write and compare records, and the lists of
 * fields in results/README.md are made from these rows, so a field that is here is in all of them.
 * The order is that of the file.
 *
 *   T(name, bytes, since, role, unit, words, meaning)          text: char[bytes]
 *   I(name, least, most, since, role, unit, words, meaning)    a small integer: int
 *   F(kind, name, since, role, unit, words, meaning)           enum record_kind: schema/fields.h
 *   N(name, form, since, type, role, unit, meaning)            arrays, objects, enumerations; form
 *                                                              says where: schema/fields.c
 *
 * since is FIRST, or LATER if a record need not have the field. role is an enum record_role. words
 * is the name of the field in a message, after "the". */
#ifndef HARNESS_RECORD_FIELD_LIST_H
#define HARNESS_RECORD_FIELD_LIST_H

#define RECORD_MAX_RANKS 64
#define RECORD_MAX_SLOTS 64

/* clang-format off */

/* The manifest, once per file. */
#define RECORD_RUN_FIELDS(T, I, F, N) \
F(HASH, run_id, FIRST, CONDITION, "16 hex digits", "run", "names this run; every other line of the file repeats it") \
T(created_utc, 32, FIRST, CONDITION, "ISO 8601", "start", "when the sweep started") \
T(source, 16, FIRST, SYSTEM, "`measured` or `simulated`", "source", "`measured`, or `simulated`") \
F(BIG, seed, FIRST, CONDITION, "integer", "seed", "of the order of the cells and of the data") \
F(COUNT, planned, FIRST, CONDITION, "launches", "number of launches", "of all cells together") \
T(scaling, 8, LATER, IDENTITY, "`strong` or `weak`", "scaling", "`strong`: the batches are global; `weak`: they are rows per device (since 1.1)") \
I(launches, 1, INT_MAX, LATER, CONDITION, "", "number of launches", "of every cell, each by a fresh process (since 1.1)") \
F(OPTIONS, command, FIRST, IDENTITY, "", "set of options", "the options that define the sweep, defaults included, in one order, as one line. Runs with other options that no other field has (`--graphs off`) are told apart") \
T(devices, 64, FIRST, CONDITION, "", "device list", "device list as given, e.g. `virt:4`; `virt:4+500us` has slow transfers on purpose, `virt:4+fault:launch@3` a launch that fails. A cell is on the first of them: which they are is in its own `devices`, and in `slots`") \
T(backend, 32, FIRST, IDENTITY, "", "backend", "kernels, as `lockstep devices` says it: `cpu` are CBLAS, and oneDNN for large matrix products where that is faster, `cpu-cblas` CBLAS alone, `cpu-onednn` refused where oneDNN is not faster, `cpu-ref` portable, the definition; `cuda-staged` is `cuda` with all transfers through the host") \
T(communicator, 64, FIRST, CONDITION, "", "communicator", "what carries data between slots, as `lockstep devices` says it, e.g. `threads`; `peer-staged` is `peer` where peer access was refused; of a sweep with several `threads,staged`. A cell has one of them, which is in its own `communicator`. `--resume` goes on with the same only") \
T(launcher, 256, LATER, SYSTEM, "", "launcher", "the command that started the processes of each cell with `per_process`, `{n}` is their number; empty without one, missing in old records") \
T(gpu_facts, 160, LATER, CONDITION, "", "source of facts of GPUs", "`NVML 12.550.54, driver 550.54.15`, or why there is none; empty without GPUs among the devices, and in old records") \
F(REAL, gpus_on_bus, LATER, CONDITION, "GPUs", "number of GPUs on the PCI bus", "of any vendor, by sysfs: more than `gpus` has are GPUs that NVML does not show; `null` likewise") \
T(gpu_software, 96, LATER, SYSTEM, "", "GPU software", "versions of driver, runtime and cuBLAS, and of NCCL where its communicator is used; empty without GPUs, missing in old records") \
T(program_version, 32, FIRST, BUILD, "version", "version", "of lockstep") \
T(git_sha, 48, FIRST, BUILD, "commit", "commit", "commit it was built from, or `unknown`") \
F(BOOL, git_dirty, FIRST, BUILD, "", "working tree", "the working tree had changes: do not publish") \
T(source_digest, 65, LATER, BUILD, "SHA-256", "digest of the source", "of the files that the program was built from, which tells two changed trees apart; missing in old records") \
T(machine_class, 65, LATER, MACHINE, "SHA-256", "class of machine", "of the kind of machine: processor with its flags, caches, packages, cores, processing units, kernel set of the BLAS, GPUs, memory to 1 GiB. The host name has no part in it. Missing in old records, empty where it cannot be read") \
T(machine_instance, 65, LATER, HOST, "SHA-256", "start of the machine", "of the machine's id and the id of its start: another one after each boot; missing in old records") \
T(environment, 1024, LATER, SYSTEM, "", "environment", "`NAME=VALUE` of each variable that changes a result: `OPENBLAS_*`, `OMP_*`, `GOMP_*`, `KMP_*`, `GOTO_*`, `BLIS_*`, `MKL_*`, `DNNL_*`, `CUDA_*`, `CUBLAS_*`, `NCCL_*`, `MALLOC_*`, `NVIDIA_TF32_OVERRIDE`, `GLIBC_TUNABLES`, `HWLOC_XMLFILE`, `HWLOC_THISSYSTEM`; missing in old records") \
T(compiler, 96, FIRST, BUILD, "not empty", "compiler", "name and version") \
T(cflags, 256, FIRST, BUILD, "", "set of compiler flags", "what the compiler was told") \
T(build_type, 32, FIRST, BUILD, "", "build type", "times of a debug build mean nothing") \
T(sanitizers, 64, FIRST, BUILD, "", "sanitizers", "times of a build with any mean nothing") \
T(kernel, 128, FIRST, SYSTEM, "", "kernel", "of the operating system") \
T(libc, 64, FIRST, SYSTEM, "not empty", "C library", "name and version") \
T(hwloc_version, 32, FIRST, BUILD, "version", "version of hwloc", "of the library that reads the topology") \
T(blas, 160, FIRST, BUILD, "", "BLAS", "the library of matrix products, and its kernel set here; behind it the one of large products, where the backend has another: `, oneDNN 2.6.3 brg:avx512_core`. In records of older programs all products of mode `plain-mt` are of the first") \
T(node_hash, 17, FIRST, HOST, "16 hex digits", "machine", "stands for the host name, which is not stored") \
T(cpu_model, 128, FIRST, MACHINE, "", "processor", "as it calls itself") \
T(governor, 32, FIRST, SYSTEM, "not empty", "governor", "of the CPU's frequency, `unknown` where it cannot be read") \
I(packages, 0, INT_MAX, FIRST, MACHINE, "", "number of packages", "of the machine") \
I(numa_nodes, 0, INT_MAX, FIRST, MACHINE, "", "number of NUMA nodes", "of the machine") \
I(cores, 0, INT_MAX, FIRST, MACHINE, "", "number of cores", "of the machine") \
I(pus, 0, INT_MAX, FIRST, MACHINE, "", "number of processing units", "hardware threads of the machine") \
I(usable_pus, 0, INT_MAX, FIRST, MACHINE, "", "number of usable processing units", "those this process was allowed to use, or had the time of: the whole processors that its control groups leave it, and at least 1") \
F(U64, mem_bytes, FIRST, CONDITION, "bytes", "main memory", "main memory that the kernel left, which differs from start to start, or the limit of a control group that is less; `machine_class` has the former to 1 GiB") \
F(REAL, memlock_bytes, LATER, CONDITION, "bytes", "limit of locked memory", "that this process may lock, which pinned transfers and RDMA take; 2^53: no limit; `null`: unknown, missing in old records") \
F(REAL, shm_bytes, LATER, CONDITION, "bytes", "size of /dev/shm", "where communicators of several processes put what they share; `null` likewise") \
F(REAL, numa_balancing, LATER, CONDITION, "", "NUMA balancing", "0: off; else the kernel moves pages while others run; `null`: unknown, or the kernel has none") \
F(U64, l1d_bytes, FIRST, MACHINE, "bytes", "size of the L1 cache", "of one L1 data cache, 0 if unknown") \
F(U64, l2_bytes, FIRST, MACHINE, "bytes", "size of the L2 cache", "of one L2 cache, 0 if unknown") \
F(U64, l3_bytes, FIRST, MACHINE, "bytes", "size of the L3 cache", "of one L3 cache, 0 if unknown") \
F(REAL, timer_tick_ns, FIRST, CONDITION, "ns", "tick of the clock", "smallest step seen of the clock") \
F(REAL, timer_overhead_ns, FIRST, CONDITION, "ns", "time of a reading", "median difference of two readings of the clock") \
T(clock, 32, FIRST, IDENTITY, "`CLOCK_MONOTONIC_RAW` or `CLOCK_MONOTONIC`", "clock", "the clock that all times are read from") \
T(sync_method, 64, FIRST, IDENTITY, "`barrier before each step`", "start of a step", "how replicas are aligned before a step is timed") \
T(rank_reduction, 32, FIRST, IDENTITY, "`slowest replica of each step`", "time of a step", "how one step time comes from those of the replicas") \
N(chain, BY_HAND, LATER, "text", CONDITION, "", "`sha256`: the file is sealed, see above; missing: it is not") \
N(load_avg, REALS(load_avg, 3), FIRST, "3 numbers", CONDITION, "processes", "load over 1, 5 and 15 minutes at the start") \
N(slots, LIST(WRITTEN, slot, n_slots, RECORD_MAX_SLOTS, record_slot_fields), FIRST, "objects", MACHINE, "", "the devices, at most 64, see below") \
N(numa, LIST(LEFT_OUT, node.numa, node.n_numa, RECORD_MAX_NUMA, record_numa_fields), LATER, "objects", MACHINE, "", "the NUMA nodes of the machine, see below; missing in old records") \
N(gpus, LIST(LEFT_OUT, node.gpu, node.n_gpus, RECORD_MAX_GPUS, record_gpu_fields), LATER, "objects", MACHINE, "", "the GPUs of the node, whether they are among the devices or not, see below; missing without GPUs among the devices") \
N(nics, LIST(LEFT_OUT, node.nic, node.n_nics, RECORD_MAX_NICS, record_nic_fields), LATER, "objects", CONDITION, "", "the ports of its network cards, see below; missing likewise")

/* A device of the list. */
#define RECORD_SLOT_FIELDS(T, I, F, N) \
T(name, 32, FIRST, IDENTITY, "", "name", "`virt:0`") \
T(kind, 16, FIRST, IDENTITY, "", "kind", "what its name begins with, e.g. `virt`") \
T(cores, 128, FIRST, SYSTEM, "list of numbers", "set of cores", "list of hardware threads such as `0-3,8`, empty if not bound") \
I(numa_node, -1, INT_MAX, FIRST, SYSTEM, "", "NUMA node", "-1 unknown") \
F(BOOL, bound, FIRST, SYSTEM, "", "binding", "its worker is bound to those cores") \
T(model, 64, LATER, MACHINE, "", "model", "of a GPU, else empty") \
T(bus, 16, LATER, MACHINE, "PCI address", "PCI address", "of a GPU, else empty") \
F(BOOL, near, LATER, SYSTEM, "", "nearness", "of a GPU: cores and NUMA node are those beside it")

/* The fields that identify a cell. */
#define RECORD_KEY_FIELDS(T, I, F, N) \
T(workload, 96, FIRST, IDENTITY, "", "workload", "`mlp:1024,1024`; of mode `collective` the name of the collective, `allreduce`") \
T(mode, 16, FIRST, IDENTITY, "`plain`, `plain-mt`, `dp`, `ddp` or `collective`", "mode", "`dp`, `ddp`, or `plain`: the model alone on one device, without the wrapper; `plain-mt`: the same, with matrix products on the cores of all `n_devices`; `collective`: no model, but one collective of all devices by itself, whose steps are its iterations") \
T(devices, 64, FIRST, IDENTITY, "", "device list", "`virt:2`") \
I(n_devices, 0, RECORD_MAX_RANKS, FIRST, IDENTITY, "", "number of devices", "in the list") \
F(COUNT, global_batch, FIRST, IDENTITY, "rows", "batch", "of all devices; 0 of mode `collective`, which has `size_bytes`") \
T(dtype, 8, FIRST, IDENTITY, "", "math", "how matrix products are computed: `f32`, true fp32; `tf32`, operands rounded by the GPU; `bf16`, operands rounded to bfloat16, sums in fp32; everything else is fp32 in all of them. Of mode `collective` the type of the numbers") \
T(backend, 32, FIRST, IDENTITY, "", "backend", "as in the first line") \
T(communicator, 32, FIRST, IDENTITY, "", "communicator", "one of those in the first line") \
F(COUNT, bucket_bytes, LATER, IDENTITY, "bytes", "bucket", "of `ddp`: at which a bucket of gradients is full; 0: PyTorch's, 1 MiB for the first and 25 MiB for the others; 0 in other modes") \
F(COUNT, size_bytes, LATER, IDENTITY, "bytes", "size", "of mode `collective`: of each rank's memory, as nccl-tests counts it: the larger of what a rank brings and what it gets; 0 in other modes") \
F(COUNT, out_of_place, LATER, IDENTITY, "0 or 1", "place", "of mode `collective`: 1: what a rank gets is in other memory than what it brings, which stays; 0: in place; 0 in other modes") \
F(COUNT, per_process, LATER, IDENTITY, "devices", "devices per process", "of each of the processes that a launcher has started, which share no memory; 0: one process has all devices") \
F(COUNT, chain, LATER, IDENTITY, "steps", "chain", "steps that were timed together, each with the parameters of the one before; 0: each by itself, with the same parameters") \
F(COUNT, host_inputs, LATER, IDENTITY, "0 or 1", "place of inputs", "1: the batch is in the host's memory, and each step carries it to the devices, which is its phase `scatter`; 0: it is on the devices before the step begins; 0 in mode `collective`") \
I(launch, 0, INT_MAX, FIRST, CONDITION, "", "launch", "repetition of the same point by a fresh process, from 0; the number of its block")

/* A finished cell. */
#define RECORD_CELL_FIELDS(T, I, F, N) \
N(cell, MEMBER(key, record_key_fields), FIRST, "object", IDENTITY, "", "what identifies the cell, see below") \
N(status, STATE(status), FIRST, "text", RESULT, "", "`ok`, `failed`, `broken`, `crashed`, `timeout`, `oom` or `skipped`") \
F(HASH, run_id, FIRST, CONDITION, "16 hex digits", "run", "as in the first line") \
F(HASH, cell_id, FIRST, CONDITION, "16 hex digits", "cell", "a function of the fields in `cell` alone: the same cell of another run has the same id") \
F(COUNT, order_index, FIRST, CONDITION, "index", "place", "position in the randomised order of the sweep, over all blocks") \
T(reason, 320, FIRST, RESULT, "", "reason", "why it is not `ok`; empty when it is") \
F(BOOL, validated, FIRST, RESULT, "", "verdict", "every check of the results passed; always true when `status` is `ok`") \
F(COUNT, values_checked, FIRST, RESULT, "values", "number of values", "compared with the independent reference: bit for bit, or of a workload that rounds within a bound derived for each value; of two steps, but of every step where the communicator adds in an order of its own and the workload rounds") \
F(COUNT, steps_checked, FIRST, RESULT, "steps", "number of steps", "whose results were compared: by value, or by digest with a step that was") \
F(COUNT, probe_values, LATER, RESULT, "values", "probe", "of the probe, one step before the warm-up on numbers with all the bits of a float, compared with the reference within derived bounds") \
F(REAL, probe_bound, LATER, RESULT, "", "bound of the probe", "the widest bound of an output of the probe, as a part of the output; `null` without a probe") \
F(REAL, probe_ratio, LATER, RESULT, "", "difference of the probe", "the largest difference of a value of the probe as a part of its bound: above 1 the cell failed; `null` without a probe") \
F(U64, probe_ns, LATER, RESULT, "ns", "time of the probe", "what the probe took, its reference included; a part of `setup_ns`") \
I(exact_bits, 0, 24, LATER, RESULT, "bits", "number of bits", "the fewest significant bits that the exact data reach in the outputs or in the gradient of a weight: a result rounded to fewer changes those numbers (the probe finds the others); 0 where the workload rounds") \
F(LONG, first_bad_step, FIRST, RESULT, "index", "first bad step", "first step with wrong results, -1: none") \
F(BOOL, oversubscribed, FIRST, MACHINE, "", "sharing of cores or GPUs", "more devices than cores, or several slots on one GPU or core: evidence that it works, none of performance") \
F(COUNT, model_params, FIRST, IDENTITY, "values", "number of parameters", "parameters of the model") \
F(REAL, flops_per_step, FIRST, IDENTITY, "operations", "work of a step", "of the matrix products, forward and backward, whole batch") \
F(COUNT, tokens_per_row, LATER, IDENTITY, "tokens", "length of a row", "of a language model, whose rows are sequences of so many tokens; 0 in others, missing in old records") \
F(REAL, flops_per_token, LATER, IDENTITY, "operations", "work of a token", "of a language model: what training takes for a token if nothing is computed that is not needed: 6 N + 6 L D (C + 1), see `docs/report.md`; `null` in others") \
F(REAL, bus_factor, LATER, RESULT, "ratio", "bus factor", "of mode `collective`: bus bandwidth over algorithm bandwidth, as nccl-tests defines it: 2 (n - 1) / n of an allreduce of n devices, 1 of a broadcast, (n - 1) / n of the others; `null` in other modes") \
T(warmup_rule, 128, FIRST, IDENTITY, "", "rule of the warm-up", "steps, seconds and most steps of the warm-up, known before it begins; in records before 2026-11-23 it ended when step times looked steady") \
F(BOOL, steady_state, FIRST, RESULT, "", "steady state", "the rule was met: always true but in records whose warm-up ended when step times looked steady; whether steps still got faster is judged across launches, from `raw`") \
F(COUNT, warmup_steps, FIRST, RESULT, "steps", "warm-up", "samples `0 .. warmup_steps-1` are warm-up") \
F(COUNT, n_samples, FIRST, RESULT, "steps", "number of samples", "all that were timed, warm-up included") \
I(n_ranks, 0, RECORD_MAX_RANKS, FIRST, RESULT, "replicas", "number of replicas", "with phase times")

/* The fields that follow from the samples alone: record_derive. */
#define RECORD_DERIVED_FIELDS(T, I, F, N) \
F(COUNT, n_valid, FIRST, RESULT, "steps", "number of steps", "that count") \
F(REAL, median_ns, FIRST, RESULT, "ns", "median", "the typical step") \
F(REAL, mean_ns, FIRST, RESULT, "ns", "mean", "of the steps that count") \
F(REAL, min_ns, FIRST, RESULT, "ns", "minimum", "the shortest step") \
F(REAL, max_ns, FIRST, RESULT, "ns", "maximum", "the longest step") \
F(REAL, p05_ns, FIRST, RESULT, "ns", "5th percentile", "percentile, by linear interpolation") \
F(REAL, p25_ns, FIRST, RESULT, "ns", "25th percentile", "percentile, by linear interpolation") \
F(REAL, p75_ns, FIRST, RESULT, "ns", "75th percentile", "percentile, by linear interpolation") \
F(REAL, p95_ns, FIRST, RESULT, "ns", "95th percentile", "percentile, by linear interpolation") \
F(BOOL, has_ci, FIRST, RESULT, "", "interval", "there is an interval; it takes at least 6 steps") \
F(REAL, ci_lo_ns, FIRST, RESULT, "ns", "lower end", "of the interval of the median from order statistics, at least 95 %") \
F(REAL, ci_hi_ns, FIRST, RESULT, "ns", "upper end", "of that interval") \
F(REAL, ci_coverage, FIRST, RESULT, "0..1", "coverage", "what the interval really covers if steps are independent") \
F(REAL, cv, FIRST, RESULT, "ratio", "variation", "standard deviation / mean") \
F(REAL, rho1, FIRST, RESULT, "-1..1", "correlation", "of neighbouring steps; if far from 0, the interval is too narrow") \
F(REAL, n_eff, FIRST, RESULT, "steps", "effective number of steps", "what `n_valid` correlated steps are worth") \
F(REAL, throughput_samples_per_s, FIRST, RESULT, "rows/s", "throughput", "all rows / all time, stalls included") \
F(REAL, duty, LATER, RESULT, "0..1", "duty", "of a cell with a `chain`: the part of the time from its first measured step to its last in which steps ran; `null` in others") \
F(REAL, outside_frac, LATER, RESULT, "0..1", "part outside matrix products", "part of a step not spent in matrix products: one minus the mean over the replicas with rows of their `matmul_ns`, over the step time; then the median (since 1.1)") \
F(REAL, tracing_ns, LATER, RESULT, "signed ns", "cost of phases", "what measuring phases takes of a step: the median of `phased_ns` less `t_step_ns`, which noise puts below 0, too; `null` where phases were measured in the samples themselves") \
F(REAL, algbw_bytes_per_s, LATER, RESULT, "bytes/s", "algorithm bandwidth", "of mode `collective`: `size_bytes` over the median time of an iteration, until all devices were idle; `null` in other modes") \
F(REAL, busbw_bytes_per_s, LATER, RESULT, "bytes/s", "bus bandwidth", "that times `bus_factor`")

/* The fields that are measured next to the steps. */
#define RECORD_BESIDE_FIELDS(T, I, F, N) \
F(REAL, bytes_per_step, LATER, RESULT, "bytes", "bytes moved", "that crossed devices in the last step, of all replicas; `null`: unknown") \
F(REAL, kernels_per_step, LATER, RESULT, "launches", "number of kernels", "launched in the last step, copies included, on all devices and the host, by themselves or in a graph; `null`: unknown, or all of them a library's own (NCCL's). Missing in old records") \
F(REAL, compute_alone_ns, LATER, RESULT, "ns", "step without reduction", "of a `ddp` cell: the median of 5 to 11 steps without their reduction, which take turns with as many reductions and whole steps, after the measured steps; `rounds_ns` of `raw` has them all") \
F(REAL, comm_alone_ns, LATER, RESULT, "ns", "reduction alone", "the median of those reductions without a step") \
F(REAL, whole_ns, LATER, RESULT, "ns", "whole step", "the median of those whole steps") \
F(REAL, hidden_frac, LATER, RESULT, "signed ratio", "hidden part", "the part of the communication that is hidden: (compute + comm - whole) / comm of these three. Noise puts it below 0 and above 1, too (in records without `rounds_ns` it is 0 or 1 then). `null` on one device, and where `comm_alone_ns` is below 20 of the smallest steps of the clock") \
F(REAL, foreign_frac, LATER, RESULT, "0..1", "share of other programs", "what was not this process's own of the CPU time of the processing units that the launch is bound to (of all it may use where it is not), from its first measured step to its last: their busy time in `/proc/stat`, interrupts included, less the process's by `getrusage`, over the time that passed on all of them. The kernel counts in ticks, mostly of 10 ms, so that a launch of 0.2 s has 20 of a unit, and what they put below 0 is 0. `null`: fewer than 10 ticks, or not known") \
F(REAL, steal_frac, LATER, RESULT, "0..1", "stolen share", "what the hypervisor gave to other machines of the same time of the same units, as coarsely. `null` likewise") \
F(REAL, voluntary_switches, LATER, RESULT, "switches", "number of voluntary switches", "how often a thread of the process waited, over the same steps; `null`: unknown") \
F(REAL, involuntary_switches, LATER, RESULT, "switches", "number of involuntary switches", "how often one had to leave its unit to another, likewise") \
F(REAL, minor_faults, LATER, RESULT, "faults", "number of minor faults", "page faults that needed no reading from a disk, likewise") \
F(REAL, major_faults, LATER, RESULT, "faults", "number of major faults", "those that did, likewise") \
F(REAL, cpu_hz, LATER, RESULT, "Hz", "frequency", "mean `scaling_cur_freq` of the same units behind the last measured step; `null` where the system does not tell that of each") \
F(REAL, sampling_ns, LATER, RESULT, "ns", "time of readings", "what the readings of GPUs took while the steps were measured, on a thread of their own; `null` without any") \
F(REAL, clock_ratio, LATER, RESULT, "ratio", "rate of the clock", "how many times as long the launch took by the clock of its times as by a timer of the kernel, 1 within 0.1 ms: below 0.995 and above 1.005 the cell failed; `null`: there was no such timer, and the cell is not verified. Missing in old records") \
I(sitting, 0, INT_MAX, LATER, CONDITION, "", "sitting", "0, and one more each time that `--resume` went on with the file and measured something: cells of two sittings are never compared as a pair. 0 in old records") \
I(hosts, 0, INT_MAX, LATER, SYSTEM, "", "number of hosts", "that the processes of a launched cell ran on; 0 of other cells, and where not all have begun") \
T(host_ranks, 192, LATER, SYSTEM, "list of numbers", "ranks of each host", "`2,2`: in the order of the first rank of each; empty likewise. Names of hosts are not stored, but in the `reason` of a cell that failed") \
T(mpi_library, 96, LATER, SYSTEM, "", "MPI library", "name and version, as it says of itself; empty likewise") \
F(BIG, start_epoch_ns, FIRST, CONDITION, "ns since 1970", "start", "when the cell started") \
F(U64, setup_ns, FIRST, RESULT, "ns", "setup", "before the first step") \
F(U64, devices_ns, LATER, RESULT, "ns", "time of opening devices", "until they were open; a part of `setup_ns`. 0 in old records") \
F(U64, reference_ns, LATER, RESULT, "ns", "time of the reference", "making the numbers of the steps, and what must come out of them; a part of `setup_ns`. 0 of mode `collective`, and in old records") \
F(U64, verify_ns, LATER, RESULT, "ns", "time of verifying", "between the steps: reading what each left, and comparing it. 0 of mode `collective`, and in old records") \
F(U64, wall_ns, FIRST, RESULT, "ns", "time of the cell", "the whole cell") \
F(U64, launch_ns, LATER, RESULT, "ns", "time of the launch", "`wall_ns`, and what its process took to begin and to end, as the sweep saw it; 0: not known, in old records") \
N(shard_rows, NUMBERS(WRITTEN, shard, n_shards, RECORD_MAX_RANKS), FIRST, "integers", RESULT, "rows", "seen by each replica that ran; there may be fewer than devices") \
N(peak_bytes, NUMBERS(WRITTEN, peak_bytes, n_peaks, RECORD_MAX_RANKS), LATER, "integers", RESULT, "bytes", "per device, the most that its tensors held at one time: parameters, gradients, batches, and what a step keeps. Not what libraries take for themselves. Empty: unknown, as in old records") \
N(phase_median_ns, GROUP(WRITTEN, median_fields), FIRST, "object", RESULT, "ns", "per phase: slowest replica of each step, then the median; `null` if not measured") \
N(gpus, HEAP_LIST(LEFT_OUT, gpu, n_gpus, RECORD_MAX_GPUS, record_watched_fields), LATER, "objects", CONDITION, "", "the GPUs among its devices, before, while and after the steps were measured, see below; missing without any") 
/* The end of a cell. */
#define RECORD_LAST_FIELDS(T, I, F, N) \
N(raw, GROUP(WRITTEN, record_raw_fields), FIRST, "object", RESULT, "", "the samples, see below") \
N(chain, BY_HAND, LATER, "text", CONDITION, "64 hex digits", "of a sealed file: SHA-256 of the line before")

/* The samples: "raw" of a cell. */
#define RECORD_RAW_FIELDS(T, I, F, N) \
N(t_start_ns, STEPS(WRITTEN, t_start_ns), FIRST, "`n_samples` integers", RESULT, "ns", "start of each step, counted from the first one's") \
N(t_step_ns, STEPS(WRITTEN, t_step_ns), FIRST, "`n_samples` integers", RESULT, "ns", "duration of each step") \
N(flags, FLAGS(flags), FIRST, "`n_samples` integers", RESULT, "bits", "1 warm-up, 16 wrong results, 32 mild and 64 severe outlier (Tukey's fences: 1.5 and 3 interquartile ranges beyond the quartiles)") \
N(phase_ns, GROUP(WRITTEN, phase_fields), FIRST, "object", RESULT, "ns", "per phase an array per replica of `n_samples` integers, or `null` if not measured") \
N(matmul_ns, RANKS(matmul_ns), LATER, "arrays", RESULT, "ns", "such an array per replica, see below") \
N(rounds_ns, GROUP(AS_NULL, turn_fields), LATER, "object", RESULT, "ns", "of a `ddp` cell, see below") \
N(alone_ns, NUMBERS(AS_NULL, alone_ns, n_alone, RECORD_MOST_ROUNDS), LATER, "integers", RESULT, "ns", "of a `dp` cell, see below") \
N(phased_ns, STEPS(LEFT_OUT, phased_ns), LATER, "`n_samples` integers", RESULT, "ns", "of cells with phases apart, see below") \
N(parts, GROUP(LEFT_OUT, part_fields), LATER, "object", RESULT, "ns", "of cells with `--parts`, see below")

/* The end of a session. */
#define RECORD_END_FIELDS(T, I, F, N) \
F(HASH, run_id, FIRST, CONDITION, "16 hex digits", "run", "as in the first line") \
F(COUNT, planned, FIRST, CONDITION, "launches", "number of launches", "of all cells together") \
F(COUNT, ok, FIRST, RESULT, "launches", "number of verified launches", "with status `ok`") \
F(COUNT, not_ok, FIRST, RESULT, "launches", "number of other launches", "with another status") \
F(BOOL, interrupted, FIRST, CONDITION, "", "interruption", "ended by a signal: `--resume` does the rest") \
I(sitting, 0, INT_MAX, LATER, CONDITION, "", "sitting", "which one ended, numbered as in the cells. Another one than that of the cells before it: theirs was killed before it could end, and nothing was left to measure. 0 in old records") \
F(REAL, seconds, LATER, RESULT, "s", "time of the sitting", "from its first launch to the end of its last, starts of processes and writing of records included: the whole of which the steps are a share; missing in old records") \
F(REAL, writing, LATER, RESULT, "s", "time of writing", "of that, what records took to be on the disk; missing in old records") \
N(chain, BY_HAND, LATER, "text", CONDITION, "64 hex digits", "of a sealed file: SHA-256 of the line before") \
N(seal, BY_HAND, LATER, "text", CONDITION, "64 hex digits", "of a sealed file: SHA-256 of this line up to `seal`")

/* clang-format on */

/* These make the members of a struct from rows. */
#define RECORD_MEMBER_T(name, bytes, ...) char name[bytes];
#define RECORD_MEMBER_I(name, ...)        int name;
#define RECORD_MEMBER_F(kind, name, ...)  RECORD_MEMBER_##kind(name)
#define RECORD_MEMBER_N(...)              /* written by hand */
#define RECORD_MEMBER_HASH(name)          char name[17];
#define RECORD_MEMBER_OPTIONS(name)       char name[512];
#define RECORD_MEMBER_BOOL(name)          bool name;
#define RECORD_MEMBER_LONG(name)          long name;
#define RECORD_MEMBER_COUNT(name)         size_t name;
#define RECORD_MEMBER_U64(name)           uint64_t name;
#define RECORD_MEMBER_BIG(name)           uint64_t name;
#define RECORD_MEMBER_REAL(name)          double name;
#define RECORD_MEMBER_SERIES(name)        struct record_series name;
#define RECORD_MEMBERS(fields)                                                                     \
    fields(RECORD_MEMBER_T, RECORD_MEMBER_I, RECORD_MEMBER_F, RECORD_MEMBER_N)

#endif
