/* device.c: where modules and inputs must be, where they may be, and the errors if they are
 * elsewhere. */
#include "golden.h"
#include "list.h"
#include "probes.h"

#include <stdio.h>
#include <string.h>

#define HOST  -1
#define STAYS -9 /* not moved after it was wrapped */

/* The table of PyTorch: the parameters of the module must be on device_ids[0] at forward, wherever
 * they were when it was wrapped. Row 2, for example, is a linear layer on device 0, wrapped over
 * (1, 0). */
static const struct row {
    int first, second; /* where the layers are; second STAYS: only one layer */
    bool sequence;
    int moved; /* after wrapping */
    int ids[2], n_ids;
    bool good;
    int culprit; /* the offending device that the error must name */
} truth_table[] = {
    {HOST, STAYS, false, STAYS, {0, 1}, 0, false, HOST},
    {1, STAYS, false, STAYS, {0, 1}, 0, false, 1},
    {0, STAYS, false, STAYS, {1, 0}, 2, false, 0},
    {0, STAYS, false, STAYS, {0, 1}, 0, true, 0},
    {HOST, STAYS, false, 0, {0, 1}, 0, true, 0},
    {1, STAYS, false, STAYS, {1, 0}, 2, true, 0},
    {HOST, STAYS, false, 1, {1, 0}, 2, true, 0},
    {HOST, STAYS, true, STAYS, {0, 1}, 0, false, HOST},
    {HOST, STAYS, true, STAYS, {0, 1}, 2, false, HOST},
    {HOST, STAYS, true, STAYS, {1, 0}, 2, false, HOST},
    {HOST, 0, true, STAYS, {0, 1}, 0, false, HOST},
    {HOST, 0, true, STAYS, {0, 1}, 2, false, HOST},
    {HOST, 0, true, STAYS, {1, 0}, 2, false, HOST},
    {0, 1, true, STAYS, {0, 1}, 0, false, 1},
    {0, 1, true, STAYS, {0, 1}, 2, false, 1},
    {0, 1, true, STAYS, {1, 0}, 2, false, 0},
    {0, 0, true, STAYS, {0, 1}, 0, true, 0},
    {0, 0, true, STAYS, {0, 1}, 2, true, 0},
    {0, 0, true, STAYS, {1, 0}, 2, false, 0},
    {0, 0, true, HOST, {1, 0}, 2, false, HOST},
    {0, 0, true, 1, {1, 0}, 2, true, 0},
};

static struct dp_slot *slot_at(struct dp_group *group, int place)
{
    return place == HOST ? dp_group_host(group) : dp_group_slot(group, place);
}

static struct dp_module *identity_linear(struct context *c, struct dp_group *group, int place)
{
    struct dp_module *linear = make_linear(c, group, 1, 1, true);
    write_values(c, &param_at(c, linear, 0)->value, (double[]){1.0});
    move_module(c, linear, slot_at(group, place));
    return linear;
}

static struct dp_module *row_module(struct context *c, struct dp_group *group,
                                    const struct row *row)
{
    struct dp_module *layers[2] = {identity_linear(c, group, row->first), NULL};
    int n = 1;
    if (row->second != STAYS) {
        layers[n++] = identity_linear(c, group, row->second);
    }
    return row->sequence ? make_sequential(c, group, layers, n) : layers[0];
}

static void placement(struct context *c)
{
    for (size_t i = 0; i < sizeof truth_table / sizeof truth_table[0]; ++i) {
        const struct row *row = &truth_table[i];
        case_release(c);
        case_note(c, "row %zu", i);
        struct dp_group *group = open_group(c, 2);
        struct dp_slot **ids = slot_list(c, group, row->ids, 2);
        struct dp_module *module = row_module(c, group, row);
        struct dp_parallel_config config = {.dim = 0};
        if (row->n_ids > 0) {
            config.device_ids = ids;
            config.n_device_ids = row->n_ids;
        }
        struct dp_module *wrapper = make_parallel(c, module, &config);
        if (row->moved != STAYS) {
            move_module(c, wrapper, slot_at(group, row->moved));
        }
        struct dp_run *run = open_run(c, group);
        const struct dp_tensor x = golden_rows(c, dp_group_host(group), 5, 1.0);
        struct dp_tensor out[DP_MAX_IO];
        int n_out = 0;
        struct dp_error err = {0};
        const int status = dp_forward(wrapper, run, &x, 1, out, &n_out, &err);
        if (row->good) {
            expect_ok(c, status, &err, "dp_forward");
            expect_matrix(c, "output", &out[0], ids[0], 5, 1, sequence(c, 5, 1.0, 1.0));
        } else {
            expect_error(c, status, DP_EDEVICE, &err, dp_slot_name(ids[0]),
                         dp_slot_name(slot_at(group, row->culprit)));
        }
    }
}

/* A buffer on another device is as wrong as a parameter. */
static void buffer_elsewhere(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_module *counter = make_counter(c, group);
    move_module(c, counter, dp_group_slot(group, 1));
    struct dp_module *parts[] = {identity_linear(c, group, 0), counter};
    struct dp_module *wrapper =
        make_parallel(c, make_sequential(c, group, parts, 2), &(struct dp_parallel_config){0});
    const struct dp_tensor x = golden_rows(c, dp_group_host(group), 5, 1.0);
    struct dp_tensor out[DP_MAX_IO];
    int n_out = 0;
    struct dp_error err = {0};
    expect_error(c, dp_forward(wrapper, open_run(c, group), &x, 1, out, &n_out, &err), DP_EDEVICE,
                 &err, dp_slot_name(dp_group_slot(group, 0)),
                 dp_slot_name(dp_group_slot(group, 1)));
}

static void refuse_ids(struct context *c, struct dp_module *module, struct dp_slot *const ids[],
                       int n, struct dp_slot *output, const char *needle)
{
    struct dp_module *wrapper = NULL;
    struct dp_error err = {0};
    const struct dp_parallel_config config = {
        .device_ids = ids, .n_device_ids = n, .output_device = output};
    const int status = dp_parallel(module, &config, &wrapper, &err);
    dp_module_close(wrapper);
    expect_error(c, status, DP_EINVAL, &err, needle, NULL);
}

static void wrong_ids(struct context *c)
{
    struct dp_group *group = open_group(c, 3);
    struct dp_group *other = open_group(c, 1);
    struct dp_module *linear = make_linear(c, group, 1, 1, true);
    struct dp_slot **ids = slot_list(c, group, (int[]){2, 0, 2}, 3);
    refuse_ids(c, linear, ids, 3, NULL, dp_slot_name(ids[0]));
    struct dp_slot *foreign[] = {ids[0], dp_group_slot(other, 0)};
    refuse_ids(c, linear, foreign, 2, NULL, NULL);
    refuse_ids(c, linear, ids, 2, foreign[1], NULL);
    struct dp_slot *missing[] = {ids[0], NULL};
    refuse_ids(c, linear, missing, 2, NULL, NULL);
}

/* The input of a plain layer is on another device. */
static void plain_layer(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_module *linear = identity_linear(c, group, 0);
    const struct dp_tensor x = golden_rows(c, dp_group_slot(group, 1), 2, 1.0);
    struct dp_tensor out[DP_MAX_IO];
    int n_out = 0;
    struct dp_error err = {0};
    expect_error(c, dp_forward(linear, open_run(c, group), &x, 1, out, &n_out, &err), DP_EDEVICE,
                 &err, dp_slot_name(dp_group_slot(group, 0)),
                 dp_slot_name(dp_group_slot(group, 1)));
}

static const struct test_case cases[] = {
    {"device/placement", "DEV-01 DEV-02 DEV-09 ERR-01", placement},
    {"device/buffer-elsewhere", "DEV-01", buffer_elsewhere},
    {"device/wrong-ids", "DEV-07 ERR-07", wrong_ids},
    {"device/plain-layer", "ERR-01", plain_layer},
};
const struct case_table device_cases = {cases, sizeof cases / sizeof cases[0]};
