/* validate/text.c: writes the verdict as text, in lines of at most 80 columns. */
#include "validate/validate.h"

#include "command/command.h"

enum { COLUMNS = 80 };

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
    command_wrap(stream, text, 0, 11, COLUMNS);
    if (judged->why[0] != '\0') {
        snprintf(text, sizeof text, "           %s", judged->why);
        command_wrap(stream, text, 0, 11, COLUMNS);
    }
    if (judged->verdict == VALIDATE_FAIL) {
        snprintf(text, sizeof text, "           likely: %s", validate_reason_words(judged));
        command_wrap(stream, text, 0, 11, COLUMNS);
        snprintf(text, sizeof text, "           do: %s", validate_action_words(judged));
        command_wrap(stream, text, 0, 11, COLUMNS);
    }
}

static void say_conformance(FILE *stream, const struct validate *validate)
{
    char text[VALIDATE_TEXT + 16], words[VALIDATE_TEXT];

    if (!validate->conformance)
        return;
    validate_conformance_words(validate, words);
    snprintf(text, sizeof text, "%-10s %s", validate_verdict_words[validate->conformance->verdict],
             words);
    command_wrap(stream, text, 0, 11, COLUMNS);
    if (validate->conformance->why[0] == '\0')
        return;
    snprintf(text, sizeof text, "           %s", validate->conformance->why);
    command_wrap(stream, text, 0, 11, COLUMNS);
}

int validate_text(FILE *stream, const struct validate *validate)
{
    char text[VALIDATE_TEXT];

    say_conformance(stream, validate);
    for (int binding = 1; binding >= 0; --binding)
        for (unsigned i = 0; i < validate->profile->n_limits; ++i)
            if (validate->judged[i].limit->binding == (binding == 1))
                say_judged(stream, &validate->judged[i]);
    for (unsigned i = 0; i < validate->profile->n_unknown; ++i) {
        char unknown[600];

        snprintf(unknown, sizeof unknown, "%-10s %s", "UNKNOWN", validate->profile->unknown[i]);
        command_wrap(stream, unknown, 0, 11, COLUMNS);
    }
    validate_summary_words(validate, text);
    command_wrap(stream, text, 0, 0, COLUMNS);
    return 0;
}
