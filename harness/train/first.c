/* train/first.c: a step on the devices of a training, before its first one. It is made and verified
 * as that of a cell is: on numbers that are exact, then on numbers with all the bits of a float. A
 * device whose products are wrong trains nothing. */
#include <stdlib.h>

#include "measure/probe_step.h"
#include "train/train.h"

/* Too large for a stack. */
struct first {
    struct session session;
    struct record_cell cell;
};

static int verify_step(struct dp_group *group, const struct cell_config *config,
                       struct dp_error *err)
{
    struct first *first = calloc(1, sizeof *first);
    struct text_error why = {""};
    size_t values;
    int status;

    if (!first)
        return dp_fail(err, DP_ENOMEM, "no memory for the step before the first one");
    first->cell.status = RECORD_OK;
    status = session_open(&first->session, group, config, err);
    if (status == 0)
        status = measure_exact(config, 0, &first->session, &values, &why, err);
    if (status == 0 && values == 0)
        status = dp_fail(err, DP_EINVAL, "%s: %.180s", config->workload.name, why.text);
    /* One process alone may be wrong, but all must make the same calls. */
    if ((status == 0 || status == DP_EFAULT) &&
        measure_probe(config, &first->session, &first->cell))
        status = dp_fail(err, first->cell.status == RECORD_OOM ? DP_ENOMEM : DP_EFAULT,
                         "%s: %.190s", config->workload.name, first->cell.reason);
    session_close(&first->session);
    free(first);
    return status;
}

int train_first(const struct train_model *model, const struct train_options *options,
                const struct dataset *data, struct dp_group *group, bool ranks,
                struct dp_error *err)
{
    const int world = dp_group_world(group), here = dp_group_size(group);
    const size_t most = options->batch / options->update.parts;
    /* The mean over another number of ranks rounds: their devices add what they have here. */
    const bool mean = ranks && (world & (world - 1)) == 0;
    struct cell_config config = {.workload = model->workload,
                                 .rows = most < data->rows ? most : data->rows,
                                 .n_devices = mean ? world : here,
                                 .mode = mean ? CELL_DDP : CELL_DP};
    const size_t least = world > 0 ? (size_t)world : 1;
    struct dp_error why;
    int status;

    if (here == 0)
        config.mode = CELL_PLAIN;
    /* Sums over many rows may not be exact. */
    do {
        why = (struct dp_error){.status = 0};
        status = verify_step(group, &config, &why);
        config.rows = config.rows / 2 / least * least;
    } while (status == DP_EINVAL && config.rows > 0);
    return status ? dp_fail(err, status, "the step before the first one: %.220s", why.text) : 0;
}
