/* report/beside.c: see report/beside.h. */
#include "report/beside.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "verify/collective.h"

enum { LINES_FIRST = 64, LINES_MOST = 10000 };

/* ---- files ----------------------------------------------------------------------------------- */

/* What it prints is rounded: to 0.01 GB/s, and to four digits where there are more. */
static bool fits_factor(const struct beside *beside, const struct beside_line *line)
{
    const double factor = beside->collective->factor(beside->ranks);
    const double most = 0.006e9 * (1 + factor) + 1e-3 * line->busbw;

    return fabs(line->busbw - line->algbw * factor) <= most;
}

static int check_line(const struct beside *beside, const struct beside_line *line,
                      struct text_error *err)
{
    if (beside->ranks < 2)
        return record_fail(err, "it has %d ranks, a collective needs two", beside->ranks);
    if (!(line->ns > 0) || !isfinite(line->ns) || !(line->algbw >= 0) || !isfinite(line->algbw) ||
        !(line->busbw >= 0) || !isfinite(line->busbw) || line->wrong < 0)
        return record_fail(err, "%zu bytes: a time or a bandwidth is no number of 0 or more",
                           line->bytes);
    if (!fits_factor(beside, line))
        return record_fail(err,
                           "%zu bytes: bus bandwidth %g GB/s is not %g times the algorithm "
                           "bandwidth of %g GB/s, as on %d ranks",
                           line->bytes, line->busbw / 1e9,
                           beside->collective->factor(beside->ranks), line->algbw / 1e9,
                           beside->ranks);
    return 0;
}

int beside_add(struct beside *beside, const struct beside_line *line, struct text_error *err)
{
    if (check_line(beside, line, err))
        return -1;
    if (beside->n == LINES_MOST)
        return record_fail(err, "more than %d results", LINES_MOST);
    if (beside->n == beside->capacity) {
        const size_t capacity = beside->capacity > 0 ? 2 * beside->capacity : LINES_FIRST;
        struct beside_line *more = realloc(beside->line, capacity * sizeof *more);

        if (!more)
            return record_fail(err, "no memory for %zu results", capacity);
        beside->line = more;
        beside->capacity = capacity;
    }
    beside->line[beside->n++] = *line;
    return 0;
}

struct beside *beside_read(const char *path, const struct json_t *root, struct text_error *err)
{
    struct beside *beside = calloc(1, sizeof *beside);
    int status;

    if (!beside)
        status = record_fail(err, "no memory");
    else
        status = root ? beside_json(root, beside, err) : beside_text(path, beside, err);
    if (status == 0 && beside->n == 0 && beside->others == 0)
        status =
            record_fail(err, "no result of nccl-tests is in it, nor is it the JSON of nvbandwidth");
    if (status == 0)
        return beside;
    beside_free(beside);
    return NULL;
}

void beside_free(struct beside *beside)
{
    if (beside)
        free(beside->line);
    free(beside);
}

bool beside_is_wrong(const struct beside *beside)
{
    bool wrong = beside->failed;

    for (size_t i = 0; i < beside->n; ++i)
        wrong = wrong || beside->line[i].wrong > 0;
    return wrong;
}

/* ---- the table ------------------------------------------------------------------------------- */

enum column { SIZE = BESIDE_TEXTS, THEIR_TIME, TIME, THEIR_BUSBW, BUSBW, RATIO };

const char beside_title[] = "Beside nccl-tests";

const char *const beside_names[BESIDE_COLUMNS] = {
    "Collective",     "Type",
    "Devices",        "Over",
    [SIZE] = "Bytes", [THEIR_TIME] = "nccl-tests: time",
    [TIME] = "here",  [THEIR_BUSBW] = "nccl-tests: bus bandwidth",
    [BUSBW] = "here", [RATIO] = "here / nccl-tests"};

const char beside_note[] =
    "What a file of nccl-tests says, beside the cell of the same collective, type, number of "
    "devices, place and bytes. It was not measured by Lockstep, and whether it ran on this machine "
    "is not known. nccl-tests starts its iterations one behind the other, and shows their mean. "
    "Here each iteration is timed by itself, from its start on all devices until the slowest is "
    "idle, and verified; the time is a median. So small sizes take longer here.";

static bool is_of(const struct beside *beside, const struct beside_line *line,
                  const struct record_key *key)
{
    return line->bytes == key->size_bytes && line->out_of_place == (key->out_of_place != 0) &&
           key->n_devices == beside->ranks && strcmp(line->type->name, key->dtype) == 0 &&
           collective_find(key->workload) == beside->collective;
}

const struct beside_line *beside_find(const struct beside *beside, const struct report_point *point)
{
    for (size_t i = 0; i < beside->n; ++i)
        if (is_of(beside, &beside->line[i], &point->row->cell->key))
            return &beside->line[i];
    return NULL;
}

/* No ratio of what is wrong. */
static void add_ratio(char text[REPORT_CELL_TEXT], const struct report_point *point,
                      const struct beside_line *line)
{
    const double ratio = report_middle(point, REPORT_BUSBW) / line->busbw;

    if (line->wrong > 0)
        report_add(text, "WRONG there: %.0f numbers", line->wrong);
    else if (point->verified < point->n)
        report_add(text, "- (not verified here)");
    else if (line->busbw > 0)
        report_add(text, ratio < 0.1 ? "%.4f%s" : "%.2f%s", ratio,
                   isnan(line->wrong) ? " (not checked there)" : "");
    else
        report_add(text, "-");
}

void beside_words(const struct report_point *point, const struct beside_line *line, int column,
                  char text[REPORT_CELL_TEXT])
{
    char number[32];

    text[0] = '\0';
    switch (column) {
    case THEIR_TIME:
        report_time(line->ns, number);
        report_add(text, "%s", number);
        break;
    case TIME:
        report_add_metric(text, point, REPORT_STEP);
        break;
    case THEIR_BUSBW:
        report_add(text, "%.2f\u00a0GB/s", line->busbw / 1e9);
        break;
    case BUSBW:
        report_add_metric(text, point, REPORT_BUSBW);
        break;
    case RATIO:
        add_ratio(text, point, line);
        break;
    default: /* the first columns are those of collectives */
        report_collectives_words(point, column, text);
    }
}

static bool is_measured(const struct report *own, const struct beside *beside,
                        const struct beside_line *line)
{
    for (size_t i = 0; i < own->n_points; ++i)
        if (is_of(beside, line, &own->point[i].row->cell->key))
            return true;
    return false;
}

size_t beside_unmatched(const struct report *report)
{
    size_t n = 0;

    for (size_t b = 0; b < report->n_beside; ++b) {
        const struct beside *beside = report->beside[b];

        n += beside->others;
        for (size_t i = 0; i < beside->n; ++i)
            n += !is_measured(report->collectives, beside, &beside->line[i]);
    }
    return n;
}

void beside_remarks(const struct report *report, char text[REPORT_CELL_TEXT])
{
    const size_t unmatched = beside_unmatched(report);

    text[0] = '\0';
    for (size_t b = 0; b < report->n_beside; ++b) {
        const struct beside *beside = report->beside[b];
        const char *name = beside->collective->nccl_program;

        if (beside_is_wrong(beside))
            report_add(text, "%s found wrong numbers. ", name);
        if (!beside->finished)
            report_add(text, "%s did not come to its end. ", name);
    }
    if (unmatched > 0)
        report_add(text, "%zu results of nccl-tests have no cell here. ", unmatched);
}
