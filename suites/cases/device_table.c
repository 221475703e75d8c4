/* device_table.c: at every forward all parameters and buffers must be on the first of device_ids.
 * These are the 21 rows of PyTorch's truth table, and cases that it leaves out. */
#include "golden.h"

enum { ALL, FORWARDS, BACKWARDS }; /* device_ids: absent, [0, 1], [1, 0] */
enum { STAY = IMPL_NOWHERE, NO_SECOND = IMPL_NOWHERE };

struct row {
    const char *name;
    bool sequence;
    int first, second; /* devices of the layers */
    int moved;         /* the device to which the model is moved after wrapping */
    int ids;
    bool accepted;
};

static const struct row rows[] = {
    {"l on the host, all devices", false, IMPL_HOST, NO_SECOND, STAY, ALL, false},
    {"l on 1, all devices", false, 1, NO_SECOND, STAY, ALL, false},
    {"l on 0, [1,0]", false, 0, NO_SECOND, STAY, BACKWARDS, false},
    {"l on 0, all devices", false, 0, NO_SECOND, STAY, ALL, true},
    {"l on the host then moved to 0, all devices", false, IMPL_HOST, NO_SECOND, 0, ALL, true},
    {"l on 1, [1,0]", false, 1, NO_SECOND, STAY, BACKWARDS, true},
    {"l on the host then moved to 1, [1,0]", false, IMPL_HOST, NO_SECOND, 1, BACKWARDS, true},
    {"s(l on the host), all devices", true, IMPL_HOST, NO_SECOND, STAY, ALL, false},
    {"s(l on the host), [0,1]", true, IMPL_HOST, NO_SECOND, STAY, FORWARDS, false},
    {"s(l on the host), [1,0]", true, IMPL_HOST, NO_SECOND, STAY, BACKWARDS, false},
    {"s(l on the host, l on 0), all devices", true, IMPL_HOST, 0, STAY, ALL, false},
    {"s(l on the host, l on 0), [0,1]", true, IMPL_HOST, 0, STAY, FORWARDS, false},
    {"s(l on the host, l on 0), [1,0]", true, IMPL_HOST, 0, STAY, BACKWARDS, false},
    {"s(l on 0, l on 1), all devices", true, 0, 1, STAY, ALL, false},
    {"s(l on 0, l on 1), [0,1]", true, 0, 1, STAY, FORWARDS, false},
    {"s(l on 0, l on 1), [1,0]", true, 0, 1, STAY, BACKWARDS, false},
    {"s(l on 0, l on 0), all devices", true, 0, 0, STAY, ALL, true},
    {"s(l on 0, l on 0), [0,1]", true, 0, 0, STAY, FORWARDS, true},
    {"s(l on 0, l on 0), [1,0]", true, 0, 0, STAY, BACKWARDS, false},
    {"s moved to the host, [1,0]", true, 0, 0, IMPL_HOST, BACKWARDS, false},
    {"s moved to 1, [1,0]", true, 0, 0, 1, BACKWARDS, true},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static int base_device(const struct row *row)
{
    return row->ids == BACKWARDS ? 1 : 0;
}

/* Opens 2x + 1 with one layer or with two, of which the second does nothing. */
static struct impl_model *open_row(struct check *c, const struct row *row)
{
    static const char *const lists[] = {"", "\"device_ids\":[0,1],", "\"device_ids\":[1,0],"};
    const char *first = check_text(
        c, "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1],\"device\":%d}", row->first);
    const char *second =
        row->second == NO_SECOND
            ? ""
            : check_text(c, ",{\"kind\":\"affine\",\"weight\":[1],\"bias\":[0],\"device\":%d}",
                         row->second);
    struct impl_model *model =
        check_model(c, "{\"layers\":[{\"kind\":\"parallel\",%s\"layers\":[%s%s%s%s]}]}",
                    lists[row->ids], row->sequence ? "{\"kind\":\"sequence\",\"layers\":[" : "",
                    first, second, row->sequence ? "]}" : "");

    check_note(c, "row %d of 21, %s: ", (int)(row - rows) + 1, row->name);
    golden_prefill(c, model);
    if (row->moved != STAY)
        check_to(c, model, row->moved);
    return model;
}

static void dev_accepted(struct check *c)
{
    int tried = 0;

    for (int i = 0; i < ROWS; ++i) {
        if (!rows[i].accepted)
            continue;
        ++tried;
        golden_unharmed(c, open_row(c, &rows[i]));
    }
    check_int(c, "rows that must be accepted", tried, 7);
}

/* Checks that nothing ran or was moved, and that the model runs after it was moved. */
static void table_refused(struct check *c)
{
    static const int ranges[][2] = {{1, 3}, {8, 13}, {14, 16}, {19, 20}};
    const int *range = ranges[check_variant(c)];

    for (int i = range[0] - 1; i < range[1]; ++i) {
        struct impl_model *model;

        if (rows[i].accepted)
            check_broken(c, "row %d is not one that is refused", i + 1);
        model = open_row(c, &rows[i]);
        for (int time = 0; time < 2; ++time)
            check_refused(c, "a module that is not on the first device",
                          golden_try_one(c, model, golden_rows(c, 10)), ALLOW(IMPL_EDEVICE));
        check_to(c, model, base_device(&rows[i]));
        golden_unharmed(c, model);
        check_model_close(c, model);
    }
}

static bool is_offender(const struct row *row, int device)
{
    if (device == base_device(row))
        return false;
    if (row->moved != STAY)
        return device == row->moved;
    return device == row->first || (row->second != NO_SECOND && device == row->second);
}

/* The error names both devices: that where parameters must be, and that where one is. */
static void dev_names(struct check *c)
{
    for (int i = 0; i < ROWS; ++i) {
        const struct row *row = &rows[i];
        const struct impl_error *error = check_error(c);
        struct impl_model *model;

        if (row->accepted)
            continue;
        model = open_row(c, row);
        check_refused(c, "a module that is not on the first device",
                      golden_try_one(c, model, golden_rows(c, 10)), ALLOW(IMPL_EDEVICE));
        check_true(c,
                   (error->device == base_device(row) && is_offender(row, error->device_also)) ||
                       (error->device_also == base_device(row) && is_offender(row, error->device)),
                   "the error names the devices %d and %d, must name %d and where the module is",
                   error->device, error->device_also, base_device(row));
        check_to(c, model, base_device(row));
        check_accepted(c, "status of a forward where it must be",
                       golden_try_one(c, model, golden_rows(c, 10)));
        check_model_close(c, model);
    }
}

/* ---- what the table leaves out --------------------------------------------------------------- */

/* The first forward of every replica fails: an error about devices shows that none was begun. */
static const char once[] =
    "{\"kind\":\"fail\",\"replicas\":[0,1,2,3,4,5,6,7],\"status\":\"fault\",\"text\":\"ran\","
    "\"at\":1}";

static void refused_untouched(struct check *c, struct impl_model *model, const char *what, int base)
{
    check_refused(c, what, golden_try_one(c, model, golden_rows(c, 10)), ALLOW(IMPL_EDEVICE));
    check_to(c, model, base);
    check_refused(c, "the first forward of a layer that fails once",
                  golden_try_one(c, model, golden_rows(c, 10)), ALLOW(IMPL_EFAULT));
    golden_unharmed(c, model);
    check_model_close(c, model);
}

/* A buffer is on the wrong device; or a parameter without a gradient, the last of the tree. */
static void stray(struct check *c, int k)
{
    static const char *const layers[] = {"{\"kind\":\"counter\"",
                                         "{\"kind\":\"affine\",\"weight\":[1],\"frozen\":true"};
    const int *ids = golden_ids(c, k);
    struct impl_model *model =
        golden_parallel(c, k, "",
                        check_text(c, "%s,%s,%s,\"device\":%d}", once, GOLDEN_AFFINE,
                                   layers[check_variant(c)], ids[k - 1]));

    check_note(c, "K=%d, on device %d instead of %d: ", k, ids[k - 1], ids[0]);
    golden_prefill(c, model);
    refused_untouched(c, model, "something that is not on the first device", ids[0]);
}

/* A wrapper with one device checks as well: it moves the module only once, when it is opened. */
static void dev_moved_away(struct check *c)
{
    const int base = check_devices(c) - 1;

    for (int to = IMPL_HOST; to < base; ++to) {
        struct impl_model *model =
            check_parallel(c, 1, &base, "", check_text(c, "%s,%s", once, GOLDEN_AFFINE));

        check_note(c, "one device, moved from %d to %d: ", base, to);
        golden_prefill(c, model);
        check_to(c, model, to);
        refused_untouched(c, model, "a module that is not on the one device", base);
    }
}

/* The error also comes without gradients, and after a forward that was right. */
static void dev_inference(struct check *c, int k)
{
    const int *ids = golden_ids(c, k);
    struct impl_model *model = golden_affine(c, k);
    struct golden_call call = {.in = {golden_rows(c, 10)}, .n_in = 1, .no_grad = true};

    golden_prefill(c, model);
    golden_forward(c, model, &call);
    check_to(c, model, ids[1]);
    check_refused(c, "a module that was moved to the second device",
                  golden_try_forward(c, model, &call), ALLOW(IMPL_EDEVICE));
    check_to(c, model, ids[0]);
    golden_unharmed(c, model);
}

/* The model is opened on the host, moved and trained; values and gradients move along. */
static void dev_wrap_then_move(struct check *c, int k)
{
    const size_t n = 10;
    const int *ids = golden_ids(c, k);
    struct impl_model *model = golden_parallel(
        c, k, "", "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1],\"device\":-1}");
    const double w = 2 - 1385.0 / 512, b = 1 - 178.0 / 512;

    golden_prefill(c, model);
    check_to(c, model, ids[0]);
    golden_unharmed(c, model);
    check_step(c, model, 1.0f / 512, 0);
    check_to(c, model, ids[1]);
    check_value_is(c, model, 0, w);
    check_value_is(c, model, 1, b);
    check_grad_is(c, model, 0, 1385);
    check_to(c, model, ids[0]);
    golden_is_counted(c, "output after a step and two moves",
                      check_forward(c, model, golden_rows(c, n)), n, w + b, w);
}

/* ---- a module over two devices --------------------------------------------------------------- */

static const char *spread(struct check *c, int first, int second)
{
    return check_text(c,
                      "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1],\"device\":%d},"
                      "{\"kind\":\"to\",\"device\":%d},"
                      "{\"kind\":\"affine\",\"weight\":[3],\"bias\":[-4],\"device\":%d}",
                      first, second, second);
}

/* Without a wrapper the model computes 6x - 1: the layer in the middle moves the rows. */
static void dev_spread_alone(struct check *c)
{
    const size_t n = 10;
    struct impl_model *model = check_model(c, "{\"layers\":[%s]}", spread(c, 0, 1));
    const struct impl_array *x = check_on(golden_rows(c, n), 0);

    golden_is_counted(c, "output", check_forward(c, model, x), n, 5, 6);
    golden_is_counted(c, "input gradient", check_backward(c, model, check_on(golden_rows(c, n), 1)),
                      n, 6, 6);
    check_grads_are(c, model, 3 * 385, 3 * 55);
    check_grad_is(c, model, 2, 2 * 385 + 55);
    check_grad_is(c, model, 3, 55);
}

/* In parallel it is refused, for each of its devices as the first. */
static void dev_spread_wrapped(struct check *c, int k)
{
    const int *ids = golden_ids(c, k);

    for (int part = 0; part < 2; ++part) {
        struct impl_model *model = golden_parallel(c, k, "", spread(c, ids[part], ids[1 - part]));

        check_note(c, "K=%d, layers on %d and %d: ", k, ids[part], ids[1 - part]);
        golden_prefill(c, model);
        check_refused(c, "a module over two devices", golden_try_one(c, model, golden_rows(c, 10)),
                      ALLOW(IMPL_EDEVICE));
        check_grads_are(c, model, 1000, 123);
        check_grad_none(c, model, 2);
        check_model_close(c, model);
        golden_works(c, k);
    }
}

static const struct check_case cases[] = {
    {"DEV-01.accepted", "DEV-01", MUST, OBSERVED, DP, PARALLEL, 2, dev_accepted},
    {"DEV-01.single", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, table_refused},
    {"DEV-01.host", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, table_refused, .variant = 1},
    {"DEV-01.spread", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, table_refused,
     .variant = 2},
    {"DEV-01.moved", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, table_refused, .variant = 3},
    {"DEV-01.names", "DEV-01", MUST_REFUSE, REPORTED, DP, PARALLEL, 2, dev_names},
    {"DEV-01.buffer", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, .each = stray},
    {"DEV-01.frozen", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, .each = stray,
     .variant = 1},
    {"DEV-01.one_device", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 1, dev_moved_away},
    {"DEV-01.inference", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, .each = dev_inference},
    {"DEV-02.wrap_then_move", "DEV-02", MUST, OBSERVED, DP, PARALLEL, 2,
     .each = dev_wrap_then_move},
    {"DEV-09.alone", "DEV-09", MUST, OBSERVED, DP, PARALLEL, 2, dev_spread_alone},
    {"DEV-09.wrapped", "DEV-09", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = dev_spread_wrapped},
};
const struct check_table device_table_table = CHECK_TABLE(cases);
