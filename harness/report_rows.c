/* report_rows.c: which rows a report has, in which order, and what they are compared with.
 *
 * Only a row whose values were checked and whose numbers are finite is verified; everything else
 * is listed with its state and takes part in nothing. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_positive(double x)
{
    return isfinite(x) && x > 0.0;
}

/* A cell may call itself ok: believe it only with something checked and something measured. */
static const char *row_state(const struct record_cell *cell)
{
    bool numbers = cell->n_valid > 0 && is_positive(cell->median_ns) && is_positive(cell->p05_ns) &&
                   is_positive(cell->p95_ns) && is_positive(cell->throughput_samples_per_s);

    if (cell->status != RECORD_OK)
        return record_status_names[cell->status];
    return cell->validated && cell->values_checked > 0 && numbers ? "verified" : "unverified";
}

/* "virt" of "virt:4", "virt+lag" of "virt:4+lag". */
static void device_kind(const char *devices, char kind[64])
{
    size_t length = strcspn(devices, ":");
    const char *plus = strchr(devices, '+');

    snprintf(kind, 64, "%.*s%s", (int)(length > 63 ? 63 : length), devices,
             plus != NULL && plus > devices + length ? plus : "");
}

static bool same_binding(const struct record_run *a, const struct record_run *b)
{
    const bool bound = a->n_slots > 0 && a->slot[0].bound;

    return bound == (b->n_slots > 0 && b->slot[0].bound);
}

/* Rows of runs that differ in any of these do not share a line. */
static bool same_variant(const struct record_run *a, const struct record_run *b)
{
    return strcmp(a->git_sha, b->git_sha) == 0 && a->git_dirty == b->git_dirty &&
           strcmp(a->program_version, b->program_version) == 0 &&
           strcmp(a->compiler, b->compiler) == 0 && strcmp(a->cflags, b->cflags) == 0 &&
           strcmp(a->build_type, b->build_type) == 0 && strcmp(a->sanitizers, b->sanitizers) == 0 &&
           strcmp(a->blas, b->blas) == 0 && strcmp(a->source, b->source) == 0 && same_binding(a, b);
}

static int variant_of(const struct report *report, size_t file)
{
    for (size_t i = 0; i < file; i++)
        if (same_variant(&report->file[i].run, &report->file[file].run))
            return (int)i;
    return (int)file;
}

/* Everything that a group has in common. */
static int compare_setting(const struct report_row *a, const struct report_row *b)
{
    const struct record_key *x = &a->cell->key, *y = &b->cell->key;
    int order = strcmp(x->workload, y->workload);

    if (order == 0)
        order = strcmp(x->mode, y->mode);
    if (order == 0)
        order = strcmp(x->dtype, y->dtype);
    if (order == 0)
        order = strcmp(x->backend, y->backend);
    if (order == 0)
        order = strcmp(x->communicator, y->communicator);
    if (order == 0)
        order = strcmp(a->kind, b->kind);
    return order != 0 ? order : (a->variant > b->variant) - (a->variant < b->variant);
}

static int compare_point(const struct report_row *a, const struct report_row *b)
{
    const struct record_key *x = &a->cell->key, *y = &b->cell->key;

    if (x->n_devices != y->n_devices)
        return x->n_devices < y->n_devices ? -1 : 1;
    return (x->global_batch > y->global_batch) - (x->global_batch < y->global_batch);
}

static int compare_rows(const void *left, const void *right)
{
    const struct report_row *a = left, *b = right;
    int order = compare_setting(a, b);

    if (order == 0)
        order = compare_point(a, b);
    if (order == 0)
        order = (a->cell->key.launch > b->cell->key.launch) -
                (a->cell->key.launch < b->cell->key.launch);
    return order != 0 ? order : strcmp(a->run->run_id, b->run->run_id);
}

/* A later file's cell of the same id and run replaces an earlier one's. */
static bool is_replaced(const struct report *report, size_t file, const char *cell_id)
{
    for (size_t f = file + 1; f < report->n_files; f++) {
        const struct record_file *later = &report->file[f];

        if (strcmp(later->run.run_id, report->file[file].run.run_id) != 0)
            continue;
        for (size_t c = 0; c < later->n_cells; c++)
            if (strcmp(later->cell[c].cell_id, cell_id) == 0)
                return true;
    }
    return false;
}

static double bound_of(size_t rows, int devices)
{
    size_t shard, k = devices > 0 ? (size_t)devices : 1;

    if (rows == 0)
        return NAN;
    shard = rows / k + (rows % k != 0);
    return (double)rows / ((double)k * (double)shard);
}

static void collect(struct report *report)
{
    for (size_t f = 0; f < report->n_files; f++) {
        const struct record_file *file = &report->file[f];
        int variant = variant_of(report, f);

        for (size_t c = 0; c < file->n_cells; c++) {
            const struct record_cell *cell = &file->cell[c];
            struct report_row *row = &report->row[report->n_rows];

            if (is_replaced(report, f, cell->cell_id))
                continue;
            *row =
                (struct report_row){.run = &file->run,
                                    .cell = cell,
                                    .variant = variant,
                                    .state = row_state(cell),
                                    .speedup = NAN,
                                    .efficiency = NAN,
                                    .bound = bound_of(cell->key.global_batch, cell->key.n_devices)};
            row->verified = strcmp(row->state, "verified") == 0;
            report->many_variants = report->many_variants || variant > 0;
            device_kind(cell->key.devices, row->kind);
            report->n_rows++;
        }
    }
}

static void count(struct report *report)
{
    for (size_t f = 0; f < report->n_files; f++) {
        bool seen = false;

        for (size_t i = 0; i < f && !seen; i++)
            seen = strcmp(report->file[i].run.run_id, report->file[f].run.run_id) == 0;
        if (!seen) {
            report->planned += report->file[f].run.planned;
            report->many_runs = report->many_runs || f > 0;
        }
    }
    for (size_t i = 0; i < report->n_rows; i++) {
        const struct report_row *row = &report->row[i];

        report->measured += row->cell->n_samples > 0;
        if (row->verified)
            report->verified++;
        else if (row->cell->status == RECORD_SKIPPED)
            report->skipped++;
        else
            report->failed++;
    }
    if (report->planned < report->n_rows)
        report->planned = report->n_rows;
    report->missing = report->planned - report->n_rows;
}

static void make_groups(struct report *report)
{
    for (size_t i = 0; i < report->n_rows; i++) {
        if (i == 0 || compare_setting(&report->row[i - 1], &report->row[i]) != 0)
            report->group[report->n_groups++] = (struct report_group){.first = i};
        report->group[report->n_groups - 1].n++;
    }
}

/* The launch that has (launches - 1) / 2 verified ones below it. */
static const struct report_row *middle_launch(const struct report_row row[], size_t rows,
                                              size_t launches)
{
    for (size_t i = 0; i < rows && launches > 0; i++) {
        double mine = row[i].cell->throughput_samples_per_s;
        size_t below = 0;

        for (size_t j = 0; j < rows; j++) {
            double other = row[j].cell->throughput_samples_per_s;
            below += row[j].verified && (other < mine || (other <= mine && j < i));
        }
        if (row[i].verified && below == (launches - 1) / 2)
            return &row[i];
    }
    return NULL;
}

struct report_point report_point_at(const struct report *report, size_t first, size_t end,
                                    size_t *n)
{
    struct report_point point = {.lo = INFINITY};
    const struct report_row *row = &report->row[first];
    size_t rows = 1;

    while (first + rows < end && compare_setting(&row[0], &row[rows]) == 0 &&
           compare_point(&row[0], &row[rows]) == 0)
        rows++;
    *n = rows;
    for (size_t i = 0; i < rows; i++) {
        const struct record_cell *cell = row[i].cell;
        double samples = 1e9 * (double)cell->key.global_batch;

        if (!row[i].verified)
            continue;
        point.launches++;
        point.lo = fmin(point.lo, samples / cell->p95_ns);
        point.hi = fmax(point.hi, samples / cell->p05_ns);
    }
    point.middle = middle_launch(row, rows, point.launches);
    return point;
}

static void compare_with_base(struct report_row *row, const struct report_row *base)
{
    row->base = base;
    if (base == NULL || !row->verified)
        return;
    row->speedup = row->cell->throughput_samples_per_s / base->cell->throughput_samples_per_s;
    row->efficiency = row->speedup / (double)row->cell->key.n_devices;
}

static void find_bases(struct report *report, const struct report_group *group)
{
    size_t end = group->first + group->n, n = 0;

    for (size_t i = group->first; i < end; i++) {
        const struct report_row *base = NULL;

        for (size_t j = group->first; j < end && report->row[j].cell->key.n_devices == 1; j += n) {
            struct report_point point = report_point_at(report, j, end, &n);

            if (report->row[j].cell->key.global_batch == report->row[i].cell->key.global_batch)
                base = point.middle;
        }
        compare_with_base(&report->row[i], base);
    }
}

int report_rows_make(struct report *report)
{
    size_t cells = 0;

    for (size_t f = 0; f < report->n_files; f++)
        cells += report->file[f].n_cells;
    report->row = calloc(cells + 1, sizeof *report->row);
    report->group = calloc(cells + 1, sizeof *report->group);
    if (report->row == NULL || report->group == NULL)
        return -1;
    collect(report);
    qsort(report->row, report->n_rows, sizeof *report->row, compare_rows);
    count(report);
    make_groups(report);
    for (size_t g = 0; g < report->n_groups; g++)
        find_bases(report, &report->group[g]);
    return 0;
}

void report_rows_free(struct report *report)
{
    free(report->row);
    free(report->group);
    report->row = NULL;
    report->group = NULL;
}

bool report_oversubscribed(const struct report_row *row)
{
    return row->cell->oversubscribed;
}

bool report_simulated(const struct report_row *row)
{
    return strcmp(row->run->source, "measured") != 0;
}
