/* bench/bench.h: benchmarks of parts of a step, each next to a peer that does the same work in
 * another way, in one process, taking turns, and with every result compared bit for bit. */
#ifndef HARNESS_BENCH_H
#define HARNESS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dp.h"
#include "plan/launcher_options.h"

enum bench_format { BENCH_TEXT, BENCH_TSV, BENCH_JSON };

enum bench_name { BENCH_COPIES, BENCH_OVERLAP, BENCH_LIMITS, BENCH_NAMES };
/* How many workloads limits can have. */
enum { BENCH_WORKLOADS = 16 };

struct bench_options {
    enum bench_name name;
    char devices[64], backend[32], communicator[32];
    size_t bytes, rounds;                  /* 0: what the benchmark takes by itself */
    bool gpus, simulated;                  /* of the devices */
    size_t format;                         /* enum bench_format */
    const char *workload[BENCH_WORKLOADS]; /* of limits, as they were given */
    int n_workloads;
    size_t rows;                       /* of limits: the batch; 0: each workload's own */
    struct launcher_options processes; /* that have the ranks */
};

/* copies: replicate and reduce of a model against memcpy, on GPUs against copies, printed. An exit
 * status. */
int bench_copies(const char *command, struct dp_group *group, const struct bench_options *options);
/* overlap: how much of the ranks' reduction overlaps backward, printed. An exit status. */
int bench_overlap(const char *command, struct dp_group *group, const struct bench_options *options);
/* The same with the ranks in processes. bench/world.c */
int bench_launched(const char *command, struct bench_options *options);
/* limits: how far the parts of steps are from what the cores can do, printed. An exit status. */
int bench_limits(const char *command, struct dp_group *group, const struct bench_options *options);
/* Whether that is possible, if it was asked for. 0, or an exit status after a line. */
int bench_check_launched(const char *command, struct bench_options *options, size_t required);
/* Whether the devices, of which there are n, can be measured; notes what they are. The same. */
int bench_check_devices(const char *command, struct dp_group *group, struct bench_options *options,
                        int n);

/* The bounds that are shown with a median: its interval, or, below six rounds, where there is none,
 * the range, which is called so. */
struct stats_summary;
void bench_bounds(const struct stats_summary *summary, double *lo, double *hi);

#endif
