/* validate/words.c: texts that all forms of a verdict have in common. */
#include "validate/validate.h"

#include <math.h>
#include <string.h>

enum { NAME_SHOWN = 80 };

const char validate_no_reason[] = "not shown";

void validate_place_words(const struct validate_judged *judged, char text[VALIDATE_TEXT])
{
    const struct record_key *key = judged->point ? &judged->point->row->cell->key : NULL;
    const struct profile_place at = key ? validate_place_of(key) : judged->limit->at;
    const char *inputs = at.host_inputs > 0 ? ", host-inputs 1" : "";
    char device[24] = "", devices[24] = "any", batch[24] = "any", chain[40] = "";

    if (judged->device >= 0)
        snprintf(device, sizeof device, ", device %d", judged->device);
    if (at.chain > 0)
        snprintf(chain, sizeof chain, ", chain %zu", (size_t)at.chain);
    if (at.devices > 0)
        snprintf(devices, sizeof devices, "%zu", (size_t)at.devices);
    if (at.batch > 0)
        snprintf(batch, sizeof batch, "%zu", (size_t)at.batch);
    if (key)
        snprintf(text, VALIDATE_TEXT, "%.96s %s %.64s, %zu row%s%s%s%s", key->workload, key->mode,
                 key->devices, key->global_batch, text_s(key->global_batch), chain, inputs, device);
    else
        snprintf(text, VALIDATE_TEXT, "%.96s %.8s, %s device%s, %s row%s%s%s",
                 at.workload ? at.workload : "any workload", at.mode ? at.mode : "any mode",
                 devices, text_s(at.devices), batch, text_s(at.batch), chain, inputs);
}

void validate_number_words(const struct validate_judged *judged, char text[128])
{
    const enum quantity_kind kind = judged->limit->row->kind;
    char middle[QUANTITY_TEXT], lo[QUANTITY_TEXT], hi[QUANTITY_TEXT];

    quantity_words(judged->middle, kind, middle);
    snprintf(text, 128, "%s", middle);
    if (isfinite(judged->lo))
        text_add(text, 128, " [%s, %s]", quantity_words(judged->lo, kind, lo),
                 quantity_words(judged->hi, kind, hi));
    /* A device that was not used is not shown to be good. */
    const struct report_row *row = judged->point ? judged->point->row : NULL;

    if (row && row->run && row->cell->key.n_devices < row->run->n_slots)
        text_add(text, 128,
                 row->cell->key.n_devices > 1 ? ", on devices 0 to %d of %d"
                                              : ", on device %d of %d",
                 row->cell->key.n_devices - 1, row->run->n_slots);
}

void validate_summary_words(const struct validate *validate, char text[VALIDATE_TEXT])
{
    const size_t *count = validate->count;
    const struct validate_conformance *cases = validate->conformance;
    bool changed = false;
    const bool is_long = strlen(validate->profile->name) > NAME_SHOWN;

    for (size_t f = 0; f < validate->report->n_files && validate->allow_dirty; ++f)
        changed = changed || validate->report->file[f].run.git_dirty;
    snprintf(text, VALIDATE_TEXT,
             "%s by profile %.*s%s: of its binding limits %zu PASS, %zu FAIL, %zu OPEN, %zu "
             "UNMEASURED, %zu INVALID%s%s%s%s",
             validate_machine_words[validate->machine], NAME_SHOWN, validate->profile->name,
             is_long ? "..." : "", count[VALIDATE_PASS], count[VALIDATE_FAIL], count[VALIDATE_OPEN],
             count[VALIDATE_UNMEASURED], count[VALIDATE_INVALID], cases ? "; conformance " : "",
             cases ? validate_verdict_words[cases->verdict] : "",
             changed ? "; of a changed tree, by --allow-dirty" : "",
             validate->machine != VALIDATE_ACCEPTED || profile_judges_speed(validate->profile)
                 ? ""
                 : "; no limit on speed binds: a slow machine passes");
}

const struct record_slot *validate_slot(const struct validate_judged *judged)
{
    const struct record_run *run = judged->point ? judged->point->row->run : NULL;

    return run && judged->device >= 0 && judged->device < run->n_slots ? &run->slot[judged->device]
                                                                       : NULL;
}

/* The device that computed a row which is wrong, as harness/verify has found it, and how many bytes
 * the words have; NULL: the wrong number is of no single device. */
static const char *device_of_row(const struct validate_judged *judged, int *bytes)
{
    static const char by[] = "computed by ";
    const char *const at = judged->launches == 0 ? strstr(judged->why, by) : NULL;
    const char *const device = at ? at + strlen(by) : NULL, *const end = at ? strstr(at, ": ") : at;

    *bytes = end ? (int)(end - device) : 0;
    return end ? device : NULL;
}

bool validate_own_reason(const struct validate_judged *judged, char text[VALIDATE_TEXT])
{
    const char *const reason = judged->launches == 0
                                   ? "a device, its memory or a link changes numbers"
                                   : judged->limit->row->reason;
    int bytes;
    const char *const device = device_of_row(judged, &bytes);

    snprintf(text, VALIDATE_TEXT, "%s", reason ? reason : validate_no_reason);
    if (device)
        snprintf(text, VALIDATE_TEXT, "%.*s, which computed a wrong row", bytes, device);
    else if (reason && judged->device >= 0)
        text_add(text, VALIDATE_TEXT, " (device %d)", judged->device);
    else if (judged->limit->row->by_device && judged->device >= 0)
        snprintf(text, VALIDATE_TEXT, "device %d is slow, and why is %s", judged->device,
                 validate_no_reason);
    return reason;
}

void validate_reason_words(const struct validate *validate, const struct validate_judged *judged,
                           char text[VALIDATE_TEXT])
{
    /* In the order of report_steal_sources. */
    static const char *const shares[REPORT_STEAL_SOURCES] = {"foreign_share", "stolen_share"};
    const struct report_point *point = judged->point;

    text[0] = '\0';
    if (judged->verdict != VALIDATE_FAIL || validate_own_reason(judged, text))
        return;
    /* Shares of the cores are known without a limit, too: those of more than half of the launches
     * are the median's. */
    for (size_t e = 0; e < REPORT_STEAL_SOURCES && point; ++e) {
        const struct report_steal_source *share = &report_steal_sources[e];
        size_t disturbed = 0;

        for (size_t i = 0; i < point->n; ++i)
            disturbed += report_share_of(point->row[i].cell, share) > share->limit;
        if (2 * disturbed <= point->n)
            continue;
        snprintf(text, VALIDATE_TEXT, "%s", validate_metric_find(shares[e])->reason);
        return;
    }
    for (unsigned i = 0; i < validate->profile->n_limits; ++i) {
        const struct validate_judged *other = &validate->judged[i];
        const bool same =
            judged->device < 0 || other->device < 0 || judged->device == other->device;
        char number[128];

        if (!same || other->verdict != VALIDATE_FAIL || other->launches == 0 ||
            !validate_own_reason(other, text))
            continue;
        validate_number_words(other, number);
        text_add(text, VALIDATE_TEXT, ": its %s is %s", other->limit->metric, number);
        return;
    }
    validate_own_reason(judged, text);
}

void validate_action_words(const struct validate *validate, const struct validate_judged *judged,
                           char text[VALIDATE_TEXT])
{
    static const char *const actions[VALIDATE_VERDICTS] = {
        [VALIDATE_PASS] = "",
        [VALIDATE_OPEN] =
            "at the limit: by an estimate, even 30 times as many launches would not decide",
        [VALIDATE_UNMEASURED] = "measure this place: lockstep sweep",
        [VALIDATE_INVALID] = "end what makes it INVALID, and measure again",
    };
    static const double MOST = 30;
    const struct profile_limit *limit = judged->limit;
    const struct record_file *file = validate->report->file;
    const double minutes = validate->minutes > 0 ? validate->minutes : file->seconds / 60;
    char look[80] = "mend what the cautions of lockstep report name, then measure once";
    int bytes;
    const double middle = judged->middle, launches = (double)judged->launches;
    const double bound =
        fabs(middle - limit->least) < fabs(middle - limit->most) ? limit->least : limit->most;
    const double half = middle > bound ? middle - judged->lo : judged->hi - middle;
    /* The bounds come closer with the root of the number of launches. */
    const double times = judged->verdict == VALIDATE_UNMEASURED ? 2
                         : isfinite(half) ? pow(half / fabs(middle - bound), 2)
                                          : (double)validate_launches_for(judged->units) / launches;

    if (judged->device >= 0)
        snprintf(look, sizeof look, "look at device %d: clock, cooling; mend, then measure once",
                 judged->device);
    text[0] = '\0';
    if (judged->verdict == VALIDATE_OPEN && times <= MOST)
        text_add(text, VALIDATE_TEXT,
                 "not decided yet: by an estimate, about %.0f launches instead of %.0f decide it",
                 ceil(times * launches), launches);
    else if (judged->verdict == VALIDATE_UNMEASURED && validate->again && file->interrupted)
        text_add(text, VALIDATE_TEXT, "the time was over");
    else {
        text_add(text, VALIDATE_TEXT, "%s",
                 judged->verdict != VALIDATE_FAIL ? actions[judged->verdict]
                 : judged->launches == 0
                     ? device_of_row(judged, &bytes)
                           ? "take the machine out of use; lockstep soak shows if it is that device"
                           : "take the machine out of use; lockstep soak names the device"
                 : limit->row->action ? limit->row->action
                                      : look);
        return;
    }
    if (validate->again)
        text_add(text, VALIDATE_TEXT, ": run `%.180s --minutes %.0f`", validate->again,
                 fmax(ceil(minutes * times), 1));
    else
        text_add(text, VALIDATE_TEXT, ": measure with --launches %.0f", ceil(times * launches));
    if (judged->verdict == VALIDATE_OPEN)
        text_add(text, VALIDATE_TEXT, ". If it stays OPEN, the machine is at the limit");
}

void validate_message_words(const struct validate_judged *judged, char text[VALIDATE_TEXT + 160])
{
    char number[128];

    validate_number_words(judged, number);
    snprintf(text, VALIDATE_TEXT + 160, "%s%s%s%s%s", validate_verdict_words[judged->verdict],
             judged->launches > 0 ? ": is " : "", judged->launches > 0 ? number : "",
             judged->why[0] != '\0' ? ": " : "", judged->why);
}
