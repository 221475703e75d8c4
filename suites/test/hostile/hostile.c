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

/* All sessions of a process have the same options, and so one habit. Sessions and models are those
 * of the good implementation. */
static enum habit habit;
static const struct impl_ops *good;
static struct hoard *hoard; /* FORWARD_LEAKS */

/* ---- sessions -------------------------------------------------------------------------------- */

static void spoil_about(bool host_only, struct impl_about *about)
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
    if (habit == NO_JOIN)
        about->capabilities &= ~(uint64_t)IMPL_CAP_JOIN;
}

static int hostile_open(const struct impl_config *config, struct impl_about *about,
                        struct impl_session **session, struct impl_error *err)
{
    struct impl_config inner = *config;
    int status;

    *session = NULL;
    habit = habit_of(config->options);
    good = mutant_impl();
    if (habit == HABITS) {
        act_refuse(err, IMPL_EINVAL, "");
        snprintf(err->text, sizeof err->text, "no habit '%.60s'", config->options);
        return IMPL_EINVAL;
    }
    if (habit == OPEN_CRASHES)
        act_crash();
    if (habit == OPEN_EXITS)
        exit(0);
    if (habit == OPEN_NOISE)
        act_noise();
    inner.options = "none";
    status = good->open(&inner, about, session, err);
    spoil_about(config->host_only, about);
    if (status == IMPL_OK && habit == OPEN_FORGETS) {
        good->close(*session);
        *session = NULL;
    }
    return status;
}

static void hostile_close(struct impl_session *s)
{
    if (habit == CLOSE_CRASHES)
        act_crash();
    while (hoard) {
        struct hoard *next = hoard->next;
        free(hoard);
        hoard = next;
    }
    good->close(s);
}

static int hostile_reset(struct impl_session *s, struct impl_error *err)
{
    return habit == RESET_FAILS ? act_refuse(err, IMPL_EFAULT, "somebody still holds device 2")
                                : good->reset(s, err);
}

/* ---- primitives ------------------------------------------------------------------------------ */

static int forgive(int status, struct impl_error *err)
{
    if (habit == REFUSES_ALL)
        return act_refuse(err, IMPL_EINVAL, "no");
    if (habit != NEVER_REFUSES)
        return status;
    memset(err, 0, sizeof *err);
    return IMPL_OK;
}

int hostile_split(struct impl_session *s, struct impl_split *op, struct impl_error *err);
int hostile_split(struct impl_session *s, struct impl_split *op, struct impl_error *err)
{
    return forgive(good->split(s, op, err), err);
}

static int hostile_scatter(struct impl_session *s, struct impl_scatter *op, struct impl_error *err)
{
    int status = IMPL_OK;

    act_before_scatter(habit, op);
    op->n_shards = op->n;
    if (habit != SCATTER_UNFILLED)
        status = good->scatter(s, op, err);
    if (habit == REFUSES_ALL)
        return act_refuse(err, IMPL_EINVAL, "no");
    return act_after_scatter(habit, op, status, err);
}

static int hostile_gather(struct impl_session *s, struct impl_gather *op, struct impl_error *err)
{
    return forgive(good->gather(s, op, err), err);
}

static int hostile_broadcast(struct impl_session *s, struct impl_broadcast *op,
                             struct impl_error *err)
{
    return forgive(good->broadcast(s, op, err), err);
}

static int hostile_reduce(struct impl_session *s, struct impl_reduce *op, struct impl_error *err)
{
    return forgive(good->reduce(s, op, err), err);
}

static int hostile_apply(struct impl_session *s, struct impl_apply *op, struct impl_error *err)
{
    return forgive(good->apply(s, op, err), err);
}

static int hostile_buckets(struct impl_session *s, struct impl_buckets *op, struct impl_error *err)
{
    return forgive(good->buckets(s, op, err), err);
}

static int hostile_sampler(struct impl_session *s, struct impl_sampler *op, struct impl_error *err)
{
    return forgive(good->sampler(s, op, err), err);
}

/* ---- models ---------------------------------------------------------------------------------- */

static int hostile_model_open(struct impl_session *s, const char *description, int ranks,
                              struct impl_model **model, struct impl_error *err)
{
    if (habit == REFUSES_ALL)
        return act_refuse(err, IMPL_EINVAL, "no");
    if (habit == NO_RANKS && ranks > 1)
        return act_refuse(err, IMPL_ENODEV, "there is no device for rank 1");
    return good->model_open(s, description, ranks, model, err);
}

static int hostile_get(struct impl_model *m, int rank, enum impl_what what, int i,
                       struct impl_array *array, struct impl_error *err)
{
    const int status = good->get(m, rank, what, i, array, err);

    if (habit == GET_NAN && status == IMPL_OK)
        act_nan(array);
    return status;
}

/* The memory is written, because pages that were never written do not take memory yet. */
static void hoard_a_batch(void)
{
    struct hoard *more = malloc(sizeof *more);

    if (!more)
        return;
    memset(more->bytes, 1, sizeof more->bytes);
    more->next = hoard;
    hoard = more;
}

static int hostile_forward(struct impl_model *m, struct impl_forward *op, struct impl_error *err)
{
    if (habit == FORWARD_HANGS)
        act_hang();
    if (habit == FORWARD_LEAKS)
        hoard_a_batch();
    return good->forward(m, op, err);
}

static int hostile_backward(struct impl_model *m, struct impl_backward *op, struct impl_error *err)
{
    if (habit == BACKWARD_CRASHES)
        act_crash();
    return good->backward(m, op, err);
}

/* The table of the good implementation, with what has habits in its place. */
const struct impl_ops *lockstep_impl(uint32_t version)
{
    static struct impl_ops ops;

    ops = *mutant_impl();
    ops.open = hostile_open;
    ops.close = hostile_close;
    ops.reset = hostile_reset;
    ops.split = HOSTILE_SPLIT;
    ops.scatter = hostile_scatter;
    ops.gather = hostile_gather;
    ops.broadcast = hostile_broadcast;
    ops.reduce = hostile_reduce;
    ops.apply = hostile_apply;
    ops.buckets = hostile_buckets;
    ops.sampler = hostile_sampler;
    ops.model_open = hostile_model_open;
    ops.get = hostile_get;
    ops.forward = hostile_forward;
    ops.backward = hostile_backward;
    return version == IMPL_VERSION ? &ops : NULL;
}
