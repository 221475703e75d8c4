/* step.c: advances the call of the carrier as far as possible without waiting. */
#include "inside.h"

#include <stdio.h>
#include <string.h>

static unsigned char *head_at(unsigned char *heads, int peer)
{
    return heads + (size_t)peer * (WIRE_HEAD_BYTES + WIRE_SMALL_BYTES);
}

/* ---- heads ------------------------------------------------------------------------------- */

/* A small call has all its bytes in the head, strip by strip. */
static size_t pack_head(struct dp_mpi *mpi, const struct mpi_link *link)
{
    const struct mpi_active *a = &mpi->active;
    const struct mpi_flow *out = &link->out;
    unsigned char *to = head_at(mpi->heads_out, link->peer);
    struct mpi_tally *sent = &mpi->sent[link->peer];
    struct mpi_head head = a->head;
    size_t n = WIRE_HEAD_BYTES;
    for (int i = 0; a->small && i < out->n_strips; ++i) {
        dp_mpi_pack(to + n, &out->strip[i], out->begin, out->bytes);
        n += out->bytes;
    }
    sent->digest += dp_mpi_digest(++sent->heads, to + WIRE_HEAD_BYTES, n - WIRE_HEAD_BYTES);
    head.number = sent->heads;
    head.digest = sent->digest;
    memset(to, 0, WIRE_HEAD_BYTES);
    memcpy(to, &head, sizeof head);
    return n;
}

static int send_heads(struct dp_mpi *mpi, char *why)
{
    struct mpi_active *a = &mpi->active;
    int failed = 0;
    for (int k = 0; failed == 0 && k < a->n_links; ++k) {
        struct mpi_link *link = &a->link[k];
        if (link->receives)
            failed = mpi->wire->receive(mpi->self, head_at(mpi->heads_in, link->peer),
                                        WIRE_HEAD_BYTES + WIRE_SMALL_BYTES, link->peer,
                                        WIRE_TAG_HEAD, &link->in_request, why);
        link->come = !link->receives;
    }
    for (int k = 0; failed == 0 && k < a->n_links; ++k) {
        struct mpi_link *link = &a->link[k];
        if (link->sends)
            failed = mpi->wire->send(mpi->self, head_at(mpi->heads_out, link->peer),
                                     pack_head(mpi, link), link->peer, WIRE_TAG_HEAD,
                                     &link->out_request, why);
        link->sent = !link->sends;
    }
    return failed;
}

static void step_describe(const struct mpi_head *head, char *text, size_t bytes)
{
    const enum mpi_kind kind = head->kind < CALL_KINDS ? (enum mpi_kind)head->kind : CALL_KINDS;
    const char *name = dp_mpi_kind_name(kind);
    const unsigned long long all = (unsigned long long)head->bytes;
    if (kind == CALL_BROADCAST)
        snprintf(text, bytes, "%s of %llu bytes from rank %u", name, all, head->root);
    else if (all > 0)
        snprintf(text, bytes, "%s of %llu bytes", name, all);
    else
        snprintf(text, bytes, "%s", name);
}

/* Only the process that received it knows. */
static int fail_changed(struct dp_mpi *mpi, int peer, struct dp_error *err)
{
    char name[120];
    dp_mpi_name(mpi, peer, name, sizeof name);
    return dp_fail(err, DP_EFAULT, "data of %.100s changed on their way, in %s %llu or before",
                   name, dp_mpi_kind_name(mpi->active.call->kind),
                   (unsigned long long)mpi->active.call->number);
}

/* Checks that the other process makes the same call with the same sizes, and that the data are
 * those that it sent. */
static int check_head(struct dp_mpi *mpi, const struct mpi_link *link, size_t bytes,
                      struct dp_error *err)
{
    const struct mpi_active *a = &mpi->active;
    struct mpi_tally *come = &mpi->come[link->peer];
    struct mpi_head theirs, mine = a->head;
    const unsigned char *from = head_at(mpi->heads_in, link->peer);
    memcpy(&theirs, from, sizeof theirs);
    mine.number = ++come->heads;
    mine.digest = theirs.digest;
    const size_t turns = link->in.kept ? (size_t)link->in.n_strips : 1;
    const size_t wanted = WIRE_HEAD_BYTES + (a->small ? link->in.bytes * turns : 0);
    if (memcmp(&theirs, &mine, sizeof mine) != 0 || bytes != wanted) {
        /* Both processes report it in the same words: the lower one comes first. */
        const int peer = link->peer;
        const bool lower = mpi->rank < peer;
        char names[2][120], calls[2][64];
        dp_mpi_name(mpi, lower ? mpi->rank : peer, names[0], sizeof names[0]);
        dp_mpi_name(mpi, lower ? peer : mpi->rank, names[1], sizeof names[1]);
        step_describe(lower ? &mine : &theirs, calls[0], sizeof calls[0]);
        step_describe(lower ? &theirs : &mine, calls[1], sizeof calls[1]);
        mpi->common = true;
        return dp_fail(err, DP_EFAULT, "%.60s is in %s, %.60s in %s%s", names[0], calls[0],
                       names[1], calls[1],
                       strcmp(calls[0], calls[1]) == 0 ? ", which differ in something else" : "");
    }
    come->digest += dp_mpi_digest(come->heads, from + WIRE_HEAD_BYTES, bytes - WIRE_HEAD_BYTES);
    return come->digest == theirs.digest ? 0 : fail_changed(mpi, link->peer, err);
}

/* Takes the data that came with the head of a small call. */
static int take_head(struct dp_mpi *mpi, const struct mpi_link *link, struct dp_error *err)
{
    const struct mpi_active *a = &mpi->active;
    const unsigned char *from = head_at(mpi->heads_in, link->peer) + WIRE_HEAD_BYTES;
    int status = 0;
    for (int i = 0; a->small && !link->in.kept && status == 0 && i < link->in.n_strips; ++i)
        status = dp_mpi_write(&link->in.strip[i], link->in.begin, from, link->in.bytes, err);
    return status || !a->small ? status : dp_mpi_settle(a->call, err);
}

static int step_heads(struct dp_mpi *mpi, struct mpi_link *link, bool *moved, struct dp_error *err)
{
    char why[DP_WIRE_TEXT];
    size_t bytes = 0;
    int failed = 0;
    if (!link->sent) {
        failed = mpi->wire->test(mpi->self, &link->out_request, &link->sent, NULL, NULL, why);
        *moved = *moved || link->sent;
    }
    if (failed || link->come)
        return failed ? dp_mpi_wire_failed(mpi, why, err) : 0;
    failed = mpi->wire->test(mpi->self, &link->in_request, &link->come, NULL, &bytes, why);
    if (failed || !link->come)
        return failed ? dp_mpi_wire_failed(mpi, why, err) : 0;
    *moved = true;
    const int status = check_head(mpi, link, bytes, err);
    return status ? status : take_head(mpi, link, err);
}

/* ---- flows ------------------------------------------------------------------------------- */

static size_t turns_of(const struct mpi_flow *flow)
{
    return flow->sends || flow->kept ? (size_t)flow->n_strips : 1;
}

/* The offset of message m in the strips, and its bytes. */
static size_t step_place(const struct mpi_flow *flow, size_t m, size_t *n)
{
    const size_t at = m / turns_of(flow) * flow->block;
    *n = flow->bytes - at < flow->block ? flow->bytes - at : flow->block;
    return flow->begin + at;
}

static int post(struct dp_mpi *mpi, struct mpi_flow *flow, char *why)
{
    const size_t m = flow->posted++, slot = m % flow->ring;
    unsigned char *buffer = flow->buffer->bytes ? flow->buffer->bytes + slot * flow->block : NULL;
    uint64_t *request = &flow->buffer->request[slot];
    size_t n;
    const size_t at = step_place(flow, m, &n);
    if (!flow->sends)
        return mpi->wire->receive(mpi->self, buffer, n, flow->peer, flow->tag, request, why);
    const struct mpi_strip *strip = &flow->strip[m % turns_of(flow)];
    const struct mpi_piece span = dp_mpi_span(strip, at, n);
    if (span.bytes < n)
        dp_mpi_pack(buffer, strip, at, n);
    const void *from = span.bytes < n ? (const void *)buffer : span.data;
    mpi->sent[flow->peer].digest += dp_mpi_digest(dp_mpi_place(flow->tag, m), from, n);
    return mpi->wire->send(mpi->self, from, n, flow->peer, flow->tag, request, why);
}

static int post_all(struct dp_mpi *mpi, struct mpi_flow *flow, bool *moved, struct dp_error *err)
{
    const size_t limit = flow->count < flow->limit ? flow->count : flow->limit;
    char why[DP_WIRE_TEXT];
    while (flow->posted < limit && flow->posted - flow->freed < flow->ring) {
        if (post(mpi, flow, why))
            return dp_mpi_wire_failed(mpi, why, err);
        *moved = true;
    }
    return 0;
}

/* Takes a received block. */
static int step_take(struct dp_mpi *mpi, const struct mpi_flow *flow, size_t bytes,
                     struct dp_error *err)
{
    const struct mpi_active *a = &mpi->active;
    size_t n;
    const size_t at = step_place(flow, flow->ended, &n);
    const unsigned char *from = flow->buffer->bytes + flow->ended % flow->ring * flow->block;
    int status = 0;
    if (bytes != n)
        return dp_fail(err, DP_EFAULT, "%s %llu: a message of %zu bytes, expected %zu",
                       dp_mpi_kind_name(a->call->kind), (unsigned long long)a->call->number, bytes,
                       n);
    mpi->come[flow->peer].digest += dp_mpi_digest(dp_mpi_place(flow->tag, flow->ended), from, n);
    for (int i = 0; !flow->kept && status == 0 && i < flow->n_strips; ++i)
        status = dp_mpi_write(&flow->strip[i], at, from, n, err);
    return status || flow->kept ? status : dp_mpi_settle(a->call, err);
}

/* Data that overwrite numbers wait until these were sent. */
static bool may_take(const struct mpi_flow *flow)
{
    const struct mpi_flow *behind = flow->behind;
    return !behind || behind->ended >= (flow->ended + 1) * (size_t)behind->n_strips;
}

static int step_flow(struct dp_mpi *mpi, struct mpi_flow *flow, bool *moved, struct dp_error *err)
{
    char why[DP_WIRE_TEXT];
    int status = post_all(mpi, flow, moved, err);
    while (status == 0 && flow->ended < flow->posted && may_take(flow)) {
        size_t bytes = 0;
        bool done = false;
        if (mpi->wire->test(mpi->self, &flow->buffer->request[flow->ended % flow->ring], &done,
                            NULL, flow->sends ? NULL : &bytes, why))
            return dp_mpi_wire_failed(mpi, why, err);
        if (!done)
            break;
        status = flow->sends ? 0 : step_take(mpi, flow, bytes, err);
        ++flow->ended;
        flow->freed = flow->kept ? flow->freed : flow->ended;
        *moved = true;
        if (status == 0)
            status = post_all(mpi, flow, moved, err);
    }
    return status;
}

/* ---- a call ------------------------------------------------------------------------------ */

static bool has_ended(const struct mpi_flow *flow)
{
    return flow->ended == flow->count;
}

static bool is_done(const struct mpi_active *a)
{
    bool done = !a->sums || a->added == dp_mpi_blocks(a);
    for (int k = 0; done && k < a->n_links; ++k) {
        const struct mpi_link *link = &a->link[k];
        done = link->sent && link->come && has_ended(&link->out) && has_ended(&link->in) &&
               has_ended(&link->sums_out) && has_ended(&link->sums_in);
    }
    return done;
}

int dp_mpi_begin_step(struct dp_mpi *mpi, struct dp_error *err)
{
    char why[DP_WIRE_TEXT];
    if (send_heads(mpi, why))
        return dp_mpi_wire_failed(mpi, why, err);
    /* Copies the data that stay in this process. */
    const struct mpi_active *a = &mpi->active;
    size_t bytes = 0;
    int status = 0;
    for (int k = 0; k < a->own.n; ++k)
        bytes += a->own.piece[k].bytes;
    for (int i = 0; status == 0 && a->own.n > 0 && i < a->n_to; ++i)
        status = dp_mpi_copy(&a->to[i], 0, &a->own, 0, bytes, err);
    return status || a->own.n == 0 ? status : dp_mpi_settle(a->call, err);
}

int dp_mpi_step(struct dp_mpi *mpi, bool *moved, bool *ended, struct dp_error *err)
{
    struct mpi_active *a = &mpi->active;
    int status = 0;
    for (int k = 0; status == 0 && k < a->n_links; ++k) {
        struct mpi_link *link = &a->link[k];
        status = link->sent && link->come ? 0 : step_heads(mpi, link, moved, err);
        if (status == 0)
            status = step_flow(mpi, &link->out, moved, err);
        if (status == 0 && link->come)
            status = step_flow(mpi, &link->in, moved, err);
        if (status == 0)
            status = step_flow(mpi, &link->sums_out, moved, err);
        if (status == 0 && link->come)
            status = step_flow(mpi, &link->sums_in, moved, err);
    }
    if (status == 0 && a->sums)
        status = dp_mpi_add(mpi, moved, err);
    *ended = status == 0 && is_done(a);
    return status;
}
