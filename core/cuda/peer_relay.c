/* peer_relay.c: sends the same bytes from one GPU, the root, to many.
 *
 * If all fetched everything from the root, its port would have to send it once for each of them.
 * Instead, each fetches one slice from the root, and the other slices from the other receivers.
 * This goes in rounds. In a round each receiver fetches its slice of one part from the root, and
 * the others' slices of the part before from them. Each begins with its neighbour, so that no port
 * serves two at a time. Rounds are separated: the queue of the root waits for all receivers, and
 * they wait for it. */
#include "cuda.h"

#define LEAST_SLICE ((size_t)4 << 20)
#define LINE        ((size_t)256)
/* The first part comes from the root alone, so it should be one of this many. */
#define MOST_PARTS ((size_t)8)

struct relay {
    struct dp_slot *root, *slot[DP_MAX_SLOTS]; /* slot: the receivers */
    const struct dp_moves *moves[DP_MAX_SLOTS];
    int replica[DP_MAX_SLOTS];
    int n, parts;
    size_t total; /* bytes of the moves of one receiver */
};

int dp_cuda_carry(struct dp_slot *worker, const struct dp_move *move, struct dp_error *err)
{
    const struct dp_slot *to = move->dst_slot, *from = move->src_slot;
    const struct dp_cuda_slot *there = to->native, *here = from->native;
    if (dp_is_host(to) || dp_is_host(from) || there->device == here->device)
        return dp_launch(&worker->comm, DP_KERNEL_COPY, &move->copy, sizeof move->copy, err);
    const struct dp_peer_copy across = {move->copy, there->device, here->device};
    return dp_launch(&worker->comm, DP_KERNEL_PEER_COPY, &across, sizeof across, err);
}

/* ---- is it a broadcast? ------------------------------------------------------------------ */

static bool same_bytes(const struct dp_moves *a, const struct dp_moves *b)
{
    for (int k = 0; a->n == b->n && k < a->n; ++k) {
        const struct dp_copy *x = &a->move[k].copy, *y = &b->move[k].copy;
        if (x->src != y->src || x->width != y->width)
            return false;
    }
    return a->n == b->n;
}

/* True if all of them come from the root, which is another GPU, each in one row. */
static bool one_way(const struct dp_moves *moves, const struct dp_slot *root,
                    const struct dp_slot *slot)
{
    for (int k = 0; k < moves->n; ++k) {
        const struct dp_move *move = &moves->move[k];
        if (move->src_slot != root || move->dst_slot != slot || move->copy.height != 1)
            return false;
    }
    return !dp_is_host(root) && slot != root;
}

static bool all_in_reach(const struct relay *s)
{
    for (int i = 0; i < s->n; ++i) {
        if (!dp_cuda_reaches(s->slot[i], s->root))
            return false;
        for (int k = 0; k < s->n; ++k) {
            if (!dp_cuda_reaches(s->slot[i], s->slot[k]) || (i != k && s->slot[i] == s->slot[k]))
                return false;
        }
    }
    return true;
}

static bool relay_describe(const struct dp_team *team, const struct dp_moves moves[],
                           struct relay *s)
{
    *s = (struct relay){.n = 0};
    for (int i = 0; i < team->n; ++i) {
        if (moves[i].n == 0)
            continue;
        s->root = s->root ? s->root : moves[i].move[0].src_slot;
        if (!one_way(&moves[i], s->root, team->slot[i]) ||
            (s->n > 0 && !same_bytes(s->moves[0], &moves[i])))
            return false;
        s->slot[s->n] = team->slot[i];
        s->moves[s->n] = &moves[i];
        s->replica[s->n++] = i;
    }
    for (int k = 0; s->n > 0 && k < s->moves[0]->n; ++k)
        s->total += s->moves[0]->move[k].copy.width;
    const size_t given = team->group->slice_bytes, least = given ? given : LEAST_SLICE;
    const size_t parts = s->n > 1 ? s->total / ((size_t)s->n * least) : 0;
    s->parts = (int)(parts < MOST_PARTS ? parts : MOST_PARTS);
    return s->parts > 0 && all_in_reach(s);
}

bool dp_cuda_should_relay(const struct dp_team *team, const struct dp_moves moves[])
{
    struct relay s;
    return relay_describe(team, moves, &s);
}

/* ---- slices ------------------------------------------------------------------------------ */

/* Where slice i of a part begins, in whole cache lines. Slice 0 of the next part is its end. */
static size_t begin_of(const struct relay *s, int part, int i)
{
    const size_t slices = (size_t)s->parts * (size_t)s->n;
    const size_t place = (size_t)part * (size_t)s->n + (size_t)i;
    return place == slices ? s->total : s->total / LINE * place / slices * LINE;
}

/* Copies slice i of a part to receiver `to`, from the receiver `from`, or if that is -1, from the
 * root. */
static int fetch(const struct relay *s, int part, int i, int to, int from, struct dp_error *err)
{
    const size_t first = begin_of(s, part, i), last = begin_of(s, part, i + 1);
    size_t before = 0;
    int status = 0;
    for (int k = 0; status == 0 && k < s->moves[to]->n; ++k) {
        const struct dp_copy *own = &s->moves[to]->move[k].copy;
        const size_t end = before + own->width;
        const size_t a = first > before ? first : before, b = last < end ? last : end;
        const char *src = from < 0 ? own->src : s->moves[from]->move[k].copy.dst;
        if (a < b) {
            const struct dp_move move = {
                s->slot[to],
                from < 0 ? s->root : s->slot[from],
                {(char *)own->dst + (a - before), src + (a - before), b - a, 1, b - a, b - a}};
            status = dp_cuda_carry(s->slot[to], &move, err);
        }
        before = end;
    }
    return status;
}

static int fetch_round(const struct relay *s, int round, int to, struct dp_error *err)
{
    int status = 0;
    for (int k = 1; status == 0 && k <= s->n; ++k) {
        const int from = (to + 1 + k) % (s->n + 1) - 1;
        if (from < 0 && round < s->parts)
            status = fetch(s, round, to, to, -1, err);
        if (from >= 0 && round > 0)
            status = fetch(s, round - 1, from, to, from, err);
    }
    s->slot[to]->ops->record(&s->slot[to]->comm, &s->slot[to]->done);
    return status;
}

/* ---- order ------------------------------------------------------------------------------- */

/* The root has waited for all receivers; now they wait for the root. */
static int meet(const struct relay *s, struct dp_error *err)
{
    int status = 0;
    s->root->ops->record(&s->root->comm, &s->root->done);
    for (int i = 0; status == 0 && i < s->n; ++i)
        status = dp_event_wait(&s->slot[i]->comm, &s->root->done, err);
    return status;
}

/* No memory is changed before all that read it have done so. */
static int relay_end(const struct relay *s, struct dp_error *err)
{
    s->root->ops->record(&s->root->comm, &s->root->done);
    int status = dp_event_wait(&s->root->compute, &s->root->done, err);
    for (int i = 0; status == 0 && i < s->n; ++i)
        status = dp_event_wait(&s->slot[i]->compute, &s->root->done, err);
    return status;
}

int dp_cuda_relay(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                  struct dp_error *err)
{
    struct dp_span span[DP_MAX_SLOTS];
    struct relay s;
    if (!relay_describe(team, moves, &s))
        return dp_fail(err, DP_EINVAL, "these transfers are no broadcast");
    int status = dp_event_wait(&s.root->comm, &s.root->ready, err);
    for (int i = 0; status == 0 && i < s.n; ++i)
        status = dp_event_wait(&s.root->comm, &s.slot[i]->ready, err);
    if (status == 0)
        status = meet(&s, err);
    for (int i = 0; i < s.n; ++i)
        span[i] = dp_span_begin(&s.slot[i]->comm, s.replica[i], phase);
    for (int round = 0; status == 0 && round <= s.parts; ++round) {
        for (int i = 0; status == 0 && i < s.n; ++i)
            status = fetch_round(&s, round, i, err);
        for (int i = 0; status == 0 && i < s.n; ++i)
            status = dp_event_wait(&s.root->comm, &s.slot[i]->done, err);
        if (status == 0 && round < s.parts)
            status = meet(&s, err);
    }
    for (int i = 0; i < s.n; ++i)
        dp_span_end(&span[i], s.total);
    return status ? status : relay_end(&s, err);
}
