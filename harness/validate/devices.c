/* validate/devices.c: the numbers of each device for a limit that is about devices, not only those
 * of the worst one: to compare many machines, a program compares the same device of each. */
#include "validate/validate.h"

#include <stdlib.h>

size_t validate_most_samples(const struct report_point *point)
{
    size_t most = RECORD_MOST_PARTS;

    for (size_t i = 0; i < point->n; ++i)
        if (point->row[i].cell->n_samples > most)
            most = point->row[i].cell->n_samples;
    return most;
}

static struct validate_device sum_up(const struct validate_judged *judged, int device,
                                     double value[], double steps[])
{
    const struct report_point *point = judged->point;

    for (size_t i = 0; i < point->n; ++i)
        value[i] = judged->limit->row->of(point, &point->row[i], device, judged->limit->by, steps);
    return validate_sum(judged, value, point->n);
}

int validate_devices(const struct validate_judged *judged,
                     struct validate_device shown[RECORD_MAX_SLOTS])
{
    const struct report_point *point = judged->point;
    double *value, *steps;
    int n = 0;

    if (!judged->limit->row->by_device || judged->device < 0 || judged->launches == 0)
        return 0;
    value = calloc(point->n, sizeof *value);
    steps = calloc(validate_most_samples(point), sizeof *steps);
    if (!value || !steps)
        n = -1;
    for (int d = 0; n >= 0 && d < point->row->cell->key.n_devices && d < RECORD_MAX_SLOTS; ++d)
        shown[n++] = sum_up(judged, d, value, steps);
    free(value);
    free(steps);
    return n;
}
