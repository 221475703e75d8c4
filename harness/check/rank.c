/* check/rank.c: `lockstep rank`: one of several processes that hold the ranks of models together.
 */
#include <stdlib.h>
#include <string.h>

#include "check/crowd.h"
#include "check/operations.h"
#include "check/worker.h"
#include "command/command.h"
#include "exec/serve.h"
#include "reference/part.h"

struct rank {
    struct worker worker;
    struct serve serve;
};

static const char *text_or_empty(json_t *request, const char *name)
{
    const char *text = json_string_value(json_object_get(request, name));

    return text ? text : "";
}

/* What serve.h leaves to the table, which needs more than that. */
static json_t *open_session(struct rank *r, json_t *request)
{
    const struct impl_config config = {
        .devices = text_or_empty(request, "devices"),
        .options = text_or_empty(request, "options"),
        .seed = (uint64_t)json_integer_value(json_object_get(request, "seed"))};
    struct impl_about about;
    struct impl_error err = {.replica = -1, .device = IMPL_NOWHERE, .device_also = IMPL_NOWHERE};
    const int status = part_open(r->worker.mpi, &config, &about, &r->serve.session, &err);

    if (status == IMPL_OK)
        return json_pack("{s:O, s:o}", "id", json_object_get(request, "id"), "ok",
                         serve_about(&about));
    return serve_error(request, status, &err);
}

static json_t *answer(void *self, json_t *request)
{
    struct rank *r = self;
    const char *op = json_string_value(json_object_get(request, "op"));

    if (op && strcmp(op, "open") == 0)
        return r->serve.session ? NULL : open_session(r, request);
    return r->serve.session ? serve_answer(&r->serve, request) : NULL;
}

static json_t *join(void *self, json_t *const answers[], int n)
{
    (void)self;
    return join_answers(answers, n);
}

int rank_main(int argc, char **argv)
{
    struct rank *r = calloc(1, sizeof *r);
    const struct worker_part part = {answer, join, r, NULL};
    int status;

    if (!r)
        return EXIT_FAILED;
    r->serve.source.ops = part_ops();
    if ((status = worker_open(&r->worker, argc, argv, "check",
                              "Worker of check: some of the ranks of a model."))) {
        free(r);
        return status;
    }
    worker_serve(&r->worker, &part);
    if (r->serve.session)
        r->serve.source.ops->close(r->serve.session);
    worker_end(&r->worker);
}
