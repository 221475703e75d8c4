/* fleet/limits.c: the limits of a verdict: numbers that nodes can be compared by, a digest of what
 * was asked of the node, and whether its status follows from them. */
#include "fleet/fleet.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files/digest.h"
#include "validate/validate.h"

enum { TEXT_BYTES = 512 };

/* A limit as the file has it; texts are "" where there is none. */
struct view {
    const char *metric, *statistic, *place, *unit, *reason;
    const char *backend, *communicator, *math;
    enum validate_verdict verdict;
    bool binding;
    int device;
    double least, most, median, lo, hi; /* NaN: null */
    const json_t *by_device;            /* NULL: none */
};

static int refuse(struct text_error *why, size_t i, const char *member, const char *what)
{
    snprintf(why->text, sizeof why->text, "limit %zu: its %s %s", i + 1, member, what);
    return -1;
}

/* ---- one limit ---------------------------------------------------------------------------- */

static int read_texts(const json_t *object, size_t i, struct view *view, struct text_error *why)
{
    const json_t *size = json_object_get(object, "size");
    const struct {
        const char *member, **to;
        const json_t *from;
    } rows[] = {{"metric", &view->metric, object},
                {"statistic", &view->statistic, object},
                {"place", &view->place, object},
                {"unit", &view->unit, object},
                {"reason", &view->reason, object},
                {"backend", &view->backend, size},
                {"communicator", &view->communicator, size},
                {"math", &view->math, size}};

    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        const json_t *value = json_object_get(rows[r].from, rows[r].member);

        *rows[r].to = json_is_string(value) ? json_string_value(value) : "";
        if (value && !json_is_string(value) && !json_is_null(value))
            return refuse(why, i, rows[r].member, "is no text");
        if (json_string_length(value) > TEXT_BYTES)
            return refuse(why, i, rows[r].member, "has more than 512 bytes");
    }
    return view->metric[0] != '\0' ? 0 : refuse(why, i, "metric", "is missing");
}

/* JSON has no NaN and no infinity; jansson refuses what is too large. */
static int read_numbers(const json_t *object, size_t i, struct view *view, struct text_error *why)
{
    const struct {
        const char *member;
        double *to;
    } rows[] = {{"min", &view->least},
                {"max", &view->most},
                {"median", &view->median},
                {"lo", &view->lo},
                {"hi", &view->hi}};

    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        const json_t *value = json_object_get(object, rows[r].member);

        *rows[r].to = json_is_number(value) ? json_number_value(value) : NAN;
        if (value && !json_is_number(value) && !json_is_null(value))
            return refuse(why, i, rows[r].member, "is no number");
        if (*rows[r].to < 0)
            return refuse(why, i, rows[r].member, "is below 0");
    }
    return 0;
}

static int read_verdict(const json_t *object, size_t i, struct view *view, struct text_error *why)
{
    const char *verdict = json_string_value(json_object_get(object, "verdict"));

    for (int v = 0; verdict && v < VALIDATE_VERDICTS; ++v) {
        if (strcmp(verdict, validate_verdict_words[v]) == 0) {
            view->verdict = (enum validate_verdict)v;
            return 0;
        }
    }
    return refuse(why, i, "verdict", "is not known");
}

/* Numbers are written with 12 digits. */
static const double SLACK = 1e-9;

/* What is PASS or FAIL was measured, on that side of the limit: anything else was edited. */
static int check_side(const struct view *view, size_t i, struct text_error *why)
{
    const double sign = view->verdict == VALIDATE_PASS ? SLACK : -SLACK;
    const bool outside =
        view->median < view->least * (1 - sign) || view->median > view->most * (1 + sign);

    if (view->verdict != VALIDATE_PASS && view->verdict != VALIDATE_FAIL)
        return 0;
    if (isnan(view->median))
        return refuse(why, i, "median", "is missing");
    if (outside == (view->verdict == VALIDATE_FAIL))
        return 0;
    return refuse(why, i, "verdict",
                  outside ? "is PASS, but its median is outside of the limit"
                          : "is FAIL, but its median is within the limit");
}

static int read_limit(const json_t *object, size_t i, struct view *view, struct text_error *why)
{
    const json_t *device = json_object_get(object, "device");

    if (read_texts(object, i, view, why) != 0 || read_numbers(object, i, view, why) != 0 ||
        read_verdict(object, i, view, why) != 0)
        return -1;
    view->binding = json_is_true(json_object_get(object, "binding"));
    view->device = json_is_integer(device) && json_integer_value(device) >= 0 &&
                           json_integer_value(device) < FLEET_DEVICES
                       ? (int)json_integer_value(device)
                       : -1;
    if (view->device < 0 && device && !json_is_null(device))
        return refuse(why, i, "device", "is none of 0 to 63");
    view->by_device = json_object_get(object, "by_device");
    if (json_array_size(view->by_device) > FLEET_DEVICES)
        return refuse(why, i, "by_device", "has more than 64 devices");
    return check_side(view, i, why);
}

/* ---- numbers ------------------------------------------------------------------------------ */

/* Bytes of the place without the worst device, which is another one in each node. */
static int place_bytes(const struct view *view)
{
    const size_t length = strlen(view->place);
    char device[24] = "";
    size_t ending;

    if (view->device >= 0)
        snprintf(device, sizeof device, ", device %d", view->device);
    ending = strlen(device);
    return (int)(ending <= length && strcmp(view->place + length - ending, device) == 0
                     ? length - ending
                     : length);
}

/* "step_time floor of mlp dp virt:2, 256 rows, cpu, threads, f32" */
static char *name_of(const struct view *view)
{
    const char *const more[] = {view->backend, view->communicator, view->math};
    char name[6 * (TEXT_BYTES + 4)];
    int at = snprintf(name, sizeof name, "%s%s%s of %.*s", view->metric,
                      view->statistic[0] != '\0' ? " " : "", view->statistic, place_bytes(view),
                      view->place);

    for (size_t i = 0; i < sizeof more / sizeof more[0]; ++i)
        if (more[i][0] != '\0')
            at += snprintf(name + at, sizeof name - (size_t)at, ", %s", more[i]);
    return strdup(name);
}

static bool is_known(const struct fleet_node *node, const char *name)
{
    for (size_t i = 0; i < node->n_limits; ++i)
        if (strcmp(node->limit[i].name, name) == 0)
            return true;
    return false;
}

/* An interval that is not around its number is none. */
static void add_number(struct fleet_node *node, int device, double value, double lo, double hi)
{
    const bool around = lo <= value && value <= hi;

    node->number[node->n_numbers++] = (struct fleet_number){.limit = (uint16_t)(node->n_limits - 1),
                                                            .device = (int16_t)device,
                                                            .value = value,
                                                            .lo = around ? lo : value,
                                                            .hi = around ? hi : value};
}

/* Room for one more limit, and for a number of each device. */
static int make_room(struct fleet_node *node)
{
    struct fleet_limit *limit = realloc(node->limit, (node->n_limits + 1) * sizeof *limit);
    struct fleet_number *number;

    if (!limit)
        return -1;
    node->limit = limit;
    number = realloc(node->number, (node->n_numbers + FLEET_DEVICES) * sizeof *number);
    if (!number)
        return -1;
    node->number = number;
    return 0;
}

static double number_in(const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* A number of each device says more than that of the worst one: that one is left out then. */
static int add_devices(struct fleet_node *node, size_t i, const struct view *view,
                       struct text_error *why)
{
    for (size_t d = 0; d < json_array_size(view->by_device); ++d) {
        const json_t *device = json_array_get(view->by_device, d);
        const double median = number_in(device, "median");

        if (!(median >= 0))
            return refuse(why, i, "by_device", "has a device without a median, or one below 0");
        add_number(node, (int)d, median, number_in(device, "lo"), number_in(device, "hi"));
    }
    return 0;
}

/* Of several limits of one number, such as a binding and an advisory one, the first counts. */
static int add_numbers(struct fleet_node *node, size_t i, const struct view *view,
                       struct text_error *why)
{
    char *name;

    if (view->verdict == VALIDATE_UNMEASURED || view->verdict == VALIDATE_INVALID ||
        isnan(view->median))
        return 0;
    name = name_of(view);
    if (!name || make_room(node) != 0) {
        free(name);
        return fleet_starve(node, why);
    }
    if (is_known(node, name)) {
        free(name);
        return 0;
    }
    node->limit[node->n_limits++] = (struct fleet_limit){
        .name = name, .worse = (isfinite(view->most) ? 1 : 0) - (isfinite(view->least) ? 1 : 0)};
    snprintf(node->limit[node->n_limits - 1].unit, sizeof node->limit[0].unit, "%s", view->unit);
    if (json_array_size(view->by_device) == 0)
        add_number(node, -1, view->median, view->lo, view->hi);
    return add_devices(node, i, view, why);
}

/* ---- the status --------------------------------------------------------------------------- */

static void bound_words(const struct view *view, char text[96])
{
    char least[64], most[64];

    fleet_number_words(view->least, view->unit, least);
    fleet_number_words(view->most, view->unit, most);
    if (isnan(view->least))
        snprintf(text, 96, "at most %s", most);
    else if (isnan(view->most))
        snprintf(text, 96, "at least %s", least);
    else
        snprintf(text, 96, "%.40s to %.40s", least, most);
}

/* The first limit that speaks against the node. */
static void give_reason(struct fleet_node *node, const struct view *view)
{
    char number[64], bound[96];

    if (node->why[0] != '\0' || (node->status == FLEET_REJECTED && view->verdict != VALIDATE_FAIL))
        return;
    bound_words(view, bound);
    if (view->verdict == VALIDATE_FAIL)
        snprintf(node->why, sizeof node->why, "FAIL %.40s of %.120s: is %s, allowed is %s",
                 view->metric, view->place, fleet_number_words(view->median, view->unit, number),
                 bound);
    else
        snprintf(node->why, sizeof node->why, "%s %.40s of %.120s: %.120s",
                 validate_verdict_words[view->verdict], view->metric, view->place, view->reason);
    text_clean(node->why, '?');
}

/* A status that its own limits speak against is no status. */
static int check_status(struct fleet_node *node, const size_t count[VALIDATE_VERDICTS],
                        struct text_error *why)
{
    size_t binding = 0;

    for (int v = 0; v < VALIDATE_VERDICTS; ++v)
        binding += count[v];
    if (node->status != FLEET_REJECTED && count[VALIDATE_FAIL] > 0) {
        snprintf(why->text, sizeof why->text, "it is %s, but a binding limit of it is FAIL",
                 fleet_status_words[node->status]);
        return -1;
    }
    if (node->status == FLEET_ACCEPTED && (binding == 0 || count[VALIDATE_PASS] < binding)) {
        snprintf(why->text, sizeof why->text,
                 "it is ACCEPTED, but %zu of its %zu binding limits "
                 "are PASS",
                 count[VALIDATE_PASS], binding);
        return -1;
    }
    if (node->status != FLEET_ACCEPTED && node->why[0] == '\0')
        snprintf(node->why, sizeof node->why, "no limit of it says why");
    return 0;
}

/* ---- what was asked ----------------------------------------------------------------------- */

/* The members of limits that come from the profile, not from the measurement. */
static int add_asked(json_t *asked, const json_t *limit)
{
    static const char *const members[] = {"metric", "statistic", "min", "max", "unit", "binding"};
    json_t *object = json_object();
    int status = object ? 0 : -1;

    for (size_t i = 0; i < sizeof members / sizeof members[0] && status == 0; ++i) {
        json_t *value = json_object_get(limit, members[i]);

        if (value)
            status = json_object_set(object, members[i], value);
    }
    return json_array_append_new(asked, object) != 0 ? -1 : status;
}

static int add_limits_fact(const json_t *limits, struct fleet_node *node, struct text_error *why)
{
    json_t *asked = json_array();
    char digest[DIGEST_HEX], text[64], *document;
    int status = asked ? 0 : -1;

    for (size_t i = 0; i < json_array_size(limits) && status == 0; ++i)
        status = add_asked(asked, json_array_get(limits, i));
    document = status == 0 ? json_dumps(asked, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(asked);
    status = document ? digest_sha256(document, strlen(document), digest) : -1;
    free(document);
    if (status != 0)
        return fleet_starve(node, why);
    snprintf(text, sizeof text, "%zu limits, SHA-256 %.12s...", json_array_size(limits), digest);
    return fleet_add_fact(node, "limits", text, why);
}

int fleet_limits(const json_t *limits, struct fleet_node *node, struct text_error *why)
{
    size_t count[VALIDATE_VERDICTS] = {0};

    if (!json_is_array(limits) || json_array_size(limits) > FLEET_LIMITS) {
        snprintf(why->text, sizeof why->text, "its limits are no list of at most %d", FLEET_LIMITS);
        return -1;
    }
    for (size_t i = 0; i < json_array_size(limits); ++i) {
        struct view view;

        if (read_limit(json_array_get(limits, i), i, &view, why) != 0 ||
            add_numbers(node, i, &view, why) != 0)
            return -1;
        count[view.verdict] += view.binding;
        if (view.binding && view.verdict != VALIDATE_PASS)
            give_reason(node, &view);
    }
    if (check_status(node, count, why) != 0)
        return -1;
    return add_limits_fact(limits, node, why);
}
