/* validate/junit.c: the verdict as JUnit XML: a limit is a test case, and so is the machine.
 *
 * Readers count what is skipped as all right. So a binding limit that nobody could judge is an
 * error; an advisory one that is no PASS is skipped, as it decides nothing. */
#include "validate/validate.h"

struct sums {
    size_t tests, failures, errors, skipped;
};

enum element { NOTHING, FAILURE, ERROR, SKIPPED };

static enum element element_of(const struct validate_judged *judged)
{
    if (judged->verdict == VALIDATE_PASS)
        return NOTHING;
    if (!judged->limit->binding)
        return SKIPPED;
    return judged->verdict == VALIDATE_FAIL ? FAILURE : ERROR;
}

static enum element element_of_machine(const struct validate *validate)
{
    static const enum element elements[] = {NOTHING, FAILURE, ERROR};

    return elements[validate->machine];
}

static void add(struct sums *sums, enum element element)
{
    ++sums->tests;
    sums->failures += element == FAILURE;
    sums->errors += element == ERROR;
    sums->skipped += element == SKIPPED;
}

static void sum_up(const struct validate *validate, struct sums *sums)
{
    *sums = (struct sums){.tests = 0};
    for (unsigned i = 0; i < validate->profile->n_limits; ++i)
        add(sums, element_of(&validate->judged[i]));
    add(sums, element_of_machine(validate));
}

static void limit_case(struct text_out *out, const struct validate_judged *judged)
{
    static const char *const names[] = {"", "failure", "error", "skipped"};
    const struct profile_limit *limit = judged->limit;
    const enum element element = element_of(judged);
    char place[VALIDATE_TEXT], bound[96], message[VALIDATE_TEXT + 160];

    validate_place_words(judged, place);
    profile_bound_words(limit, bound);
    text_print(out, "<testcase classname=\"lockstep.validate\" name=\"line %d: %s of %s: %s\">",
               limit->line, limit->metric, place, bound);
    if (element != NOTHING) {
        validate_message_words(judged, message);
        text_print(out, "<%s message=\"%s%s\"", names[element],
                   limit->binding ? "" : "advisory: ", message);
        if (element == SKIPPED)
            text_print(out, "/>");
        else
            text_print(out, " type=\"%s\">likely: %s\ndo: %s\nsource: %s, %s, %s\n</%s>",
                       validate_verdict_words[judged->verdict], validate_reason_words(judged),
                       validate_action_words(judged), limit->source, limit->date, limit->evidence,
                       names[element]);
    }
    text_print(out, "</testcase>\n");
}

/* Without a binding limit no other case would be red. */
static void machine_case(struct text_out *out, const struct validate *validate)
{
    static const char *const names[] = {"", "failure", "error"};
    const enum element element = element_of_machine(validate);

    text_print(out, "<testcase classname=\"lockstep.validate\" name=\"the machine is ACCEPTED\">");
    if (element != NOTHING)
        text_print(out, "<%s message=\"it is %s\" type=\"%s\"/>", names[element],
                   validate_machine_words[validate->machine],
                   validate_machine_words[validate->machine]);
    text_print(out, "</testcase>\n");
}

int validate_junit(FILE *stream, const struct validate *validate)
{
    struct text_out out = {.file = stream, .form = TEXT_HTML};
    struct sums sums;

    sum_up(validate, &sums);
    text_print(&out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<testsuites name=\"lockstep validate\" tests=\"%zu\" failures=\"%zu\" "
               "errors=\"%zu\" skipped=\"%zu\">\n",
               sums.tests, sums.failures, sums.errors, sums.skipped);
    text_print(&out,
               "<testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
               "skipped=\"%zu\"",
               validate->profile->name, sums.tests, sums.failures, sums.errors, sums.skipped);
    if (validate->node)
        text_print(&out, " hostname=\"%s\"", validate->node);
    text_print(&out, ">\n");
    for (unsigned i = 0; i < validate->profile->n_limits; ++i)
        limit_case(&out, &validate->judged[i]);
    machine_case(&out, validate);
    text_print(&out, "</testsuite>\n</testsuites>\n");
    return 0;
}
