/* validate/markdown.c: writes the verdict for the page of a CI job: in short, and the worst
 * first. */
#include "validate/validate.h"

#include "files/text_out.h"

enum { SHOWN = 50 };

static void row(struct text_out *out, const struct validate_judged *judged)
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

static void rows(struct text_out *out, const struct validate *validate)
{
    const unsigned n = validate->profile->n_limits;
    unsigned shown = 0;

    text_print(out, "\n| verdict | limit | has to be | is | reason | what to do |\n"
                    "|---|---|---|---|---|---|\n");
    for (int v = VALIDATE_VERDICTS - 1; v >= 0; --v)
        for (int binding = 1; binding >= 0; --binding)
            for (unsigned i = 0; i < n; ++i) {
                const struct validate_judged *judged = &validate->judged[i];

                if ((int)judged->verdict == v && judged->limit->binding == (binding == 1) &&
                    shown++ < SHOWN)
                    row(out, judged);
            }
    if (shown > SHOWN)
        text_print(out, "\n%zu more are not shown.\n", (size_t)(shown - SHOWN));
}

int validate_markdown(FILE *stream, const struct validate *validate)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    const size_t *count = validate->count;
    const struct validate_conformance *cases = validate->conformance;
    char words[VALIDATE_TEXT];

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
    rows(&out, validate);
    for (unsigned i = 0; i < validate->profile->n_unknown; ++i)
        text_print(&out, "%s* UNKNOWN: %s\n", i == 0 ? "\n" : "", validate->profile->unknown[i]);
    return 0;
}
