/* record/copied.c: whether records contain a launch twice, whatever its run or its cell is called
 * there. If it were counted twice, it would narrow an interval without a measurement. */
#include "record/json.h"

#include <string.h>

int record_copied(const struct record_file *a, const struct record_file *b, struct text_error *err)
{
    const bool resumed = a != b && strcmp(a->run.run_id, b->run.run_id) == 0;
    /* One machine never starts two launches in the same nanosecond. */
    const bool one_machine = a->run.machine_instance[0] != '\0' &&
                             strcmp(a->run.machine_instance, b->run.machine_instance) == 0;

    for (size_t i = 0; i < a->n_cells; ++i)
        for (size_t k = 0; k < (a == b ? i : b->n_cells); ++k) {
            const struct record_cell *x = &a->cell[i], *y = &b->cell[k];

            if (x->start_epoch_ns != y->start_epoch_ns || x->n_samples == 0 || y->n_samples == 0)
                continue;
            const size_t bytes = x->n_samples * sizeof x->t_step_ns[0];

            if (!(one_machine || (x->n_samples == y->n_samples &&
                                  memcmp(x->t_step_ns, y->t_step_ns, bytes) == 0)) ||
                (resumed && strcmp(x->cell_id, y->cell_id) == 0))
                continue;
            return record_fail(err,
                               "run %s, cell %s, and run %s, cell %s, are one launch: both have "
                               "\"start_epoch_ns\" %llu; a launch counts once",
                               b->run.run_id, y->cell_id, a->run.run_id, x->cell_id,
                               (unsigned long long)x->start_epoch_ns);
        }
    return 0;
}
