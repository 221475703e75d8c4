/* report/collectives.c: the tables of collectives: their times, the lines through their sizes, the
 * results of nccl-tests for the same cells, and the table of nccl-tests itself.
 *
 * Sizes, times and bandwidths are defined as in nccl-tests, except that a time is the median over
 * launches of the median over the iterations of a launch. */
#include "report/page.h"

#include "verify/collective.h"

#include <math.h>

/* All of these tables begin with these columns. */
static const char places[] = "Collective|Type|Devices|Over";

static void cells_of_collective(struct grid *grid, const struct report_point *point)
{
    const struct record_key *key = point->key;
    char processes[48] = "";

    if (key->per_process > 0)
        snprintf(processes, sizeof processes, ", %zu per process", key->per_process);
    grid_cell(grid, "text", "%s%s", key->workload, key->out_of_place ? ", out of place" : "");
    grid_cell(grid, "text", "%s", key->dtype);
    grid_cell(grid, "text", "%d %s%s", key->n_devices, point->row->kind,
              report_oversubscribed(point) ? " (oversubscribed)" : "");
    grid_cell(grid, "text", "%s/%s%s", key->backend, key->communicator, processes);
}

void report_fill_collectives(struct grid *grid, const struct report *report)
{
    const struct report *own = report->collectives;

    /* If there is no model, this table is the subject of the page, so it is open. */
    grid->fold = report->n_points > 0 ? GRID_FOLDED : GRID_OPEN;
    snprintf(grid->contents, sizeof grid->contents, "%zu cell%s", own->n_points,
             text_s(own->n_points));
    grid_headings(grid, "text", places);
    grid_headings(grid, "number",
                  "Bytes|Numbers|Median time|Range|Algorithm bandwidth|Bus bandwidth|Verified");
    for (size_t i = 0; i < own->n_points; ++i) {
        const struct report_point *point = &own->point[i];
        const struct record_key *key = point->key;
        const struct collective_type *type = collective_type_find(key->dtype);

        if (i > 0 && !report_same_line(point - 1, point))
            grid_line(grid);
        grid_row(grid, report_point_failed(point) ? "failed" : "good");
        cells_of_collective(grid, point);
        grid_cell(grid, "number", "%zu", key->size_bytes);
        grid_cell(grid, "number", "%zu", type ? key->size_bytes / type->bytes : 0);
        /* A point without a verified launch has no numbers. */
        if (point->verified > 0) {
            report_cell_metric(grid, point, REPORT_STEP);
            grid_cell(grid, "number", "%s", report_metric_range_words(point, REPORT_STEP, PHRASE));
            report_cell_metric(grid, point, REPORT_ALGBW);
            report_cell_metric(grid, point, REPORT_BUSBW);
        }
        for (int c = 0; c < 4 && point->verified == 0; ++c)
            grid_cell(grid, "number", "-");
        grid_cell(grid, "number", "%zu of %zu launches%s", point->verified, point->n,
                  report_simulated(point->row) ? ", SIMULATED" : "");
    }
    if (grid->brief)
        snprintf(grid->note, sizeof grid->note, "%s",
                 "Algorithm bandwidth: bytes of each device over the median time of an iteration, "
                 "until all devices are idle. Bus bandwidth: that times the factor of nccl-tests. "
                 "Every iteration is verified.");
}

/* ---- alpha and beta ----------------------------------------------------------------------- */

/* Prints three digits, and never an exponent. */
static const char *three_digits_of(double value, const char *unit, char text[32])
{
    int decimals = 2;

    for (double size = fabs(value); size > 0 && size < 0.9995 && decimals < 6; size *= 10)
        ++decimals;
    for (double size = fabs(value); size >= 9.995 && decimals > 0; size /= 10)
        --decimals;
    if (!isfinite(value))
        return "-";
    snprintf(text, 32, "%.*f\u00a0%s", decimals, value, unit);
    return text;
}

static const char *microseconds(double ns, char text[32])
{
    return three_digits_of(ns / 1e3, "\u00b5s", text);
}

static const char *gigabytes(double per_second, char text[32])
{
    return three_digits_of(per_second / 1e9, "GB/s", text);
}

void report_fill_fits(struct grid *grid, const struct report *report)
{
    static const char *const why[] = {[REPORT_FIT_FEW] = "a line takes 3 sizes",
                                      [REPORT_FIT_MANY] = "too many sizes",
                                      [REPORT_FIT_APART] = "no launch is verified at all sizes"};
    const struct report *own = report->collectives;

    _Static_assert(REPORT_FIT_LEAST == 3, "the words say so");
    grid_headings(grid, "text", places);
    grid_headings(grid, "number", "Sizes|Alpha|[interval] or range|1/beta|[interval] or range");
    grid_headings(grid, "text", "Line");
    for (size_t i = 0; i < own->n_fits; ++i) {
        const struct report_fit *fit = &own->fit[i];
        const bool holds = fit->state == REPORT_FIT_HOLDS;
        const char *simulated = report_simulated(fit->point->row) ? ", SIMULATED" : "";
        const char *off = report_percent(fit->off, WORD);

        grid_row(grid, "");
        cells_of_collective(grid, fit->point);
        grid_cell(grid, "number",
                  holds && fit->used < fit->sizes ? "%zu of %zu, from %zu bytes on" : "%zu",
                  holds ? fit->used : fit->sizes, fit->sizes, fit->from);
        if (holds) {
            report_cell_number(grid, fit->alpha.middle, microseconds);
            report_cell_range(grid, &fit->alpha, microseconds);
        }
        if (holds && report_fit_grows(fit)) {
            const struct report_value speed = report_inverse(&fit->beta, 1e9);

            report_cell_number(grid, speed.middle, gigabytes);
            report_cell_range(grid, &speed, gigabytes);
        } else if (holds) {
            grid_cell(grid, "number", "not resolved");
            grid_cell(grid, "number", "-");
        }
        for (int c = 0; c < 4 && !holds; ++c)
            grid_cell(grid, "number", "-");
        if (holds)
            grid_cell(grid, "text", "%zu launch%s, at most %s off, at %zu bytes%s", fit->beta.n,
                      fit->beta.n == 1 ? "" : "es", off, fit->off_at, simulated);
        else if (fit->state == REPORT_FIT_NO_LINE)
            grid_cell(grid, "text", "no number: no line, %s off at %zu bytes%s", off, fit->off_at,
                      simulated);
        else
            grid_cell(grid, "text", "no number: %s%s", why[fit->state], simulated);
    }
    snprintf(grid->note, sizeof grid->note, "%s",
             "Time = alpha + beta \u00d7 bytes of a device. 1/beta is the algorithm bandwidth that "
             "it would have if it took no time to begin. Each launch has a separate line: through "
             "its median times, with the least sum of relative distances. Alpha and beta are "
             "medians over the launches. The line holds where it is within 10 % of the median "
             "time of every size; else the smallest sizes are left out, one by one. More than half "
             "of the sizes, and 3 at least, must stay, or there is no number.");
}

/* ---- next to nccl-tests ------------------------------------------------------------------- */

void report_fill_nccl_tests(struct grid *grid, const struct report *report)
{
    const struct report *own = report->collectives;
    char remarks[REPORT_CELL_TEXT];

    grid_headings(grid, "text", places);
    grid_headings(grid, "number",
                  "Bytes|nccl-tests: time|here|nccl-tests: bus bandwidth|here|here / nccl-tests");
    for (size_t b = 0; b < report->n_external; ++b)
        for (size_t i = 0; i < own->n_points; ++i) {
            const struct report_point *point = &own->point[i];
            const struct nccl_tests_line *line = nccl_tests_find(report->external[b], point);

            if (!line)
                continue;
            const double ratio = report_middle(point, REPORT_BUSBW) / line->busbw;

            grid_row(grid, line->wrong > 0 || point->verified < point->n ? "failed" : "good");
            cells_of_collective(grid, point);
            grid_cell(grid, "number", "%zu", point->key->size_bytes);
            report_cell_number(grid, line->ns, report_time);
            report_cell_metric(grid, point, REPORT_STEP);
            grid_cell(grid, "number", "%.2f\u00a0GB/s", line->busbw / 1e9);
            report_cell_metric(grid, point, REPORT_BUSBW);
            /* Wrong results get no ratio. */
            if (line->wrong > 0)
                grid_cell(grid, "number", "WRONG there: %.0f numbers", line->wrong);
            else if (point->verified < point->n)
                grid_cell(grid, "number", "- (not verified here)");
            else if (line->busbw > 0)
                grid_cell(grid, "number", "%.*f%s", ratio < 0.1 ? 4 : 2, ratio,
                          isnan(line->wrong) ? " (not checked there)" : "");
            else
                grid_cell(grid, "number", "-");
        }
    nccl_tests_remarks(report, remarks);
    snprintf(
        grid->note, sizeof grid->note, "%s%s", remarks,
        "What a file of nccl-tests says, next to the cell of the same collective, type, number "
        "of devices, place and bytes. It was not measured by Lockstep, and whether it ran on "
        "this machine is not known. nccl-tests starts its iterations one after the other, "
        "and shows their mean. Here each iteration is timed by itself, from its start on all "
        "devices until the slowest is idle, and verified; the time is a median. So small "
        "sizes take longer here.");
}

/* ---- as nccl-tests prints them ------------------------------------------------------------ */

/* Prints the columns of one place. The time has as many digits as in nccl-tests. */
static void print_place(FILE *to, const struct report_point *point)
{
    const double us = point ? report_middle(point, REPORT_STEP) / 1e3 : 0;

    if (!point || point->verified < point->n)
        fprintf(to, "  %7s  %6s  %6s  %5s", "N/A", "N/A", "N/A", "N/A");
    else
        fprintf(to, "  %7.*f  %6.2f  %6.2f  %5d",
                us >= 10000.0 ? 0
                : us >= 100.0 ? 1
                              : 2,
                us, report_middle(point, REPORT_ALGBW) / 1e9,
                report_middle(point, REPORT_BUSBW) / 1e9, 0);
}

static void print_unverified(FILE *to, const struct report_point *point)
{
    if (point && point->verified < point->n)
        fprintf(to, "# %zu bytes %s place: %zu of %zu launches %s verified\n",
                point->key->size_bytes, point->key->out_of_place ? "out of" : "in", point->verified,
                point->n, text_are(point->verified));
}

/* Finds the same cell, measured in the other place. */
static const struct report_point *find_other_place(const struct report *own,
                                                   const struct report_point *point)
{
    const struct record_key *key = point->key;

    for (size_t i = 0; i < own->n_points; ++i) {
        struct record_key same = *own->point[i].key;

        if (same.out_of_place == key->out_of_place || own->point[i].row->run != point->row->run)
            continue;
        same.out_of_place = key->out_of_place;
        if (record_order(record_key_fields, RECORD_APART, &same, key) == 0 &&
            same.size_bytes == key->size_bytes && same.n_devices == key->n_devices)
            return &own->point[i];
    }
    return NULL;
}

/* There is one table for each collective, type, number of devices and communicator. Both places of
 * a cell are printed in one line, in the table of the cell in place. */
size_t report_nccl_tests(FILE *to, const struct report *report)
{
    const struct report *own = report->collectives;
    const struct report_point *headed = NULL;
    size_t verified = 0;

    for (size_t i = 0; i < own->n_points; ++i) {
        const struct report_point *point = &own->point[i], *other = find_other_place(own, point);
        const struct record_key *key = point->key;
        const struct collective *collective = collective_find(key->workload);
        const struct collective_type *type = collective_type_find(key->dtype);
        const struct report_point *in = key->out_of_place != 0 ? NULL : point;
        const struct report_point *out = in ? other : point;

        verified += point->verified == point->n;
        /* Lines of one table differ only in size and place. */
        if (i > 0 && (!report_same_group(point[-1].row, point->row) ||
                      point[-1].key->n_devices != key->n_devices))
            headed = NULL;
        if (!in && other)
            continue;
        if (!headed) {
            fprintf(
                to,
                "# %s, %d device%s of %s, %s/%s; time: median of launches of lockstep sweep\n#\n",
                key->workload, key->n_devices, text_s((size_t)key->n_devices), key->devices,
                key->backend, key->communicator);
            fprintf(to, "# %10s  %12s  %8s  %6s  %6s           %-35s%-18s\n", "", "", "", "", "",
                    "out-of-place", "in-place");
            fprintf(to, "# %10s  %12s  %8s  %6s  %6s", "size", "count", "type", "redop", "root");
            for (int place = 0; place < 2; ++place)
                fprintf(to, "  %7s  %6s  %6s %6s", "time", "algbw", "busbw", "#wrong");
            fprintf(to, "\n# %10s  %12s  %8s  %6s  %6s", "(B)", "(elements)", "", "", "");
            for (int place = 0; place < 2; ++place)
                fprintf(to, "  %7s  %6s  %6s %6s", "(us)", "(GB/s)", "(GB/s)", "");
            fputc('\n', to);
        }
        headed = point;
        print_unverified(to, out);
        print_unverified(to, in);
        if (!collective || !type ||
            ((!in || in->verified < in->n) && (!out || out->verified < out->n)))
            continue;
        fprintf(to, "%12zu  %12zu  %8s  %6s  %6d", key->size_bytes,
                key->size_bytes / collective_unit(collective, type, key->n_devices),
                type->nccl_name, collective->nccl_op, collective->nccl_root);
        print_place(to, out);
        print_place(to, in);
        fputc('\n', to);
    }
    return verified;
}
