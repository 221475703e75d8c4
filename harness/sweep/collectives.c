/* sweep/collectives.c: see sweep/sweep.h. */
#include "sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/units.h"
#include "verify/collective.h"

/* Compares the settings that a line is about, in the order of its columns. The launches of one
 * setting are equal. */
static int compare_settings(const struct cell_config *a, const struct cell_config *b)
{
    const int texts[] = {strcmp(a->collective, b->collective), strcmp(a->type, b->type),
                         strcmp(a->communicator, b->communicator)};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i)
        if (texts[i] != 0)
            return texts[i];
    if (a->n_devices != b->n_devices)
        return a->n_devices < b->n_devices ? -1 : 1;
    if (a->per_process != b->per_process)
        return a->per_process < b->per_process ? -1 : 1;
    if (a->out_of_place != b->out_of_place)
        return a->out_of_place < b->out_of_place ? -1 : 1;
    return (a->size_bytes > b->size_bytes) - (a->size_bytes < b->size_bytes);
}

/* Sorts by setting, then by time; cells that are not verified come last. */
static int compare_cells(const void *left, const void *right)
{
    const struct collectives_cell *a = left, *b = right;
    const int order = compare_settings(a->config, b->config);

    if (order != 0 || isnan(a->median_ns) || isnan(b->median_ns))
        return order != 0 ? order : (isnan(a->median_ns) != 0) - (isnan(b->median_ns) != 0);
    return (a->median_ns > b->median_ns) - (a->median_ns < b->median_ns);
}

void collectives_print(FILE *to, struct collectives_cell cells[], size_t n)
{
    if (n == 0 || cells[0].config->mode != CELL_COLLECTIVE)
        return;
    qsort(cells, n, sizeof *cells, compare_cells);
    fprintf(to,
            "\n%-13s %-4s %3s %-12s %-3s %10s %7s %7s %7s %s\n"
            "%-13s %-4s %3s %-12s %-3s %10s %7s %7s %7s\n",
            "collective", "type", "on", "communicator", "to", "size", "time", "algbw", "busbw",
            "right", "", "", "", "", "", "(B)", "", "(GB/s)", "(GB/s)");
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1;
             end < n && compare_settings(cells[first].config, cells[end].config) == 0;)
            ++end;
        const struct cell_config *config = cells[first].config;
        const struct collective *collective = collective_find(config->collective);
        char time[UNITS_BYTES], over[32];
        size_t verified = 0;

        while (verified < end - first && !isnan(cells[first + verified].median_ns))
            ++verified;

        const double ns = verified == 0 ? (double)NAN
                                        : (cells[first + (verified - 1) / 2].median_ns +
                                           cells[first + verified / 2].median_ns) /
                                              2;
        const double algbw = (double)config->size_bytes / ns;

        snprintf(over, sizeof over, "%.12s", config->communicator);
        if (config->per_process > 0)
            snprintf(over, sizeof over, "mpi, %zu each", config->per_process);
        fprintf(to, "%-13s %-4s %3d %-12s %-3s %10zu ", config->collective, config->type,
                config->n_devices, over, config->out_of_place ? "out" : "in", config->size_bytes);
        if (verified > 0 && collective)
            fprintf(to, "%7s %7.2f %7.2f", units_time(ns, time), algbw,
                    algbw * collective->factor(config->n_devices));
        else
            fprintf(to, "%7s %7s %7s", "-", "-", "-");
        fprintf(to, " %zu/%zu\n", verified, end - first);
    }
}
