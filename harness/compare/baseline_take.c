/* compare/baseline_take.c: turns a file of records into a session: a line for each of its cells,
 * and a list of all faults.
 *
 * It fails closed: a file that was not measured to the end, by a clean build, in one session, with
 * every launch verified, is refused with the line of the file that says so. */
#include "compare/baseline.h"

#include "command/command.h"
#include "machine/machine.h"
#include "numbers/stats.h"
#include "record/files.h"
#include "record/record.h"
#include "text/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int order_rows(const void *left, const void *right)
{
    const struct report_row *const *a = left, *const *b = right;
    const int order = compare_key_order(&(*a)->cell->key, &(*b)->cell->key);

    return order != 0 ? order : report_launch_order(*a, *b);
}

/* Returns the line of the last record of that cell. 0: the file could not be read again. */
static size_t line_of_cell(const struct baseline_source *source, const struct record_cell *cell)
{
    const char *found = NULL;
    char wanted[48];
    size_t line = 1;

    snprintf(wanted, sizeof wanted, "\"cell_id\":\"%s\"", cell->cell_id);
    for (const char *at = source->text; at && (at = strstr(at, wanted)); ++at)
        found = at;
    for (const char *at = source->text; at < found; ++at)
        line += *at == '\n';
    return found ? line : 0;
}

/* Checks the conditions on the machine, the build and the file that its times require. */
static void check_source(struct baseline_source *source, bool allow_dirty)
{
    const struct report_counts *counts = &source->report.counts;
    const struct record_file *file = &source->file;
    const struct record_run *run = &file->run;
    char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT];
    const size_t n =
        provenance_doubts(run, allow_dirty ? PROVENANCE_TAKEN : PROVENANCE_ASKED, doubt);
    const char *const path = source->path;

    if (strlen(run->machine_class) != DIGEST_HEX - 1)
        compare_note(&source->refused, "%.120s:1: the class of the machine is unknown", path);
    if (run->machine_instance[0] == '\0')
        compare_note(&source->refused, "%.120s:1: the start of the machine is unknown", path);
    if (run->blas[0] == '\0')
        compare_note(&source->refused, "%.120s:1: the library of matrix products is unknown", path);
    for (size_t i = 0; i < n; ++i)
        compare_note(&source->refused, "%.120s:1: %s", path, doubt[i]);
    if (!file->planned)
        compare_note(&source->refused,
                     "%.120s:1: a record without a plan: it cannot be told whether it is whole",
                     path);
    if (!file->sealed)
        compare_note(&source->refused, "%.120s:1: unsealed: an edit would not show", path);
    if (counts->missing > 0 || !file->ended)
        compare_note(&source->refused, "%.120s:%zu: not finished: %zu of %zu launches %s in it%s",
                     path, file->n_cells + 1, counts->planned - counts->missing, counts->planned,
                     text_are(counts->planned - counts->missing),
                     file->ended ? "" : ", and no end");
    for (size_t c = 0; c < file->n_cells; ++c)
        if (file->cell[c].sitting != file->cell[0].sitting) {
            compare_note(&source->refused,
                         "%.120s:%zu: another session than the cells before: it was resumed", path,
                         line_of_cell(source, &file->cell[c]));
            break;
        }
}

/* Takes the launches of a cell: as a line, or with the reason why there is none. work: capacity for
 * a number per launch, steps: for those of a launch. */
static void take_launches(struct baseline_source *source, const struct report_row *const row[],
                          size_t n, double work[], double steps[])
{
    const struct record_run *run = &source->file.run;
    struct baseline_line *line = &source->lines.line[source->lines.n];
    struct exact_side side = {.launches = 0};
    double squares = 0, mean = 0;
    char name[COMPARE_TEXT];

    *line = (struct baseline_line){
        .key = row[0]->cell->key, .launches = n, .steps = SIZE_MAX, .start_epoch_ns = UINT64_MAX};
    line->key.launch = 0;
    for (size_t i = 0; i < n; ++i)
        if (row[i]->cell->oversubscribed) {
            ++source->crowded;
            return;
        }
    for (size_t i = 0; i < n; ++i) {
        const struct record_cell *cell = row[i]->cell;

        if (!row[i]->verified) {
            compare_cell_words(&cell->key, name);
            compare_note(&source->refused, "%.100s:%zu: not verified (%.20s): launch %d of %.100s",
                         source->path, line_of_cell(source, cell), row[i]->state, cell->key.launch,
                         name);
            return;
        }
        line->steps = cell->n_valid < line->steps ? cell->n_valid : line->steps;
    }
    for (size_t i = 0; i < source->file.n_cells; ++i)
        if (source->file.cell[i].start_epoch_ns < line->start_epoch_ns)
            line->start_epoch_ns = source->file.cell[i].start_epoch_ns;
    memcpy(line->machine_class, run->machine_class, sizeof line->machine_class);
    memcpy(line->machine_instance, run->machine_instance, sizeof line->machine_instance);
    memcpy(line->run_id, run->run_id, sizeof line->run_id);
    memcpy(line->created_utc, run->created_utc, sizeof line->created_utc);
    memcpy(line->blas, run->blas, sizeof line->blas);
    memcpy(line->git_sha, run->git_sha, sizeof line->git_sha);
    const enum compare_floor rule = compare_floor_rule(line->steps);

    snprintf(line->floor_statistic, sizeof line->floor_statistic, "%s", compare_floor_words[rule]);
    for (size_t i = 0; i < n; ++i)
        work[i] = compare_floor(row[i]->cell, rule, line->steps, steps);
    for (size_t i = 0; i < n; ++i)
        mean += log(work[i]) / (double)n;
    for (size_t i = 0; i < n; ++i)
        squares += (log(work[i]) - mean) * (log(work[i]) - mean);
    line->sd_floor = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
    line->floor_log = log(stats_median(work, n));
    for (size_t i = 0; i < n; ++i)
        work[i] = row[i]->cell->mean_ns;
    line->cost_log = log(stats_median(work, n));
    for (size_t i = 0; i < n; ++i)
        exact_add(&side, row[i]->cell);
    /* The number is the largest of the launches, and is known only if all launches know theirs. */
    memcpy(line->n, side.n, sizeof line->n);
    memcpy(line->exact, side.hi, sizeof line->exact);
    if (isfinite(line->floor_log) && isfinite(line->cost_log) && isfinite(line->sd_floor))
        ++source->lines.n;
    else
        compare_note(&source->refused, "%.120s:%zu: a time is not a number", source->path,
                     line_of_cell(source, row[0]->cell));
}

int baseline_take(const char *command, const char *path, bool allow_dirty,
                  struct baseline_source *source)
{
    const struct record_run *const run = &source->file.run;
    char plan[DIGEST_HEX], records[DIGEST_HEX], options[sizeof run->command + 512];
    struct stat info = {.st_size = 0};

    *source = (struct baseline_source){.path = path};
    if (input_records(command, path, true, NULL, &source->file) != 0)
        return EXIT_MISUSE;
    source->report = (struct report){.file = &source->file, .n_files = 1};
    if (report_rows_make(command, &source->report) != 0)
        return EXIT_MISUSE;
    /* The text says in which line a fault is. */
    FILE *stream = fopen(path, "rb");

    if (stream && fstat(fileno(stream), &info) == 0 && info.st_size > 0)
        source->text = calloc(1, (size_t)info.st_size + 1);
    const size_t bytes = source->text ? fread(source->text, 1, (size_t)info.st_size, stream) : 0;

    if (stream)
        fclose(stream);
    check_source(source, allow_dirty);
    const size_t n = source->report.n_all;
    const struct report_row **row = cli_alloc(n, sizeof row[0]);
    size_t most = 0;

    for (size_t i = 0; i < n; ++i) {
        row[i] = &source->report.row[i];
        most = row[i]->cell->n_samples > most ? row[i]->cell->n_samples : most;
    }
    double *work = cli_alloc(n, sizeof work[0]), *steps = cli_alloc(most, sizeof steps[0]);

    source->lines.line = cli_alloc(n, sizeof source->lines.line[0]);
    qsort(row, n, sizeof row[0], order_rows);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1;
             end < n && compare_key_order(&row[first]->cell->key, &row[end]->cell->key) == 0;)
            ++end;
        take_launches(source, row + first, end - first, work, steps);
    }
    free(row);
    free(work);
    free(steps);
    /* The plan is the options except the seed, and how the time is taken. */
    const char *const seed = strstr(run->command, "--seed ");
    const size_t before = seed ? (size_t)(seed - run->command) : strlen(run->command);

    snprintf(options, sizeof options, "%.*s%s\n%s\n%s\n%s\n%s\n", (int)before, run->command,
             seed ? seed + 7 + strcspn(seed + 7, " ") : "", run->clock, run->sync_method,
             run->rank_reduction, run->build_type);
    if (bytes == 0 || bytes != (size_t)info.st_size ||
        digest_sha256(source->text, bytes, records) != 0 ||
        digest_sha256(options, strlen(options), plan) != 0)
        return command_refuse(command, "%s: no memory, or it cannot be read twice", path);
    for (size_t i = 0; i < source->lines.n; ++i) {
        struct baseline_line *line = &source->lines.line[i];

        memcpy(line->plan_sha256, plan, sizeof plan);
        memcpy(line->records_sha256, records, sizeof records);
        line->line = i + 1;
        line->of = source->lines.n;
    }
    if (source->lines.n == 0 && source->refused.n == 0)
        compare_note(&source->refused, "%.120s: no cell counts: %zu are oversubscribed", path,
                     source->crowded);
    return 0;
}

void baseline_source_free(struct baseline_source *source)
{
    free(source->lines.line);
    free(source->text);
    report_rows_free(&source->report);
    record_file_free(&source->file);
}
