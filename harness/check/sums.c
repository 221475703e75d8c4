/* check/sums.c: the sums of a run, which of its results are alike, and its verdict in a sentence.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "check/runner.h"
#include "command/command.h"
#include "files/files.h"
#include "words.h"

const char *const runner_rules_words[RULES_COUNTED] = {
    "rules", "covered", "pending", "not_applicable", "observed", "reported", "untested"};

/* Rules that have an excuse, and rules that have a case with PASS or FAIL, by its evidence. */
static void count_rules(const struct runner_run *run, struct runner_area_sums *row)
{
    char rule[32];

    const int n_rules = row->area ? row->area->n_rules : 0;

    row->rule[RULES_ALL] = (size_t)n_rules;
    for (int i = 1; i <= n_rules; ++i) {
        const struct runner_result *result = run->result;
        bool seen[2] = {false, false};

        runner_rule(row->area, i, rule);
        for (size_t j = 0; j < run->n; ++j, ++result)
            if (result->ran && strcmp(result->test->rule, rule) == 0 &&
                (result->verdict == CHECK_PASS || result->verdict == CHECK_FAIL))
                seen[result->test->evidence == OBSERVED] = true;
        const struct check_excuse *excuse = runner_excuse(row->area, rule);

        ++row->rule[!excuse ? RULES_COVERED : excuse->pending ? RULES_PENDING : RULES_OUTSIDE];
        ++row->rule[seen[1] ? RULES_OBSERVED : seen[0] ? RULES_REPORTED : RULES_UNTESTED];
    }
}

void runner_sums_of(const struct runner_run *run, struct runner_sums *sums)
{
    struct runner_area_sums total = {.name = "total", .area = NULL};

    *sums = (struct runner_sums){.n = 0};
    for (int a = -1; a < check_n_areas && sums->n <= RUNNER_AREAS; ++a) {
        const struct check_area *area = a < 0 ? NULL : check_areas[a];
        struct runner_area_sums *row = &sums->row[sums->n];

        *row = (struct runner_area_sums){.area = area};
        snprintf(row->name, sizeof row->name, "%s", area ? area->name : "PROFILE");
        for (size_t i = 0; i < run->n; ++i)
            if (runner_area_of(run->result[i].test->rule) == area) {
                ++row->cases;
                ++row->verdict[run->result[i].verdict];
            }
        if (row->cases == 0 && (!area || run->options->part))
            continue;
        count_rules(run, row);
        for (int i = 0; i < RULES_COUNTED; ++i)
            total.rule[i] += row->rule[i];
        total.cases += row->cases;
        for (int i = 0; i <= CHECK_BROKEN; ++i)
            total.verdict[i] += row->verdict[i];
        ++sums->n;
    }
    sums->row[sums->n] = total;
}

bool runner_failed(const struct runner_result *result)
{
    return result->verdict == CHECK_FAIL || result->verdict == CHECK_BROKEN;
}

void runner_found(const struct runner_result *result, char text[2 * RUNNER_TEXT])
{
    snprintf(text, 2 * RUNNER_TEXT, "%s", result->reason);
    if (result->hint[0] != '\0')
        text_add(text, 2 * RUNNER_TEXT, "\nHint: %s", result->hint);
    if (result->scenario[0] != '\0')
        text_add(text, 2 * RUNNER_TEXT, "\nModel: %s", result->scenario);
}

/* ---- what fails in the same way ---------------------------------------------------------------
 */

/* Returns the length of a number, or of a list of them: "-4.5, 0x7f800000"; 0: there is none. */
static size_t length_of_numbers(const char *text)
{
    const char *end = text;

    for (const char *next = text;; next = end + 2) {
        const char *digit = next + (next[0] == '-');

        if (*digit < '0' || *digit > '9')
            break;
        end = digit + strspn(digit, "0123456789abcdefx.+-");
        if (strncmp(end, ", ", 2) != 0)
            break;
    }
    return (size_t)(end - text);
}

/* Whether two texts differ in numbers only: "1 row", "2 rows". */
static bool differ_in_numbers(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0') {
        const size_t one = length_of_numbers(a), other = length_of_numbers(b);

        if ((one > 0) != (other > 0) || (one == 0 && *a != *b))
            return false;
        a += one > 0 ? one : 1;
        b += other > 0 ? other : 1;
        if (*a != *b) {
            a += *a == 's' && !isalpha((unsigned char)a[1]);
            b += *b == 's' && !isalpha((unsigned char)b[1]);
        }
    }
    return *a == *b;
}

/* Returns what the layer raised, after the name of the call; "": nothing. */
static const char *raised(const struct runner_result *result)
{
    const char *at = strstr(result->reason, " failed (");

    return at ? at : "";
}

/* Results of one verdict are alike if they have one reason; if they failed, also if they have one
 * hint, one error, or are of one rule, but for the numbers. */
static bool are_alike(const struct runner_result *a, const struct runner_result *b)
{
    if (a->verdict != b->verdict)
        return false;
    if (strcmp(a->reason, b->reason) == 0 || !runner_failed(a))
        return strcmp(a->reason, b->reason) == 0;
    return (a->hint[0] != '\0' && differ_in_numbers(a->hint, b->hint)) ||
           (raised(a)[0] != '\0' && differ_in_numbers(raised(a), raised(b))) ||
           (strcmp(a->test->rule, b->test->rule) == 0 && differ_in_numbers(a->reason, b->reason));
}

size_t runner_first_alike(const struct runner_result result[], size_t i)
{
    size_t first = 0;

    while (first < i && !are_alike(&result[first], &result[i]))
        ++first;
    return first;
}

char *runner_alike(const struct runner_result result[], size_t n, size_t *i, size_t *count)
{
    const size_t first = *i;
    size_t begin = first, in_area = 0, most = 0; /* areas stand one after the other */
    const struct check_area *area = NULL;
    const char *rule = "";
    struct memory_file ids;

    memory_file_open(&ids);
    *count = 0;
    for (size_t k = first; k < n; ++k) {
        if (!are_alike(&result[first], &result[k]) || runner_first_alike(result, k) != first)
            continue;
        const struct check_area *own = runner_area_of(result[k].test->rule);

        begin = own == area ? begin : k;
        in_area = (own == area ? in_area : 0) + (strcmp(result[k].test->rule, rule) != 0);
        rule = result[k].test->rule;
        *i = in_area > most ? begin : *i;
        most = in_area > most ? in_area : most;
        area = own;
        fprintf(ids.to, "%s%s", *count > 0 ? " " : "", result[k].test->id);
        ++*count;
    }
    return memory_file_close(&ids);
}

/* ---- the sentence ---------------------------------------------------------------------------- */

static const char *word_of_exit(int status)
{
    return status == EXIT_PASSED        ? "PASS"
           : status == EXIT_FAILED      ? "FAIL"
           : status == EXIT_SKIPPED     ? "SKIP"
           : status == EXIT_INTERRUPTED ? "INTERRUPTED"
                                        : "BROKEN";
}

const char *runner_verdict(const struct runner_run *run, char sentence[RUNNER_TEXT])
{
    static const char *const words[] = {"", "failed", "skipped", "broken"};
    const struct impl_about *about = &run->is.about;
    size_t few = 0, pairs = 0, absent = 0, unasked = 0, known = 0, verdict[CHECK_BROKEN + 1] = {0};
    int most = 0; /* devices that a case needs */
    const struct check_area *area = NULL;
    size_t first = run->n, areas = 0;
    uint64_t lacks = 0;
    char why[RUNNER_TEXT / 2] = "", part[RUNNER_TEXT], offered[RUNNER_TEXT / 2] = "not offered";

    if (run->cause[0] != '\0') {
        snprintf(sentence, RUNNER_TEXT, "%.500s could not be tested: %.500s", run->options->impl,
                 run->cause);
        return word_of_exit(runner_exit(run));
    }
    for (size_t i = run->n; i-- > 0;) {
        const struct runner_result *result = &run->result[i];
        const bool skipped = result->verdict == CHECK_SKIP;
        const int needed = skipped * result->few_devices;

        ++verdict[result->verdict];
        few += needed > 0;
        pairs += needed == 2;
        most = result->few_devices > most ? result->few_devices : most;
        const uint64_t missing = skipped * (result->test->needs & ~about->capabilities);

        absent += missing != 0;
        lacks |= missing;
        unasked += result->unasked;
        known += result->known;
        if (runner_failed(result)) {
            const struct check_area *own = runner_area_of(result->test->rule);

            first = i;
            areas += own != area;
            area = own;
        }
    }
    char place[48] = "on the host";

    if (about->devices > 0)
        snprintf(place, sizeof place, "with %d device%s", about->devices,
                 text_s((size_t)about->devices));
    snprintf(sentence, RUNNER_TEXT, "%s%s%s %s: %zu of %zu cases passed", about->name,
             about->version[0] != '\0' ? " " : "", about->version, place, verdict[CHECK_PASS],
             run->n);
    for (int i = CHECK_FAIL; i <= CHECK_BROKEN; ++i)
        if (verdict[i] > 0)
            text_add(sentence, RUNNER_TEXT, ", %zu %s", verdict[i], words[i]);
    for (int i = 0; i < RUNNER_CAPABILITIES; ++i)
        if (lacks >> i & 1)
            text_add(offered, sizeof offered, "%s%s", strchr(offered, ':') ? ", " : ": ",
                     impl_capability_word((uint64_t)1 << i));
    /* The cases that were not tested, so that no reader takes them for tested. */
    char devices[64];

    snprintf(devices, sizeof devices, "because of too few devices: they need up to %d", most);
    const struct {
        size_t n;
        const char *words;
    } reasons[] = {{few, devices},
                   {absent, offered},
                   {unasked, "not run: --exitfirst"},
                   {known, "known to fail"}};

    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; ++i) {
        snprintf(part, sizeof part, "%zu %s", reasons[i].n, reasons[i].words);
        if (reasons[i].n > 0)
            text_list(why, sizeof why, "; ", part);
    }
    if (why[0] != '\0')
        text_add(sentence, RUNNER_TEXT, " (%s)", why);
    if (pairs > 0 && verdict[CHECK_PASS] > 0)
        text_add(sentence, RUNNER_TEXT, "; no case ran on two devices");
    if (runner_left_out(run) > 0)
        text_add(sentence, RUNNER_TEXT, "; %zu more %s not selected", runner_left_out(run),
                 text_were(runner_left_out(run)));
    text_add(sentence, RUNNER_TEXT, "%s", run->fault);
    if (areas > 1 && !run->interrupted) { /* the leader of the first block */
        free(runner_alike(run->result, run->n, &first, &(size_t){0}));
        text_add(sentence, RUNNER_TEXT,
                 "; begin with %s: what fails in later areas may follow from it",
                 run->result[first].test->id);
    }
    for (int p = 0; p < RUNNER_PROFILES; ++p)
        if ((run->options->profiles & ~run->profiles & runner_profiles[p].bit) != 0)
            text_add(sentence, RUNNER_TEXT,
                     "; not tested: %s, which the implementation does not offer",
                     runner_profiles[p].name);
    return word_of_exit(runner_exit(run));
}
