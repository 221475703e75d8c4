/* nccl_meet.c: collectives in streams. The first rank to run reads the data of all; each rank gets
 * its result when its turn comes. The sum is in the order of a ring: every chunk begins at another
 * rank. */
#include "fake_nccl.h"

#include <stdlib.h>
#include <string.h>

struct fake_meeting {
    struct fake_meeting *next;
    struct fake_clique *clique;
    uint64_t number; /* of the collective in its clique, from 0 */
    int arrived, ran;
    bool gathered, killed, hangs;
    pthread_t alone; /* the thread that called outside of a group, and for which rank */
    int alone_rank;
    struct fake_entry entry[FAKE_RANKS];
    struct fake_work *work[FAKE_RANKS]; /* NULL: not there yet */
    const void *send[FAKE_RANKS];
    void *receive[FAKE_RANKS];
    void *result;
};

struct part {
    struct fake_meeting *meeting;
    int rank;
};

static size_t width_of(ncclDataType_t type)
{
    switch (type) {
    case ncclFloat32:
    case ncclInt32:
        return 4;
    case ncclFloat64:
    case ncclInt64:
        return 8;
    default:
        return 1;
    }
}

static struct fake_meeting *meeting_of(struct fake_clique *clique, uint64_t number)
{
    struct fake_meeting *m = clique->meetings;
    while (m && m->number != number)
        m = m->next;
    if (m)
        return m;
    m = fake_memory(sizeof *m);
    *m = (struct fake_meeting){
        .next = clique->meetings, .clique = clique, .number = number, .alone_rank = -1};
    const long at = ++fake.nccl_collectives;
    m->hangs = at == fake.config.nccl_hang || at == fake.config.nccl_error;
    return clique->meetings = m;
}

/* ---- running ------------------------------------------------------------------------------ */

static void add_one(ncclDataType_t type, void *total, const void *send, size_t i)
{
    switch (type) {
    case ncclFloat32:
        ((float *)total)[i] += ((const float *)send)[i];
        break;
    case ncclFloat64:
        ((double *)total)[i] += ((const double *)send)[i];
        break;
    case ncclInt32:
        ((uint32_t *)total)[i] += ((const uint32_t *)send)[i];
        break;
    default:
        ((uint64_t *)total)[i] += ((const uint64_t *)send)[i];
    }
}

static void nccl_meet_add_up(struct fake_meeting *m, size_t count)
{
    const int n = m->clique->n;
    const ncclDataType_t type = m->entry[0].type;
    const size_t each = (count + (size_t)n - 1) / (size_t)n, width = width_of(type);
    const uint64_t shift = fake.config.nccl_varies ? m->number : 0;
    for (size_t i = 0; i < count; ++i) {
        const int first = (int)((i / each + 1 + shift) % (uint64_t)n);
        memcpy((char *)m->result + i * width, (const char *)m->send[first] + i * width, width);
        for (int k = 1; k < n; ++k)
            add_one(type, m->result, m->send[(first + k) % n], i);
    }
}

/* Returns how many blocks a result has. */
static size_t result_blocks(const struct fake_meeting *m)
{
    const size_t n = (size_t)m->clique->n;
    switch (m->entry[0].kind) {
    case FAKE_ALLGATHER:
    case FAKE_REDUCESCATTER:
        return n;
    case FAKE_SENDS:
        return n * n;
    default:
        return 1;
    }
}

/* Collects the data from every rank to every rank. */
static void collect_sends(struct fake_meeting *m, size_t bytes)
{
    const int n = m->clique->n;
    for (int from = 0; from < n; ++from) {
        for (int to = 0; to < n; ++to) {
            const void *sent = m->entry[from].to[to];
            if (!sent != !m->entry[to].from[from])
                fake_violation("rank %d %s to rank %d, which %s: it hangs", from,
                               sent ? "sends" : "sends nothing", to,
                               sent ? "receives nothing" : "receives");
            if (sent)
                memcpy((char *)m->result + (size_t)(to * n + from) * bytes, sent, bytes);
        }
    }
}

static bool is_at_head(const struct fake_meeting *m, int rank)
{
    const struct fake_op *head = m->entry[rank].stream->head;
    return head && head->work == m->work[rank];
}

/* See fake_work.meet. */
static struct CUstream_st *meet(const void *args)
{
    const struct part *part = args;
    struct fake_meeting *m = part->meeting;
    struct CUstream_st *own = m->entry[part->rank].stream;
    if (m->gathered || m->killed)
        return own;
    if (m->hangs || m->arrived < m->clique->n)
        return NULL;
    for (int r = 0; r < m->clique->n; ++r)
        if (!is_at_head(m, r))
            return m->entry[r].stream;
    const struct fake_entry *entry = &m->entry[0];
    const size_t bytes = entry->count * width_of(entry->type), blocks = result_blocks(m);
    m->gathered = true;
    m->result = fake_memory(bytes * blocks);
    if (entry->kind == FAKE_BROADCAST)
        memcpy(m->result, m->send[entry->root], bytes);
    else if (entry->kind == FAKE_SENDS)
        collect_sends(m, bytes);
    else if (entry->kind == FAKE_ALLGATHER)
        for (size_t r = 0; r < blocks; ++r)
            memcpy((char *)m->result + r * bytes, m->send[r], bytes);
    else
        nccl_meet_add_up(m, entry->count * blocks);
    return own;
}

/* Gives a rank its part of the result. */
static void give(struct fake_meeting *m, int rank)
{
    const struct fake_entry *entry = &m->entry[rank];
    const size_t bytes = entry->count * width_of(entry->type);
    const char *result = m->result;
    const int n = m->clique->n;
    if (entry->kind == FAKE_REDUCESCATTER)
        memcpy(m->receive[rank], result + (size_t)rank * bytes, bytes);
    else if (entry->kind != FAKE_SENDS)
        memcpy(m->receive[rank], result, bytes * result_blocks(m));
    for (int from = 0; entry->kind == FAKE_SENDS && from < n; ++from)
        if (entry->from[from])
            memcpy(entry->from[from], result + (size_t)(rank * n + from) * bytes, bytes);
}

static void nccl_meet_run(const void *args)
{
    const struct part *part = args;
    struct fake_meeting *m = part->meeting;
    const struct fake_entry *entry = &m->entry[part->rank];
    const bool is_root = entry->root == part->rank;
    const bool gets = entry->kind == FAKE_REDUCE
                          ? is_root
                          : !is_root || m->receive[part->rank] != m->send[part->rank];
    if (!m->killed && gets)
        give(m, part->rank);
    m->work[part->rank] = NULL;
    if (++m->ran == m->clique->n) {
        struct fake_meeting **at = &m->clique->meetings;
        while (*at != m)
            at = &(*at)->next;
        *at = m->next;
        free(m->result);
        free(m);
    }
}

/* ---- issuing ------------------------------------------------------------------------------ */

static void check_same(const struct fake_meeting *m, const struct fake_entry *entry)
{
    for (int r = 0; r < m->clique->n; ++r) {
        const struct fake_entry *other = &m->entry[r];
        if (!other->name)
            continue;
        if (strcmp(other->name, entry->name) != 0 || other->count != entry->count ||
            other->type != entry->type || other->op != entry->op || other->root != entry->root)
            fake_violation("%s: rank %d has %zu of type %d, root %d, where rank %d has %s of %zu "
                           "of type %d, root %d: it hangs, or gives anything",
                           entry->name, entry->comm->rank, entry->count, (int)entry->type,
                           entry->root, r, other->name, other->count, (int)other->type,
                           other->root);
        return;
    }
}

static bool check_stream(const struct fake_entry *entry)
{
    if (!fake_stream_is(entry->stream, entry->name))
        return false;
    if (entry->stream->device != entry->comm->device)
        fake_violation("%s: rank %d is on device %d, its stream on device %d", entry->name,
                       entry->comm->rank, entry->comm->device, entry->stream->device);
    if (entry->stream->capture)
        fake_violation("%s: in a capture", entry->name);
    return entry->stream->device == entry->comm->device && !entry->stream->capture;
}

/* NCCL takes memory of the rank's device. With peer access another device's would be read here,
 * too, and the result would be right by chance. */
static void check_memory(const struct fake_entry *entry, const void *memory)
{
    const struct fake_block *block = memory ? fake_find(memory) : NULL;
    if (block && block->device != entry->comm->device)
        fake_violation("%s: rank %d is on device %d, its memory on device %d", entry->name,
                       entry->comm->rank, entry->comm->device, block->device);
}

/* In place, the input is a part of the output, or the other way round. */
static void declare_blocks(struct fake_meeting *m, const struct fake_entry *entry,
                           struct fake_work *work)
{
    const size_t bytes = entry->count * width_of(entry->type), n = (size_t)m->clique->n;
    const bool gathers = entry->kind == FAKE_ALLGATHER;
    const int rank = entry->comm->rank;
    m->send[rank] = fake_uses(work, entry->send, gathers ? bytes : n * bytes, FAKE_READ);
    m->receive[rank] = fake_uses(work, entry->receive, gathers ? n * bytes : bytes, FAKE_WRITE);
}

/* Only the root gets the sum; on the others there may be no memory for it. */
static void declare_reduce(struct fake_meeting *m, const struct fake_entry *entry, size_t bytes,
                           struct fake_work *work)
{
    const int rank = entry->comm->rank;
    m->send[rank] = fake_uses(work, entry->send, bytes, FAKE_READ);
    if (entry->root == rank)
        m->receive[rank] = fake_uses(work, entry->receive, bytes, FAKE_WRITE);
}

static void declare(struct fake_meeting *m, struct fake_entry *entry, struct fake_work *work)
{
    const size_t bytes = entry->count * width_of(entry->type);
    const int rank = entry->comm->rank;
    if (entry->kind == FAKE_SENDS) {
        /* Declares the sent and received memory by peer: the addresses become those of this
         * machine's memory. */
        for (int r = 0; r < m->clique->n; ++r) {
            if (entry->to[r])
                entry->to[r] = fake_uses(work, entry->to[r], entry->count, FAKE_READ);
            if (entry->from[r])
                entry->from[r] = fake_uses(work, entry->from[r], entry->count, FAKE_WRITE);
        }
    }
    if (entry->kind == FAKE_REDUCE)
        declare_reduce(m, entry, bytes, work);
    if (entry->kind == FAKE_ALLGATHER || entry->kind == FAKE_REDUCESCATTER)
        declare_blocks(m, entry, work);
    if (entry->kind != FAKE_ALLREDUCE && entry->kind != FAKE_BROADCAST)
        return;
    const bool reads = entry->root < 0 || entry->root == rank;
    const bool same = entry->send == entry->receive, writes = entry->root != rank || !same;
    if (reads && !same)
        m->send[rank] = fake_uses(work, entry->send, bytes, FAKE_READ);
    const unsigned use = writes ? (reads && same ? FAKE_BOTH : FAKE_WRITE) : FAKE_READ;
    m->receive[rank] = fake_uses(work, entry->receive, bytes, use);
    if (same)
        m->send[rank] = m->receive[rank];
}

ncclResult_t fake_meet(const struct fake_entry *entry, bool grouped)
{
    struct ncclComm *comm = entry->comm;
    if (!check_stream(entry))
        return ncclInvalidArgument;
    struct fake_meeting *m = meeting_of(comm->clique, comm->collectives++);
    check_same(m, entry);
    if (entry->kind != FAKE_SENDS) {
        check_memory(entry, entry->send);
        check_memory(entry, entry->receive);
    }
    if (!grouped && comm->clique->n > 1) {
        if (m->alone_rank >= 0 && pthread_equal(m->alone, pthread_self()))
            fake_violation("%s: ranks %d and %d by one thread and without a group: it hangs",
                           entry->name, m->alone_rank, entry->comm->rank);
        m->alone = pthread_self();
        m->alone_rank = entry->comm->rank;
    }
    struct fake_work *work = fake_work_new(entry->name, entry->stream);
    const struct part part = {m, comm->rank};
    m->entry[comm->rank] = *entry;
    declare(m, &m->entry[comm->rank], work);
    fake_work_runs(work, nccl_meet_run, &part, sizeof part);
    work->meet = meet;
    if (work->error) {
        m->killed = true;
        fake_work_drop(work);
        return ncclUnhandledCudaError;
    }
    m->work[comm->rank] = work;
    ++m->arrived;
    return fake_issue(entry->stream, work) ? ncclUnhandledCudaError : ncclSuccess;
}

/* ---- ending ------------------------------------------------------------------------------- */

void fake_meetings_kill(struct fake_clique *clique)
{
    for (struct fake_meeting *m = clique->meetings; m; m = m->next)
        m->killed = true;
}

bool fake_meetings_end(const struct ncclComm *comm)
{
    const struct fake_meeting *m = comm->clique->meetings;
    while (m) {
        struct CUstream_st *stream = m->work[comm->rank] ? m->entry[comm->rank].stream : NULL;
        if (stream && !fake_advance(stream, stream->issued))
            return false;
        m = stream ? comm->clique->meetings : m->next; /* those that have ended are gone */
    }
    return true;
}

void fake_meetings_drop(struct fake_clique *clique)
{
    while (clique->meetings) {
        struct fake_meeting *m = clique->meetings;
        clique->meetings = m->next;
        free(m->result);
        free(m);
    }
}
