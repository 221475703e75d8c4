/* replicate_copies.c: area REPL: copies have the bits of the source and separate memory; the copy
 * on the source's device is the source itself. */
#include "primitive.h"

#include <string.h>

enum { TENSORS = 6, ROOM = 512 };

#define REFUSED (ALLOW(IMPL_EINVAL) | ALLOW(IMPL_EDEVICE))
#define COUNTED "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]},{\"kind\":\"counter\"}"

/* Makes tensors of all types and of different sizes on one device; their values are integers. */
static struct impl_array *tensors(struct check *c, int device, double first)
{
    static const enum impl_dtype types[TENSORS] = {IMPL_F32, IMPL_I64, IMPL_F32,
                                                   IMPL_I32, IMPL_F64, IMPL_F32};
    static const size_t dim[TENSORS][2] = {{2, 3}, {5, 1}, {1, 1}, {3, 3}, {2, 2}, {7, 2}};
    struct impl_array *src = check_memory(c, TENSORS * sizeof *src);

    for (int j = 0; j < TENSORS; ++j) {
        src[j] =
            *check_typed(c, types[j], 2, dim[j],
                         check_sequence(c, dim[j][0] * dim[j][1], first + 100 * j, 1 + (double)j));
        check_on(&src[j], device);
    }
    return src;
}

static struct impl_broadcast broadcasting(struct check *c, const struct impl_array *src, int n,
                                          const int *devices, int k)
{
    struct impl_broadcast op = {.src = src, .n = n, .devices = devices, .n_devices = k, .poke = -1};

    op.copies = check_output(c, n * k + 1, ROOM);
    return op;
}

static void must_be_copies(struct check *c, const struct impl_broadcast *op)
{
    for (int i = 0; i < op->n_devices; ++i)
        for (int j = 0; j < op->n; ++j) {
            const char *what = check_text(c, "tensor %d for device %d", j, op->devices[i]);

            check_same(c, what, &op->copies[i * op->n + j], &op->src[j]);
            check_device(c, what, &op->copies[i * op->n + j], op->devices[i]);
        }
}

static void copies_still_works(struct check *c)
{
    const int *devices = primitive_order(c, 2);
    struct impl_broadcast op = broadcasting(c, tensors(c, devices[0], 3), TENSORS, devices, 2);

    check_broadcast(c, &op);
    must_be_copies(c, &op);
}

/* ---- REPL-05, 06: storage -------------------------------------------------------------------- */

/* If replica 0 writes to a buffer in place, the base has that value. With one device the module
 * itself is called. */
static void count_forwards(struct check *c, int k)
{
    const bool survive = k == 1 || check_choice(c, IMPL_REPLICA_0) == IMPL_ALIAS;
    static const size_t rows[] = {10, 1, 9};
    struct impl_model *model = check_parallel(c, k, primitive_order(c, k), "", COUNTED);
    const double edited = 41;

    for (int step = 0; step < 3; ++step) {
        const size_t n = rows[step];

        check_values(c, "output", check_forward(c, model, check_counted(c, n, 4, 1)), n,
                     check_sequence(c, n, 9, 2));
        check_value_is(c, model, 2, survive ? step + 1 : 0);
        check_value_is(c, model, 0, 2);
    }
    check_set(c, model, IMPL_VALUE, 2, &edited);
    check_infer(c, model, check_counted(c, 10, 1, 1));
    check_value_is(c, model, 2, survive ? 42 : 41);
}

/* Adds 1 to tensor `poke` of all copies. `alias`: the first device has the source itself. */
static void poke_copies(struct check *c, int k, int poke, bool alias)
{
    const int *devices = primitive_order(c, k);
    const int home = alias ? devices[0] : IMPL_HOST;
    const struct impl_array *src = tensors(c, home, 10);
    const struct impl_array *plain = tensors(c, home, 10), *plus = tensors(c, home, 10);
    struct impl_broadcast op = broadcasting(c, src, TENSORS, devices, k);
    const size_t n = check_elements(&src[poke]);
    struct impl_array changed =
        *check_typed(c, src[poke].dtype, src[poke].ndim, src[poke].dim,
                     check_sequence(c, n, check_element(&plus[poke], 0) + 1, 1 + (double)poke));

    op.poke = poke;
    op.src_after = check_output(c, TENSORS, ROOM);
    check_note(c, "K=%d, 1 added to copies of tensor %d: ", k, poke);
    check_broadcast(c, &op);
    for (int j = 0; j < TENSORS; ++j) {
        const struct impl_array *want = j == poke ? &changed : &plain[j];

        for (int i = 0; i < k; ++i)
            check_same(c, check_text(c, "tensor %d on device %d", j, devices[i]),
                       &op.copies[i * TENSORS + j], want);
        check_same(c, check_text(c, "source tensor %d", j), &op.src_after[j],
                   alias ? want : &plain[j]);
    }
}

static void replicate_poke(struct check *c, int k)
{
    for (int poke = 0; poke < TENSORS; ++poke)
        poke_copies(c, k, poke, true);
}

/* REPL-15: tensors of the host may be sent to any device, and do not change. */
static void replicate_poke_host(struct check *c, int k)
{
    const int *devices = primitive_order(c, k);
    struct impl_broadcast op = broadcasting(c, tensors(c, IMPL_HOST, 5), TENSORS, devices, k);

    check_note(c, "K=%d from the host: ", k);
    check_broadcast(c, &op);
    must_be_copies(c, &op);
    for (int poke = 0; poke < TENSORS; ++poke)
        poke_copies(c, k, poke, false);
}

/* ---- REPL-07: bits --------------------------------------------------------------------------- */

/* Returns numbers of all magnitudes, with negative zero and subnormal numbers among them. */
static struct impl_array *odd_numbers(struct check *c, int device)
{
    static const float special[] = {-0.0F, 1e-45F, 3.4e38F, -1.17549e-38F, 1.0000001F};
    static const size_t dim[] = {2, 9};
    const size_t count = 18;
    struct impl_array *src = check_memory(c, TENSORS * sizeof *src);

    for (int j = 0; j < TENSORS; ++j) {
        double *values = check_memory(c, count * sizeof *values);

        memcpy(values, check_randoms(c, count, check_seed(c) + (uint64_t)j),
               count * sizeof *values);
        for (size_t i = 0; i < sizeof special / sizeof special[0]; ++i)
            values[((size_t)j + 3 * i) % count] = (double)special[i];
        src[j] = *check_typed(c, j % 3 == 1 ? IMPL_F64 : IMPL_F32, j % 2 + 1,
                              j % 2 == 0 ? dim + 1 : dim, values);
        check_on(&src[j], device);
    }
    return src;
}

static void replicate_bits(struct check *c, int k)
{
    static const size_t buffers[] = {0, 1, 72, 100, 4096};

    for (size_t b = 0; b < sizeof buffers / sizeof buffers[0]; ++b) {
        const int *devices = primitive_order(c, k);
        struct impl_broadcast op = broadcasting(c, odd_numbers(c, devices[0]), TENSORS, devices, k);

        op.buffer_bytes = buffers[b];
        check_note(c, "K=%d, buffer of %zu bytes: ", k, buffers[b]);
        check_broadcast(c, &op);
        must_be_copies(c, &op);
    }
}

/* The tensors have many kilobytes, more than any small staging memory holds. */
static void replicate_wide(struct check *c)
{
    static const size_t dim[][2] = {{61, 17}, {3, 700}, {1300, 1}};
    const int k = primitive_some(c);
    const int *devices = primitive_order(c, k);

    for (int turn = 0; turn < 2; ++turn) {
        struct impl_array src[3];
        struct impl_broadcast op = {
            .src = src, .n = 3, .devices = devices, .n_devices = k, .poke = -1};

        for (int j = 0; j < 3; ++j)
            src[j] =
                *check_on(check_array(c, 2, dim[j],
                                      check_sequence(c, dim[j][0] * dim[j][1], 1000 * j + turn, 1)),
                          devices[0]);
        op.copies = check_output(c, 3 * k, 8400);
        op.buffer_bytes = turn == 0 ? 0 : 4096;
        check_note(c, "K=%d, buffer of %zu bytes: ", k, op.buffer_bytes);
        check_broadcast(c, &op);
        must_be_copies(c, &op);
    }
}

/* Broadcasts follow each other, with other data and to other devices. */
static void replicate_again(struct check *c)
{
    const int *devices = primitive_order(c, check_devices(c));
    const int most = check_devices(c);

    for (int step = 0; step < 6; ++step) {
        const int k = step % 2 == 0 ? most : 1 + step % most;
        const int first = step % (most - k + 1);
        const int n = 1 + (step + 4) % TENSORS;
        struct impl_broadcast op =
            broadcasting(c, tensors(c, devices[first], 1000 * (double)step), n, devices + first, k);

        op.buffer_bytes = step < 3 ? 0 : 40;
        check_note(c, "broadcast %d, of %d tensors to %d devices: ", step, n, k);
        check_broadcast(c, &op);
        must_be_copies(c, &op);
    }
}

/* Every replica shows each weight that it has, by rows with a single one, and the biases, by rows
 * of zeros. */
static void replicate_model_bits(struct check *c, int k)
{
    const double *w = check_randoms(c, 6, check_seed(c)), *b = check_randoms(c, 2, 77);
    const size_t n = 5 * (size_t)k - 1;
    const size_t dim[] = {n, 3};
    double *x = check_memory(c, 3 * n * sizeof *x), *want = check_memory(c, 2 * n * sizeof *x);
    struct impl_model *model =
        check_parallel(c, k, primitive_order(c, k), "", "{\"kind\":\"linear\",\"in\":3,\"out\":2}");

    for (size_t r = 0; r < n; ++r) {
        if (r % 4 < 3)
            x[3 * r + r % 4] = 1;
        for (size_t o = 0; o < 2; ++o)
            want[2 * r + o] = b[o] + (r % 4 < 3 ? w[3 * o + r % 4] : 0);
    }
    check_set(c, model, IMPL_VALUE, 0, w);
    check_set(c, model, IMPL_VALUE, 1, b);
    check_values(c, "single weights", check_forward(c, model, check_array(c, 2, dim, x)), 2 * n,
                 want);
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* REPL-15: the source is on a device that is not the first of the list. */
static void replicate_wrong_source(struct check *c, int k)
{
    const int *devices = primitive_order(c, k);

    for (int at = 1; at < k; ++at)
        for (int n = 1; n <= 2; ++n) {
            struct impl_broadcast op = broadcasting(c, tensors(c, devices[at], 3), n, devices, k);

            check_note(c, "K=%d, source on device %d of position %d: ", k, devices[at], at);
            check_refused(c, "a broadcast from a device that is not the first",
                          check_try_broadcast(c, &op), REFUSED);
            op.n_devices = at;
            check_refused(c, "a broadcast from a device that is not in the list",
                          check_try_broadcast(c, &op), REFUSED);
            copies_still_works(c);
        }
}

/* REPL-17: one tensor is on another device than the others. */
static void replicate_several_sources(struct check *c, int k)
{
    for (int odd = 0; odd < TENSORS; odd += 2) {
        const int *devices = primitive_order(c, k);
        struct impl_array *src = tensors(c, devices[0], 3);
        struct impl_broadcast op = broadcasting(c, src, TENSORS, devices, k);

        check_on(&src[odd], odd == 2 ? IMPL_HOST : devices[k - 1]);
        check_note(c, "K=%d, tensor %d on device %d: ", k, odd, src[odd].device);
        check_refused(c, "a broadcast of tensors on several devices", check_try_broadcast(c, &op),
                      REFUSED);
        copies_still_works(c);
    }
}

/* REPL-17: a module whose parameters are on the host cannot be replicated. */
static void replicate_host_base(struct check *c, int k)
{
    const struct impl_array *x = check_counted(c, 10, 1, 1);
    const double before = 1000, edited = 5;
    const int *ids = primitive_order(c, k);
    struct impl_model *model = check_parallel(c, k, ids, "", COUNTED);

    check_to(c, model, IMPL_HOST);
    check_set(c, model, IMPL_GRAD, 0, &before);
    check_refused(c, "a module on the host", check_try_one(c, model, x, true, true),
                  ALLOW(IMPL_EDEVICE));
    check_grad_is(c, model, 0, before);
    check_set(c, model, IMPL_VALUE, 0, &edited);
    check_to(c, model, ids[0]);
    check_values(c, "output after it was changed there and moved", check_forward(c, model, x), 10,
                 check_sequence(c, 10, 6, 5));
}

/* REPL-18 */
static void replicate_nothing(struct check *c, int k)
{
    const int *devices = primitive_order(c, k);
    struct impl_broadcast none = broadcasting(c, NULL, 0, devices, k);
    struct impl_broadcast some = broadcasting(c, tensors(c, devices[0], 3), TENSORS, devices, k);

    check_accepted(c, "status of a broadcast of no tensors", check_try_broadcast(c, &none));
    check_broadcast(c, &some);
    must_be_copies(c, &some);
}

static const struct check_case cases[] = {
    {"REPL-05.counter", "REPL-05", MUST, OBSERVED, DP, PARALLEL, 1, .each = count_forwards,
     .dialect = IMPL_REPLICA_0, .choice = IMPL_ALIAS},
    {"REPL-05.broadcast", "REPL-05", MUST, OBSERVED, PRIM, IMPL_CAP_BROADCAST, 1,
     .each = replicate_poke, .dialect = IMPL_REPLICA_0, .choice = IMPL_ALIAS},
    {"REPL-06.counter", "REPL-06", MUST, OBSERVED, DP, PARALLEL, 1, .each = count_forwards,
     .dialect = IMPL_REPLICA_0, .choice = IMPL_CLONE},
    {"REPL-07.bits", "REPL-07", MUST, OBSERVED, PRIM, IMPL_CAP_BROADCAST, 1,
     .each = replicate_bits},
    {"REPL-07.again", "REPL-07", MUST, OBSERVED, PRIM, IMPL_CAP_BROADCAST, 2, replicate_again},
    {"REPL-07.wide", "REPL-07", MUST, OBSERVED, PRIM, IMPL_CAP_BROADCAST, 2, replicate_wide},
    {"REPL-07.model", "REPL-07", MUST, OBSERVED, DP, PARALLEL, 1, .each = replicate_model_bits},
    {"REPL-15.host", "REPL-15", MUST, OBSERVED, PRIM, IMPL_CAP_BROADCAST, 1,
     .each = replicate_poke_host},
    {"REPL-15.refused", "REPL-15", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_BROADCAST, 2,
     .each = replicate_wrong_source},
    {"REPL-17.several", "REPL-17", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_BROADCAST, 2,
     .each = replicate_several_sources},
    {"REPL-17.host", "REPL-17", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = replicate_host_base},
    {"REPL-18.broadcast", "REPL-18", MUST, OBSERVED, PRIM, IMPL_CAP_BROADCAST, 1,
     .each = replicate_nothing},
};
const struct check_table replicate_copies_table = CHECK_TABLE(cases);
