/* validate/host.c: facts of the host, of the header of a file and of each launch. */
#include "validate/metrics.h"

#include <math.h>
#include <string.h>

double validate_memlock(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[])
{
    (void)point, (void)device, (void)by, (void)steps;
    return row->run->memlock_bytes;
}

double validate_shm(const struct report_point *point, const struct report_row *row, int device,
                    enum validate_statistic by, double steps[])
{
    (void)point, (void)device, (void)by, (void)steps;
    return row->run->shm_bytes;
}

double validate_balancing(const struct report_point *point, const struct report_row *row,
                          int device, enum validate_statistic by, double steps[])
{
    (void)point, (void)device, (void)by, (void)steps;
    return row->run->numa_balancing;
}

double validate_threads(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[])
{
    (void)point, (void)device, (void)by, (void)steps;
    const double pus = row->run->pus, cores = row->run->cores;

    return pus > 0 && cores > 0 ? pus / cores : (double)NAN;
}

double validate_governor(const struct report_point *point, const struct report_row *row, int device,
                         enum validate_statistic by, double steps[])
{
    (void)point, (void)device, (void)by, (void)steps;
    const char *governor = row->run->governor;

    if (governor[0] == '\0' || strcmp(governor, "unknown") == 0)
        return (double)NAN;
    return strcmp(governor, "performance") == 0 ? 1.0 : 0.0;
}

double validate_foreign(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[])
{
    (void)point, (void)device, (void)by, (void)steps;
    return row->cell->foreign_frac;
}

double validate_stolen(const struct report_point *point, const struct report_row *row, int device,
                       enum validate_statistic by, double steps[])
{
    (void)point, (void)device, (void)by, (void)steps;
    return row->cell->steal_frac;
}
