/* world.c: DistributedDataParallel over groups that form a world together: each of its ranks has,
 * bit for bit, what that rank has in one group. */
#include "joined.h"
#include "list.h"
#include "trainee.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, PROCESSES = 2, LOCAL = RANKS / PROCESSES, STEPS = TRAINEE_STEPS };

static const struct trainee_plan plans[] = {
    {"plain", false, false, {STEPS, STEPS, STEPS, STEPS}, -1, false, false},
    {"search", true, true, {STEPS, STEPS, STEPS, STEPS}, -1, false, false},
    {"join", false, false, {STEPS - 2, 2, STEPS - 1, 3}, -1, false, false},
    {"join of one", true, true, {1, 2, 2, STEPS - 1}, -1, false, false},
};

/* ---- the cases --------------------------------------------------------------------------- */

static struct trainee *open_process(struct context *c, const struct trainee_plan *plan, int first,
                                    int n, const struct dp_world *world)
{
    char *devices = case_memory(c, 256);
    device_list(&c->settings, n, devices);
    const struct dp_group_config config = {.devices = devices,
                                           .backend = c->settings.backend,
                                           .lag_seed = c->settings.lag_seed,
                                           .no_graphs = c->settings.no_graphs,
                                           .world = world};
    struct trainee *p = trainee_open(plan, RANKS, first, n, &config);
    if (!p)
        case_fail(c, "out of memory");
    own(c, trainee_close, p);
    return p;
}

static void close_joined(void *object)
{
    joined_close(object);
}

/* Runs two groups of two slots, each driven by a thread. */
static void run_joined(struct context *c, const struct trainee_plan *plan, enum joined_way way,
                       struct trainee *process[PROCESSES])
{
    struct joined_end *end = case_memory(c, PROCESSES * sizeof *end);
    pthread_t thread;
    struct joined *joined = joined_open(PROCESSES, way, end);
    if (!joined)
        case_fail(c, "out of memory");
    own(c, close_joined, joined);
    for (int k = 0; k < PROCESSES; ++k)
        process[k] = open_process(c, plan, k * LOCAL, LOCAL, &end[k].world);
    if (pthread_create(&thread, NULL, trainee_run, process[1]) != 0)
        case_fail(c, "no thread");
    trainee_run(process[0]);
    (void)pthread_join(thread, NULL);
}

static void world_compare(struct context *c, const struct trainee *whole,
                          const struct trainee *part)
{
    char text[120];
    trainee_compare(whole, part, text, sizeof text);
    expect(c, text[0] == '\0', "%s", text);
}

static void same_bits(struct context *c)
{
    for (size_t k = 0; k < sizeof plans / sizeof plans[0]; ++k) {
        for (int way = 0; way < JOINED_WAYS; ++way) {
            struct trainee *process[PROCESSES];
            case_release(c);
            case_note(c, "%s, way %d", plans[k].name, way);
            struct trainee *whole = open_process(c, &plans[k], 0, RANKS, NULL);
            trainee_run(whole);
            expect_ok_of(c, whole->status, &whole->err, "one group");
            expect(c, whole->world_seen == RANKS && whole->first_seen == 0,
                   "one group: a world of %d, from %d on", whole->world_seen, whole->first_seen);
            run_joined(c, &plans[k], (enum joined_way)way, process);
            for (int p = 0; p < PROCESSES; ++p) {
                expect_ok_of(c, process[p]->status, &process[p]->err, "a group of two");
                expect(c, process[p]->world_seen == RANKS && process[p]->first_seen == p * LOCAL,
                       "group %d: a world of %d, from %d on", p, process[p]->world_seen,
                       process[p]->first_seen);
                world_compare(c, whole, process[p]);
            }
            /* The first layer's weight: ranks without a batch at the end have that of before. */
            expect(c,
                   trainee_value(whole, 0, 0)[0] != 0.0f && trainee_value(whole, 3, 0)[0] != 0.0f,
                   "nothing was trained");
        }
    }
}

/* A failure in one process is a failure in both, and no process waits for ever. */
static void failures(struct context *c)
{
    static const struct trainee_plan bad[] = {
        {"backward of rank 3", false, false, {STEPS, STEPS, STEPS, STEPS}, 3, false, false},
        {"backward of rank 0", true, false, {STEPS, STEPS, STEPS, STEPS}, 0, false, false},
        {"another model", false, false, {STEPS, STEPS, STEPS, STEPS}, -1, true, false},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k) {
        for (int way = 0; way < JOINED_WAYS; ++way) {
            struct trainee *process[PROCESSES];
            case_release(c);
            case_note(c, "%s, way %d", bad[k].name, way);
            run_joined(c, &bad[k], (enum joined_way)way, process);
            for (int p = 0; p < PROCESSES; ++p) {
                const bool own = bad[k].fails >= 0 && bad[k].fails / LOCAL == p;
                const char *needle = own          ? "broken on purpose"
                                     : bad[k].odd ? "other parameters"
                                                  : "has given up";
                expect_error_of(c, process[p]->status, bad[k].odd ? DP_EINVAL : DP_EFAULT,
                                &process[p]->err, needle, NULL);
                expect(c, process[p]->step == (bad[k].odd ? 0 : 2), "group %d ended with step %d",
                       p, process[p]->step - 1);
            }
        }
    }
}

/* A communicator that works in one process only is refused, and not used for a part of the world.
 */
static void world_refused(struct context *c)
{
    struct joined_end *end = case_memory(c, PROCESSES * sizeof *end);
    struct joined *joined = joined_open(PROCESSES, JOINED_AT_ONCE, end);
    if (!joined)
        case_fail(c, "out of memory");
    own(c, close_joined, joined);
    end[0].world.comm = NULL;
    struct trainee *p = open_process(c, &plans[0], 0, LOCAL, &end[0].world);
    trainee_run(p);
    expect_error_of(c, p->status, DP_ENOTSUP, &p->err, "does not reach", NULL);
}

static const struct test_case cases[] = {
    {"world/same-bits", "DDP-01 DDP-05 DDP-07 DDP-08 DDP-11 DDP-19 DDP-20 DDP-22", same_bits},
    {"world/failures", "ERR-08", failures},
    {"world/refused", "", world_refused},
};
const struct case_table world_cases = {cases, sizeof cases / sizeof cases[0]};
