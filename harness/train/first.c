/* train/first.c: steps on the devices of a training, before its first one. They are run and
 * verified like those of a cell: one on numbers that are exact, then one on numbers that use all
 * the bits of a float. So no training starts on a device whose products are wrong, or on ranks
 * whose sum is wrong. */
#include <stdlib.h>

#include "measure/measure.h"
#include "text/alloc.h"
#include "train/train.h"

/* This is too large for a stack. */
struct first {
    struct session session;
    struct record_cell cell;
};

/* Runs the exact step, or the probe. */
static int verify_first(struct first *first, struct dp_group *group,
                        const struct cell_config *config, bool exact, struct dp_error *err)
{
    struct session *session = &first->session;
    struct record_cell *cell = &first->cell;
    struct text_error why = {""};
    size_t values = 1;
    int status = session_open(session, group, config, NULL, err);

    *cell = (struct record_cell){.status = RECORD_OK};
    if (status == 0 && exact)
        status = measure_exact(config, 0, session, &values, &why, err);
    if (status == 0 && values == 0)
        status = dp_fail(err, DP_EINVAL, "%s: %.180s", config->workload.name, why.text);
    if (status == 0 && !exact && measure_probe(config, session, cell))
        status = dp_fail(err, cell->status == RECORD_OOM ? DP_ENOMEM : DP_EFAULT, "%s: %.190s",
                         config->workload.name, cell->reason);
    session_close(session);
    return status;
}

int train_first(const struct train_model *model, const struct train_options *options,
                const struct dataset *data, struct dp_group *group, bool ranks,
                struct dp_error *err)
{
    const int world = dp_group_world(group), here = dp_group_size(group);
    const size_t most = options->batch / options->update.parts;
    const size_t least = world > 0 ? (size_t)world : 1;
    struct first *first = cli_alloc(1, sizeof *first);
    size_t rows = most < data->rows ? most : data->rows;
    struct dp_error why;
    int status;

    rows = rows > least ? rows : least;
    /* Sums over many rows may not be exact; then fewer rows are tried. */
    do {
        const struct cell_config probe = {.workload = model->workload,
                                          .rows = rows,
                                          .n_devices = ranks ? world : here,
                                          .mode = ranks       ? CELL_DDP
                                                  : here == 0 ? CELL_PLAIN
                                                              : CELL_DP};
        struct cell_config exact = probe;
        struct dp_error probed = {.status = 0};

        /* The mean over another number of ranks is rounded. Then the exact step covers only the
         * sums of the devices of this process. */
        if (ranks && (world & (world - 1)) != 0) {
            exact.n_devices = here;
            exact.mode = CELL_DP;
        }
        why = (struct dp_error){.status = 0};
        status = verify_first(first, group, &exact, true, &why);
        /* The exact step may fail in one process only, but all must make the same calls. */
        if ((status == 0 || status == DP_EFAULT) &&
            verify_first(first, group, &probe, false, &probed) && status == 0) {
            status = probed.status;
            why = probed;
        }
        rows = rows / 2 / least * least;
    } while (status == DP_EINVAL && rows > 0);
    free(first);
    return status ? dp_fail(err, status, "the step before the first one: %.220s", why.text) : 0;
}
