/* soak/selftest_write.c: a selftest for people, a row as soon as it is known; as JSON
 * (lockstep/selftest/1.0); and as a set of cells for other programs, in which a run of soak is a
 * cell. The last cell says that all runs were made: of an interrupted selftest every other may be
 * green. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "build_info.h"
#include "export/export.h"
#include "files/files.h"
#include "record/json.h"
#include "soak/soak.h"
#include "text/alloc.h"

/* ---- text ------------------------------------------------------------------------------------ */

const char *const selftest_detector_words[SELFTEST_DETECTORS] = {
    [SELFTEST_RESULT] = "result", [SELFTEST_MEAN] = "mean",   [SELFTEST_DEAD] = "error",
    [SELFTEST_LIMIT] = "limit",   [SELFTEST_SPEED] = "speed", [SELFTEST_DROP] = "change"};

bool selftest_wrong(const struct selftest_case *item)
{
    return item->verdict[0] == 'F';
}

/* All columns, and the verdict of a case that is right, are 80 wide at most. */
static int width_of(int detector)
{
    return (int)strlen(selftest_detector_words[detector]) + 1;
}

void selftest_text_heading(void)
{
    printf("%-21s%-7s%4s", "fault", "device", "step");
    for (int d = 0; d < SELFTEST_DETECTORS; ++d)
        printf("%*s", width_of(d), selftest_detector_words[d]);
    printf("  named\n");
}

void selftest_text_case(const struct selftest_case *item)
{
    if (item->fault)
        printf("%-21svirt:%-2d%4u", item->name, item->device, item->step);
    else
        printf("%-21s%-7s%4s", item->name, "-", "-");
    for (int d = 0; d < SELFTEST_DETECTORS; ++d)
        if (item->seen.at[d] > 0)
            printf("%*" PRIu64, width_of(d), item->seen.at[d]);
        else
            printf("%*s", width_of(d), ".");
    printf("%s%s\n", selftest_wrong(item) ? "\n  " : "  ", item->verdict);
    fflush(stdout);
}

void selftest_text_end(const struct selftest_sums *sums)
{
    if (sums->interrupted)
        printf("interrupted: ");
    else if (sums->flips > 0)
        printf("%zu of %zu flips found, with device, iteration and bit\n", sums->flips_right,
               sums->flips);
    printf("%zu kinds of faults found, nothing found in %zu runs without one; %zu wrong\n",
           sums->found, sums->silent, sums->wrong);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void selftest_json(FILE *stream, const struct selftest *selftest)
{
    const struct selftest_sums *sums = &selftest->sums;
    json_t *cases = json_array(), *flips = json_array();

    for (size_t i = 0; i < selftest->n; ++i) {
        const struct selftest_case *item = &selftest->item[i];
        const bool faulty = item->fault != NULL;
        json_t *found = json_object();

        /* The first iteration of each detector: null where it found nothing. */
        for (int d = 0; d < SELFTEST_DETECTORS; ++d)
            json_object_set_new(found, selftest_detector_words[d],
                                item->seen.at[d] > 0 ? value_count(item->seen.at[d]) : json_null());
        json_array_append_new(
            item->drawn ? flips : cases,
            value_object("name:t fault:t mode:t device:o step:o detector:t found_in:o findings:n "
                         "elsewhere:n exit_status:i right:b verdict:t",
                         item->name, item->fault, item->setting->mode,
                         faulty ? json_integer(item->device) : json_null(),
                         faulty ? json_integer(item->step) : json_null(),
                         faulty ? selftest_detector_words[item->detector] : NULL, found,
                         (size_t)item->seen.findings, (size_t)item->seen.elsewhere,
                         item->seen.status, !selftest_wrong(item), item->verdict));
    }
    (void)document_print(/* all of its texts are UTF-8 */
                         stream,
                         value_object(
                             "schema:t program:{version:t commit:t} seed:n interrupted:b found:n "
                             "silent:n flips_right:n wrong:n cases:o flips:o",
                             "lockstep/selftest/1.0", BUILD_VERSION, BUILD_GIT, (size_t)sums->seed,
                             sums->interrupted, sums->found, sums->silent, sums->flips_right,
                             sums->wrong, cases, flips));
}

/* ---- what tells runs apart ------------------------------------------------------------------- */

/* A run with its number. */
struct run_key {
    const struct selftest_case *item;
    size_t number;
};

static const struct export_part parts[] = {{.name = "run", .number = true},
                                           {.name = "fault"},
                                           {.name = "mode"},
                                           {.name = "device"},
                                           {.name = "step", .number = true}};

static struct export_part part_of(size_t which)
{
    return parts[which];
}

static void part_text(const void *key, size_t which, char text[EXPORT_KEY_BYTES])
{
    const struct run_key *run = key;
    char number[24], device[24] = "", step[24]; /* without a fault no device has it */
    const char *const texts[] = {number, run->item->name, run->item->setting->mode, device, step};

    snprintf(number, sizeof number, "%zu", run->number);
    snprintf(step, sizeof step, "%u", run->item->step);
    if (run->item->fault)
        snprintf(device, sizeof device, "virt:%d", run->item->device);
    snprintf(text, EXPORT_KEY_BYTES, "%s", texts[which]);
}

static const struct export_parts run_parts = {sizeof parts / sizeof parts[0], part_of, part_text};

/* ---- the set --------------------------------------------------------------------------------- */

enum { RIGHT, UNDETECTED, FALSE_ALARM, VERDICTS };
static const char *const verdict_words[VERDICTS] = {"right", "undetected", "false alarm"};

static char *detail_of(const struct run_key *run)
{
    const struct selftest_seen *seen = &run->item->seen;
    struct memory_file lines;

    memory_file_open(&lines);
    fprintf(lines.to, "run %zu: exit status %d\n", run->number, seen->status);
    for (int d = 0; d < SELFTEST_DETECTORS; ++d)
        if (seen->at[d] > 0)
            fprintf(lines.to, "%s: iteration %" PRIu64 "\n", selftest_detector_words[d],
                    seen->at[d]);
    return memory_file_close(&lines);
}

void selftest_export(FILE *stream, const struct selftest *selftest, enum export_format format)
{
    const struct selftest_sums *sums = &selftest->sums;
    struct run_key *keys = cli_alloc(selftest->n, sizeof *keys);
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

    export_open(&set, selftest->n + 1);
    snprintf(set.summary, sizeof set.summary, "selftest: %zu runs, %zu wrong%s", selftest->n,
             sums->wrong, sums->interrupted ? "; interrupted" : "");
    for (size_t i = 0; i < selftest->n; ++i) {
        const struct selftest_case *item = &selftest->item[i];
        const bool wrong = selftest_wrong(item);
        char name[EXPORT_NAME_BYTES];
        struct export_cell *cell;

        keys[i] = (struct run_key){item, i};
        snprintf(name, sizeof name, "%s", item->name);
        if (item->fault)
            text_add(name, sizeof name, ", virt:%d, step %u", item->device, item->step);
        if (item->drawn) /* two may be at one place */
            text_add(name, sizeof name, ", run %zu", i);
        cell = export_add(&set, name);
        cell->key = &keys[i];
        cell->group = "selftest";
        cell->state = wrong ? EXPORT_FAILED : EXPORT_PASSED;
        cell->has_numbers = !wrong;
        cell->verdict = !wrong ? RIGHT : item->fault ? UNDETECTED : FALSE_ALARM;
        snprintf(cell->why, sizeof cell->why, "%s", wrong ? item->verdict : "");
        cell->detail = wrong ? detail_of(&keys[i]) : NULL;
    }
    struct export_cell *cell = export_add(&set, "every run was made");

    cell->group = "selftest";
    cell->state = sums->interrupted ? EXPORT_BROKEN : EXPORT_PASSED;
    cell->type = "interrupted";
    snprintf(cell->why, sizeof cell->why, "%s", sums->interrupted ? "interrupted" : "");
    (void)export_write(stream, format, &set, &err); /* no two cells have one name */
    export_close(&set);
}
