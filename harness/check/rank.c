/* check/rank.c: `lockstep rank`: one of several processes that together hold the ranks of
 * models. */
#include <string.h>

#include "command/command.h"
#include "exec/serve.h"
#include "launch/rank_pool.h"
#include "reference/part.h"

struct rank {
    struct rank_worker worker;
    struct serve serve;
};

/* serve.h leaves "open" to its user, who needs more than the request. */
static json_t *answer_request(void *self, json_t *request)
{
    struct rank *r = self;
    const struct impl_config config = {
        .devices = rank_worker_text(request, "devices"),
        .options = rank_worker_text(request, "options"),
        .seed = (uint64_t)json_integer_value(json_object_get(request, "seed"))};
    struct impl_about about;
    struct impl_error err = {.replica = -1, .device = IMPL_NOWHERE, .device_also = IMPL_NOWHERE};

    if (strcmp(rank_worker_text(request, "op"), "open") != 0)
        return r->serve.session ? serve_answer(&r->serve, request) : NULL;
    if (r->serve.session)
        return NULL;
    const int status = part_open(r->worker.mpi, &config, &about, &r->serve.session, &err);

    if (status == IMPL_OK)
        return json_pack("{s:O, s:o}", "id", json_object_get(request, "id"), "ok",
                         serve_about(&about));
    return serve_error(request, status, &err);
}

/* ---- one answer for those of all ------------------------------------------------------------- */

/* The answers are those of PROTOCOL.md, and are joined field by field. An array of a rank is null
 * in the answers of all processes but one, or in all. If one process answers with an error, that is
 * the answer. A field that only one process knows is taken from that one, and all others from the
 * first. */
static json_t *field_of(json_t *const answers[], int p, const char *name)
{
    return json_object_get(json_object_get(answers[p], "ok"), name);
}

/* The list of a process is empty if none of its ranks took part. */
static void join_list(json_t *ok, json_t *const answers[], int n, const char *name)
{
    json_t *joined = json_array();
    size_t count = 0;

    for (int p = 0; p < n; ++p) {
        const size_t size = json_array_size(field_of(answers, p, name));

        count = size > count ? size : count;
    }
    for (size_t i = 0; i < count; ++i) {
        json_t *entry = NULL;

        for (int p = 0; p < n && !entry; ++p) {
            const json_t *list = field_of(answers, p, name);
            json_t *value = json_array_size(list) == count ? json_array_get(list, i) : NULL;

            entry = value && !json_is_null(value) ? json_incref(value) : NULL;
        }
        json_array_append_new(joined, entry ? entry : json_null());
    }
    json_object_set_new(ok, name, joined);
}

static json_t *join_answers(void *self, json_t *const answers[], int n)
{
    json_t *ok = json_object_get(answers[0], "ok");

    (void)self;
    for (int p = 0; p < n; ++p)
        if (!json_object_get(answers[p], "ok"))
            return NULL;
    json_t *array = json_object_get(ok, "array"),
           *replicas = json_object_get(json_object_get(ok, "trace"), "replicas");
    json_int_t n_out = 0;

    for (int p = 0; p < n; ++p) {
        const json_int_t count = json_integer_value(field_of(answers, p, "n_out"));
        json_t *more = json_object_get(field_of(answers, p, "trace"), "replicas");

        n_out = count > n_out ? count : n_out;
        if (json_is_null(array))
            array = field_of(answers, p, "array");
        /* The replicas of a trace are those of all ranks, in order. The rest of a trace is that of
         * the first process. */
        if (p > 0 && replicas && more)
            json_array_extend(replicas, more);
    }
    if (array)
        json_object_set(ok, "array", array);
    if (json_object_get(ok, "n_out"))
        json_object_set_new(ok, "n_out", json_integer(n_out));
    if (json_object_get(ok, "out"))
        join_list(ok, answers, n, "out");
    if (json_object_get(ok, "grad_in"))
        join_list(ok, answers, n, "grad_in");
    return json_incref(answers[0]);
}

int rank_main(int argc, char **argv)
{
    struct rank r = {.serve.source.ops = part_ops()};
    const struct rank_part part = {answer_request, join_answers, &r, NULL};
    const int status = rank_worker_serve(&r.worker, argc, argv, "check",
                                         "Worker of check: some of the ranks of a model.", &part);

    if (status)
        return status;
    if (r.serve.session)
        r.serve.source.ops->close(r.serve.session);
    rank_worker_end(&r.worker);
}
