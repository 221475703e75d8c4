/* validate/devices.c: the numbers of a limit over launches: their median with its bounds, and those
 * of each copy between devices; and which copies are slow: those that one device sends, receives,
 * or both, or only those between two. The metric names a device that sends; the broken part may be
 * the other device, or the link. */
#include "validate/validate.h"

#include "numbers/stats.h"
#include "text/alloc.h"

#include <math.h>
#include <stdlib.h>

const double validate_alpha = 0.05;

/* ---- over launches -------------------------------------------------------------------------- */

/* The part of the error that each unit has if there are that many. */
static double part_of_error(size_t units)
{
    return -expm1(log1p(-validate_alpha) / (double)units);
}

size_t validate_launches_for(size_t units)
{
    return (size_t)ceil(-log2(part_of_error(units)));
}

size_t validate_most_samples(const struct report_point *point)
{
    size_t most = RECORD_MOST_PARTS;

    for (size_t i = 0; i < point->n; ++i)
        if (point->row[i].cell->n_samples > most)
            most = point->row[i].cell->n_samples;
    return most;
}

/* A counted value has no error: it is the same in all launches, or else the smallest and the
 * largest are its bounds. */
struct validate_device validate_sum(const struct validate_judged *judged, double value[], size_t n)
{
    struct stats_interval interval;
    struct validate_device shown = {NAN, NAN, NAN};

    stats_sort(value, n);
    shown.median = stats_quantile(value, n, 0.5);
    interval = stats_median_interval(value, n, 1.0 - 2.0 * part_of_error(judged->units));
    if (judged->limit->row->counted) {
        shown.lo = value[0];
        shown.hi = value[n - 1];
    } else if (interval.valid) {
        shown.lo = interval.lo;
        shown.hi = interval.hi;
    }
    return shown;
}

/* ---- of each copy ---------------------------------------------------------------------------- */

double *validate_pairs(const struct validate_judged *judged)
{
    const struct report_point *point = judged->point;
    const size_t devices = (size_t)point->row->cell->key.n_devices;
    struct validate_sample at = {.metric = judged->limit->row,
                                 .point = point,
                                 .by = judged->limit->by,
                                 .steps =
                                     cli_alloc(validate_most_samples(point), sizeof *at.steps)};
    double *rate = cli_alloc(devices * devices, sizeof *rate);
    double *value = cli_alloc(point->n, sizeof *value);

    for (size_t pair = 0; pair < devices * devices; ++pair) {
        at.device = (int)(pair / devices);
        for (size_t i = 0; i < point->n; ++i) {
            at.row = &point->row[i];
            value[i] = judged->limit->row->of_pair(&at, (int)(pair % devices));
        }
        rate[pair] = pair / devices == pair % devices ? (double)NAN : stats_median(value, point->n);
    }
    free(value);
    free(at.steps);
    return rate;
}

/* ---- which copies are slow ------------------------------------------------------------------ */

static const char *device_name(const struct record_run *run, int device)
{
    return device < run->n_slots ? run->slot[device].name : "a device";
}

void validate_find_link(struct validate_judged *judged)
{
    static const char *const ways[] = {"", "sends", "receives", "sends and receives"};
    const struct record_run *run = judged->point->row->run;
    const int devices = judged->point->row->cell->key.n_devices, each = devices - 1;
    int copies = 0, slow = 0; /* pairs of devices, and those of them that are below the limit */
    int sent[RECORD_MAX_SLOTS] = {0}, received[RECORD_MAX_SLOTS] = {0}; /* slow ones of a device */
    int a = 0, b = 0, whole = -1; /* of the slowest copy; a device whose copies are the slow ones */
    double slowest = INFINITY, fastest = 0, others = INFINITY; /* slow copies; the other ones */
    char which[VALIDATE_TEXT], fast[QUANTITY_TEXT], other[QUANTITY_TEXT];
    double *rate = validate_pairs(judged);

    for (int pair = 0; pair < devices * devices; ++pair) {
        const int from = pair / devices, to = pair % devices;

        if (from == to)
            continue;
        ++copies;
        if (!(rate[pair] < judged->limit->least)) {
            others = fmin(others, rate[pair]);
            continue;
        }
        ++slow;
        ++sent[from];
        ++received[to];
        fastest = fmax(fastest, rate[pair]);
        if (rate[pair] < slowest) {
            slowest = rate[pair];
            a = from;
            b = to;
        }
    }
    free(rate);
    if (slow == 0)
        return;
    const int least = a < b ? a : b;

    /* The slow copies may be all that a device sends, or receives, or both. */
    for (int d = devices - 1; devices > 2 && slow < copies && d >= 0; --d)
        if (sent[d] + received[d] == slow && sent[d] % each == 0 && received[d] % each == 0)
            whole = d;
    if (whole >= 0)
        snprintf(which, sizeof which, "all that %.40s %s, and nothing else: that device",
                 device_name(run, whole),
                 ways[(sent[whole] > 0 ? 1 : 0) + (received[whole] > 0 ? 2 : 0)]);
    else if (slow == copies && devices > 2)
        snprintf(which, sizeof which, "all copies between devices");
    else if (slow == 2 && sent[b] == 1 && received[a] == 1)
        snprintf(which, sizeof which, "only copies between %.40s and %.40s, both ways: %s",
                 device_name(run, least), device_name(run, a + b - least),
                 devices > 2 ? "their link" : "one of the two, or their link");
    else if (slow == 1)
        snprintf(which, sizeof which, "only copies from %.40s to %.40s: that way of their link",
                 device_name(run, a), device_name(run, b));
    else
        snprintf(which, sizeof which, "%d of %d kinds of copies, the slowest from %.40s to %.40s",
                 slow, copies, device_name(run, a), device_name(run, b));
    snprintf(judged->why, sizeof judged->why, "slow: %.180s (at most %s%s%s)", which,
             quantity_words(fastest, judged->limit->row->kind, fast),
             slow < copies ? "; others at least " : "",
             slow < copies ? quantity_words(others, judged->limit->row->kind, other) : "");
}
