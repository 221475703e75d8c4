/* validate/words.c: what all forms of a verdict say alike. */
#include "validate/validate.h"

#include <math.h>
#include <string.h>

void validate_place_words(const struct validate_judged *judged, char text[VALIDATE_TEXT])
{
    const struct profile_place *at = &judged->limit->at;
    char device[24] = "";

    if (judged->device >= 0)
        snprintf(device, sizeof device, ", device %d", judged->device);
    if (judged->point) {
        const struct record_key *key = &judged->point->row->cell->key;

        snprintf(text, VALIDATE_TEXT, "%.96s %s %.64s, %zu rows%s", key->workload, key->mode,
                 key->devices, key->global_batch, device);
        return;
    }
    snprintf(text, VALIDATE_TEXT, "%.96s %.8s, %llu devices, %llu rows",
             at->workload ? at->workload : "any workload", at->mode ? at->mode : "any mode",
             (unsigned long long)at->devices, (unsigned long long)at->batch);
}

void validate_number_words(const struct validate_judged *judged, char text[128])
{
    const enum quantity_kind kind = judged->limit->row->kind;
    char middle[QUANTITY_TEXT], lo[QUANTITY_TEXT], hi[QUANTITY_TEXT];

    quantity_words(judged->middle, kind, middle);
    if (!isfinite(judged->lo)) {
        snprintf(text, 128, "%s", middle);
        return;
    }
    snprintf(text, 128, "%s [%s, %s]", middle, quantity_words(judged->lo, kind, lo),
             quantity_words(judged->hi, kind, hi));
}

static const struct {
    const char *metric, *reason;
} reasons[] = {
    {"device_spread", "one device is slower than its siblings: its clock, its cooling, its core or "
                      "memory is shared; swap it with a sibling and measure again"},
    {"peak_memory", "more is held than this build needs: another build, or a leak"},
    {"moved", "another communicator or another build moves other bytes"},
    {"speed_up", "see which part of the step is lost: lockstep report"},
    {"efficiency", "see which part of the step is lost: lockstep report"},
};

const char *validate_reason_words(const struct validate_judged *judged)
{
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; ++i)
        if (strcmp(judged->limit->metric, reasons[i].metric) == 0)
            return reasons[i].reason;
    return "the machine is slower than its class: other programs, clock, power or memory; see the "
           "cautions of lockstep report";
}
