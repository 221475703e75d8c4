/* soak/selftest_export.c: the same as a set of cells for other programs: a run of soak is a cell.
 *
 * The last one is that all runs were made: of an interrupted selftest every other may be green. */
#include <inttypes.h>
#include <stdlib.h>

#include "export/export.h"
#include "files/memory_file.h"
#include "soak/selftest.h"

/* ---- what tells runs apart ------------------------------------------------------------------- */

/* A run with its number. */
struct run_key {
    const struct selftest_case *item;
    size_t number;
};

static void number_of(const struct run_key *run, char text[EXPORT_KEY_BYTES])
{
    snprintf(text, EXPORT_KEY_BYTES, "%zu", run->number);
}

static void name_of(const struct run_key *run, char text[EXPORT_KEY_BYTES])
{
    snprintf(text, EXPORT_KEY_BYTES, "%s", run->item->name);
}

static void mode_of(const struct run_key *run, char text[EXPORT_KEY_BYTES])
{
    snprintf(text, EXPORT_KEY_BYTES, "%s", run->item->mode);
}

static void device_of(const struct run_key *run, char text[EXPORT_KEY_BYTES])
{
    text[0] = '\0'; /* without a fault no device has it */
    if (run->item->fault)
        snprintf(text, EXPORT_KEY_BYTES, "virt:%d", run->item->device);
}

static void step_of(const struct run_key *run, char text[EXPORT_KEY_BYTES])
{
    snprintf(text, EXPORT_KEY_BYTES, "%u", run->item->step);
}

static const struct {
    struct export_part part;
    void (*text)(const struct run_key *, char text[EXPORT_KEY_BYTES]);
} parts[] = {{{.name = "run", .number = true}, number_of},
             {{.name = "fault"}, name_of},
             {{.name = "mode"}, mode_of},
             {{.name = "device"}, device_of},
             {{.name = "step", .number = true}, step_of}};

static struct export_part part_of(size_t which)
{
    return parts[which].part;
}

static void part_text(const void *key, size_t which, char text[EXPORT_KEY_BYTES])
{
    parts[which].text(key, text);
}

static const struct export_parts run_parts = {sizeof parts / sizeof parts[0], part_of, part_text};

/* ---- the set --------------------------------------------------------------------------------- */

enum { RIGHT, UNDETECTED, FALSE_ALARM, VERDICTS };
static const char *const verdict_words[VERDICTS] = {"right", "undetected", "false alarm"};

/* NULL: no memory. */
static char *detail_of(const struct run_key *run)
{
    const struct selftest_seen *seen = &run->item->seen;
    struct memory_file lines;

    if (memory_file_open(&lines))
        return NULL;
    fprintf(lines.to, "run %zu: exit status %d\n", run->number, seen->status);
    for (int d = 0; d < SELFTEST_DETECTORS; ++d)
        if (seen->at[d] > 0)
            fprintf(lines.to, "%s: iteration %" PRIu64 "\n", selftest_detector_words[d],
                    seen->at[d]);
    return memory_file_close(&lines) == 0 ? lines.text : NULL;
}

static int add(struct export_set *set, const struct run_key *run)
{
    const struct selftest_case *item = run->item;
    const bool wrong = selftest_wrong(item);
    char name[EXPORT_NAME_BYTES];
    struct export_cell *cell;

    snprintf(name, sizeof name, "%s", item->name);
    if (item->fault)
        text_add(name, sizeof name, ", virt:%d, step %u", item->device, item->step);
    if (item->drawn) /* two may be at one place */
        text_add(name, sizeof name, ", run %zu", run->number);
    cell = export_add(set, name);
    cell->key = run;
    cell->group = "selftest";
    cell->state = wrong ? EXPORT_FAILED : EXPORT_PASSED;
    cell->has_numbers = !wrong;
    cell->verdict = !wrong ? RIGHT : item->fault ? UNDETECTED : FALSE_ALARM;
    snprintf(cell->why, sizeof cell->why, "%s", wrong ? item->verdict : "");
    if (!wrong)
        return 0;
    cell->detail = detail_of(run);
    return cell->detail ? 0 : -1;
}

int selftest_export(FILE *stream, const struct selftest *selftest, enum export_format format)
{
    const struct selftest_sums *sums = &selftest->sums;
    struct run_key *keys = calloc(selftest->n + 1, sizeof *keys);
    struct export_set set = {
        .title = "lockstep selftest",
        .suite = "selftest",
        .all_rows = true,
        .prefix = "lockstep_selftest_",
        .flag = "right",
        .flag_help = "1: the fault was found by the detector that is meant for it, or nothing was "
                     "where there is none.",
        .parts = &run_parts,
        .verdicts = verdict_words,
        .n_verdicts = VERDICTS,
        .counted = "wrong",
        .count = sums->wrong,
        .keys = keys,
    };
    struct text_error err;
    int status = export_open(&set, selftest->n + 1);

    snprintf(set.summary, sizeof set.summary, "selftest: %zu runs, %zu wrong%s", selftest->n,
             sums->wrong, sums->interrupted ? "; interrupted" : "");
    status = keys ? status : -1;
    for (size_t i = 0; i < selftest->n && status == 0; ++i) {
        keys[i] = (struct run_key){&selftest->item[i], i};
        status = add(&set, &keys[i]);
    }
    if (status == 0) {
        struct export_cell *cell = export_add(&set, "every run was made");

        cell->group = "selftest";
        cell->state = sums->interrupted ? EXPORT_BROKEN : EXPORT_PASSED;
        cell->type = "interrupted";
        snprintf(cell->why, sizeof cell->why, "%s", sums->interrupted ? "interrupted" : "");
        status = export_write(stream, format, &set, &err);
    }
    export_close(&set);
    return status;
}
