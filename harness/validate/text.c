/* validate/text.c: writes the verdict for people: as text, in lines of at most 80 columns, and as
 * Markdown for the page of a CI job, in short, and the worst first. */
#include "validate/validate.h"

#include "command/command.h"
#include "export/grid.h"

enum { INDENT = 11, SHOWN = 50 };

static const char *const kinds[] = {" (advisory)", ""}; /* 1: binding */
static const char *const wrongs[] = {"", "WRONG NUMBERS, so no "};

/* Adds a line below that of a verdict. */
static void say_below(FILE *stream, const char *before, const char *words)
{
    command_say(stream, INDENT, "%*s%s%s", INDENT, "", before, words);
}

void validate_text(FILE *stream, const struct validate *validate)
{
    const struct validate_conformance *cases = validate->conformance;
    char words[VALIDATE_TEXT], place[VALIDATE_TEXT], number[128], bound[96];

    if (cases) {
        validate_conformance_words(validate, words);
        command_say(stream, INDENT, "%-10s %s", validate_verdict_words[cases->verdict], words);
        if (cases->why[0] != '\0')
            say_below(stream, "", cases->why);
    }
    for (int binding = 1; binding >= 0; --binding)
        for (unsigned i = 0; i < validate->profile->n_limits; ++i) {
            const struct validate_judged *judged = &validate->judged[i];
            const bool measured = judged->point && judged->launches > 0;
            const bool wrong = judged->verdict == VALIDATE_FAIL && judged->launches == 0;

            if (judged->limit->binding != (binding == 1))
                continue;
            validate_place_words(judged, place);
            validate_number_words(judged, number);
            profile_bound_words(judged->limit, bound);
            command_say(stream, INDENT, "%-10s %s%s%s of %s: %s%s%s",
                        validate_verdict_words[judged->verdict], wrongs[wrong],
                        judged->limit->metric, kinds[binding], place, bound,
                        measured ? "; is " : "", measured ? number : "");
            if (judged->why[0] != '\0')
                say_below(stream, "", judged->why);
            validate_reason_words(validate, judged, words);
            if (judged->verdict == VALIDATE_FAIL)
                say_below(stream, "likely cause: ", words);
            validate_action_words(validate, judged, words);
            if (judged->verdict == VALIDATE_FAIL || judged->verdict == VALIDATE_OPEN)
                say_below(stream, "do: ", words);
        }
    for (unsigned i = 0; i < validate->profile->n_unknown; ++i)
        command_say(stream, INDENT, "%-10s %s", "UNKNOWN", validate->profile->unknown[i]);
    validate_summary_words(validate, words);
    command_say(stream, 0, "%s", words);
}

void validate_markdown(FILE *stream, const struct validate *validate)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    const size_t *count = validate->count;
    const struct validate_conformance *cases = validate->conformance;
    char words[VALIDATE_TEXT], place[VALIDATE_TEXT], bound[96], number[128];
    struct grid grid;

    text_print(&out, "### Machine%s%s: %s\n\n", validate->node ? " " : "",
               validate->node ? validate->node : "", validate_machine_words[validate->machine]);
    text_print(&out,
               "By profile %s: of its binding limits %zu PASS, %zu FAIL, %zu OPEN, %zu "
               "UNMEASURED, %zu INVALID.\n",
               validate->profile->name, count[VALIDATE_PASS], count[VALIDATE_FAIL],
               count[VALIDATE_OPEN], count[VALIDATE_UNMEASURED], count[VALIDATE_INVALID]);
    if (cases) {
        validate_conformance_words(validate, words);
        text_print(&out, "\n%s: %s%s%s.\n", validate_verdict_words[cases->verdict], words,
                   cases->why[0] != '\0' ? ": " : "", cases->why);
    }
    grid_open(&grid, &out, "limits", "Limits");
    grid.compact = true;
    grid_headings(&grid, "text", "verdict|limit|has to be|is|reason|what to do");
    for (int v = VALIDATE_VERDICTS - 1; v >= 0; --v)
        for (int binding = 1; binding >= 0; --binding)
            for (unsigned i = 0; i < validate->profile->n_limits; ++i) {
                const struct validate_judged *judged = &validate->judged[i];
                const struct profile_limit *limit = judged->limit;

                if ((int)judged->verdict != v || limit->binding != (binding == 1))
                    continue;
                validate_place_words(judged, place);
                profile_bound_words(limit, bound);
                validate_number_words(judged, number);
                grid_row(&grid, "");
                grid_cell(&grid, "", "%s%s", validate_verdict_words[v], kinds[binding]);
                grid_cell(&grid, "", "%s of %s", limit->metric, place);
                grid_cell(&grid, "", "%s", bound);
                grid_cell(&grid, "", "%s", judged->launches > 0 ? number : "not known");
                validate_reason_words(validate, judged, words);
                grid_cell(&grid, "", "%s", judged->why[0] != '\0' ? judged->why : words);
                validate_action_words(validate, judged, words);
                grid_cell(&grid, "", "%s", words);
            }
    grid_part(&grid, SHOWN);
    for (unsigned i = 0; i < validate->profile->n_unknown; ++i)
        text_print(&out, "%s* UNKNOWN: %s\n", i == 0 ? "\n" : "", validate->profile->unknown[i]);
}
