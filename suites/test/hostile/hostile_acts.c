/* hostile_acts.c: the bad habits of hostile.h, one function each. */
#include "hostile.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HABIT(habit, word) [habit] = word,
static const char *const words[HABITS] = {
#include "habit_list.h"
};
#undef HABIT

enum habit habit_of(const char *word)
{
    enum habit habit = HABIT_NONE;

    if (word[0] == '\0')
        return habit;
    while (habit < HABITS && strcmp(words[habit], word) != 0)
        ++habit;
    return habit;
}

/* ---- on its own ------------------------------------------------------------------------------ */

/* Recurses deeper than any stack. The volatile byte keeps it from becoming a loop. */
static size_t recurse(const char *above, size_t depth)
{
    char here[4096];

    memset(here, (int)depth, sizeof here);
    if (depth == SIZE_MAX)
        return 0;
    here[depth % sizeof here] ^= above[depth % sizeof here];
    return recurse(here, depth + 1) + (size_t)here[0];
}

/* ---- arrays ---------------------------------------------------------------------------------- */

size_t act_elements(const struct impl_array *array)
{
    size_t count = 1;

    for (int i = 0; i < array->ndim; ++i)
        count *= array->dim[i];
    return count;
}

void act_nan(struct impl_array *array)
{
    const float not_a_number = NAN;

    if (array->dtype == IMPL_F32 && act_elements(array) > 0)
        memcpy((char *)array->data + 4 * (act_elements(array) - 1), &not_a_number, 4);
}

/* Computes the address as a number, so that no compiler sees where it leads. */
volatile unsigned char *act_byte(const void *data, intptr_t offset)
{
    return (volatile unsigned char *)((intptr_t)data + offset);
}

void act_add_one(const void *data, intptr_t offset)
{
    volatile unsigned char *byte = act_byte(data, offset);

    *byte = (unsigned char)(*byte + 1);
}

/* ---- scatter --------------------------------------------------------------------------------- */

void act_before_scatter(enum habit habit, struct impl_scatter *op)
{
    act_on_walls(habit, op);
    if (habit == SCATTER_CRASHES)
        act_crash();
    if (habit == SCATTER_ABORTS)
        abort();
    if (habit == SCATTER_EXITS)
        exit(0);
    if (habit == SCATTER_RECURSES)
        fprintf(stderr, "%zu\n", recurse("\0\0\0\0\0\0\0\0", 0));
    if (habit == SCATTER_STOPS)
        raise(SIGSTOP);
    if (habit == SCATTER_NOISE)
        act_noise();
    if (habit == SCATTER_FORKS)
        act_fork();
    if (habit == SCATTER_CLOSES)
        act_close();
    if (habit == SCATTER_FORGES)
        act_forge();
    if (habit == SCATTER_INPUT && op->input->data && act_elements(op->input) > 0)
        act_add_one(op->input->data, 0);
}

int act_refuse(struct impl_error *err, int status, const char *text)
{
    memset(err, 0, sizeof *err);
    err->status = status;
    err->replica = -1;
    err->device = err->device_also = IMPL_NOWHERE;
    snprintf(err->text, sizeof err->text, "%s", text);
    return status;
}

static int spoil_status(enum habit habit, struct impl_scatter *op, int status,
                        struct impl_error *err)
{
    switch (habit) {
    case SCATTER_NO_COUNT:
        op->n_shards = -7;
        return status;
    case SCATTER_STATUS:
        return act_refuse(err, 4711, "a status of its own");
    case SCATTER_NO_REASON:
        return act_refuse(err, IMPL_EINVAL, "");
    case SCATTER_LIES:
        act_refuse(err, IMPL_EINVAL, "in fact it did not work");
        return IMPL_OK;
    case SCATTER_RAW_REASON:
        act_refuse(err, IMPL_EINVAL, "");
        memset(err->text, '\x1b', sizeof err->text);
        return IMPL_EINVAL;
    case SCATTER_BROKEN:
        return act_refuse(err, IMPL_EBROKEN, "the adapter lost its licence server");
    case NEVER_REFUSES:
        memset(err, 0, sizeof *err);
        return IMPL_OK;
    default:
        return status;
    }
}

static void spoil_shard(enum habit habit, struct impl_array *shard)
{
    switch (habit) {
    case SCATTER_BEHIND:
        act_add_one(shard->data, (intptr_t)shard->capacity);
        break;
    case SCATTER_BEFORE:
        act_add_one(shard->data, -1);
        break;
    case SCATTER_NAN:
        act_nan(shard);
        break;
    case SCATTER_DEVICE:
        shard->device = shard->device == 0 ? 1 : 0;
        break;
    case SCATTER_NDIM:
        shard->ndim = 1 << 20;
        break;
    case SCATTER_DTYPE:
        shard->dtype = (enum impl_dtype)77;
        break;
    case SCATTER_DIM:
        shard->dim[0] = SIZE_MAX / 2;
        break;
    default:
        break;
    }
}

int act_after_scatter(enum habit habit, struct impl_scatter *op, int status, struct impl_error *err)
{
    if (status == IMPL_OK && op->n_shards > 0)
        spoil_shard(habit, &op->shards[op->n_shards - 1]);
    return spoil_status(habit, op, status, err);
}
