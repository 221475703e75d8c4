/* cpu.c: area CPU: a machine without accelerators, where a wrapper is transparent. */
#include "check.h"
#include "golden.h"

enum { N = 10 };

/* Checks y = 2x + 1 with g = 1..10, three times, with gradients that were set before and are not
 * zeroed; the wrapper may have been given any devices. */
static void values_and_gradients(struct check *c)
{
    static const char *const forms[] = {"", "\"device_ids\":[1,0],", "\"device_ids\":[2,0,3,1],",
                                        "\"output_device\":1,"};

    check_use(c, check_host_session(c));
    for (size_t form = 0; form < sizeof forms / sizeof forms[0]; ++form) {
        struct impl_model *model =
            check_model(c,
                        "{\"layers\":[{\"kind\":\"parallel\",%s\"layers\":[{\"kind\":\"affine\","
                        "\"weight\":[2],\"bias\":[1]}]}]}",
                        forms[form]);
        check_note(c, "{%s}: ", forms[form]);
        check_set(c, model, IMPL_GRAD, 0, (const double[]){1000});
        check_set(c, model, IMPL_GRAD, 1, (const double[]){123});
        for (int turn = 1; turn <= 3; ++turn) {
            struct impl_array *y =
                check_forward(c, model, check_needs_grad(check_counted(c, N, 1, 1)));
            struct impl_array *dx;
            check_values(c, "output", y, N, check_sequence(c, N, 3, 2));
            check_device(c, "output", y, IMPL_HOST);
            dx = check_backward(c, model, check_counted(c, N, 1, 1));
            check_values(c, "input gradient", dx, N, check_sequence(c, N, 2, 2));
            check_grads_are(c, model, 1000 + 385 * turn, 123 + 55 * turn);
        }
    }
}

/* The module is called once, with all rows, outside any replica, with the modes of the caller. */
static void called_once(struct check *c)
{
    struct impl_model *model;

    check_use(c, check_host_session(c));
    model = check_model(c, "{\"layers\":[{\"kind\":\"parallel\",\"layers\":["
                           "{\"kind\":\"counter\"},{\"kind\":\"tag_dim\",\"dim\":0},"
                           "{\"kind\":\"tag_device\"},{\"kind\":\"tag_replica\"},"
                           "{\"kind\":\"tag_mode\"}]}]}");
    check_value_is(c, model, 0, 0);
    for (int turn = 1; turn <= 4; ++turn) {
        const size_t n = 2 + 3 * (size_t)turn;
        const bool grad = turn % 2 == 0, train = turn > 2;
        const double device = 0, replica = 1000, mode = 1000 * grad + 2000 * train;
        struct impl_array *out = check_output(c, IMPL_MAX_IO, 4096);
        struct impl_forward op = {
            .in = check_counted(c, n, 1, 1), .n_in = 1, .out = out, .grad = grad, .train = train};
        check_note(c, "forward %d: ", turn);
        check_forward_op(c, model, &op);
        check_int(c, "outputs", op.n_out, 1);
        check_values(c, "tags", out, n,
                     check_sequence(c, n, 1 + 1000 * (double)n + device + replica + mode, 1));
        check_value_is(c, model, 0, turn);
    }
}

static void arguments_untouched(struct check *c)
{
    const double values[] = {-3, 7, 11};
    struct impl_array *out = check_output(c, IMPL_MAX_IO, 4096);
    struct impl_forward op = {.n_in = 1, .n_args = 1, .out = out, .grad = true, .train = true};
    struct impl_model *model;

    check_use(c, check_host_session(c));
    model = check_model(c, "{\"layers\":[{\"kind\":\"parallel\",\"layers\":["
                           "{\"kind\":\"argument\"}]}]}");
    op.in = check_counted(c, N, 1, 1);
    op.args = check_vector(c, 3, values);
    check_forward_op(c, model, &op);
    check_int(c, "outputs", op.n_out, 1);
    check_values(c, "output", out, N, check_sequence(c, N, 3000 - 3, -3));
}

/* ---- CPU-02: the functional form ------------------------------------------------------------- */

static const char functional[] =
    "{\"layers\":[{\"kind\":\"parallel\",\"functional\":true,\"layers\":["
    "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]}]}]}";

static void functional_called(struct check *c)
{
    struct impl_model *model;

    check_use(c, check_host_session(c));
    model = check_model(c, "%s", functional);
    for (int turn = 1; turn <= 2; ++turn) {
        check_values(c, "output",
                     check_forward(c, model, check_needs_grad(check_counted(c, N, 1, 1))), N,
                     check_sequence(c, N, 3, 2));
        check_values(c, "input gradient", check_backward(c, model, check_counted(c, N, 1, 1)), N,
                     check_sequence(c, N, 2, 2));
        check_grads_are(c, model, 385 * turn, 55 * turn);
    }
}

static int open_and_run(struct check *c, const char *text)
{
    struct impl_model *model;
    const int status = check_try_model(c, text, 1, &model);

    if (status != IMPL_OK)
        return status;
    return check_try_one(c, model, check_counted(c, N, 1, 1), true, true);
}

static void functional_refused(struct check *c)
{
    check_use(c, check_host_session(c));
    check_refused(c, "the functional form without devices", open_and_run(c, functional),
                  ALLOW(IMPL_EINVAL) | ALLOW(IMPL_EDEVICE) | ALLOW(IMPL_ENODEV));
    check_accepted(c, "status of the wrapper without devices",
                   open_and_run(c, "{\"layers\":[{\"kind\":\"parallel\",\"layers\":["
                                   "{\"kind\":\"affine\"}]}]}"));
}

/* ---- CPU-03: no device_ids where there are devices ------------------------------------------- */

static const char empty_ids[] = "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":[],\"layers\":["
                                "{\"kind\":\"tag_device\"},{\"kind\":\"tag_dim\",\"dim\":0},"
                                "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]}]}]}";

static void empty_ids_refused(struct check *c)
{
    check_refused(c, "an empty list of devices", open_and_run(c, empty_ids),
                  ALLOW(IMPL_EINVAL) | ALLOW(IMPL_EDEVICE) | ALLOW(IMPL_ENODEV));
    golden_works(c, golden_most(c, 8));
}

/* With an empty device_ids the wrapper runs on devices 0 .. k-1. */
static void empty_ids_give(struct check *c)
{
    const int k = check_choice(c, IMPL_EMPTY_IDS) == IMPL_ALL ? check_devices(c) : 1;
    size_t size[IMPL_MAX_DEVICES], r = 0;
    const int m = check_shards(N, k, size);
    struct impl_model *model = check_model(c, "%s", empty_ids);
    double want[N];

    for (int s = 0; s < m; ++s)
        for (size_t row = 0; row < size[s]; ++row, ++r)
            want[r] = 2 * ((double)(r + 1) + 1000 * (s + 1) + 1000 * (double)size[s]) + 1;
    check_values(c, "output", check_forward(c, model, check_on(check_counted(c, N, 1, 1), 0)), N,
                 want);
}

/* ---- CPU-04: nothing is checked -------------------------------------------------------------- */

static struct impl_model *host_wrapped(struct check *c, const char *layers)
{
    return check_model(c, "{\"layers\":[{\"kind\":\"parallel\",\"layers\":[%s]}]}", layers);
}

/* A 0-dim input cannot be scattered, and a 0-dim output is gathered to a vector. Here both pass
 * unchanged. */
static void scalars_pass(struct check *c)
{
    const double three = 3, seven = 7, fifty_five = 55;
    struct impl_array *y;

    check_use(c, check_host_session(c));
    y = check_forward(c, host_wrapped(c, "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]}"),
                      check_array(c, 0, NULL, &three));
    check_shape(c, "output of a 0-dim input", y, 0, NULL);
    check_values(c, "output of a 0-dim input", y, 1, &seven);
    y = check_forward(c, host_wrapped(c, "{\"kind\":\"sum\"}"), check_counted(c, N, 1, 1));
    check_shape(c, "0-dim output", y, 0, NULL);
    check_values(c, "0-dim output", y, 1, &fifty_five);
}

/* Two outputs have different rows; or there are no rows at all. */
static void odd_outputs_pass(struct check *c)
{
    const size_t none[] = {0, 3};
    struct impl_array *out = check_output(c, IMPL_MAX_IO, 4096), *y;
    struct impl_forward op = {.n_in = 1, .out = out, .grad = true, .train = true};
    const double twice[] = {1, 1, 2, 2, 3, 3};

    check_use(c, check_host_session(c));
    op.in = check_counted(c, 3, 1, 1);
    check_forward_op(c, host_wrapped(c, "{\"kind\":\"fork\"}"), &op);
    check_int(c, "outputs", op.n_out, 2);
    check_values(c, "first output", &out[0], 3, check_sequence(c, 3, 1, 1));
    check_values(c, "second output", &out[1], 6, twice);
    y = check_forward(c, host_wrapped(c, "{\"kind\":\"affine\",\"weight\":[2]}"),
                      check_array(c, 2, none, NULL));
    check_shape(c, "output of no rows", y, 2, none);
}

static const struct check_case cases[] = {
    {"CPU-01.values", "CPU-01", MUST, OBSERVED, DP, PARALLEL, 0, values_and_gradients},
    {"CPU-01.called_once", "CPU-01", MUST, OBSERVED, DP, PARALLEL, 0, called_once},
    {"CPU-01.arguments", "CPU-01", MUST, OBSERVED, DP, PARALLEL | IMPL_CAP_ARGUMENTS, 0,
     arguments_untouched},
    {"CPU-02.called", "CPU-02", MUST, OBSERVED, DP, PARALLEL | IMPL_CAP_FUNCTIONAL, 0,
     functional_called, 0, IMPL_FUNCTIONAL_HOST, IMPL_CALL},
    {"CPU-02.refused", "CPU-02", MUST_REFUSE, OBSERVED, DP, PARALLEL | IMPL_CAP_FUNCTIONAL, 0,
     functional_refused, 0, IMPL_FUNCTIONAL_HOST, IMPL_REFUSE},
    {"CPU-03.refused", "CPU-03", MUST_REFUSE, OBSERVED, DP, PARALLEL, 1, empty_ids_refused, 0,
     IMPL_EMPTY_IDS, IMPL_REFUSE},
    {"CPU-03.all", "CPU-03", MUST, OBSERVED, DP, PARALLEL, 1, empty_ids_give, 0, IMPL_EMPTY_IDS,
     IMPL_ALL},
    {"CPU-03.called", "CPU-03", MUST, OBSERVED, DP, PARALLEL, 1, empty_ids_give, 0, IMPL_EMPTY_IDS,
     IMPL_CALL},
    {"CPU-04.scalars", "CPU-04", MUST, OBSERVED, DP, PARALLEL, 0, scalars_pass},
    {"CPU-04.outputs", "CPU-04", MUST, OBSERVED, DP, PARALLEL, 0, odd_outputs_pass},
};
const struct check_table cpu_table = CHECK_TABLE(cases);
