/* example.c: a whole adapter, for something that can cut rows and deal out samples. Build it with
 *     cc -std=c11 -shared -fPIC -I PREFIX/include -o it.so adapter.c */
#include <lockstep/impl.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(struct impl_error *err, int status, const char *text)
{
    *err = (struct impl_error){status, -1, IMPL_NOWHERE, IMPL_NOWHERE, ""};
    snprintf(err->text, sizeof err->text, "%s", text);
    return status;
}

static int it_open(const struct impl_config *config, struct impl_about *about,
                   struct impl_session **session, struct impl_error *err)
{
    if (config->devices[0] != '\0')
        return fail(err, IMPL_ENODEV, "there are no devices to choose from");
    *about = (struct impl_about){"example", "1", .dialect = {[IMPL_NO_ROWS] = IMPL_EMPTY}};
    about->capabilities = IMPL_CAP_SPLIT | IMPL_CAP_SAMPLER;
    *session = malloc(1); /* nothing to remember */
    return *session != NULL ? 0 : fail(err, IMPL_EBROKEN, "no memory");
}

static void it_close(struct impl_session *session)
{
    free(session);
}
static int it_reset(struct impl_session *session, struct impl_error *err)
{
    return session ? 0 : fail(err, IMPL_EBROKEN, "no session");
}

static int it_split(struct impl_session *session, struct impl_split *op, struct impl_error *err)
{
    if (!session || op->devices < 1 || op->devices > IMPL_MAX_DEVICES)
        return fail(err, IMPL_EINVAL, "devices must be from 1 to 64");
    size_t k = (size_t)op->devices, most = op->rows / k + (op->rows % k != 0), left = op->rows;
    for (op->n = 0; left > 0 || (op->rows == 0 && op->n < op->devices); left -= op->size[op->n++])
        op->size[op->n] = left < most ? left : most;
    return 0;
}

static int it_sampler(struct impl_session *session, struct impl_sampler *op, struct impl_error *err)
{
    if (!session || op->ranks < 1 || op->rank < 0 || op->rank >= op->ranks)
        return fail(err, IMPL_EINVAL, "no such rank");
    size_t r = (size_t)op->ranks, each = op->items / r + (!op->drop_last && op->items % r != 0);
    if (each > op->capacity)
        return fail(err, IMPL_EROOM, "more samples than there is room for");
    for (op->n = 0; op->n < each; ++op->n)
        op->index[op->n] = ((size_t)op->rank + op->n * r) % op->items;
    return 0;
}
static const struct impl_ops ops = {IMPL_VERSION, sizeof ops,           it_open, it_close, it_reset,
                                    it_split,     .sampler = it_sampler};
const struct impl_ops *lockstep_impl(uint32_t version)
{
    return version == IMPL_VERSION ? &ops : NULL;
}
