/* hostile.c: the table of operations of an implementation with one bad habit (hostile.h).
 * Operations without the habit are passed on to a good one. */
#include "hostile.h"

#include "load.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A table that claims an operation which it does not have: CMake sets it to NULL for one module. */
#ifndef HOSTILE_SPLIT
#define HOSTILE_SPLIT hostile_split
#endif

/* ---- sessions -------------------------------------------------------------------------------- */

static void spoil_about(enum habit habit, bool host_only, struct impl_about *about)
{
    if (habit == OPEN_NO_NAME)
        about->name[0] = '\0';
    if (habit == OPEN_MANY_DEVICES)
        about->devices = 1000000;
    if (habit == OPEN_NEGATIVE_DEVICES)
        about->devices = -3;
    if (habit == OPEN_RUBBISH_DIALECT)
        about->dialect[IMPL_UNUSED] = (enum impl_choice)99;
    if (habit == OPEN_SHRINKS && access("opened", F_OK) == 0)
        about->devices = 1;
    if (habit == OPEN_SHRINKS)
        close(creat("opened", 0600));
    if (habit == OPEN_HOST_DEVICES && host_only)
        about->devices = 2;
    if (habit == NO_RANKS)
        about->devices = 0;
}

static int hostile_open(const struct impl_config *config, struct impl_about *about,
                        struct impl_session **session, struct impl_error *err)
{
    const enum habit habit = habit_of(config->options);
    struct impl_config inner = *config;
    struct impl_session *opened;
    int status;

    *session = NULL;
    if (habit == HABITS) {
        err->status = IMPL_EINVAL;
        snprintf(err->text, sizeof err->text, "no habit '%.60s'", config->options);
        return IMPL_EINVAL;
    }
    if (habit == OPEN_CRASHES)
        act_crash();
    if (habit == OPEN_EXITS)
        exit(0);
    if (habit == OPEN_NOISE)
        act_noise();
    opened = calloc(1, sizeof *opened);
    opened->habit = habit;
    opened->good = mutant_impl();
    inner.options = "none";
    status = opened->good->open(&inner, about, &opened->inner, err);
    spoil_about(habit, config->host_only, about);
    if (status == IMPL_OK && habit != OPEN_FORGETS) {
        *session = opened;
        return IMPL_OK;
    }
    if (status == IMPL_OK)
        opened->good->close(opened->inner);
    free(opened);
    return status;
}

static void hostile_close(struct impl_session *s)
{
    if (s->habit == CLOSE_CRASHES)
        act_crash();
    while (s->hoard) {
        struct hoard *next = s->hoard->next;
        free(s->hoard);
        s->hoard = next;
    }
    s->good->close(s->inner);
    free(s);
}

static int hostile_reset(struct impl_session *s, struct impl_error *err)
{
    if (s->habit != RESET_FAILS)
        return s->good->reset(s->inner, err);
    err->status = IMPL_EFAULT;
    snprintf(err->text, sizeof err->text, "somebody still holds device 2");
    return IMPL_EFAULT;
}

/* ---- primitives ------------------------------------------------------------------------------ */

static int forgive(const struct impl_session *s, int status, struct impl_error *err)
{
    if (s->habit == REFUSES_ALL)
        return act_refuse_all(err);
    if (s->habit != NEVER_REFUSES)
        return status;
    memset(err, 0, sizeof *err);
    return IMPL_OK;
}

int hostile_split(struct impl_session *s, struct impl_split *op, struct impl_error *err);
int hostile_split(struct impl_session *s, struct impl_split *op, struct impl_error *err)
{
    return forgive(s, s->good->split(s->inner, op, err), err);
}

static int hostile_scatter(struct impl_session *s, struct impl_scatter *op, struct impl_error *err)
{
    int status = IMPL_OK;

    act_before_scatter(s->habit, op);
    op->n_shards = op->n;
    if (s->habit != SCATTER_UNFILLED)
        status = s->good->scatter(s->inner, op, err);
    if (s->habit == REFUSES_ALL)
        return act_refuse_all(err);
    return act_after_scatter(s->habit, op, status, err);
}

static int hostile_gather(struct impl_session *s, struct impl_gather *op, struct impl_error *err)
{
    return forgive(s, s->good->gather(s->inner, op, err), err);
}

static int hostile_broadcast(struct impl_session *s, struct impl_broadcast *op,
                             struct impl_error *err)
{
    return forgive(s, s->good->broadcast(s->inner, op, err), err);
}

static int hostile_reduce(struct impl_session *s, struct impl_reduce *op, struct impl_error *err)
{
    return forgive(s, s->good->reduce(s->inner, op, err), err);
}

static int hostile_apply(struct impl_session *s, struct impl_apply *op, struct impl_error *err)
{
    return forgive(s, s->good->apply(s->inner, op, err), err);
}

static int hostile_buckets(struct impl_session *s, struct impl_buckets *op, struct impl_error *err)
{
    return forgive(s, s->good->buckets(s->inner, op, err), err);
}

static int hostile_sampler(struct impl_session *s, struct impl_sampler *op, struct impl_error *err)
{
    return forgive(s, s->good->sampler(s->inner, op, err), err);
}

/* ---- models ---------------------------------------------------------------------------------- */

static int hostile_model_open(struct impl_session *s, const char *description, int ranks,
                              struct impl_model **model, struct impl_error *err)
{
    struct impl_model *opened;
    int status;

    if (s->habit == REFUSES_ALL)
        return act_refuse_all(err);
    if (s->habit == NO_RANKS && ranks > 1) {
        err->status = IMPL_ENODEV;
        snprintf(err->text, sizeof err->text, "there is no device for rank 1");
        return IMPL_ENODEV;
    }
    opened = calloc(1, sizeof *opened);
    status = s->good->model_open(s->inner, description, ranks, &opened->inner, err);
    opened->session = s;
    *model = opened;
    if (status == IMPL_OK)
        return IMPL_OK;
    free(opened);
    *model = NULL;
    return status;
}

static void hostile_model_close(struct impl_model *m)
{
    m->session->good->model_close(m->inner);
    free(m);
}

static int hostile_params(struct impl_model *m, int *n, struct impl_error *err)
{
    return m->session->good->params(m->inner, n, err);
}

static int hostile_param(struct impl_model *m, int i, struct impl_param *param,
                         struct impl_error *err)
{
    return m->session->good->param(m->inner, i, param, err);
}

static int hostile_set(struct impl_model *m, int rank, enum impl_what what, int i,
                       const struct impl_array *array, struct impl_error *err)
{
    return m->session->good->set(m->inner, rank, what, i, array, err);
}

static int hostile_get(struct impl_model *m, int rank, enum impl_what what, int i,
                       struct impl_array *array, struct impl_error *err)
{
    const int status = m->session->good->get(m->inner, rank, what, i, array, err);

    if (m->session->habit == GET_NAN && status == IMPL_OK)
        act_nan(array);
    return status;
}

static int hostile_to(struct impl_model *m, int device, struct impl_error *err)
{
    return m->session->good->to(m->inner, device, err);
}

static int hostile_zero_grad(struct impl_model *m, struct impl_error *err)
{
    return m->session->good->zero_grad(m->inner, err);
}

/* The memory is written, because pages that were never written do not take memory yet. */
static void hoard_a_batch(struct impl_session *s)
{
    struct hoard *hoard = malloc(sizeof *hoard);

    if (!hoard)
        return;
    memset(hoard->bytes, 1, sizeof hoard->bytes);
    hoard->next = s->hoard;
    s->hoard = hoard;
}

static int hostile_forward(struct impl_model *m, struct impl_forward *op, struct impl_error *err)
{
    if (m->session->habit == FORWARD_HANGS)
        act_hang();
    if (m->session->habit == FORWARD_LEAKS)
        hoard_a_batch(m->session);
    return m->session->good->forward(m->inner, op, err);
}

static int hostile_backward(struct impl_model *m, struct impl_backward *op, struct impl_error *err)
{
    if (m->session->habit == BACKWARD_CRASHES)
        act_crash();
    return m->session->good->backward(m->inner, op, err);
}

static int hostile_step(struct impl_model *m, const struct impl_step *step, struct impl_error *err)
{
    return m->session->good->step(m->inner, step, err);
}

const struct impl_ops *lockstep_impl(uint32_t version)
{
    static const struct impl_ops ops = {
        .version = IMPL_VERSION,
        .bytes = sizeof ops,
        .open = hostile_open,
        .close = hostile_close,
        .reset = hostile_reset,
        .split = HOSTILE_SPLIT,
        .scatter = hostile_scatter,
        .gather = hostile_gather,
        .broadcast = hostile_broadcast,
        .reduce = hostile_reduce,
        .apply = hostile_apply,
        .buckets = hostile_buckets,
        .sampler = hostile_sampler,
        .model_open = hostile_model_open,
        .model_close = hostile_model_close,
        .params = hostile_params,
        .param = hostile_param,
        .set = hostile_set,
        .get = hostile_get,
        .to = hostile_to,
        .zero_grad = hostile_zero_grad,
        .forward = hostile_forward,
        .backward = hostile_backward,
        .step = hostile_step,
    };

    return version == IMPL_VERSION ? &ops : NULL;
}
