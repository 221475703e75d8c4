/* validate/text.c: writes the verdict for people: as text, in lines of at most 80 columns, and as
 * Markdown for the page of a CI job, in short, and the worst first. */
#include "validate/validate.h"

#include "command/command.h"
#include "files/text_out.h"

enum { COLUMNS = 80, INDENT = 11, SHOWN = 50 };

/* Adds a line below that of a verdict. */
static void say_below(FILE *stream, const char *before, const char *words)
{
    char text[VALIDATE_TEXT + 32];

    snprintf(text, sizeof text, "%*s%s%s", INDENT, "", before, words);
    command_wrap(stream, text, 0, INDENT, COLUMNS);
}

static void say_judged(FILE *stream, const struct validate_judged *judged)
{
    const struct profile_limit *limit = judged->limit;
    char text[2 * VALIDATE_TEXT + 512], place[VALIDATE_TEXT], number[128], bound[96];

    validate_place_words(judged, place);
    validate_number_words(judged, number);
    profile_bound_words(limit, bound);
    snprintf(text, sizeof text, "%-10s %s%s of %s: %s%s%s", validate_verdict_words[judged->verdict],
             limit->metric, limit->binding ? "" : " (advisory)", place, bound,
             judged->point && judged->launches > 0 ? "; is " : "",
             judged->point && judged->launches > 0 ? number : "");
    command_wrap(stream, text, 0, INDENT, COLUMNS);
    if (judged->why[0] != '\0')
        say_below(stream, "", judged->why);
    if (judged->verdict == VALIDATE_FAIL) {
        say_below(stream, "likely: ", validate_reason_words(judged));
        say_below(stream, "do: ", validate_action_words(judged));
    }
}

int validate_text(FILE *stream, const struct validate *validate)
{
    const struct validate_conformance *cases = validate->conformance;
    char text[VALIDATE_TEXT + 16], words[VALIDATE_TEXT];

    if (cases) {
        validate_conformance_words(validate, words);
        snprintf(text, sizeof text, "%-10s %s", validate_verdict_words[cases->verdict], words);
        command_wrap(stream, text, 0, INDENT, COLUMNS);
        if (cases->why[0] != '\0')
            say_below(stream, "", cases->why);
    }
    for (int binding = 1; binding >= 0; --binding)
        for (unsigned i = 0; i < validate->profile->n_limits; ++i)
            if (validate->judged[i].limit->binding == (binding == 1))
                say_judged(stream, &validate->judged[i]);
    for (unsigned i = 0; i < validate->profile->n_unknown; ++i) {
        char unknown[600];

        snprintf(unknown, sizeof unknown, "%-10s %s", "UNKNOWN", validate->profile->unknown[i]);
        command_wrap(stream, unknown, 0, INDENT, COLUMNS);
    }
    validate_summary_words(validate, words);
    command_wrap(stream, words, 0, 0, COLUMNS);
    return 0;
}

/* ---- Markdown ------------------------------------------------------------------------------- */

static void print_judged(struct text_out *out, const struct validate_judged *judged)
{
    const struct profile_limit *limit = judged->limit;
    char place[VALIDATE_TEXT], bound[96], number[128];

    validate_place_words(judged, place);
    profile_bound_words(limit, bound);
    validate_number_words(judged, number);
    text_print(out, "| %s%s | %s of %s | %s | %s | %s | %s |\n",
               validate_verdict_words[judged->verdict], limit->binding ? "" : " (advisory)",
               limit->metric, place, bound, judged->launches > 0 ? number : "not known",
               judged->why[0] != '\0' ? judged->why : validate_reason_words(judged),
               validate_action_words(judged));
}

int validate_markdown(FILE *stream, const struct validate *validate)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    const size_t *count = validate->count;
    const struct validate_conformance *cases = validate->conformance;
    char words[VALIDATE_TEXT];
    unsigned shown = 0;

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
    text_print(&out, "\n| verdict | limit | has to be | is | reason | what to do |\n"
                     "|---|---|---|---|---|---|\n");
    for (int v = VALIDATE_VERDICTS - 1; v >= 0; --v)
        for (int binding = 1; binding >= 0; --binding)
            for (unsigned i = 0; i < validate->profile->n_limits; ++i) {
                const struct validate_judged *judged = &validate->judged[i];

                if ((int)judged->verdict == v && judged->limit->binding == (binding == 1) &&
                    shown++ < SHOWN)
                    print_judged(&out, judged);
            }
    if (shown > SHOWN)
        text_print(&out, "\n%zu more are not shown.\n", (size_t)(shown - SHOWN));
    for (unsigned i = 0; i < validate->profile->n_unknown; ++i)
        text_print(&out, "%s* UNKNOWN: %s\n", i == 0 ? "\n" : "", validate->profile->unknown[i]);
    return 0;
}
