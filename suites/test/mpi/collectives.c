/* collectives.c: every operation between processes is compared with a loop on the host: sizes from
 * one number to more than a megabyte, each type, in place and out of place, late devices.
 *
 * Usage: lockstep-mpi-collectives MODULE LOCALS
 *
 * LOCALS: ranks of each process, "1,3,2". The numbers are not exact, so that a sum in another order
 * shows. */
#include "backend.h"
#include "collective_calls.h"
#include "start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct dp_mpi *mpi;
static int local; /* ranks of this process */

static void collectives_exchange(struct context *c, size_t bytes)
{
    const struct dp_world *world = dp_mpi_world(mpi);
    const size_t all = bytes * (size_t)dp_mpi_size(mpi);
    unsigned char *mine = case_memory(c, bytes), *got = case_memory(c, all);
    bool right = true;
    for (size_t i = 0; i < bytes; ++i)
        mine[i] = (unsigned char)(i * 31 + (size_t)dp_mpi_rank(mpi) * 7 + (i >> 8));
    expect_ok(c, world->bootstrap->exchange(world->self, mine, bytes, got, &c->err), "exchange");
    for (size_t i = 0; i < all; ++i)
        right =
            right && got[i] == (unsigned char)(i % bytes * 31 + i / bytes * 7 + (i % bytes >> 8));
    expect(c, right, "an exchange of %zu bytes", bytes);
    expect_ok(c, world->bootstrap->barrier(world->self, &c->err), "barrier");
}

static void agree(struct context *c, struct dp_group *group, int n)
{
    int64_t *values = case_memory(c, (size_t)n * sizeof *values);
    bool right = true;
    for (int i = 0; i < n; ++i) /* the largest is that of process i % size */
        values[i] = dp_mpi_rank(mpi) == i % dp_mpi_size(mpi) ? 5 - i : -(int64_t)i - 1000000000000;
    expect_ok(c, dp_comm_allreduce_max(group, values, n, &c->err), "dp_comm_allreduce_max");
    for (int i = 0; i < n; ++i)
        right = right && values[i] == 5 - i;
    expect(c, right, "an agreement on %d numbers", n);
}

static void collectives_all(struct context *c)
{
    static const size_t sizes[] = {1,     3,     7, 240, 959, 961, 5000, COLLECTIVE_CALLS_MOST,
                                   70001, 400000};
    static const size_t bytes[] = {0, 1, 63, 3840, 3841, 40000, 3000001};
    static const int numbers[] = {1, 3, 481, 30000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        collective_calls_of(c, local, sizes[i], false);
    case_release(c);
    collective_calls_bf16(c, local);
    case_release(c);
    struct dp_group *group = open_group(c, local);
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; ++i)
        collectives_exchange(c, bytes[i]);
    for (size_t i = 0; dp_mpi_size(mpi) > 1 && i < sizeof numbers / sizeof *numbers; ++i)
        agree(c, group, numbers[i]);
}

int main(int argc, char **argv)
{
    const struct test_case test = {"mpi/collectives", "", collectives_all};
    if (argc != 3)
        return 2;
    mpi = start_mpi(argv[1]);
    const char *text = argv[2];
    for (int p = 0; p < dp_mpi_rank(mpi) && strchr(text, ','); ++p)
        text = strchr(text, ',') + 1;
    local = (int)strtol(text, NULL, 10);
    for (int i = 0; i < 3; ++i) {
        const struct case_settings settings = {
            .backend = "cpu", .lag = i > 0, .lag_seed = i == 2, .world = dp_mpi_world(mpi)};
        struct case_result result;
        case_run(&test, &settings, &result);
        if (result.verdict == VERDICT_PASS)
            continue;
        printf("FAIL process %d%s: %s\n", dp_mpi_rank(mpi), i > 0 ? ", late" : "", result.message);
        fflush(stdout);
        _exit(1); /* the others are in a call */
    }
    if (dp_mpi_rank(mpi) == 0)
        printf("ok, %s\n", dp_mpi_library(mpi));
    end_mpi(mpi);
    return 0;
}
