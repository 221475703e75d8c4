/* cli/tutorial.c: the loop of the PyTorch data-parallel tutorial.
 *
 * 100 random rows of 5 in shuffled batches of 30 through Linear(5, 2), wrapped when there are
 * devices. The sizes printed are those that the replicas saw, noted by a probe inside the wrapper.
 */
#include <stdio.h>
#include <string.h>

#include "command/backend.h"
#include "command/command.h"
#include "loader.h"
#include "measure/probe.h"

enum { ROWS = 100, BATCH = 30, WIDTH_IN = 5, WIDTH_OUT = 2, SEED = 1 };

struct tutorial_options {
    char devices[64];
    size_t required;
};

static const struct command_option option_table[] = {
    {"devices", 'd', "LIST",
     COMMAND_DEVICES_DOC ", with suffixes such as +lag, or host for no data parallelism "
                         "(default: one virtual device per core)",
     COMMAND_TEXT, COMMAND_FIELD(struct tutorial_options, devices)},
    COMMAND_REQUIRE_ROW(struct tutorial_options),
    {0}};

struct tutorial {
    struct dp_group *group;
    struct dp_slot *slot; /* where inputs and parameters are */
    struct dp_module *linear, *model, *wrapper, *runs;
    struct dp_run *run;
    struct probe probe;
    struct dataset data;
    struct loader *loader;
    struct dp_tensor batch; /* of BATCH rows */
};

static int open_model(struct tutorial *t, struct dp_error *err)
{
    const struct dp_parallel_config config = {0};
    int status;

    if ((status = dp_linear(t->group, WIDTH_IN, WIDTH_OUT, true, &t->linear, err)) ||
        (status = probe_open(t->group, t->linear, &t->probe, &t->model, err)) ||
        (status = dp_module_init(t->model, 1, err)) ||
        (status = dp_module_to(t->model, t->slot, err)) ||
        (status = dp_run_open(t->group, &t->run, err)))
        return status;
    t->runs = t->model;
    if (dp_group_size(t->group) > 0) {
        status = dp_parallel(t->model, &config, &t->wrapper, err);
        t->runs = t->wrapper;
    }
    return status;
}

/* RandomDataset and DataLoader(shuffle=True). */
static int open_data(struct tutorial *t, struct dp_error *err)
{
    const struct loader_config config = {
        .data = &t->data, .batch = BATCH, .seed = SEED, .shuffle = true, .prefetch = true};
    const struct dataset_want want = {.features = WIDTH_IN, .classes = WIDTH_OUT};
    int status;

    if ((status = dataset_random(ROWS, &want, SEED, &t->data, err)) ||
        (status = loader_open(&config, &t->loader, err)))
        return status;
    return dp_tensor_alloc(t->slot, DP_F32, 2, (size_t[]){BATCH, WIDTH_IN}, &t->batch, err);
}

static void print_size(const char *label, int dims, const size_t dim[])
{
    printf("%s [", label);
    for (int i = 0; i < dims; ++i)
        printf("%s%zu", i == 0 ? "" : ", ", dim[i]);
    printf("]");
}

static int run_batches(struct tutorial *t, struct dp_error *err)
{
    struct loader_batch batch;

    loader_start(t->loader, 0);
    for (loader_next(t->loader, &batch); batch.rows > 0; loader_next(t->loader, &batch)) {
        struct dp_tensor in = {0}, out[DP_MAX_IO];
        int n_out = 0, status;

        probe_clear(&t->probe);
        dp_run_reset(t->run);
        if ((status = dp_tensor_rows(&t->batch, 0, batch.rows, &in, err)) ||
            (status = dp_tensor_write(&in, batch.feature, err)) ||
            (status = dp_forward(t->runs, t->run, &in, 1, out, &n_out, err)) ||
            (status = dp_group_wait(t->group, err)))
            return status;
        for (int i = 0; i < DP_MAX_SLOTS; ++i) {
            const struct probe_shape *shape = &t->probe.replica[i];

            if (shape->calls == 0)
                continue;
            print_size("\tIn Model: input size", shape->in_dims, shape->in);
            print_size(" output size", shape->out_dims, shape->out);
            printf("\n");
        }
        print_size("Outside: input size", in.ndim, in.dim);
        print_size(" output_size", out[0].ndim, out[0].dim);
        printf("\n");
    }
    return 0;
}

static void print_heading(const struct tutorial *t)
{
    const int devices = dp_group_size(t->group);
    struct dp_slot_info info;
    struct dp_kind_row kind;

    if (devices < 2)
        return;
    dp_slot_describe(t->slot, &info);
    if (dp_kind_of(info.kind, &kind))
        printf("Let's use %d %s!\n", devices, kind.words);
}

int tutorial_main(int argc, char **argv)
{
    const struct command_syntax syntax = {
        .options = option_table,
        .doc = "Prints the sizes that every replica and the caller see, as the PyTorch "
               "data-parallel tutorial does."};
    struct tutorial_options options = {.required = 0};
    struct tutorial t = {0};
    struct dp_error err = {0};
    int status;

    command_default_devices(options.devices, sizeof options.devices);
    if ((status = command_read(&syntax, argc, argv, &options)))
        return status;
    const struct dp_group_config config = {.devices = options.devices};

    if ((status = command_open_group(argv[0], &config, options.required, &t.group)))
        return status;
    t.slot = dp_group_size(t.group) > 0 ? dp_group_slot(t.group, 0) : dp_group_host(t.group);
    if (open_data(&t, &err) == 0 && open_model(&t, &err) == 0) {
        print_heading(&t);
        run_batches(&t, &err);
    }
    status = err.status ? command_core_error(argv[0], &err)
                        : command_ended(argv[0], t.group, EXIT_PASSED);
    dp_run_close(t.run);
    dp_module_close(t.wrapper);
    dp_module_close(t.model);
    dp_module_close(t.linear);
    dp_tensor_free(&t.batch);
    loader_close(t.loader);
    dataset_free(&t.data);
    dp_group_close(t.group);
    return status;
}
