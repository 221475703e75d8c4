/* world.c: DistributedDataParallel on ranks of several processes: the results of each
 * rank are, bit for bit, those of that rank in one group of all ranks, which every process also
 * trains by itself.
 *
 *   lockstep-mpi-world MODULE LOCALS [PLAN]
 *
 * LOCALS: how many ranks each process drives, "1,3,2", or several such lists: "1,3/2,2".
 * PLAN: a plan that fails, instead of all that do not. Process 0 ends with "ok N", or says why not.
 */
#include "start.h"
#include "trainee.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = TRAINEE_STEPS };

#define ALWAYS                                                                                     \
    {                                                                                              \
        STEPS, STEPS, STEPS, STEPS, STEPS, STEPS, STEPS, STEPS                                     \
    }
static const struct trainee_plan plans[] = {
    {"plain", false, false, ALWAYS, -1, false, false},
    {"search", true, true, ALWAYS, -1, false, false},
    {"join", false, false, {STEPS - 2, 2, STEPS - 1, 3, 4, 1, 2, 3}, -1, false, false},
    {"join of one", true, true, {1, 2, 2, STEPS - 1, 2, 1, 1, 2}, -1, false, false},
    {"wide", false, false, ALWAYS, -1, false, true},
    {"wide search", true, true, ALWAYS, -1, false, true},
};
static const struct trainee_plan bad[] = {
    {"backward of rank 0", true, false, ALWAYS, 0, false, false},
    {"backward of rank 1", false, false, ALWAYS, 1, false, false},
    {"another model", false, false, ALWAYS, -1, true, false},
};

static const struct kind {
    const char *suffix, *backend;
    uint64_t seed;
} kinds[] = {{"", "cpu", 0},         {"", "cpu-ref", 0}, {"+lag", "cpu", 0},
             {"+lag", "cpu-ref", 1}, {"+lag", "cpu", 2}, {"+50us", "cpu", 0}};

struct layout {
    int processes, ranks, locals[TRAINEE_RANKS];
};

/* Moves *text to the place after the list. */
static bool read_layout(const char **text, struct layout *layout)
{
    char *end = NULL;
    *layout = (struct layout){.processes = 0};
    for (bool more = true; more; *text = end) {
        const long n = strtol(*text, &end, 10);
        if (n < 1 || layout->processes == TRAINEE_RANKS || layout->ranks + n > TRAINEE_RANKS)
            return false;
        layout->locals[layout->processes++] = (int)n;
        layout->ranks += (int)n;
        more = *end == ',';
        end += *end == ',' || *end == '/';
    }
    return true;
}

static int world_first_of(const struct layout *layout, int process)
{
    int first = 0;
    for (int p = 0; p < process; ++p)
        first += layout->locals[p];
    return first;
}

static struct trainee *world_train(const struct trainee_plan *plan, const struct kind *kind,
                                   int ranks, int first, int n, const struct dp_world *world)
{
    char devices[32];
    snprintf(devices, sizeof devices, "virt:%d%s", n, kind->suffix);
    const struct dp_group_config config = {
        .devices = devices, .backend = kind->backend, .lag_seed = kind->seed, .world = world};
    struct trainee *t = trainee_open(plan, ranks, first, n, &config);
    if (t)
        trainee_run(t);
    return t;
}

/* Trains in this process, its ranks in the world and all ranks in one group, and compares the
 * results. */
static int try(struct dp_mpi *mpi, const struct layout *layout, const struct trainee_plan *plan,
               const struct kind *kind)
{
    const int rank = dp_mpi_rank(mpi), first = world_first_of(layout, rank);
    struct trainee *part =
        world_train(plan, kind, layout->ranks, first, layout->locals[rank], dp_mpi_world(mpi));
    struct trainee *whole = world_train(plan, kind, layout->ranks, 0, layout->ranks, NULL);
    char text[160] = "no memory";
    if (part && whole && (part->status || whole->status))
        snprintf(text, sizeof text, "%.150s", part->status ? part->err.text : whole->err.text);
    else if (part && whole && (part->world_seen != layout->ranks || part->first_seen != first))
        snprintf(text, sizeof text, "a world of %d, from %d on", part->world_seen,
                 part->first_seen);
    else if (part && whole && trainee_value(whole, first, 0)[0] == 0.0f)
        snprintf(text, sizeof text, "nothing was trained");
    else if (part && whole)
        trainee_compare(whole, part, text, sizeof text);
    if (text[0])
        printf("FAIL process %d: %s, %s%s: %s\n", rank, plan->name, kind->backend, kind->suffix,
               text);
    trainee_close(part);
    trainee_close(whole);
    return text[0] ? 1 : 0;
}

static int try_all(struct dp_mpi *mpi, const char *layouts)
{
    struct layout layout;
    int failed = 0, done = 0;
    while (failed == 0 && *layouts) {
        if (!read_layout(&layouts, &layout) || layout.processes != dp_mpi_size(mpi)) {
            printf("FAIL: ranks for %d processes, there are %d\n", layout.processes,
                   dp_mpi_size(mpi));
            return 1;
        }
        for (size_t k = 0; failed == 0 && k < sizeof kinds / sizeof *kinds; ++k)
            for (size_t i = 0; failed == 0 && i < sizeof plans / sizeof *plans; ++i, ++done)
                failed = try(mpi, &layout, &plans[i], &kinds[k]);
    }
    if (failed == 0 && dp_mpi_rank(mpi) == 0)
        printf("ok %d\n", done);
    return failed;
}

/* Prints the line of the failure, in each process. */
static int try_bad(struct dp_mpi *mpi, const char *layouts, const char *name)
{
    struct layout layout;
    const int rank = dp_mpi_rank(mpi);
    if (!read_layout(&layouts, &layout) || layout.processes != dp_mpi_size(mpi))
        return 1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        if (strcmp(bad[i].name, name) != 0)
            continue;
        struct trainee *t =
            world_train(&bad[i], &kinds[0], layout.ranks, world_first_of(&layout, rank),
                        layout.locals[rank], dp_mpi_world(mpi));
        printf("process %d: step %d: %s: %s\n", rank, t ? t->step : -1,
               t ? dp_status_name(t->status) : "ENOMEM", t ? t->err.text : "");
        trainee_close(t);
        return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    struct dp_error err = {0};
    if (argc < 3)
        return 2;
    struct dp_mpi *mpi = start_mpi(argv[1]);
    const int failed = argc > 3 ? try_bad(mpi, argv[2], argv[3]) : try_all(mpi, argv[2]);
    fflush(stdout);
    const int closed = dp_mpi_close(mpi, &err);
    if (argc == 3 && closed)
        printf("FAIL: %s\n", err.text);
    fflush(stdout);
    if (closed) /* MPI has not ended */
        _exit(argc > 3 ? failed : 1);
    return failed;
}
