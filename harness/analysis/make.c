/* analysis/make.c: makes rows and points from files of records, and all that is computed from them.
 */
#include "analysis/analysis.h"

#include "command/command.h"
#include "command/device_list.h"
#include "machine/machine.h"
#include "text/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The state of a row. A cell may call itself ok; it is believed only if something was checked and
 * measured, on GPUs that ran as they can. */
static const char *state_of_cell(const struct record_cell *cell)
{
    const double rate = cell->busbw_bytes_per_s;
    const double numbers[] = {cell->median_ns, cell->p05_ns, cell->p95_ns,
                              cell->throughput_samples_per_s > 0.0 &&
                                      isfinite(cell->throughput_samples_per_s)
                                  ? cell->throughput_samples_per_s
                                  : rate};
    bool good = cell->validated && cell->values_checked > 0 && cell->n_valid > 0;
    char why[RECORD_NODE_TEXT];

    if (cell->status != RECORD_OK)
        return record_status_names[cell->status];
    if (record_gpu_doubt(cell, why))
        return REPORT_INVALID;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
        good = good && isfinite(numbers[i]) && numbers[i] > 0.0;
    return good ? "verified" : "unverified";
}

/* Orders by run, cell and variant, then by file. */
static int compare_identity(const void *left, const void *right)
{
    const struct report_row *a = left, *b = right;
    int order = strcmp(a->run->run_id, b->run->run_id);

    if (order == 0)
        order = strcmp(a->cell->cell_id, b->cell->cell_id);
    if (order == 0)
        order = (a->variant > b->variant) - (a->variant < b->variant);
    return order != 0 ? order : (a->file > b->file) - (a->file < b->file);
}

/* The run with the longest list of devices that begins with the list of the run of a file. Rows of
 * two runs can share a line if the command, the build, the system and the machine are the same, and
 * so are the devices that both have. */
static int variant_of_file(const struct report *report, size_t file)
{
    const struct record_run *run = &report->file[file].run;
    size_t best = file;
    int slot, gpu;

    for (size_t i = 0; i < report->n_files; ++i) {
        const struct record_run *other = &report->file[i].run;
        const int longest = report->file[best].run.n_slots;

        if (other->n_slots >= run->n_slots &&
            (other->n_slots > longest || (other->n_slots == longest && i < best)) &&
            (provenance_same_source(run, other) || strcmp(run->run_id, other->run_id) == 0) &&
            report_runs_order(false, run, other) == 0 &&
            !record_slots_differ(run, other, run->n_slots, &slot) &&
            !record_gpus_differ(run, other, &gpu))
            best = i;
    }
    return (int)best;
}

/* The index of the run of a file; a resumed run may be in several files. */
static size_t run_of(const struct report *report, size_t file)
{
    size_t r = 0;

    while (r < report->n_runs &&
           strcmp(report->run[r].run->run_id, report->file[file].run.run_id) != 0)
        ++r;
    return r;
}

static void count_rows(struct report *report)
{
    for (size_t f = 0; f < report->n_files; ++f) {
        const struct record_file *file = &report->file[f];
        const size_t r = run_of(report, f);
        struct report_run *run = &report->run[r];

        if (r == report->n_runs) {
            ++report->n_runs;
            *run = (struct report_run){.run = &file->run,
                                       .sealed = true,
                                       .planned = true,
                                       .seconds = file->seconds,
                                       .writing = file->writing};
        } else
            run->seconds = run->writing = (double)NAN;
        run->sealed = run->sealed && file->sealed;
        run->planned = run->planned && file->planned;
        run->ended = run->ended || (file->ended && !file->interrupted);
        run->interrupted = !run->ended && (run->interrupted || file->ended);
        if (run->counts.planned < file->run.planned)
            run->counts.planned = file->run.planned;
    }
    report->many_runs = report->n_runs > 1;
    for (size_t i = 0; i < report->n_rows; ++i) {
        const struct report_row *row = &report->row[i];

        struct report_run *run = &report->run[run_of(report, row->file)];
        const bool skipped = row->cell->status == RECORD_SKIPPED;
        const struct record_timed timed = record_timed(row->cell);

        run->counts.measured += row->cell->n_samples > 0;
        run->counts.verified += row->verified;
        run->counts.skipped += !row->verified && skipped;
        run->counts.failed += !row->verified && !skipped;
        run->timed.steps += timed.steps;
        run->timed.beside += timed.beside;
        record_costs_add(&run->costs, row->cell);
        report->many_variants = report->many_variants || row->variant != report->row->variant;
    }
    for (size_t r = 0; r < report->n_runs; ++r) {
        struct report_counts *counts = &report->run[r].counts;
        const size_t rows = counts->verified + counts->failed + counts->skipped;

        counts->planned = counts->planned < rows ? rows : counts->planned;
        counts->missing = counts->planned - rows;
        report->interrupted |= report->run[r].interrupted && counts->missing > 0;
        report->counts.planned += counts->planned;
        report->counts.measured += counts->measured;
        report->counts.verified += counts->verified;
        report->counts.failed += counts->failed;
        report->counts.skipped += counts->skipped;
        report->counts.missing += counts->missing;
    }
}

static int compare_kinds(const void *left, const void *right)
{
    const struct report_row *a = left, *b = right;

    return (int)record_is_collective(&a->cell->key) - (int)record_is_collective(&b->cell->key);
}

int report_rows_make(const char *command, struct report *report)
{
    struct text_error why;
    size_t cells = 0;

    for (size_t f = 0; f < report->n_files; ++f) {
        for (size_t other = 0; other <= f; ++other)
            if (record_copied(&report->file[f], &report->file[other], &why))
                return command_refuse(command, "%s", why.text);
        cells += report->file[f].n_cells;
    }
    report->row = cli_alloc(cells, sizeof *report->row);
    report->point = cli_alloc(cells, sizeof *report->point);
    report->group = cli_alloc(cells, sizeof *report->group);
    report->run = cli_alloc(report->n_files, sizeof *report->run);
    struct report *own = report->collectives = cli_alloc(1, sizeof *report->collectives);

    for (size_t f = 0; f < report->n_files; ++f) {
        const struct record_file *file = &report->file[f];
        const int variant = variant_of_file(report, f);

        for (size_t c = 0; c < file->n_cells; ++c) {
            const struct record_cell *cell = &file->cell[c];
            struct report_row *row = &report->row[report->n_rows++];

            *row = (struct report_row){.run = &file->run,
                                       .cell = cell,
                                       .file = f,
                                       .variant = variant,
                                       .state = state_of_cell(cell)};
            row->verified = strcmp(row->state, "verified") == 0;
            device_list_kind(cell->key.devices, row->kind, sizeof row->kind);
        }
    }
    /* If a run has a cell of one id in several files, the cell of the later file replaces the
     * earlier one. One file never has two cells of one id. */
    if (report->n_files > 1) {
        const size_t all = report->n_rows;

        report->n_rows = 0;
        qsort(report->row, all, sizeof *report->row, compare_identity);
        for (size_t i = 0; i < all; ++i) {
            const struct report_row *row = &report->row[i], *next = row + 1;

            if (i + 1 == all || strcmp(row->run->run_id, next->run->run_id) != 0 ||
                strcmp(row->cell->cell_id, next->cell->cell_id) != 0 ||
                row->variant != next->variant)
                report->row[report->n_rows++] = *row;
        }
    }
    count_rows(report);
    /* The rows of collectives, which are last, move into a separate report. No other report has
     * anything of them. */
    qsort(report->row, report->n_rows, sizeof *report->row, compare_kinds);
    report->n_all = report->n_rows;
    while (report->n_rows > 0 && record_is_collective(&report->row[report->n_rows - 1].cell->key))
        --report->n_rows;
    *own = (struct report){.file = report->file,
                           .n_files = report->n_files,
                           .row = report->row + report->n_rows,
                           .n_rows = report->n_all - report->n_rows,
                           .run = report->run,
                           .n_runs = report->n_runs,
                           .many_variants = report->many_variants};
    own->n_all = own->n_rows;
    own->point = cli_alloc(own->n_rows, sizeof *own->point);
    own->group = cli_alloc(own->n_rows, sizeof *own->group);
    report_rows_sort(own);
    report_rows_sort(report);
    report_points_make(own);
    report_fits_make(own);
    report_points_make(report);
    report_slowest_make(report);
    report_rates_make(report);
    report_settling_make(report);
    /* A report without training shows the drift of its collectives. */
    report_drift_make(report->n_rows > 0 ? report : own);
    report_noise_make(report);
    report_copies_make(report);
    return 0;
}

void report_rows_free(struct report *report)
{
    for (size_t c = 0; c < report->n_copies; ++c)
        free(report->copies[c].rate);
    if (report->collectives) {
        free(report->collectives->point);
        free(report->collectives->group);
        free(report->collectives->bucket);
        free(report->collectives->fit);
    }
    free(report->collectives);
    free(report->copies);
    free(report->row);
    free(report->point);
    free(report->group);
    free(report->run);
    free(report->bucket);
    *report = (struct report){.file = report->file, .n_files = report->n_files};
}
