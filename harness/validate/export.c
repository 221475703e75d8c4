/* validate/export.c: the verdict as a set of cells for other programs; each limit is a cell.
 *
 * Readers count skipped cells as passed. So a binding limit that could not be judged is an error.
 * An advisory one that is not PASS is skipped, because it decides nothing. */
#include <stdlib.h>

#include "export/export.h"
#include "files/files.h"
#include "validate/validate.h"

/* The columns that tell limits apart. The place is no label: it names the worst device, which may
 * be another one the next time. */
static const struct export_part limit_columns[] = {{.name = "line", .number = true},
                                                   {.name = "metric"},
                                                   {.name = "place", .column = true},
                                                   {.name = "limit"},
                                                   {.name = "kind"}};

static struct export_part limit_part(size_t which)
{
    return limit_columns[which];
}

static void limit_text(const void *key, size_t which, char text[EXPORT_KEY_BYTES])
{
    const struct validate_judged *judged = key;
    const struct profile_limit *limit = judged->limit;
    char line[24], place[VALIDATE_TEXT], bound[96];
    const char *const texts[] = {line, limit->metric, place, bound,
                                 limit->binding ? "binding" : "advisory"};

    snprintf(line, sizeof line, "%d", limit->line);
    validate_place_words(judged, place);
    profile_bound_words(limit, bound);
    snprintf(text, EXPORT_KEY_BYTES, "%s", texts[which]);
}

static const struct export_parts limit_parts = {sizeof limit_columns / sizeof limit_columns[0],
                                                limit_part, limit_text};

int validate_export(FILE *stream, const struct validate *validate, enum export_format format,
                    struct text_error *why)
{
    static const enum export_state states[] = {[VALIDATE_ACCEPTED] = EXPORT_PASSED,
                                               [VALIDATE_REJECTED] = EXPORT_FAILED,
                                               [VALIDATE_NOT_SHOWN] = EXPORT_BROKEN};
    const struct validate_conformance *cases = validate->conformance;
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
    char name[EXPORT_NAME_BYTES], words[VALIDATE_TEXT], bound[96], message[VALIDATE_TEXT + 160];
    struct memory_file lines;
    struct export_cell *cell;

    export_open(&set, validate->profile->n_limits + 2);
    for (unsigned i = 0; i < validate->profile->n_limits; ++i) {
        const struct validate_judged *judged = &validate->judged[i];
        const struct profile_limit *limit = judged->limit;

        validate_place_words(judged, words);
        profile_bound_words(limit, bound);
        validate_message_words(judged, message);
        snprintf(name, sizeof name, "line %d: %s of %s: %s", limit->line, limit->metric, words,
                 bound);
        text_clean(name, ' ');
        cell = export_add(&set, name);
        cell->key = judged;
        cell->group = "validate";
        cell->state = judged->verdict == VALIDATE_PASS   ? EXPORT_PASSED
                      : !limit->binding                  ? EXPORT_DOUBTFUL
                      : judged->verdict == VALIDATE_FAIL ? EXPORT_FAILED
                                                         : EXPORT_BROKEN;
        cell->verdict = judged->verdict;
        cell->has_numbers = judged->verdict == VALIDATE_PASS;
        snprintf(cell->why, sizeof cell->why, "%s%s", limit->binding ? "" : "advisory: ", message);
        text_clean(cell->why, ' ');
        if (cell->state != EXPORT_FAILED && cell->state != EXPORT_BROKEN)
            continue;
        memory_file_open(&lines);
        validate_reason_words(validate, judged, words);
        fprintf(lines.to, "likely cause: %s\n", words);
        validate_action_words(validate, judged, words);
        fprintf(lines.to, "do: %s\nsource: %s, %s, %s\n", words, limit->source, limit->date,
                limit->evidence);
        cell->detail = memory_file_close(&lines);
    }
    validate_summary_words(validate, words);
    snprintf(set.summary, sizeof set.summary, "%s", words);
    text_clean(set.summary, ' ');
    if (cases) {
        cell = export_add(&set, "the cases that the profile requires pass");
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
    /* The whole machine: if there is no binding limit, no other cell would fail. */
    cell = export_add(&set, "the machine is ACCEPTED");
    cell->group = "validate";
    cell->state = states[validate->machine];
    cell->type = validate_machine_words[validate->machine];
    snprintf(cell->why, sizeof cell->why, "it is %s", cell->type);
    const int status = export_write(stream, format, &set, why);

    export_close(&set);
    return status;
}
