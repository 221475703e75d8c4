/* rate.c: measures an all-reduce between processes with communicator mpi.
 *
 *   lockstep-mpi-rate MODULE BYTES TIMES
 *
 * Prints the median of TIMES all-reduces in milliseconds, after a few that do not count. */
#include "ddp.h"
#include "start.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WARMUP = 5, MOST = 1000 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int rate_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void rate_measure(struct dp_mpi *mpi, struct dp_group *group, size_t bytes, int times)
{
    struct dp_tensor tensor;
    double ms[MOST];
    must(dp_tensor_alloc(dp_group_slot(group, 0), DP_F32, 1, (size_t[]){bytes / 4}, &tensor,
                         &must_err));
    for (int i = 0; i < WARMUP + times; ++i) {
        const double begin = now_ms();
        must(dp_allreduce(group, &tensor, &must_err));
        must(dp_group_wait(group, &must_err));
        ms[i < WARMUP ? 0 : i - WARMUP] = now_ms() - begin;
    }
    qsort(ms, (size_t)times, sizeof *ms, rate_compare);
    if (dp_mpi_rank(mpi) == 0)
        printf("%.3f\n", ms[times / 2]);
    dp_tensor_free(&tensor);
}

int main(int argc, char **argv)
{
    struct dp_group *group = NULL;
    const int times = argc == 4 ? atoi(argv[3]) : 0;
    if (times < 1 || times > MOST)
        return 2;
    struct dp_mpi *mpi = start_mpi(argv[1]);
    const struct dp_group_config g = {.devices = "virt:1", .world = dp_mpi_world(mpi)};
    must(dp_group_open(&g, &group, &must_err));
    rate_measure(mpi, group, (size_t)strtoull(argv[2], NULL, 10), times);
    dp_group_close(group);
    end_mpi(mpi);
    return 0;
}
