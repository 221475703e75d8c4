/* validate/links.c: finds which copies between devices are slow: those that one device sends,
 * receives, or both, or only those between two. The metric names a device that sends; the broken
 * part may be the other device, or the link. */
#include "validate/validate.h"

#include "numbers/stats.h"

#include <math.h>
#include <stdlib.h>

struct links {
    const struct record_run *run;
    int devices, copies, slow; /* pairs of devices, and those of them that are below the limit */
    int sent[RECORD_MAX_SLOTS], received[RECORD_MAX_SLOTS]; /* slow copies of each device */
    int from, to;                                           /* of the slowest */
    double slowest, fastest, others; /* rates of the slow copies; the slowest of the others */
};

/* ---- what each copy shows ----------------------------------------------------------------- */

double *validate_pairs(const struct validate_judged *judged)
{
    const struct report_point *point = judged->point;
    const size_t devices = (size_t)point->row->cell->key.n_devices;
    double *rate = calloc(devices * devices, sizeof *rate);
    double *value = calloc(point->n, sizeof *value);
    double *steps = calloc(validate_most_samples(point), sizeof *steps);

    for (size_t pair = 0; rate && value && steps && pair < devices * devices; ++pair) {
        for (size_t i = 0; i < point->n; ++i)
            value[i] = judged->limit->row->of_pair(&point->row[i], (int)(pair / devices),
                                                   (int)(pair % devices), judged->limit->by, steps);
        rate[pair] = pair / devices == pair % devices ? (double)NAN : stats_median(value, point->n);
    }
    if (!value || !steps) {
        free(rate);
        rate = NULL;
    }
    free(value);
    free(steps);
    return rate;
}

/* ---- what they have in common ------------------------------------------------------------- */

static void take(struct links *links, int from, int to, double rate, double least)
{
    ++links->copies;
    if (!(rate < least)) {
        links->others = fmin(links->others, rate);
        return;
    }
    ++links->slow;
    ++links->sent[from];
    ++links->received[to];
    links->fastest = fmax(links->fastest, rate);
    if (rate < links->slowest) {
        links->slowest = rate;
        links->from = from;
        links->to = to;
    }
}

/* Whether the slow copies are all that a device sends, or receives, or both. */
static bool is_of(const struct links *links, int device)
{
    const int sent = links->sent[device], received = links->received[device];
    const int each = links->devices - 1;

    return sent + received == links->slow && (sent == 0 || sent == each) &&
           (received == 0 || received == each);
}

static const char *name(const struct links *links, int device)
{
    return device < links->run->n_slots ? links->run->slot[device].name : "a device";
}

static void say_copies(const struct links *links, char text[VALIDATE_TEXT])
{
    const int a = links->from, b = links->to;
    const bool back = links->slow == 2 && links->sent[b] == 1 && links->received[a] == 1;

    if (links->slow == links->copies && links->devices > 2)
        snprintf(text, VALIDATE_TEXT, "all copies between devices");
    else if (back)
        snprintf(text, VALIDATE_TEXT, "only copies between %.40s and %.40s, both ways: %s",
                 name(links, a < b ? a : b), name(links, a < b ? b : a),
                 links->devices > 2 ? "their link" : "one of the two, or their link");
    else if (links->slow == 1)
        snprintf(text, VALIDATE_TEXT, "only copies from %.40s to %.40s: that way of their link",
                 name(links, a), name(links, b));
    else
        snprintf(text, VALIDATE_TEXT, "%d of %d kinds of copies, the slowest from %.40s to %.40s",
                 links->slow, links->copies, name(links, a), name(links, b));
}

static void say_slow(const struct links *links, char text[VALIDATE_TEXT])
{
    for (int d = 0; links->devices > 2 && links->slow < links->copies && d < links->devices; ++d) {
        if (!is_of(links, d))
            continue;
        snprintf(text, VALIDATE_TEXT, "all that %.40s %s, and nothing else: that device",
                 name(links, d),
                 links->received[d] == 0 ? "sends"
                 : links->sent[d] == 0   ? "receives"
                                         : "sends and receives");
        return;
    }
    say_copies(links, text);
}

int validate_find_link(struct validate_judged *judged)
{
    const int devices = judged->point->row->cell->key.n_devices;
    struct links links = {.run = judged->point->row->run,
                          .devices = devices,
                          .slowest = INFINITY,
                          .others = INFINITY};
    char which[VALIDATE_TEXT], fast[QUANTITY_TEXT], other[QUANTITY_TEXT];
    double *rate = validate_pairs(judged);

    if (!rate)
        return -1;
    for (int pair = 0; pair < devices * devices; ++pair)
        if (pair / devices != pair % devices)
            take(&links, pair / devices, pair % devices, rate[pair], judged->limit->least);
    free(rate);
    if (links.slow == 0)
        return 0;
    say_slow(&links, which);
    snprintf(judged->why, sizeof judged->why, "slow: %.180s (at most %s%s%s)", which,
             quantity_words(links.fastest, judged->limit->row->kind, fast),
             links.slow < links.copies ? "; others at least " : "",
             links.slow < links.copies
                 ? quantity_words(links.others, judged->limit->row->kind, other)
                 : "");
    return 0;
}
