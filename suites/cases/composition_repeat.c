/* composition_repeat.c: several forwards before their backwards, and the memory that many steps
 * leave. */
#include "golden.h"

static void comp_forward(struct check *c, struct impl_model *model, size_t n, double first)
{
    golden_is_counted(c, "output", check_forward(c, model, golden_vector(c, n, first, 1)), n,
                      2 * first + 1, 2);
}

/* The gradients are g = 3i - 5 for rows i = 1..n. Adds the gradients for x = first.. to the
 * sums. */
static void comp_backward(struct check *c, struct impl_model *model, size_t n, double first,
                          double sums[2])
{
    golden_is_counted(c, "input gradient", check_backward(c, model, golden_vector(c, n, -2, 3)), n,
                      -4, 6);
    for (size_t i = 0; i < n; ++i) {
        const double g = 3 * (double)i - 2;

        sums[0] += g * (first + (double)i);
        sums[1] += g;
    }
    check_grads_are(c, model, sums[0], sums[1]);
}

/* The forwards have other sizes, and one without gradients is between them. */
static void comp_two_forwards(struct check *c, int k)
{
    const size_t four = 4;
    struct impl_model *model = golden_affine(c, k);
    double sums[2] = {0};

    comp_forward(c, model, 10, 1);
    comp_forward(c, model, 7, 20);
    golden_is_counted(c, "output without gradients", check_infer(c, model, golden_rows(c, four)),
                      four, 3, 2);
    check_note(c, "K=%d, backward of the second: ", k);
    comp_backward(c, model, 7, 20, sums);
    check_note(c, "K=%d, backward of the first: ", k);
    comp_backward(c, model, 10, 1, sums);
}

static void comp_interleaved(struct check *c, int k)
{
    struct impl_model *model = golden_affine(c, k);
    double sums[2] = {0};

    comp_forward(c, model, 9, 1);
    comp_forward(c, model, 1, 40);
    comp_backward(c, model, 1, 40, sums);
    comp_forward(c, model, 17, -3);
    comp_forward(c, model, 10, 5);
    comp_backward(c, model, 10, 5, sums);
    comp_backward(c, model, 17, -3, sums);
    check_note(c, "K=%d, backward of the first of four: ", k);
    comp_backward(c, model, 9, 1, sums);
}

/* Two models are used at once, which share only a session; their backwards come in either order. */
static void comp_two_models(struct check *c, int k)
{
    struct impl_model *one = golden_affine(c, k), *other = golden_affine(c, golden_most(c, 4));
    double sums[2] = {0}, others[2] = {0};

    check_note(c, "K=%d, the first model: ", k);
    comp_forward(c, one, 10, 1);
    check_note(c, "K=%d, the second model: ", k);
    comp_forward(c, other, 7, 20);
    check_note(c, "K=%d, the first model, behind the second: ", k);
    comp_backward(c, one, 10, 1, sums);
    comp_forward(c, one, 3, -6);
    check_note(c, "K=%d, the second model, behind the first: ", k);
    comp_backward(c, other, 7, 20, others);
    check_model_close(c, other);
    check_note(c, "K=%d, the first model, the second is closed: ", k);
    comp_backward(c, one, 3, -6, sums);
}

/* Every forward has one backward; one without gradients has none. */
static void comp_once_each(struct check *c, int k)
{
    struct impl_model *model = golden_affine(c, k);

    golden_prefill(c, model);
    check_infer(c, model, golden_rows(c, 10));
    check_refused(c, "a backward without a forward in gradient mode",
                  golden_try_backward(c, model, golden_rows(c, 10)), GOLDEN_UNFIT);
    golden_unharmed(c, model);
    golden_prefill(c, model);
    check_refused(c, "a second backward of one forward",
                  golden_try_backward(c, model, golden_rows(c, 10)), GOLDEN_UNFIT);
    golden_unharmed(c, model);
}

/* Nine forwards, each of another size, come before the first of their backwards. */
static void comp_deep(struct check *c, int k)
{
    enum { LEAST = 3, MOST = 11 };
    struct impl_model *model = golden_affine(c, k);
    double sum = 0;

    for (size_t n = LEAST; n <= MOST; ++n)
        check_forward(c, model, golden_rows(c, n));
    for (size_t n = MOST; n >= LEAST; --n) {
        check_note(c, "K=%d, backward of %zu rows: ", k, n);
        golden_is_counted(c, "input gradient", check_backward(c, model, golden_rows(c, n)), n, 2,
                          2);
        sum += golden_squares(n);
        check_grad_is(c, model, 0, sum);
    }
}

/* After a forward the caller may write to the memory of its input: backward must not read it. */
static void comp_input_kept(struct check *c, int k)
{
    const size_t n = 10;

    for (int before = 0; before < 2; ++before) {
        const int device = golden_ids(c, k)[0];
        struct impl_model *model =
            check_model(c,
                        "{\"device\":%d,\"layers\":[%s{\"kind\":\"parallel\",\"device_ids\":%s,"
                        "\"layers\":[%s]}]}",
                        device, before ? GOLDEN_AFFINE "," : "", check_list(c, golden_ids(c, k), k),
                        GOLDEN_AFFINE);
        struct impl_array *x = check_on(golden_rows(c, n), device);

        check_note(c, "K=%d, %s: ", k, before ? "a layer before the wrapper" : "wrapper only");
        check_forward(c, model, x);
        for (size_t e = 0; e < n; ++e)
            ((float *)x->data)[e] = 77;
        check_backward(c, model, golden_rows(c, n));
        check_grad_is(c, model, 0, before ? 2 * 385 : 385);
        check_model_close(c, model);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum { ROWS = 8192, PARAMETERS = 8192, ROUND = 16, ROUNDS = 5, WARM_UP = 10, IDLE_ROWS = 9 };

/* A step whose inputs and outputs are made once, so that the memory of the suite does not grow. */
struct repeated {
    struct impl_model *model, *failing; /* failing: NULL, or makes each forward before */
    struct impl_forward forward;
    struct impl_backward backward;
};

static void repeated_open(struct check *c, struct repeated *r, int k, size_t rows,
                          const char *layers)
{
    const size_t bytes = rows * sizeof(float) + 64;

    r->failing = NULL;
    r->model = golden_parallel(c, k, "", layers);
    r->forward = (struct impl_forward){.in = golden_rows(c, rows),
                                       .n_in = 1,
                                       .out = check_output(c, IMPL_MAX_IO, bytes),
                                       .grad = true,
                                       .train = true};
    r->backward = (struct impl_backward){.grad_in = check_output(c, 1, bytes), .n_in = 1};
}

static void repeated_steps(struct check *c, struct repeated *r, int times)
{
    for (int i = 0; i < times; ++i) {
        struct impl_forward failing = r->forward;

        if (r->failing)
            check_refused(c, "a forward whose replicas fail",
                          check_try_forward(c, r->failing, &failing), ALLOW(IMPL_EFAULT));
        check_forward_op(c, r->model, &r->forward);
        if (r->forward.grad)
            check_backward_op(c, r->model, &r->backward);
    }
}

/* A leak continues to grow; memory that is only kept for reuse does not. The mean of all rounds is
 * taken, because memory that earlier cases of the process freed may hide the leak of one round, but
 * not of all. */
static void must_not_grow(struct check *c, struct repeated *r, long long most)
{
    long long before;

    repeated_steps(c, r, WARM_UP);
    before = (long long)check_resident(c);
    repeated_steps(c, r, ROUNDS * ROUND);
    check_at_most(c, "bytes that every 16 steps add to the process",
                  ((long long)check_resident(c) - before) / ROUNDS, most);
    /* The last step must have computed y = 2x + 1, and the input's gradient is 2. */
    const size_t n = check_elements(r->forward.in);
    double *y = check_memory(c, n * sizeof *y);

    for (size_t i = 0; i < n; ++i)
        y[i] = 2 * check_element(r->forward.in, i) + 1;
    check_values(c, "output", r->forward.out, n, y);
    if (r->forward.grad)
        check_values(c, "input gradient", r->backward.grad_in, n, check_sequence(c, n, 2, 0));
}

/* A shard has 16 KiB or more here, and a replica 32 KiB. Variant 1: without gradients. Variant 2:
 * before each step one fails that has done its work. */
static void resident(struct check *c)
{
    static const char failing[] = GOLDEN_AFFINE ",{\"kind\":\"fail\",\"replicas\":[0,1],"
                                                "\"status\":\"fault\",\"text\":\"each\"}";
    struct repeated r;

    if (KEEPS_FREED_MEMORY)
        check_skip(c, "built with a sanitizer that keeps freed memory");
    repeated_open(c, &r, golden_most(c, 2), ROWS,
                  check_text(c, "{\"kind\":\"unused\",\"size\":%d}," GOLDEN_AFFINE, PARAMETERS));
    r.forward.grad = check_variant(c) != 1;
    if (check_variant(c) == 2)
        r.failing = golden_parallel(c, golden_most(c, 2), "", failing);
    must_not_grow(c, &r, 128 * 1024);
}

/* The rows make fewer replicas than there are devices, and nothing is left then, either. A shard
 * has 48 KiB: 16 steps that leave one each leave 768 KiB. */
static void comp_resident_idle(struct check *c)
{
    enum { COLUMNS = 4096 };
    struct repeated r;

    if (KEEPS_FREED_MEMORY)
        check_skip(c, "built with a sanitizer that keeps freed memory");
    repeated_open(c, &r, golden_most(c, 4), (size_t)IDLE_ROWS * COLUMNS, GOLDEN_AFFINE);
    r.forward.in = golden_matrix(c, IDLE_ROWS, COLUMNS, 1, 0);
    must_not_grow(c, &r, 512 * 1024);
}

/* The memory that the implementation reports is the same after 3 and after 23 steps, and after
 * another model was opened and closed. */
static void comp_live(struct check *c)
{
    struct impl_trace *trace = check_memory(c, sizeof *trace);
    struct repeated r;
    uint64_t before;
    struct impl_model *other;

    repeated_open(c, &r, golden_most(c, 4), 100,
                  "{\"kind\":\"unused\",\"size\":50}," GOLDEN_AFFINE);
    r.forward.trace = trace;
    repeated_steps(c, &r, 3);
    before = trace->live_bytes;
    check_at_least(c, "bytes held by a model of 52 parameters", (long long)before,
                   52 * (long long)sizeof(float));
    repeated_steps(c, &r, 20);
    check_int(c, "bytes held after 20 more steps", (long long)trace->live_bytes, (long long)before);
    other = golden_affine(c, golden_most(c, 8));
    check_forward(c, other, golden_rows(c, 500));
    check_backward(c, other, NULL);
    check_model_close(c, other);
    repeated_steps(c, &r, 1);
    check_int(c, "bytes held after another model came and went", (long long)trace->live_bytes,
              (long long)before);
}

/* A step that fails leaves no more memory than one that does not. */
static void comp_live_errors(struct check *c)
{
    struct impl_trace *trace = check_memory(c, sizeof *trace);
    struct repeated r;
    uint64_t before = 0;

    repeated_open(c, &r, golden_most(c, 4), 100, GOLDEN_AFFINE ",{\"kind\":\"take\",\"rows\":[5]}");
    r.forward.trace = trace;
    for (int time = 0; time < 12; ++time) {
        const double zero = 0;
        const int status = golden_try_one(c, r.model, check_array(c, 0, NULL, &zero));

        check_refused(c, "an input that cannot be cut", status, GOLDEN_UNFIT);
        repeated_steps(c, &r, 1);
        if (time == 2)
            before = trace->live_bytes;
    }
    check_int(c, "bytes held after nine more errors", (long long)trace->live_bytes,
              (long long)before);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define MEMORY (PARALLEL | IMPL_CAP_TRACE | IMPL_CAP_MEMORY)

static const struct check_case cases[] = {
    {"COMP-10.two_forwards", "COMP-10", MUST, OBSERVED, DP, PARALLEL, 1, .each = comp_two_forwards},
    {"COMP-10.interleaved", "COMP-10", MUST, OBSERVED, DP, PARALLEL, 1, .each = comp_interleaved},
    {"COMP-10.two_models", "COMP-10", MUST, OBSERVED, DP, PARALLEL, 1, .each = comp_two_models},
    {"COMP-10.once_each", "COMP-10", MUST_REFUSE, OBSERVED, DP, PARALLEL, 1,
     .each = comp_once_each},
    {"COMP-10.deep", "COMP-10", MUST, OBSERVED, DP, PARALLEL, 1, .each = comp_deep},
    {"COMP-10.input_kept", "COMP-10", MUST, OBSERVED, DP, PARALLEL, 1, .each = comp_input_kept},
    {"COMP-12.resident", "COMP-12", MUST, OBSERVED, DP, PARALLEL, 1, resident},
    {"COMP-12.inference", "COMP-12", MUST, OBSERVED, DP, PARALLEL, 1, resident, .variant = 1},
    {"COMP-12.failing", "COMP-12", MUST, OBSERVED, DP, PARALLEL, 1, resident, .variant = 2},
    {"COMP-12.idle", "COMP-12", MUST, OBSERVED, DP, PARALLEL, 1, comp_resident_idle},
    {"COMP-12.live", "COMP-12", MAY, REPORTED, DP, MEMORY, 1, comp_live},
    {"COMP-12.live_errors", "COMP-12", MAY, REPORTED, DP, MEMORY, 2, comp_live_errors},
};
const struct check_table composition_repeat_table = CHECK_TABLE(cases);
