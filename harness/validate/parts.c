/* validate/parts.c: the values of a launch about parts of the machine. */
#include "validate/parts.h"

#include "numbers/stats.h"

#include <math.h>
#include <string.h>

/* ---- products ----------------------------------------------------------------------------- */

static double time_of(const struct report_row *row, enum record_part part, size_t line,
                      size_t first, enum validate_statistic by, double steps[])
{
    const struct record_part_times *times = &row->cell->part[part];
    size_t n = 0;

    if (!times->ns || line >= times->rows)
        return (double)NAN;
    for (size_t i = first; i < times->n; ++i)
        steps[n++] = (double)times->ns[line * times->n + i];
    return validate_sum_up(steps, n, by);
}

/* The first sample that counts. The first half of a run is burst, or still changes from burst to
 * sustained. */
static size_t first_of(const struct report_row *row, enum record_part part)
{
    return part == RECORD_SUSTAINED ? row->cell->part[part].n / 2 : 0;
}

static double rate_of(const struct report_row *row, enum record_part part, int device,
                      enum validate_statistic by, double steps[])
{
    return 1e9 * (double)row->cell->part[part].work /
           time_of(row, part, (size_t)device, first_of(row, part), by, steps);
}

/* The time of a device over the median of the others. With two devices the median of all would
 * halve the difference. */
static double spread_of(const struct report_row *row, enum record_part part, int device,
                        enum validate_statistic by, double steps[])
{
    const size_t first = first_of(row, part), devices = row->cell->part[part].rows;
    double others[RECORD_MAX_RANKS];
    size_t n = 0;

    for (size_t d = 0; d < devices; ++d)
        if (d != (size_t)device)
            others[n++] = time_of(row, part, d, first, by, steps);
    return n == 0 ? (double)NAN
                  : time_of(row, part, (size_t)device, first, by, steps) / stats_median(others, n);
}

double validate_product(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[])
{
    (void)point;
    return rate_of(row, RECORD_PRODUCT, device, by, steps);
}

double validate_product_spread(const struct report_point *point, const struct report_row *row,
                               int device, enum validate_statistic by, double steps[])
{
    (void)point;
    return spread_of(row, RECORD_PRODUCT, device, by, steps);
}

double validate_sustained(const struct report_point *point, const struct report_row *row,
                          int device, enum validate_statistic by, double steps[])
{
    (void)point;
    return rate_of(row, RECORD_SUSTAINED, device, by, steps);
}

double validate_sustained_spread(const struct report_point *point, const struct report_row *row,
                                 int device, enum validate_statistic by, double steps[])
{
    (void)point;
    return spread_of(row, RECORD_SUSTAINED, device, by, steps);
}

/* ---- copies and reductions ---------------------------------------------------------------- */

double validate_copy_bytes(const struct report_row *row)
{
    return (double)row->cell->part[RECORD_COPY].work;
}

double validate_pair(const struct report_row *row, int from, int to, enum validate_statistic by,
                     double steps[])
{
    const size_t line = (size_t)from * (size_t)row->cell->key.n_devices + (size_t)to;

    return 1e9 * validate_copy_bytes(row) / time_of(row, RECORD_COPY, line, 0, by, steps);
}

double validate_copy(const struct report_point *point, const struct report_row *row, int device,
                     enum validate_statistic by, double steps[])
{
    double slowest = INFINITY;

    (void)point;
    for (int to = 0; to < row->cell->key.n_devices; ++to) {
        const double rate = to == device ? INFINITY : validate_pair(row, device, to, by, steps);

        if (!(rate >= slowest))
            slowest = rate;
    }
    return isfinite(slowest) ? slowest : (double)NAN;
}

/* Returns the bytes of a copy to or from the host. NaN: the two directions have different sizes,
 * which no program here writes. */
double validate_host_bytes(const struct report_row *row)
{
    const struct record_part_times *part = row->cell->part;

    return part[RECORD_FROM_HOST].work == part[RECORD_TO_HOST].work
               ? (double)part[RECORD_FROM_HOST].work
               : (double)NAN;
}

double validate_host_copy(const struct report_point *point, const struct report_row *row,
                          int device, enum validate_statistic by, double steps[])
{
    const double there = rate_of(row, RECORD_FROM_HOST, device, by, steps);
    const double back = rate_of(row, RECORD_TO_HOST, device, by, steps);

    (void)point;
    return isnan(there) || there < back ? there : back;
}

double validate_memory_bytes(const struct report_row *row)
{
    return (double)row->cell->part[RECORD_MEMORY].work;
}

double validate_memory(const struct report_point *point, const struct report_row *row, int device,
                       enum validate_statistic by, double steps[])
{
    (void)point;
    return rate_of(row, RECORD_MEMORY, device, by, steps);
}

double validate_allreduce_bytes(const struct report_row *row)
{
    return (double)(row->cell->model_params * sizeof(float));
}

double validate_allreduce(const struct report_point *point, const struct report_row *row,
                          int device, enum validate_statistic by, double steps[])
{
    const struct record_cell *cell = row->cell;
    const double n = (double)cell->key.n_devices;
    double ns;

    (void)point, (void)device;
    if (cell->key.n_devices < 2)
        return (double)NAN;
    for (int i = 0; i < cell->n_rounds; ++i)
        steps[i] = (double)cell->round_ns[RECORD_COMM][i];
    ns = validate_sum_up(steps, (size_t)cell->n_rounds, by);
    return 1e9 * validate_allreduce_bytes(row) * 2.0 * (n - 1.0) / n / ns;
}
