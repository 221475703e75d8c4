/* hostile.c: a good implementation (the mutant without a bug) with one bad habit, which
 * impl_config.options names. Operations without the habit are passed on to the good one. */
#define _GNU_SOURCE /* feenableexcept */

#include "acts.h"
#include "check/pool.h"
#include "impl.h"
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HABIT(habit, word) habit,
enum habit {
#include "habit_list.h"
    HABITS
};
#undef HABIT

struct hoard {
    struct hoard *next;
    unsigned char bytes[1 << 16];
};

#define HABIT(habit, word) [habit] = word,
static const char *const words[HABITS] = {
#include "habit_list.h"
};
#undef HABIT

/* HABITS: there is no such habit. */
static enum habit habit_of(const char *word)
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

static size_t act_elements(const struct impl_array *array)
{
    size_t count = 1;

    for (int i = 0; i < array->ndim; ++i)
        count *= array->dim[i];
    return count;
}

static void act_nan(struct impl_array *array)
{
    const float not_a_number = NAN;

    if (array->dtype == IMPL_F32 && act_elements(array) > 0)
        memcpy((char *)array->data + 4 * (act_elements(array) - 1), &not_a_number, 4);
}

/* Computes the address as a number, so that no compiler sees where it leads. */
static volatile unsigned char *act_byte(const void *data, intptr_t offset)
{
    return (volatile unsigned char *)((intptr_t)data + offset);
}

static void act_add_one(const void *data, intptr_t offset)
{
    volatile unsigned char *byte = act_byte(data, offset);

    *byte = (unsigned char)(*byte + 1);
}

/* Habits that no value shows: state that is left in the thread and the machine, and accesses next
 * to an array or in the suite itself. */

#define _GNU_SOURCE /* feenableexcept */

/* ---- the thread ------------------------------------------------------------------------------ */

#if defined(__x86_64__)
static void flush_to_zero(void)
{
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8000U);
}
#else
static void flush_to_zero(void)
{
}
#endif

static void round_and_back(void)
{
    const int before = fegetround();

    fesetround(FE_UPWARD);
    fesetround(before);
}

/* The locale must have a comma, or this shows nothing. */
static void take_locale(bool back)
{
    if (!setlocale(LC_ALL, "") || strcmp(localeconv()->decimal_point, ",") != 0) {
        fprintf(stderr, "no locale with a comma\n");
        exit(9);
    }
    if (back)
        setlocale(LC_ALL, "C");
}

static void block_signal(void)
{
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, SIGINT);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
}

/* ---- a process stays ------------------------------------------------------------------------- */

/* Leaves a grandchild outside of the group and of the session. Its number is for the test. */
static void leave_somebody(void)
{
    const pid_t pid = fork();
    FILE *file;

    if (pid != 0)
        return;
    setsid();
    if (fork() != 0)
        _exit(0);
    file = fopen("stayed", "a");
    if (file) {
        fprintf(file, "%ld\n", (long)getpid());
        fclose(file);
    }
    act_hang();
}

/* ---- a forged pass --------------------------------------------------------------------------- */

/* Asks the kernel whether memory can be read. */
static bool can_read(const void *at, size_t bytes)
{
    int ends[2];
    bool can;

    if (pipe(ends) != 0)
        return false;
    can = write(ends[1], at, bytes) == (ssize_t)bytes;
    close(ends[0]);
    close(ends[1]);
    return can;
}

/* Returns whether check/child.c keeps the pipe, its token and the memory of both here. */
static bool is_server(const uint64_t *at, int pipe_end)
{
    const struct runner_shared *shared = NULL;
    int file;

    memcpy(&file, &at[0], sizeof file);
    if (file != pipe_end || at[1] == 0)
        return false;
    memcpy(&shared, &at[2], sizeof shared);
    return shared && can_read(shared, sizeof shared->doing) &&
           strcmp(shared->doing, "scatter") == 0;
}

/* Searches up the stack from here. */
static bool find_token(int pipe_end, uint64_t *token)
{
    enum { WORDS = 1 << 15 };
    uint64_t here = 0;
    volatile uintptr_t place = (uintptr_t)&here; /* no compiler sees where this leads */
    const uint64_t *at = (const uint64_t *)place;

    for (int i = 0; i < WORDS; ++i) {
        if (((uintptr_t)&at[i + 3] & 0xFF8) == 0 && !can_read(&at[i + 3], 8))
            return false;
        if (is_server(&at[i], pipe_end)) {
            *token = at[i + 1];
            return true;
        }
    }
    return false;
}

static void write_pass(int pipe_end, uint64_t token)
{
    const struct runner_message message = {
        .token = token, .kind = RUNNER_VERDICT, .outcome = {.verdict = CHECK_PASS, .compared = 7}};

    if (write(pipe_end, &message, sizeof message) == (ssize_t)sizeof message)
        _exit(0); /* before any other process can report something else */
}

/* Searches the files and the memory of the process that judges. */
static void reach_out(FILE *messages)
{
    char path[64];
    int file, reached = 0;

    for (int i = 0; i < 1024; ++i) {
        snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getppid(), i);
        file = open(path, O_WRONLY | O_NONBLOCK);
        reached += file >= 0;
        if (file >= 0)
            close(file);
    }
    snprintf(path, sizeof path, "/proc/%ld/mem", (long)getppid());
    file = open(path, O_RDWR);
    fprintf(messages, "files %d, memory %s\n", reached, file >= 0 ? "open" : strerror(errno));
}

static void forge(void)
{
    FILE *messages = fopen("forged", "w");
    struct stat kind;
    uint64_t token;

    for (int file = 3; file < 1024; ++file)
        if (fstat(file, &kind) == 0 && S_ISFIFO(kind.st_mode) && find_token(file, &token))
            write_pass(file, token);
    if (messages) {
        reach_out(messages);
        fclose(messages);
    }
    _exit(0);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* hostile_walls.c */
static void act_on_walls(enum habit habit, const struct impl_scatter *op)
{
    const struct impl_array *input = op->input;
    const size_t width = input->dtype == IMPL_F64 || input->dtype == IMPL_I64 ? 8 : 4;
    const intptr_t end = (intptr_t)(width * act_elements(input));

    if (habit == WALL_ROUNDS)
        fesetround(FE_UPWARD);
    if (habit == WALL_ROUNDS_BACK)
        round_and_back();
    if (habit == WALL_FLUSHES)
        flush_to_zero();
    if (habit == WALL_TRAPS)
        feenableexcept(FE_DIVBYZERO);
    if (habit == WALL_LOCALE || habit == WALL_LOCALE_INSIDE)
        take_locale(habit == WALL_LOCALE_INSIDE);
    if (habit == WALL_SIGNALS)
        block_signal();
    if (habit == WALL_BEHIND)
        act_add_one(input->data, end);
    if (habit == WALL_BEFORE)
        act_add_one(input->data, -1);
    if (habit == WALL_READS_FAR)
        fprintf(stderr, "%d\n", *act_byte(input->data, end + 4096));
    if (habit == WALL_STAYS)
        leave_somebody();
    if (habit == WALL_FORGES)
        forge();
}

/* ---- scatter --------------------------------------------------------------------------------- */

static void act_before_scatter(enum habit habit, struct impl_scatter *op)
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

/* hostile_acts.c: acts that replace a good operation, or follow it. */
static int act_refuse(struct impl_error *err, int status, const char *text)
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

static int act_after_scatter(enum habit habit, struct impl_scatter *op, int status,
                             struct impl_error *err)
{
    if (status == IMPL_OK && op->n_shards > 0)
        spoil_shard(habit, &op->shards[op->n_shards - 1]);
    return spoil_status(habit, op, status, err);
}

/* ---- the table of operations ----------------------------------------------------------------- */

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
