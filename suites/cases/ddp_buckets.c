/* ddp_buckets.c: cases of area DDP: which gradients are reduced together, in which order, and when;
 * and how many bytes are sent. */
#include "ddp.h"

#define LINEAR(in, out) "{\"kind\":\"linear\",\"in\":" #in ",\"out\":" #out ",\"with_bias\":false}"

enum { RANKS = 2, WIDTH = 512, MIB = 1024 * 1024, MOST_BUCKETS = 4 };

struct layout {
    int n;
    uint64_t bytes[MOST_BUCKETS];
};

/* Makes a step with one row of zeros for each rank, and returns what it reduced. */
static const struct impl_trace *traced_step(struct check *c, struct impl_model *model,
                                            size_t columns)
{
    struct impl_trace *trace = check_memory(c, sizeof *trace);
    struct ddp_call call = {.ranks = RANKS, .n_in = 1, .n_out = 1, .backward = trace};

    for (int r = 0; r < RANKS; ++r)
        call.in[r][0] =
            check_array(c, 2, (const size_t[]){1, columns}, check_sequence(c, columns, 0, 0));
    ddp_fresh_pass(c, model, &call);
    return trace;
}

static void layout_is(struct check *c, const struct impl_trace *trace, const struct layout *want)
{
    check_int(c, "buckets", trace->buckets, want->n);
    for (int b = 0; b < want->n; ++b)
        check_int(c, check_text(c, "bytes of bucket %d", b), (long long)trace->bucket[b].bytes,
                  (long long)want->bytes[b]);
}

/* ---- DDP-11: from the end of the model, 1 MiB, then 25 MiB ----------------------------------- */

/* The weights have 10240, 26214400, 614400, 600000 and 200000 bytes. From the end, the last three
 * exceed 1 MiB, the large one has exactly 25 MiB, and the first one is left. */
#define FIVE                                                                                       \
    LINEAR(1, 2560)                                                                                \
    "," LINEAR(2560, 2560) "," LINEAR(2560, 60) "," LINEAR(60, 2500) "," LINEAR(2500, 20)

static const struct layout all_five = {1, {10240 + 26214400 + 614400 + 600000 + 200000}};
static const struct layout from_the_end = {3, {200000 + 600000 + 614400, 26214400, 10240}};

static void ddp_buckets_limits(struct check *c)
{
    struct impl_model *model = check_ddp_model(c, RANKS, DDP_MODEL(FIVE));

    check_note(c, "iteration 0: ");
    layout_is(c, traced_step(c, model, 1), &all_five);
    check_note(c, "iteration 1: ");
    layout_is(c, traced_step(c, model, 1), &from_the_end);
}

/* With the search for unused parameters, buckets are formed in the order of registration and sent
 * from the last one on, beginning with the first iteration. The weights have 1228800, 600000 and
 * 400000 bytes. */
static void ddp_buckets_reversed(struct check *c)
{
    static const struct layout want = {2, {600000 + 400000, 1228800}};
    struct impl_model *model =
        check_ddp_model(c, RANKS,
                        "{\"device\":-1,\"find_unused\":true,\"layers\":[" LINEAR(
                            512, 600) "," LINEAR(600, 250) "," LINEAR(250, 400) "]}");

    for (int turn = 0; turn < 3; ++turn) {
        check_note(c, "iteration %d: ", turn);
        layout_is(c, traced_step(c, model, WIDTH), &want);
    }
}

/* ---- DDP-12: one bucket at first, then in the order of arrival on rank 0 --------------------- */

/* Opens a block of 1 MiB, and one of 614400 and 614400 bytes; `rank` runs the second block
 * first. */
static struct impl_model *two_blocks(struct check *c, int rank)
{
    return check_ddp_model(
        c, RANKS,
        check_text(
            c,
            DDP_MODEL("{\"kind\":\"sequence\",\"reversed\":[%d],\"layers\":[" LINEAR(
                512,
                512) ",{\"kind\":\"sequence\",\"layers\":[" LINEAR(512,
                                                                   300) "," LINEAR(300,
                                                                                   512) "]}]}"),
            rank));
}

static void ddp_buckets_arrival(struct check *c)
{
    static const struct layout first = {1, {MIB + 1228800}};
    static const struct layout later[RANKS] = {{2, {MIB, 1228800}}, {2, {1228800, MIB}}};

    for (int rank = 0; rank < RANKS; ++rank) {
        struct impl_model *model = two_blocks(c, rank);

        check_note(c, "the other order on rank %d, iteration 0: ", rank);
        layout_is(c, traced_step(c, model, WIDTH), &first);
        for (int turn = 1; turn < 4; ++turn) {
            check_note(c, "the other order on rank %d, iteration %d: ", rank, turn);
            layout_is(c, traced_step(c, model, WIDTH), &later[rank]);
        }
        check_model_close(c, model);
    }
}

/* ---- DDP-14: by their number, never by readiness --------------------------------------------- */

/* Two weights have 1 MiB each: a is all ones, b all twos, so that both orders of the two give the
 * same output. The gradients are 512 a x and 512 b x in every element, with the value of the other
 * weight. */
static void set_weights(struct check *c, struct impl_model *model, int ranks)
{
    const size_t n = (size_t)WIDTH * WIDTH;

    for (int r = 0; r < ranks; ++r)
        for (int p = 0; p < 2; ++p)
            ddp_set(c, model, r, IMPL_VALUE, p, check_sequence(c, n, 1 + p, 0));
}

static struct ddp_call buckets_rows_of(struct check *c, int ranks, const double x[])
{
    struct ddp_call call = {.ranks = ranks, .n_in = 1, .n_out = 1};

    for (int r = 0; r < ranks; ++r)
        call.in[r][0] =
            check_array(c, 2, (const size_t[]){1, WIDTH}, check_sequence(c, WIDTH, x[r], 0));
    return call;
}

static void weights_are_reduced(struct check *c, struct impl_model *model, int ranks,
                                const double x[])
{
    const size_t n = (size_t)WIDTH * WIDTH;
    double mean = 0;

    for (int r = 0; r < ranks; ++r)
        mean += x[r] / ranks;
    for (int p = 0; p < 2; ++p)
        ddp_all_are(c, model, ranks, IMPL_GRAD, p, n,
                    check_sequence(c, n, (double)WIDTH * (2 - p) * mean, 0));
}

/* One rank has the gradients of bucket 1 first, and then sleeps. If it were sent when it is ready,
 * its bucket 1 would be added to bucket 0 of the others, which is as large. */
static void ddp_buckets_order(struct check *c)
{
    static const double x[RANKS] = {3, 8};

    for (int rank = 0; rank < RANKS; ++rank) {
        struct impl_model *model = check_ddp_model(
            c, RANKS,
            check_text(
                c,
                DDP_MODEL("{\"kind\":\"sequence\",\"reversed\":[%d],\"layers\":[" LINEAR(
                    512, 512) ",{\"kind\":\"sleep\",\"backward_ms\":[4,4]}," LINEAR(512, 512) "]}"),
                rank));

        set_weights(c, model, RANKS);
        for (int turn = 0; turn < 3; ++turn) {
            struct ddp_call call = buckets_rows_of(c, RANKS, x);

            check_note(c, "the other order on rank %d, iteration %d: ", rank, turn);
            ddp_fresh_pass(c, model, &call);
            weights_are_reduced(c, model, RANKS, x);
        }
        check_model_close(c, model);
    }
}

/* ---- DDP-15: while backward goes on ---------------------------------------------------------- */

enum { SLEEP_MS = 120, LEAST_MS = 40, TURNS = 5 };

/* Bucket 0 is complete; then backward sleeps before it comes to bucket 1. The launches must be
 * LEAST_MS apart; the rest of the sleep allows for a late record of their times. On a machine with
 * other work two launches in a row may be LEAST_MS apart by chance, but hardly in every turn. */
static void ddp_buckets_beside(struct check *c)
{
    static const double x[RANKS] = {3, 8};
    struct impl_model *model = check_ddp_model(
        c, RANKS,
        check_text(c,
                   DDP_MODEL(LINEAR(512, 512) ",{\"kind\":\"sleep\",\"backward_ms\":[%d]}," LINEAR(
                       512, 512)),
                   SLEEP_MS));

    set_weights(c, model, RANKS);
    for (int turn = 0; turn < TURNS; ++turn) {
        struct impl_trace *trace = check_memory(c, sizeof *trace);
        struct ddp_call call = buckets_rows_of(c, RANKS, x);

        call.backward = trace;
        check_note(c, "iteration %d: ", turn);
        ddp_fresh_pass(c, model, &call);
        weights_are_reduced(c, model, RANKS, x);
        if (turn == 0)
            continue;
        check_int(c, "buckets", trace->buckets, 2);
        check_at_least(c, "ns from the launch of bucket 0 to that of bucket 1",
                       (long long)(trace->bucket[1].launch_ns - trace->bucket[0].launch_ns),
                       (long long)LEAST_MS * 1000000);
    }
}

/* ---- COST-04: traffic ------------------------------------------------------------------------ */

static uint64_t buckets_total(const struct impl_trace *trace, bool gradients)
{
    uint64_t bytes = 0;

    for (int r = 0; r < trace->replicas; ++r)
        bytes += gradients ? trace->replica[r].bytes_from : trace->replica[r].bytes_to;
    return bytes;
}

/* Trained are 5x2 and 2 floats, and one is frozen; a buffer of one float is sent before a
 * forward. */
enum { TRAINED = 12 * sizeof(float), BUFFER = sizeof(float) };

static const char tutorial[] =
    DDP_MODEL("{\"kind\":\"linear\",\"in\":5,\"out\":2},"
              "{\"kind\":\"affine\",\"weight\":[1],\"with_bias\":false,\"frozen\":true},"
              "{\"kind\":\"counter\"}");

static void ddp_traffic(struct check *c, int ranks)
{
    struct impl_model *model = check_ddp_model(c, ranks, tutorial);

    for (int turn = 0; turn < 5; ++turn) {
        check_note(c, "R=%d, iteration %d: ", ranks, turn);
        const bool no_sync = turn == 2;
        const bool buffers = turn != 3;
        struct impl_trace *forward = check_memory(c, sizeof *forward);
        struct impl_trace *backward = check_memory(c, sizeof *backward);
        struct ddp_call call = {.ranks = ranks,
                                .n_in = 1,
                                .n_out = 1,
                                .no_sync = no_sync,
                                .forward = forward,
                                .backward = backward};

        for (int r = 0; r < ranks; ++r)
            call.in[r][0] =
                check_array(c, 2, (const size_t[]){3, 5}, check_integers(c, 15, (uint64_t)r));
        ddp_pass(c, model, &call);
        check_int(c, "ranks in the trace of forward", forward->replicas, ranks);
        check_int(c, "bytes of parameters and buffers, all ranks",
                  (long long)buckets_total(forward, false),
                  buffers ? (ranks - 1) * (long long)BUFFER : 0);
        check_int(c, "bytes of gradients in forward", (long long)buckets_total(forward, true), 0);
        check_int(c, "ranks in the trace of backward", backward->replicas, ranks);
        /* An all-reduce sends each of R parts R-1 times to be added, and R-1 times to be
         * distributed. */
        check_int(c, "bytes of gradients, all ranks", (long long)buckets_total(backward, true),
                  no_sync ? 0 : 2LL * (ranks - 1) * (long long)TRAINED);
        check_int(c, "bytes of parameters in backward", (long long)buckets_total(backward, false),
                  0);
        check_step(c, model, 0.125F, 0.5F);
    }
}

/* ---- the tables ------------------------------------------------------------------------------ */

enum { SEARCH = IMPL_CAP_DDP | IMPL_CAP_FIND_UNUSED, TOLD = IMPL_CAP_DDP | IMPL_CAP_LAUNCHES };

static const struct check_case cases[] = {
    {"DDP-11.limits", "DDP-11", MAY, REPORTED, DDP, TOLD, 0, ddp_buckets_limits, 60000},
    {"DDP-11.reversed", "DDP-11", MAY, REPORTED, DDP, TOLD | SEARCH, 0, ddp_buckets_reversed,
     30000},
    {"DDP-12.arrival", "DDP-12", MAY, REPORTED, DDP, TOLD, 0, ddp_buckets_arrival, 30000},
    {"DDP-14.order", "DDP-14", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, ddp_buckets_order, 30000},
    {"DDP-15.beside", "DDP-15", MAY, REPORTED, DDP, TOLD | IMPL_CAP_OVERLAP, 0, ddp_buckets_beside,
     30000},
};
const struct check_table ddp_buckets_table = CHECK_TABLE(cases);

static const struct check_case cost_cases[] = {
    {"COST-04.traffic", "COST-04", MAY, REPORTED, DDP,
     IMPL_CAP_DDP | IMPL_CAP_TRACE | IMPL_CAP_TRAFFIC, 0, .ranks = ddp_traffic},
};
const struct check_table ddp_buckets_cost_table = CHECK_TABLE(cost_cases);
