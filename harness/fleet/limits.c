/* fleet/limits.c: the limits of a verdict: numbers that nodes can be compared by, a digest of what
 * was asked of the node, and whether its status follows from them. */
#include "fleet/fleet.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "text/alloc.h"
#include "validate/validate.h"

enum { TEXT_BYTES = 512 };

int fleet_add_fact(struct fleet_node *node, const char *what, const char *value,
                   struct text_error *why)
{
    for (size_t i = 0; i < node->n_facts; ++i)
        if (strcmp(node->fact[i].what, what) == 0)
            return text_fail(why, "it says twice what its %.60s is", what);
    if (node->n_facts == FLEET_FACTS)
        return text_fail(why, "it says more than %d things of its machine", FLEET_FACTS);
    node->fact = cli_grow(node->fact, node->n_facts, sizeof *node->fact);
    node->fact[node->n_facts++] = (struct fleet_fact){cli_copy_text(what), cli_copy_text(value)};
    return 0;
}

enum validate_verdict fleet_find_verdict(const char *word)
{
    int v = 0;

    while (v < VALIDATE_VERDICTS && strcmp(word, validate_verdict_words[v]) != 0)
        ++v;
    return (enum validate_verdict)v;
}

/* A limit as the file has it, as the profile had it, and as it was shown. */
struct view {
    const json_t *json, *by_device; /* by_device NULL: none */
    const char *place;
    struct profile_limit limit;
    struct validate_judged shown;
};

static int refuse_limit(struct text_error *why, size_t i, const char *member, const char *what)
{
    return text_fail(why, "limit %zu: its %s %s", i + 1, member, what);
}

/* ---- one limit ---------------------------------------------------------------------------- */

static const char *text_in(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));

    return text ? text : "";
}

static double number_in(const json_t *object, const char *member, double none)
{
    const json_t *value = json_object_get(object, member);

    return json_is_number(value) ? json_number_value(value) : none;
}

/* Numbers are written with 12 digits, which keeps their order. */
static bool is_within(double median, double lo, double hi)
{
    return isnan(lo) && isnan(hi) ? true : lo <= median && median <= hi;
}

/* The machine computed wrong numbers there, so the limit has no number. */
static bool is_wrong_result(const struct view *view)
{
    return view->shown.verdict == VALIDATE_FAIL && view->shown.launches == 0 &&
           isnan(view->shown.middle);
}

static int read_limit(const json_t *object, size_t i, struct view *view, struct text_error *why)
{
    *view = (struct view){.json = object,
                          .by_device = json_object_get(object, "by_device"),
                          .place = text_in(object, "place"),
                          .limit = {.metric = text_in(object, "metric"),
                                    .statistic = text_in(object, "statistic"),
                                    .row = validate_metric_find(text_in(object, "metric")),
                                    .binding = json_is_true(json_object_get(object, "binding")),
                                    .least = number_in(object, "min", -INFINITY),
                                    .most = number_in(object, "max", INFINITY),
                                    .healthy = number_in(object, "expected", NAN),
                                    .peak_at = number_in(object, "peak", NAN),
                                    .sibling_at = NAN},
                          .shown = {.verdict = fleet_find_verdict(text_in(object, "verdict")),
                                    .device = (int)number_in(object, "device", -1),
                                    .launches = (size_t)number_in(object, "launches", 0),
                                    .units = (size_t)number_in(object, "shared_by", 0),
                                    .middle = number_in(object, "median", NAN),
                                    .lo = number_in(object, "lo", NAN),
                                    .hi = number_in(object, "hi", NAN)}};
    if (view->shown.verdict == VALIDATE_VERDICTS)
        return refuse_limit(why, i, "verdict", "is not known");
    if (!view->limit.row ||
        strcmp(text_in(object, "unit"), quantity_base_unit(view->limit.row->kind)) != 0)
        return refuse_limit(why, i, "metric", "is not known, or not in this unit");
    view->shown.limit = &view->limit;
    /* Judges its numbers by the code that judged them first. */
    struct validate_judged judged = view->shown;
    char words[96];

    if (view->shown.verdict == VALIDATE_UNMEASURED || view->shown.verdict == VALIDATE_INVALID ||
        is_wrong_result(view))
        return 0;
    if (judged.units == 0)
        return refuse_limit(why, i, "shared_by", "is 0, and it was measured");
    if (isnan(judged.middle) || !is_within(judged.middle, judged.lo, judged.hi))
        return refuse_limit(why, i, "median", "is missing, or not within lo and hi");
    validate_judge_numbers(&judged);
    /* The worst of its devices is the limit's. */
    const size_t n = json_array_size(view->by_device);
    bool can_fail = validate_can_fail(&judged);

    for (size_t d = 0; d < n; ++d) {
        const json_t *device = json_array_get(view->by_device, d);
        const double median = number_in(device, "median", NAN);
        struct validate_judged one = judged;
        one.lo = number_in(device, "lo", view->limit.row->counted ? median : NAN);
        one.hi = number_in(device, "hi", view->limit.row->counted ? median : NAN);
        if (!is_within(median, one.lo, one.hi) ||
            ((int)d == view->shown.device && median != view->shown.middle))
            return refuse_limit(why, i, "by_device", "has a median that is not its own");
        validate_judge_numbers(&one);
        can_fail |= validate_can_fail(&one);
        if (isnan(median))
            one.verdict = VALIDATE_UNMEASURED;
        if (one.verdict > judged.verdict)
            judged.verdict = one.verdict;
    }
    if (view->limit.row->by_device
            ? view->shown.device >= (int)n || view->shown.device < 0 ||
                  (double)n != number_in(json_object_get(view->json, "size"), "n_devices", 0) ||
                  view->shown.units < n
            : n > 0 || view->shown.device >= 0)
        return refuse_limit(why, i, "by_device", "has not each device of the cell");
    /* The numbers of other cells at its place, which may fail it, are not in the verdict. */
    const bool too_far =
        judged.verdict == VALIDATE_PASS && judged.units <= n + (n == 0) && !can_fail;

    validate_limit_itself(&view->limit, judged.why);
    if (judged.why[0] != '\0' || too_far)
        judged.verdict = VALIDATE_INVALID;
    if (judged.verdict == view->shown.verdict)
        return 0;
    snprintf(words, sizeof words, "is %s, but its numbers show %s",
             validate_verdict_words[view->shown.verdict], validate_verdict_words[judged.verdict]);
    return refuse_limit(why, i, "verdict", words);
}

/* ---- numbers ------------------------------------------------------------------------------ */

/* An interval that is not around its number is none. */
static void add_fleet_number(struct fleet_node *node, int device, double value, double lo,
                             double hi)
{
    const bool around = lo <= value && value <= hi;

    node->number[node->n_numbers++] = (struct fleet_number){.limit = (uint16_t)(node->n_limits - 1),
                                                            .device = (int16_t)device,
                                                            .value = value,
                                                            .lo = around ? lo : value,
                                                            .hi = around ? hi : value};
}

/* The first of several limits of one number, such as a binding and an advisory one, counts. */
static void add_numbers(struct fleet_node *node, const struct view *view)
{
    const json_t *size = json_object_get(view->json, "size");
    const char *const more[] = {text_in(size, "backend"), text_in(size, "communicator"),
                                text_in(size, "math")};
    const size_t length = strlen(view->place);
    char device[24] = "", name[6 * (TEXT_BYTES + 4)];

    if (view->shown.verdict == VALIDATE_UNMEASURED || view->shown.verdict == VALIDATE_INVALID ||
        isnan(view->shown.middle))
        return;
    /* The name is that of the place without the worst device, which is another one in each node:
     * "step_time floor of mlp dp virt:2, 256 rows, cpu, threads, f32". */
    if (view->shown.device >= 0)
        snprintf(device, sizeof device, ", device %d", view->shown.device);
    const size_t ending = strlen(device);
    const bool named = ending <= length && strcmp(view->place + length - ending, device) == 0;
    int at = snprintf(name, sizeof name, "%s%s%s of %.*s", view->limit.metric,
                      view->limit.statistic[0] != '\0' ? " " : "", view->limit.statistic,
                      (int)(named ? length - ending : length), view->place);

    for (size_t i = 0; i < sizeof more / sizeof more[0]; ++i)
        if (more[i][0] != '\0')
            at += snprintf(name + at, sizeof name - (size_t)at, ", %s", more[i]);
    for (size_t i = 0; i < node->n_limits; ++i)
        if (strcmp(node->limit[i].name, name) == 0)
            return;
    node->limit = cli_grow(node->limit, node->n_limits, sizeof *node->limit);
    node->number = cli_resize(node->number, node->n_numbers + FLEET_DEVICES, sizeof *node->number);
    node->limit[node->n_limits++] = (struct fleet_limit){
        .name = cli_copy_text(name),
        .kind = view->limit.row->kind,
        .row = view->limit.row,
        .worse = (isfinite(view->limit.most) ? 1 : 0) - (isfinite(view->limit.least) ? 1 : 0)};
    if (json_array_size(view->by_device) == 0)
        add_fleet_number(node, -1, view->shown.middle, view->shown.lo, view->shown.hi);
    /* A number of each device says more than that of the worst one: that one is left out then. */
    for (size_t d = 0; d < json_array_size(view->by_device); ++d) {
        const json_t *one = json_array_get(view->by_device, d);
        const double median = number_in(one, "median", NAN);

        if (!isnan(median))
            add_fleet_number(node, (int)d, median, number_in(one, "lo", NAN),
                             number_in(one, "hi", NAN));
    }
}

/* ---- the status --------------------------------------------------------------------------- */

/* The first limit that speaks against the node. */
static void give_reason(struct fleet_node *node, const struct view *view)
{
    const enum quantity_kind kind = view->limit.row->kind;
    char number[QUANTITY_TEXT], bound[96 + 8], least[QUANTITY_TEXT], most[QUANTITY_TEXT];

    if (node->why[0] != '\0' ||
        (node->status == FLEET_REJECTED && view->shown.verdict != VALIDATE_FAIL))
        return;
    if (view->shown.verdict != VALIDATE_FAIL)
        text_add(node->cause, sizeof node->cause, "%s ",
                 validate_verdict_words[view->shown.verdict]);
    text_add(node->cause, sizeof node->cause, "%.40s",
             is_wrong_result(view) ? "wrong numbers" : view->limit.metric);
    quantity_words(view->limit.least, kind, least);
    quantity_words(view->limit.most, kind, most);
    if (!isfinite(view->limit.least))
        snprintf(bound, sizeof bound, "at most %s", most);
    else if (!isfinite(view->limit.most))
        snprintf(bound, sizeof bound, "at least %s", least);
    else
        snprintf(bound, sizeof bound, "%.40s to %.40s", least, most);
    if (view->shown.verdict == VALIDATE_FAIL && !is_wrong_result(view))
        snprintf(node->why, sizeof node->why, "FAIL %.40s of %.120s: is %s, allowed is %s",
                 view->limit.metric, view->place, quantity_words(view->shown.middle, kind, number),
                 bound);
    else
        snprintf(node->why, sizeof node->why, "%s %.40s of %.120s: %.300s",
                 validate_verdict_words[view->shown.verdict], view->limit.metric, view->place,
                 text_in(view->json, "reason"));
    /* How far the number is from the limit, and what it shows. */
    const double limit =
        view->shown.middle > view->limit.most ? view->limit.most : view->limit.least;

    if (view->shown.verdict == VALIDATE_FAIL && isfinite(view->shown.middle)) {
        snprintf(node->far, sizeof node->far, " ");
        quantity_add_difference(view->shown.middle, limit, kind, node->far, sizeof node->far);
        text_add(node->far, sizeof node->far, " allowed");
    }
    if (view->shown.device >= 0)
        text_add(node->far, sizeof node->far, ", device %d", view->shown.device);
    struct validate_judged judged = view->shown;

    snprintf(judged.why, sizeof judged.why, "%s", text_in(view->json, "reason"));
    if (judged.verdict == VALIDATE_FAIL)
        validate_own_reason(&judged, node->shown);
    snprintf(node->action, sizeof node->action, "%s", text_in(view->json, "action"));
}

int fleet_limits(const json_t *root, enum validate_verdict cases, struct fleet_node *node,
                 struct text_error *why)
{
    const json_t *limits = json_object_get(root, "limits");
    size_t count[VALIDATE_VERDICTS] = {0};

    for (size_t i = 0; i < json_array_size(limits); ++i) {
        struct view view;

        if (read_limit(json_array_get(limits, i), i, &view, why) != 0)
            return -1;
        add_numbers(node, &view);
        count[view.shown.verdict] += view.limit.binding;
        const bool speed = view.limit.binding && view.limit.row->kind != QUANTITY_RATIO &&
                           view.limit.row->kind != QUANTITY_BYTES;

        node->judged |= speed;
        node->absolute |= speed && strcmp(text_in(view.json, "evidence"), "learned") != 0;
        if (view.limit.binding && view.shown.verdict != VALIDATE_PASS)
            give_reason(node, &view);
    }
    /* A status that its own numbers speak against is no status. */
    const enum validate_machine shown = validate_judge_machine(count, cases);

    if (strcmp(fleet_status_words[node->status], validate_machine_words[shown]) != 0)
        return text_fail(why, "it is %s, but its limits and cases show %s",
                         fleet_status_words[node->status], validate_machine_words[shown]);
    for (int v = 0; v < VALIDATE_VERDICTS; ++v) {
        const double messages =
            number_in(json_object_get(root, "binding"), validate_verdict_words[v], 0);

        if (messages != (double)count[v])
            return text_fail(why, "it says that %g binding limits are %s, and %zu are", messages,
                             validate_verdict_words[v], count[v]);
    }
    if (node->status != FLEET_ACCEPTED && node->why[0] == '\0') {
        snprintf(node->why, sizeof node->why, "no limit of it says why");
        snprintf(node->cause, sizeof node->cause, "no limit says why");
    }
    /* The members of limits that come from the profile, not from the measurement. */
    static const char *const members[] = {"metric", "statistic", "min", "max", "unit", "binding"};
    json_t *asked = json_array();
    char digest[DIGEST_HEX], text[64];

    for (size_t i = 0; i < json_array_size(limits); ++i) {
        json_t *object = json_object();

        for (size_t m = 0; m < sizeof members / sizeof members[0]; ++m)
            json_object_set(object, members[m],
                            json_object_get(json_array_get(limits, i), members[m]));
        json_array_append_new(asked, object);
    }
    char *const document = cli_memory(json_dumps(asked, JSON_COMPACT | JSON_SORT_KEYS));

    json_decref(asked);
    if (digest_sha256(document, strlen(document), digest) != 0)
        cli_no_memory();
    free(document);
    snprintf(text, sizeof text, "%zu limits, SHA-256 %.12s...", json_array_size(limits), digest);
    return fleet_add_fact(node, "limits", text, why);
}
