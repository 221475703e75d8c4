/* identity.c: each process sends its name and its assumptions. All compare all processes with
 * process 0 in the same order, so that all report the same. */
#include "inside.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROTOCOL   3 /* of heads, flows and letters */
#define NAP_NS     200000
#define CORE_BYTES 1024 /* as many as a kernel of Linux can have */

/* Single bytes come first, because the byte order of later fields may differ. */
struct identity {
    char magic[8];
    unsigned char sizes[8];
    unsigned char order[4];
    uint32_t protocol;
    int32_t size, wanted;
    int64_t pid;
    char host[WIRE_NAME_BYTES], build[128], plan[128];
    unsigned char cores[CORE_BYTES]; /* a bit for each that the process may use */
};

/* ---- the exchange, also with itself -------------------------------------------------------- */

struct meeting {
    struct identity mine, *all;
    uint64_t *out, *in;
    bool *sent, *come;
};

static int post(struct dp_mpi *mpi, struct meeting *m, struct dp_error *err)
{
    char why[DP_WIRE_TEXT];
    for (int p = 0; p < mpi->size; ++p) {
        if (mpi->wire->receive(mpi->self, &m->all[p], sizeof m->mine, p, WIRE_TAG_IDENTITY,
                               &m->in[p], why) ||
            mpi->wire->send(mpi->self, &m->mine, sizeof m->mine, p, WIRE_TAG_IDENTITY, &m->out[p],
                            why))
            return dp_fail(err, DP_EFAULT, "%s", why);
    }
    return 0;
}

static int test(struct dp_mpi *mpi, struct meeting *m, int *missing, struct dp_error *err)
{
    char why[DP_WIRE_TEXT];
    *missing = -1;
    for (int p = mpi->size - 1; p >= 0; --p) {
        if (!m->sent[p] && mpi->wire->test(mpi->self, &m->out[p], &m->sent[p], NULL, NULL, why))
            return dp_fail(err, DP_EFAULT, "%s", why);
        if (!m->come[p] && mpi->wire->test(mpi->self, &m->in[p], &m->come[p], NULL, NULL, why))
            return dp_fail(err, DP_EFAULT, "%s", why);
        *missing = m->sent[p] && m->come[p] ? *missing : p;
    }
    return 0;
}

static int meet(struct dp_mpi *mpi, struct meeting *m, struct dp_error *err)
{
    const struct timespec nap = {0, NAP_NS};
    const uint64_t begin = dp_now_ns();
    int missing = -1, status = post(mpi, m, err);
    while (status == 0) {
        status = test(mpi, m, &missing, err);
        if (status || missing < 0)
            break;
        if (dp_now_ns() - begin > mpi->deadline_ns)
            return dp_fail(err, DP_EFAULT, "process %d of %d did not identify itself within %.1f s",
                           missing, mpi->size, (double)mpi->deadline_ns * 1e-9);
        nanosleep(&nap, NULL);
    }
    return status;
}

/* ---- what must be equal ---------------------------------------------------------------------- */

static int unlike(struct dp_mpi *mpi, int process, const char *format, const char *theirs,
                  const char *first, struct dp_error *err)
{
    char name[120], text[120];
    dp_mpi_name(mpi, process, name, sizeof name);
    snprintf(text, sizeof text, format, theirs, first); /* NOLINT: a format of this file */
    return dp_fail(err, DP_EINVAL, "%s %s", name, text);
}

static int identity_compare(struct dp_mpi *mpi, int p, const struct identity *it,
                            const struct identity *zero, struct dp_error *err)
{
    char a[24], b[24];
    if (memcmp(it->magic, zero->magic, sizeof it->magic) != 0)
        return dp_fail(err, DP_EINVAL, "process %d of %d is another program", p, mpi->size);
    if (memcmp(it->order, zero->order, sizeof it->order) != 0)
        return dp_fail(err, DP_EINVAL, "process %d of %d (host %.63s) has another order of bytes",
                       p, mpi->size, it->host);
    if (memcmp(it->sizes, zero->sizes, sizeof it->sizes) != 0)
        return dp_fail(err, DP_EINVAL, "process %d of %d (host %.63s) has other sizes of types", p,
                       mpi->size, it->host);
    snprintf(a, sizeof a, "%u", it->protocol);
    snprintf(b, sizeof b, "%u", zero->protocol);
    if (it->protocol != zero->protocol)
        return unlike(mpi, p, "has protocol %s, process 0 has %s", a, b, err);
    snprintf(a, sizeof a, "%d", it->wanted);
    snprintf(b, sizeof b, "%d", it->size);
    if (it->wanted != 0 && it->wanted != it->size)
        return unlike(mpi, p, "was told of %s processes, there are %s", a, b, err);
    if (strncmp(it->build, zero->build, sizeof it->build) != 0)
        return unlike(mpi, p, "is of build '%.36s', process 0 is of '%.36s'", it->build,
                      zero->build, err);
    if (strncmp(it->plan, zero->plan, sizeof it->plan) != 0)
        return unlike(mpi, p, "is here for '%.36s', process 0 for '%.36s'", it->plan, zero->plan,
                      err);
    return 0;
}

/* Over TCP, MPI sends a message at once if it is smaller than a limit, which is 64 KiB in Open MPI.
 * A larger one waits for an answer first, and that answer is queued after the data in the same
 * direction. Then both directions of a link together carry no more than one could. In shared memory
 * larger blocks are faster. */
static size_t block_most(const struct dp_mpi *mpi)
{
    for (int p = 1; p < mpi->size; ++p) {
        if (strcmp(mpi->who[p].host, mpi->who[0].host) != 0)
            return WIRE_BLOCK_FAR;
    }
    return WIRE_BLOCK_MOST;
}

static bool cores_meet(const struct identity *a, const struct identity *b)
{
    bool meet = false;
    for (size_t i = 0; i < CORE_BYTES; ++i)
        meet = meet || (a->cores[i] & b->cores[i]) != 0;
    return meet && strncmp(a->host, b->host, sizeof a->host) == 0;
}

/* ---- opening ----------------------------------------------------------------------------- */

/* Allocates what there is for each process. */
static int open_processes(struct dp_mpi *mpi, struct dp_error *err)
{
    const size_t n = (size_t)mpi->size, head = WIRE_HEAD_BYTES + WIRE_SMALL_BYTES;
    mpi->who = calloc(n, sizeof *mpi->who);
    mpi->first = calloc(n + 1, sizeof *mpi->first);
    mpi->buffer = calloc(n, sizeof *mpi->buffer);
    mpi->sent = calloc(n, sizeof *mpi->sent);
    mpi->come = calloc(n, sizeof *mpi->come);
    mpi->letter = calloc(n, sizeof *mpi->letter);
    mpi->inquiry.answered = calloc(n, sizeof *mpi->inquiry.answered);
    mpi->inquiry.answer = calloc(n, sizeof *mpi->inquiry.answer);
    mpi->active.link = calloc(n, sizeof *mpi->active.link);
    mpi->active.in = calloc(n * DP_MAX_SLOTS, sizeof *mpi->active.in);
    mpi->heads_out = calloc(n, head);
    mpi->heads_in = calloc(n, head);
    return mpi->who && mpi->first && mpi->buffer && mpi->sent && mpi->come && mpi->letter &&
                   mpi->inquiry.answered && mpi->inquiry.answer && mpi->active.link &&
                   mpi->active.in && mpi->heads_out && mpi->heads_in
               ? 0
               : dp_fail(err, DP_ENOMEM, "no memory for %d processes", mpi->size);
}

/* After a failure MPI may still write to this memory, so it is not freed. */
int dp_mpi_identify(struct dp_mpi *mpi, struct dp_error *err)
{
    const size_t n = (size_t)mpi->size;
    int status = open_processes(mpi, err);
    if (status)
        return status;
    struct meeting *m = calloc(1, sizeof *m);
    if (m) {
        m->all = calloc(n, sizeof *m->all);
        m->out = calloc(n, sizeof *m->out);
        m->in = calloc(n, sizeof *m->in);
        m->sent = calloc(n, sizeof *m->sent);
        m->come = calloc(n, sizeof *m->come);
    }
    if (!m || !m->all || !m->out || !m->in || !m->sent || !m->come)
        return dp_fail(err, DP_ENOMEM, "no memory for %d processes", mpi->size);
    const uint32_t order = 0x01020304;
    m->mine = (struct identity){.magic = "lockstep",
                                .sizes = {sizeof(size_t), sizeof(long), sizeof(float),
                                          sizeof(enum dp_dtype), sizeof(struct mpi_head),
                                          sizeof(struct mpi_control) / 8},
                                .protocol = PROTOCOL,
                                .size = mpi->size,
                                .wanted = mpi->processes,
                                .pid = (int64_t)getpid()};
    memcpy(m->mine.order, &order, sizeof m->mine.order);
    snprintf(m->mine.host, sizeof m->mine.host, "%.*s", (int)sizeof m->mine.host - 1, mpi->host);
    memcpy(m->mine.build, mpi->build, sizeof m->mine.build);
    memcpy(m->mine.plan, mpi->plan, sizeof m->mine.plan);
    /* A process whose cores are unknown may use all of them. */
    if (sched_getaffinity(0, sizeof m->mine.cores, (cpu_set_t *)(void *)m->mine.cores))
        memset(m->mine.cores, 0xff, sizeof m->mine.cores);
    status = meet(mpi, m, err);
    if (status)
        return status;
    for (int p = 0; p < mpi->size; ++p) {
        m->all[p].host[sizeof m->all[p].host - 1] = '\0';
        m->all[p].build[sizeof m->all[p].build - 1] = '\0';
        m->all[p].plan[sizeof m->all[p].plan - 1] = '\0';
        memcpy(mpi->who[p].host, m->all[p].host, sizeof m->all[p].host);
        mpi->who[p].pid = (long)m->all[p].pid;
        mpi->who[p].meets = cores_meet(&m->all[p], &m->all[mpi->rank]);
    }
    mpi->block_most = block_most(mpi);
    for (int p = 0; status == 0 && p < mpi->size; ++p)
        status = identity_compare(mpi, p, &m->all[p], &m->all[0], err);
    free(m->all);
    free(m->out);
    free(m->in);
    free(m->sent);
    free(m->come);
    free(m);
    mpi->common = status != 0;
    mpi->told = status != 0; /* all processes have found it */
    return status ? status : dp_mpi_control_open(mpi, err);
}
