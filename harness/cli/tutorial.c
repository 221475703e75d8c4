/* cli/tutorial.c: the loop of the PyTorch data-parallel tutorial.
 *
 * 100 random rows of 5 in shuffled batches of 30 through Linear(5, 2), wrapped when there are
 * devices. The sizes printed are those that the replicas saw, noted by the probe of a session
 * inside the wrapper. */
#include <stdio.h>
#include <stdlib.h>

#include "command/command.h"
#include "loader.h"
#include "measure/session.h"
#include "text/alloc.h"

enum { ROWS = 100, BATCH = 30, WIDTH_IN = 5, WIDTH_OUT = 2, SEED = 1 };

struct tutorial_options {
    char devices[64];
    size_t required;
};

static const struct command_option option_table[] = {
    {"devices", 'd', "LIST",
     COMMAND_DEVICES_DOC ", or host for no data parallelism (default: one virtual device per core)",
     COMMAND_TEXT, COMMAND_FIELD(struct tutorial_options, devices), .group = COMMAND_WHAT},
    COMMAND_REQUIRE_ROW(struct tutorial_options),
    {0}};

static void print_size(const char *label, int dims, const size_t dim[])
{
    printf("%s [", label);
    for (int i = 0; i < dims; ++i)
        printf("%s%zu", i == 0 ? "" : ", ", dim[i]);
    printf("]");
}

static int run_batches(struct session *session, struct loader *loader, const struct dp_tensor *rows,
                       struct dp_error *err)
{
    struct loader_batch batch;

    loader_start(loader, 0);
    for (loader_next(loader, &batch); batch.rows > 0; loader_next(loader, &batch)) {
        struct dp_tensor in = {0}, out[DP_MAX_IO];
        int n_out = 0, status;

        session_clear(session);
        if ((status = dp_tensor_rows(rows, 0, batch.rows, &in, err)) ||
            (status = dp_tensor_write(&in, batch.feature, err)) ||
            (status = dp_forward(session->top, session->run, &in, 1, out, &n_out, err)) ||
            (status = dp_group_wait(session->group, err)))
            return status;
        for (int i = 0; i < DP_MAX_SLOTS; ++i) {
            const struct probe_shape *shape = &session->probe.replica[i];

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

int tutorial_main(int argc, char **argv)
{
    const struct command_syntax syntax = {
        .options = option_table,
        .what = "What to run",
        .doc = "Prints the sizes that every replica and the caller see, as the PyTorch "
               "data-parallel tutorial does."
               "\vExit status: 0 all done; 1 a named device is missing; 2 misuse; 77 skipped: "
               "cuda:all where there are no GPUs.\n\nExamples:\n"
               "  lockstep tutorial\n"
               "  lockstep tutorial --devices virt:3"};
    /* RandomDataset and DataLoader(shuffle=True). */
    const struct dataset_want want = {.features = WIDTH_IN, .classes = WIDTH_OUT};
    struct dataset data = {.rows = 0};
    const struct loader_config loads = {
        .data = &data, .batch = BATCH, .seed = SEED, .shuffle = true, .prefetch = true};
    const struct session_use use = {.frozen = true, .lent = true};
    struct session *session;
    struct cell_config cell = {.rows = BATCH};
    struct tutorial_options options = {.required = 0};
    struct dp_group *group = NULL;
    struct loader *loader = NULL;
    struct dp_tensor rows = {0};
    struct dp_error err = {0};
    char why[200];
    int status;

    command_default_devices(options.devices, sizeof options.devices);
    if ((status = command_read(&syntax, argc, argv, &options)))
        return status;
    const struct dp_group_config config = {.devices = options.devices};

    if ((status = command_open_group(argv[0], &config, options.required, &group)))
        return status;
    if (workload_parse("tutorial", &cell.workload, why, sizeof why))
        abort(); /* it is one of ours */
    const int devices = dp_group_size(group);
    struct dp_slot *slot = devices > 0 ? dp_group_slot(group, 0) : dp_group_host(group);
    struct dp_slot_info info;
    struct dp_kind_row kind;

    cell.mode = devices > 0 ? CELL_DP : CELL_PLAIN;
    session = cli_alloc(1, sizeof *session);
    if (dataset_random(ROWS, &want, SEED, &data, &err) == 0 &&
        loader_open(&loads, &loader, &err) == 0 &&
        dp_tensor_alloc(slot, DP_F32, 2, (size_t[]){BATCH, WIDTH_IN}, &rows, &err) == 0 &&
        session_open(session, group, &cell, &use, &err) == 0 &&
        dp_module_init(session->top, SEED, &err) == 0) {
        dp_slot_describe(slot, &info);
        if (devices > 1 && dp_kind_of(info.kind, &kind))
            printf("Let's use %d %s!\n", devices, kind.words);
        run_batches(session, loader, &rows, &err);
    }
    status =
        err.status ? command_core_error(argv[0], &err) : command_ended(argv[0], group, EXIT_PASSED);
    session_close(session);
    free(session);
    dp_tensor_free(&rows);
    loader_close(loader);
    dataset_free(&data);
    dp_group_close(group);
    return status;
}
