/* bench/bencher.c: `lockstep bencher`: one of several processes that hold the ranks of overlap.
 *
 * Each compares what its ranks leave. The times of a round are those of the slowest, and the same
 * in all of them; what they have compared is added up. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/overlap.h"
#include "check/rank_pool.h"
#include "check/rank_worker.h"
#include "command/command.h"
#include "measure/share.h"

struct bencher {
    struct rank_worker worker;
    struct dp_group *group;
    size_t bytes;
    struct overlap_ranks ranks;
};

/* ---- what is asked -------------------------------------------------------------------------- */

static size_t size_of(const json_t *request, const char *name)
{
    return (size_t)json_integer_value(json_object_get(request, name));
}

static int do_group(void *self, const json_t *request, json_t **ok, struct dp_error *err)
{
    struct bencher *b = self;
    struct dp_group_config config = {.devices = rank_worker_text(request, "devices"),
                                     .backend = rank_worker_text(request, "backend"),
                                     .world = dp_mpi_world(b->worker.mpi),
                                     .bind = true};
    bool crowded;
    int status;

    b->bytes = size_of(request, "bytes");
    share_cores(b->worker.mpi, (int)size_of(request, "each"), &config);
    if ((status = dp_group_open(&config, &b->group, err)) ||
        (status = share_oversubscribed(b->group, &crowded, err)))
        return status;
    *ok = json_pack("{s:s, s:s, s:b}", "backend", dp_group_backend(b->group), "library",
                    dp_mpi_library(b->worker.mpi), "oversubscribed", crowded);
    return 0;
}

static int do_rows(void *self, const json_t *request, json_t **ok, struct dp_error *err)
{
    struct bencher *b = self;
    struct overlap_first first;
    const int status =
        overlap_ranks_open(&b->ranks, b->group, b->bytes, size_of(request, "rows"), &first, err);

    if (status)
        return status;
    *ok = json_pack("{s:I, s:s}", "compared", (json_int_t)first.compared, "unverified",
                    first.unverified.text);
    return 0;
}

static int do_round(void *self, const json_t *request, json_t **ok, struct dp_error *err)
{
    struct bencher *b = self;
    struct overlap_round round;
    const int status = overlap_ranks_round(&b->ranks, size_of(request, "round"), &round, err);

    if (status)
        return status;
    *ok = json_pack("{s:f, s:f, s:f, s:I}", "compute", round.times.compute_ns, "comm",
                    round.times.comm_ns, "whole", round.times.whole_ns, "compared",
                    (json_int_t)round.compared);
    return 0;
}

/* ---- answers -------------------------------------------------------------------------------- */

static json_t *answer(void *self, json_t *request)
{
    static const struct rank_operation ops[] = {
        {"group", do_group}, {"rows", do_rows}, {"round", do_round}};
    const struct bencher *b = self;

    return rank_worker_answer(b->worker.mpi, ops, sizeof ops / sizeof ops[0], self, request);
}

/* One for all, with what all have compared. */
static json_t *join(void *self, json_t *const answers[], int n)
{
    json_t *joined = rank_worker_join(answers, n);
    json_t *ok = json_object_get(joined, "ok");
    json_int_t compared = 0;

    (void)self;
    if (!json_object_get(ok, "compared"))
        return joined;
    for (int p = 0; p < n; ++p)
        compared +=
            json_integer_value(json_object_get(json_object_get(answers[p], "ok"), "compared"));
    if (json_object_set_new(ok, "compared", json_integer(compared)) == 0)
        return joined;
    json_decref(joined);
    return NULL;
}

int bencher_main(int argc, char **argv)
{
    struct bencher *b = calloc(1, sizeof *b);
    const struct rank_part part = {answer, join, b, rank_answer_digest};
    int status;

    if (!b)
        return EXIT_FAILED;
    if ((status = rank_worker_open(&b->worker, argc, argv, "bench overlap",
                                   "Worker of bench: some of the ranks of a model."))) {
        free(b);
        return status;
    }
    rank_worker_serve(&b->worker, &part);
    overlap_ranks_close(&b->ranks);
    dp_group_close(b->group);
    rank_worker_end(&b->worker);
}
