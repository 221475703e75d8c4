/* check_fake.c: a shared object that splits rows rightly, and misbehaves as its options say: "WORD"
 * or "WORD@N". N is the split of a process at which it begins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hostile/acts.h"
#include "impl.h"

struct impl_session {
    char misdeed[40];
    int from, calls;
    uint64_t schedule;
};

static bool is(const struct impl_session *s, const char *misdeed)
{
    return strcmp(s->misdeed, misdeed) == 0;
}

/* Writes more than any memory for it should hold. */
static void make_noise(void)
{
    char line[4096];

    memset(line, 'n', sizeof line);
    line[sizeof line - 1] = '\n';
    for (int i = 0; i < 16384; ++i)
        fwrite(line, 1, sizeof line, i % 2 ? stdout : stderr);
    fflush(stdout);
    fputs("\033[31mlast words <&\"'>\n", stderr);
}

static void use_memory(void)
{
    char *memory = NULL;

    for (int i = 0; i < 16; ++i) {
        memory = malloc((size_t)1 << 22);
        if (memory)
            memset(memory, i, (size_t)1 << 22);
    }
}

static void misbehave(const struct impl_session *s)
{
    if (is(s, "crash"))
        act_crash();
    if (is(s, "abort"))
        abort();
    if (is(s, "hang"))
        act_hang();
    if (is(s, "exit0"))
        exit(0);
    if (is(s, "exit3"))
        _exit(3);
    if (is(s, "noise") || is(s, "noise-crash"))
        make_noise();
    if (is(s, "noise-crash"))
        act_crash();
    if (is(s, "forge"))
        act_forge();
    if (is(s, "close"))
        act_close();
    if (is(s, "stay"))
        act_fork();
    if (is(s, "leak"))
        use_memory();
}

static int fake_open(const struct impl_config *config, struct impl_about *about,
                     struct impl_session **session, struct impl_error *err)
{
    struct impl_session *s = calloc(1, sizeof *s);

    if (!s)
        return IMPL_EBROKEN;
    s->from = 1;
    s->schedule = config->seed;
    sscanf(config->options, "%39[^@]@%d", s->misdeed, &s->from);
    *session = s;
    snprintf(about->name, sizeof about->name, "fake");
    snprintf(about->version, sizeof about->version, "1");
    snprintf(about->blas, sizeof about->blas, "<none> 2");
    about->devices = 2;
    about->capabilities = IMPL_CAP_SPLIT;
    about->dialect[IMPL_NO_ROWS] = IMPL_EMPTY;
    if (is(s, "open-crash"))
        act_crash();
    if (is(s, "open-hang"))
        act_hang();
    if (is(s, "open-exit"))
        exit(0);
    if (is(s, "nameless"))
        about->name[0] = '\0';
    if (is(s, "escape"))
        snprintf(about->name, sizeof about->name, "\033[31m<b>&\"'\001\xff|*_`");
    if (is(s, "no-devices"))
        about->devices = 0;
    if (is(s, "devices"))
        about->devices = IMPL_MAX_DEVICES + 1;
    if (is(s, "claims"))
        about->capabilities |= IMPL_CAP_GATHER;
    if (is(s, "open-error") || is(s, "formula")) {
        snprintf(err->text, sizeof err->text, "%s",
                 is(s, "formula") ? "=cmd|'/C \"calc\"'!A0 %0A::error::"
                                  : "no \033[31mdriver <&\"'>");
        free(s);
        return err->status = IMPL_ENODEV;
    }
    return IMPL_OK;
}

static void fake_close(struct impl_session *s)
{
    if (is(s, "close-crash") && s->calls > 0)
        act_crash();
    free(s);
}

static int fake_reset(struct impl_session *s, struct impl_error *err)
{
    (void)s;
    (void)err;
    return IMPL_OK;
}

static int fake_split(struct impl_session *s, struct impl_split *op, struct impl_error *err)
{
    const size_t k = (size_t)op->devices;
    const size_t most = k == 0 ? 0 : (op->rows + k - 1) / k;

    ++s->calls;
    if (s->calls == s->from)
        misbehave(s);
    if (is(s, "escape")) {
        snprintf(err->text, sizeof err->text, "\033]0;x\a<b>]]>&amp;\"'\n\001\xff|*_`");
        return err->status = IMPL_EFAULT;
    }
    op->n = 0;
    for (size_t left = op->rows; left > 0; left -= op->size[op->n++])
        op->size[op->n] = left < most ? left : most;
    if (op->rows == 0)
        for (; op->n < op->devices; ++op->n)
            op->size[op->n] = 0;
    if ((is(s, "wrong") || (is(s, "late") && s->schedule == 0) ||
         (is(s, "early") && s->schedule == 3)) &&
        op->n > 0 && op->size[0] > 1)
        --op->size[0];
    return IMPL_OK;
}

static const struct impl_ops operations = {.version = IMPL_VERSION,
                                           .bytes = sizeof(struct impl_ops),
                                           .open = fake_open,
                                           .close = fake_close,
                                           .reset = fake_reset,
                                           .split = fake_split};

const struct impl_ops *lockstep_impl(uint32_t version)
{
    return version == IMPL_VERSION ? &operations : NULL;
}
