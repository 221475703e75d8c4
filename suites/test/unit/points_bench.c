/* points_bench.c: hand-made rows of a report. */
#include "points_bench.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bench *bench_open(const char *scaling)
{
    struct bench *bench = calloc(1, sizeof *bench);
    cr_assert(bench);
    snprintf(bench->run.run_id, sizeof bench->run.run_id, "a");
    snprintf(bench->run.source, sizeof bench->run.source, "measured");
    snprintf(bench->run.scaling, sizeof bench->run.scaling, "%s", scaling);
    bench->other_run = bench->run;
    snprintf(bench->other_run.run_id, sizeof bench->other_run.run_id, "b");
    bench->report =
        (struct report){.row = bench->row, .point = bench->point, .group = bench->group};
    return bench;
}

void bench_close(struct bench *bench)
{
    free(bench->report.bucket);
    free(bench);
}

struct report_row *bench_add(struct bench *bench, const char *mode, int devices, size_t batch,
                             int launch, double median_ns)
{
    const size_t i = bench->report.n_rows++;
    cr_assert(i < BENCH_CAPACITY);
    struct record_cell *cell = &bench->cell[i];
    struct report_row *row = &bench->row[i];
    snprintf(cell->key.workload, sizeof cell->key.workload, "tutorial");
    snprintf(cell->key.mode, sizeof cell->key.mode, "%s", mode);
    cell->key.n_devices = devices;
    cell->key.global_batch = batch;
    cell->key.launch = launch;
    cell->n_valid = 40;
    cell->median_ns = median_ns;
    cell->p05_ns = median_ns - 1;
    cell->p95_ns = median_ns + 1;
    cell->mean_ns = median_ns + 2;
    cell->throughput_samples_per_s = 1e9 * (double)batch / cell->mean_ns;
    for (int p = 0; p < RECORD_PHASES; ++p)
        cell->phase_median_ns[p] = NAN;
    cell->outside_frac = NAN;
    cell->busbw_bytes_per_s = NAN;
    *row = (struct report_row){
        .run = &bench->run, .cell = cell, .kind = "virt", .verified = true, .state = "verified"};
    return row;
}

void bench_phase(struct bench *bench, size_t cell, enum record_phase phase, double ns)
{
    static uint64_t measured;
    bench->cell[cell].phase_ns[phase] = &measured;
    bench->cell[cell].phase_median_ns[phase] = ns;
}

void bench_fail(struct report_row *row)
{
    row->verified = false;
    row->state = "failed";
}

void bench_make(struct bench *bench)
{
    bench->report.n_points = bench->report.n_groups = 0;
    free(bench->report.bucket);
    bench->report.bucket = NULL;
    bench->report.n_all = bench->report.n_rows;
    bench->report.collectives = &bench->collectives;
    report_rows_sort(&bench->report);
    report_points_make(&bench->report);
    report_noise_make(&bench->report);
    bench->report.counts = (struct report_counts){.missing = bench->missing};
    bench->report.counts.measured = bench->report.n_rows;
    for (size_t i = 0; i < bench->report.n_rows; ++i)
        bench->report.counts.verified += bench->row[i].verified;
    bench->report.counts.failed = bench->report.n_rows - bench->report.counts.verified;
    bench->report.counts.planned = bench->report.n_rows + bench->missing;
}

bool bench_near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * fabs(want);
}

void bench_value(const struct report_value *got, double middle, double lo, double hi,
                 enum report_range range, size_t n)
{
    cr_assert(bench_near(got->middle, middle), "middle %.17g, not %.17g", got->middle, middle);
    cr_assert(range == REPORT_NONE ? isnan(got->lo) && isnan(got->hi)
                                   : bench_near(got->lo, lo) && bench_near(got->hi, hi),
              "%.17g..%.17g, not %.17g..%.17g", got->lo, got->hi, lo, hi);
    cr_assert(got->range == range && got->n == n, "range %d of %zu", (int)got->range, got->n);
    cr_assert(isnan(got->coverage) == (range != REPORT_INTERVAL));
}

char *bench_table(const struct report *report, enum report_table_id which)
{
    char *text = NULL, *to;
    size_t bytes = 0;
    struct text_out out = {.file = open_memstream(&text, &bytes), .form = TEXT_MARKDOWN};
    cr_assert(out.file);
    report_table(&out, report, which);
    cr_assert(fclose(out.file) == 0);
    to = text;
    for (const char *from = text; *from != '\0'; ++from)
        if (*from != '\\')
            *to++ = *from;
    *to = '\0';
    return text;
}

/* The cells of a line like "| a | b |". */
static size_t cut_line(char *line, char *cell[], size_t most)
{
    size_t n = 0;
    for (char *at = line; n < most && (at = strstr(at, "| ")) != NULL; ++n) {
        char *end = strstr(at + 2, " |");
        if (!end)
            break;
        cell[n] = at + 2;
        at = end + 1;
    }
    for (size_t i = 0; i < n; ++i)
        *strstr(cell[i], " |") = '\0';
    return n;
}

void bench_cell(const struct report *report, enum report_table_id which, size_t row,
                const char *heading, int after, char text[REPORT_CELL_TEXT])
{
    enum { MOST = 64 };
    char *table = bench_table(report, which), *name[MOST], *cell[MOST], *rest = table;
    char *line = strstr(table, "| ");
    size_t names, cells, column = 0;
    cr_assert(line, "there is no table: %s", table);
    line = strtok_r(line, "\n", &rest);
    names = cut_line(line, name, MOST);
    strtok_r(NULL, "\n", &rest);
    for (size_t i = 0; i <= row; ++i) {
        line = strtok_r(NULL, "\n", &rest);
        cr_assert(line && line[0] == '|', "there is no row %zu", row);
    }
    cells = cut_line(line, cell, MOST);
    while (column < names && strcmp(name[column], heading) != 0)
        ++column;
    column += (size_t)after;
    cr_assert(names == cells && column < cells, "no column %s of %zu, %zu", heading, names, cells);
    snprintf(text, REPORT_CELL_TEXT, "%s", cell[column]);
    free(table);
}
