/* fleet/drift.c: nodes that differ from more than half of the fleet: in versions, in machines, in
 * what was asked of them. */
#include "fleet/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text/alloc.h"

/* A node that was judged by another profile, by other limits or on fewer devices was not shown to
 * be what the others are. */
static const struct {
    const char *what, *words;
} deciding[] = {{"profile", "its profile is not that of most nodes"},
                {"profile_sha256", "its profile is another file than that of most nodes"},
                {"limits", "its limits are not those of most nodes"},
                {"measured_utc", "it was measured on another day than most nodes"},
                {"steps", "it ran other steps than most nodes"},
                {"devices", "its number of devices is not that of most nodes"},
                {"conformance.required", "its cases are not those of most nodes"},
                {"conformance.passed", "it passed other cases than most nodes"}};

const struct fleet_basis fleet_basis[FLEET_BASIS] = {{"profile", "By profile"},
                                                     {"profile_sha256", ", SHA-256"},
                                                     {"judged_by.version", ", lockstep"},
                                                     {"judged_by.commit", ", commit"},
                                                     {"steps", ". Steps of most nodes:"}};

/* NULL: what differs decides nothing. */
static const char *deciding_words(const char *what)
{
    for (size_t i = 0; i < sizeof deciding / sizeof deciding[0]; ++i)
        if (strcmp(what, deciding[i].what) == 0)
            return deciding[i].words;
    return NULL;
}

static bool is_judged(const struct fleet_node *node)
{
    return node->status < FLEET_BROKEN && node->n_facts > 0;
}

/* ---- all facts, in rows of what and value ------------------------------------------------- */

struct claim {
    struct fleet_node *node;
    const char *what, *value;
};

static int by_claim(const void *left, const void *right)
{
    const struct claim *a = left, *b = right;
    int order = strcmp(a->what, b->what);

    order = order != 0 ? order : strcmp(a->value, b->value);
    return order != 0 ? order : strcmp(a->node->name, b->node->name);
}

/* ---- one fact ----------------------------------------------------------------------------- */

/* The claims about one thing, and the value that most nodes have. */
struct subject {
    const struct claim *claim;
    size_t n, judged, values, have;
    const char *most; /* NULL: most do not know it */
};

static void decide(struct fleet_node *node, const char *cause, const char *why)
{
    if (node->status != FLEET_ACCEPTED)
        return;
    node->status = FLEET_NOT_SHOWN;
    snprintf(node->cause, sizeof node->cause, "%.*s", FLEET_CAUSE - 1, cause);
    snprintf(node->why, sizeof node->why, "it is accepted, but %.280s", why);
}

static void add_drift(struct fleet *fleet, struct fleet_node *node, const struct subject *subject,
                      const char *value)
{
    const char *what = subject->claim[0].what, *words = deciding_words(what);
    char why[FLEET_TEXT - 32], is[FLEET_VALUE], most[FLEET_VALUE];

    fleet->drift = cli_grow(fleet->drift, fleet->n_drifts, sizeof *fleet->drift);
    fleet->drift[fleet->n_drifts++] =
        (struct fleet_drift){node, what, value, subject->most, words != NULL};
    ++node->drifts;
    if (!words)
        return;
    snprintf(why, sizeof why, "%s: %.90s, most have %.90s", words,
             fleet_value_words(value ? value : "unknown", is),
             fleet_value_words(subject->most ? subject->most : "none", most));
    decide(node, words, why);
}

/* The form of the date was checked before. */
static double seconds_of(const char *date)
{
    struct tm day = {.tm_isdst = 0};

    sscanf(date, "%d-%d-%dT%d:%d:%d", &day.tm_year, &day.tm_mon, &day.tm_mday, &day.tm_hour,
           &day.tm_min, &day.tm_sec);
    day.tm_year -= 1900;
    --day.tm_mon;
    return (double)mktime(&day);
}

static void judge_subject(struct fleet *fleet, struct subject *subject)
{
    const char *what = subject->claim[0].what, *words = deciding_words(what);
    /* Dates are in order. One that is more than a day from the middle is of a wrong clock, or of a
     * verdict of another day, which would pass for one of today. */
    const bool dates = strcmp(what, "measured_utc") == 0;
    size_t end;

    subject->have = subject->judged - subject->n;
    for (size_t i = 0; i < subject->n; i = end) {
        for (end = i + 1;
             end < subject->n && strcmp(subject->claim[i].value, subject->claim[end].value) == 0;)
            ++end;
        ++subject->values;
        if (end - i > subject->have) {
            subject->have = end - i;
            subject->most = subject->claim[i].value;
        }
    }
    for (int i = 0; i < FLEET_BASIS; ++i)
        if (strcmp(what, fleet_basis[i].what) == 0)
            fleet->basis[i] = 2 * subject->have > subject->judged ? subject->most : "several";
    if (dates) {
        subject->most = subject->claim[subject->n / 2].value;
        fleet->first = subject->claim[0].value;
        fleet->last = subject->claim[subject->n - 1].value;
    } else if (2 * subject->have <= subject->judged) {
        /* There are no limits of the fleet then, so no node is shown to keep them. */
        char cause[FLEET_CAUSE], why[FLEET_TEXT - 32];

        snprintf(cause, sizeof cause, "no majority has its %.40s", what);
        snprintf(why, sizeof why, "of %zu different %s none is that of most nodes", subject->values,
                 what);
        fleet->split = cli_grow(fleet->split, fleet->n_splits, sizeof *fleet->split);
        fleet->split[fleet->n_splits++] = (struct fleet_split){what, subject->most, subject->values,
                                                               subject->have, words != NULL};
        for (size_t i = 0; words && i < fleet->n; ++i)
            decide(&fleet->node[i], cause, why);
        return;
    }
    for (size_t i = 0; i < fleet->n; ++i) {
        struct fleet_node *node = &fleet->node[i];
        const char *value = fleet_fact_of(node, what), *most = subject->most ? subject->most : "";
        const bool told = value[0] != '\0';

        if (is_judged(node) &&
            (!dates ? strcmp(value, most) != 0
                    : told && fabs(seconds_of(value) - seconds_of(most)) > 86400))
            add_drift(fleet, node, subject, told ? value : NULL);
    }
}

/* ---- all ---------------------------------------------------------------------------------- */

void fleet_find_drift(struct fleet *fleet)
{
    size_t n = 0, judged = 0, end;
    struct claim *claim = NULL;

    for (size_t i = 0; i < fleet->n; ++i) {
        struct fleet_node *node = &fleet->node[i];

        judged += is_judged(node);
        for (size_t f = 0; is_judged(node) && f < node->n_facts; ++f) {
            claim = cli_grow(claim, n, sizeof *claim);
            claim[n++] = (struct claim){node, node->fact[f].what, node->fact[f].value};
        }
    }
    if (n > 0)
        qsort(claim, n, sizeof *claim, by_claim);
    for (size_t i = 0; i < n; i = end) {
        struct subject subject = {.claim = claim + i, .judged = judged};

        for (end = i + 1; end < n && strcmp(claim[i].what, claim[end].what) == 0;)
            ++end;
        subject.n = end - i;
        judge_subject(fleet, &subject);
    }
    free(claim);
}
