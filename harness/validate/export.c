/* validate/export.c: the verdict as a set of cells for other programs; each limit is a cell.
 *
 * Readers count skipped cells as passed. So a binding limit that could not be judged is an error.
 * An advisory one that is not PASS is skipped, because it decides nothing. */
#include <stdlib.h>

#include "export/export.h"
#include "files/memory_file.h"
#include "validate/validate.h"

/* ---- what tells limits apart ----------------------------------------------------------------- */

static void limit_line(const struct validate_judged *judged, char text[EXPORT_KEY_BYTES])
{
    snprintf(text, EXPORT_KEY_BYTES, "%d", judged->limit->line);
}

static void limit_metric(const struct validate_judged *judged, char text[EXPORT_KEY_BYTES])
{
    snprintf(text, EXPORT_KEY_BYTES, "%s", judged->limit->metric);
}

static void limit_place(const struct validate_judged *judged, char text[EXPORT_KEY_BYTES])
{
    char place[VALIDATE_TEXT];

    validate_place_words(judged, place);
    snprintf(text, EXPORT_KEY_BYTES, "%s", place);
}

static void limit_bound(const struct validate_judged *judged, char text[EXPORT_KEY_BYTES])
{
    char bound[96];

    profile_bound_words(judged->limit, bound);
    snprintf(text, EXPORT_KEY_BYTES, "%s", bound);
}

static void limit_kind(const struct validate_judged *judged, char text[EXPORT_KEY_BYTES])
{
    snprintf(text, EXPORT_KEY_BYTES, "%s", judged->limit->binding ? "binding" : "advisory");
}

/* The place is no label: it names the worst device, which may be another one the next time. */
static const struct {
    struct export_part part;
    void (*text)(const struct validate_judged *, char text[EXPORT_KEY_BYTES]);
} limit_texts[] = {{{.name = "line", .number = true}, limit_line},
                   {{.name = "metric"}, limit_metric},
                   {{.name = "place", .column = true}, limit_place},
                   {{.name = "limit"}, limit_bound},
                   {{.name = "kind"}, limit_kind}};

static struct export_part limit_part(size_t which)
{
    return limit_texts[which].part;
}

static void limit_text(const void *key, size_t which, char text[EXPORT_KEY_BYTES])
{
    limit_texts[which].text(key, text);
}

static const struct export_parts limit_parts = {sizeof limit_texts / sizeof limit_texts[0],
                                                limit_part, limit_text};

/* ---- the set --------------------------------------------------------------------------------- */

static int add_limit_cell(struct export_set *set, const struct validate_judged *judged)
{
    const struct profile_limit *limit = judged->limit;
    char name[EXPORT_NAME_BYTES], place[VALIDATE_TEXT], bound[96], message[VALIDATE_TEXT + 160];
    struct export_cell *cell;
    struct memory_file lines;

    validate_place_words(judged, place);
    profile_bound_words(limit, bound);
    snprintf(name, sizeof name, "line %d: %s of %s: %s", limit->line, limit->metric, place, bound);
    text_clean(name, ' ');
    cell = export_add(set, name);
    cell->key = judged;
    cell->group = "validate";
    cell->state = judged->verdict == VALIDATE_PASS   ? EXPORT_PASSED
                  : !limit->binding                  ? EXPORT_DOUBTFUL
                  : judged->verdict == VALIDATE_FAIL ? EXPORT_FAILED
                                                     : EXPORT_BROKEN;
    cell->verdict = judged->verdict;
    cell->has_numbers = judged->verdict == VALIDATE_PASS;
    validate_message_words(judged, message);
    snprintf(cell->why, sizeof cell->why, "%s%s", limit->binding ? "" : "advisory: ", message);
    text_clean(cell->why, ' ');
    if (cell->state != EXPORT_FAILED && cell->state != EXPORT_BROKEN)
        return 0;
    if (memory_file_open(&lines))
        return -1;
    fprintf(lines.to, "likely: %s\ndo: %s\nsource: %s, %s, %s\n", validate_reason_words(judged),
            validate_action_words(judged), limit->source, limit->date, limit->evidence);
    cell->detail = memory_file_close(&lines) == 0 ? lines.text : NULL;
    return cell->detail ? 0 : -1;
}

/* Adds the cases that the profile requires, and a cell for the whole machine: if there is no
 * binding limit, no other cell would fail. */
static void add_sums(struct export_set *set, const struct validate *validate)
{
    static const enum export_state states[] = {[VALIDATE_ACCEPTED] = EXPORT_PASSED,
                                               [VALIDATE_REJECTED] = EXPORT_FAILED,
                                               [VALIDATE_NOT_SHOWN] = EXPORT_BROKEN};
    const struct validate_conformance *cases = validate->conformance;
    struct export_cell *cell;
    char words[VALIDATE_TEXT];

    if (cases) {
        cell = export_add(set, "the cases that the profile requires pass");
        cell->group = "validate";
        cell->state = cases->verdict == VALIDATE_PASS   ? EXPORT_PASSED
                      : cases->verdict == VALIDATE_FAIL ? EXPORT_FAILED
                                                        : EXPORT_BROKEN;
        cell->type = validate_verdict_words[cases->verdict];
        validate_conformance_words(validate, words);
        snprintf(cell->why, sizeof cell->why, "%s%s%s", words, cases->why[0] != '\0' ? ": " : "",
                 cases->why);
        text_clean(cell->why, ' ');
    }
    cell = export_add(set, "the machine is ACCEPTED");
    cell->group = "validate";
    cell->state = states[validate->machine];
    cell->type = validate_machine_words[validate->machine];
    snprintf(cell->why, sizeof cell->why, "it is %s", cell->type);
}

int validate_export(FILE *stream, const struct validate *validate, enum export_format format)
{
    struct export_set set = {
        .title = "lockstep validate",
        .suite = validate->profile->name,
        .host = validate->node,
        .all_rows = true,
        .prefix = "lockstep_validate_",
        .flag = "passed",
        .flag_help = "1: the limit is shown to be kept.",
        .parts = &limit_parts,
        .verdicts = validate_verdict_words,
        .n_verdicts = VALIDATE_VERDICTS,
        .counted = "accepted",
        .count = validate->machine == VALIDATE_ACCEPTED,
    };
    char summary[VALIDATE_TEXT];
    struct text_error err;
    int status = export_open(&set, validate->profile->n_limits + 2);

    for (unsigned i = 0; i < validate->profile->n_limits && status == 0; ++i)
        status = add_limit_cell(&set, &validate->judged[i]);
    validate_summary_words(validate, summary);
    snprintf(set.summary, sizeof set.summary, "%s", summary);
    text_clean(set.summary, ' ');
    if (status == 0) {
        add_sums(&set, validate);
        status = export_write(stream, format, &set, &err);
    }
    export_close(&set);
    return status;
}
