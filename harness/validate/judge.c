/* validate/judge.c: judges limits by the launches of the cells that they are about. */
#include "validate/validate.h"

#include "command/device_list.h"
#include "machine/machine.h"
#include "text/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const validate_verdict_words[VALIDATE_VERDICTS] = {"PASS", "OPEN", "UNMEASURED",
                                                               "INVALID", "FAIL"};
const char *const validate_machine_words[3] = {"ACCEPTED", "REJECTED", "NOT SHOWN"};

static const struct validate_judged unknown = {.verdict = VALIDATE_UNMEASURED,
                                               .device = -1,
                                               .middle = (double)NAN,
                                               .lo = (double)NAN,
                                               .hi = (double)NAN};

static int judged_devices(const struct profile_limit *limit, const struct report_point *point)
{
    return limit->row->by_device ? point->row->cell->key.n_devices : 1;
}

/* ---- one cell, one device ----------------------------------------------------------------- */

/* Whether launches with right results ran on a device that is slow on purpose: their times may be
 * too slow, so a verdict by them is never good. */
static bool is_slowed(const struct report_point *point)
{
    for (size_t i = 0; i < point->n; ++i) {
        const struct record_cell *cell = point->row[i].cell;

        if (!device_list_fault_slows(cell->key.devices) || cell->status != RECORD_FAILED ||
            cell->first_bad_step >= 0 || cell->steps_checked == 0)
            return false;
    }
    return true;
}

/* Finds a reason why the times of a cell do not count. PASS: there is none. UNMEASURED: there
 * are too few launches. FAIL: results of a launch were compared, and are wrong. */
static enum validate_verdict find_point_doubt(const struct validate *validate,
                                              const struct report_point *point,
                                              char why[VALIDATE_TEXT])
{
    const uint64_t needed = validate->profile->requires.launches;
    const enum provenance_dirty dirty = validate->allow_dirty ? PROVENANCE_TAKEN : PROVENANCE_ASKED;
    char text[RECORD_NODE_TEXT], doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT];

    why[0] = '\0';
    for (size_t i = 0; i < point->n && why[0] == '\0'; ++i)
        if (record_gpu_doubt(point->row[i].cell, text))
            snprintf(why, VALIDATE_TEXT, "launch %d: %.200s", point->row[i].cell->key.launch, text);
    for (size_t i = 0; i < point->n && why[0] == '\0'; ++i)
        if (provenance_doubts(point->row[i].run, dirty, doubt) > 0)
            snprintf(why, VALIDATE_TEXT, "it is of %s", doubt[0]);
    if (why[0] != '\0')
        return VALIDATE_INVALID;
    for (size_t i = 0; i < point->n; ++i) {
        const struct record_cell *cell = point->row[i].cell;

        if (cell->status != RECORD_FAILED || cell->first_bad_step < 0)
            continue;
        snprintf(why, VALIDATE_TEXT, "wrong numbers: launch %d, %.200s", cell->key.launch,
                 cell->reason);
        return VALIDATE_FAIL;
    }
    for (size_t i = 0; i < point->n && why[0] == '\0' && !is_slowed(point); ++i)
        if (!point->row[i].verified)
            snprintf(why, VALIDATE_TEXT, "%zu of its %zu launches %s not verified: %.200s",
                     point->n - point->verified, point->n, text_are(point->n - point->verified),
                     point->row[i].cell->reason);
    if (why[0] == '\0' && report_oversubscribed(point))
        snprintf(why, VALIDATE_TEXT,
                 "it is oversubscribed: more devices than cores, or several "
                 "slots on one GPU");
    if (why[0] != '\0')
        return VALIDATE_INVALID;
    if (point->n < needed)
        snprintf(why, VALIDATE_TEXT, "%zu launch%s, and the profile requires %llu", point->n,
                 point->n == 1 ? "" : "es", (unsigned long long)needed);
    return why[0] == '\0' ? VALIDATE_PASS : VALIDATE_UNMEASURED;
}

void validate_judge_numbers(struct validate_judged *judged)
{
    const size_t needed = judged->limit->row->counted ? 1 : validate_launches_for(judged->units);

    judged->verdict = VALIDATE_OPEN;
    if (judged->launches < needed || !isfinite(judged->lo) || !isfinite(judged->hi)) {
        snprintf(judged->why, sizeof judged->why, "%zu launch%s; a bound at 95 %% takes %zu",
                 judged->launches, judged->launches == 1 ? "" : "es", needed);
        return;
    }
    if (judged->lo >= judged->limit->least && judged->hi <= judged->limit->most)
        judged->verdict = VALIDATE_PASS;
    else if (judged->hi < judged->limit->least || judged->lo > judged->limit->most)
        judged->verdict = VALIDATE_FAIL;
    else
        snprintf(judged->why, sizeof judged->why,
                 "the limit is between the bounds of %zu launches: more launches can decide",
                 judged->launches);
}

bool validate_can_fail(const struct validate_judged *judged)
{
    const struct validate_metric *metric = judged->limit->row;
    const double factor = metric->higher ? 1 / VALIDATE_WORST : VALIDATE_WORST;
    struct validate_judged worst = *judged;

    worst.lo = metric->fact ? metric->worst : factor * judged->lo;
    worst.hi = metric->fact ? metric->worst : factor * judged->hi;
    validate_judge_numbers(&worst);
    return worst.verdict == VALIDATE_FAIL;
}

/* ---- all ---------------------------------------------------------------------------------- */

/* Takes the values of all launches. Returns whether each of them has one. */
static bool take_values(struct validate_sample *at, const struct profile_limit *limit,
                        double factor, double value[])
{
    const struct validate_metric *metric = at->metric;
    bool known = true;

    for (size_t i = 0; i < at->point->n && known; ++i) {
        at->row = &at->point->row[i];
        const double number = validate_metric_value(at);

        /* A bandwidth depends on the size, which the limit has to name. */
        known = isfinite(number) && number >= 0.0 &&
                (!metric->bytes || metric->bytes(metric, at->row) == limit->at_bytes);
        value[i] = metric->fact     ? (factor > 1.0 ? metric->worst : number)
                   : metric->higher ? number / factor
                                    : number * factor;
    }
    return known;
}

/* Judges each device of a cell, or the cell as a whole, and keeps the worst. value, steps: room for
 * a number of each launch, and of each sample. */
static void judge_point(const struct validate *validate, const struct report_point *point,
                        double factor, double value[], double steps[],
                        struct validate_judged *worst)
{
    const struct profile_limit *limit = worst->limit;
    const struct validate_metric *metric = limit->row;
    struct validate_sample at = {.metric = metric, .point = point, .by = limit->by, .steps = steps};
    const double side = metric->higher ? -1 : 1; /* the bad one */
    struct validate_device shown[RECORD_MAX_SLOTS];
    const char *const lack = metric->has_base && !point->base ? " (it has no base)"
                             : metric->bytes                  ? " of these bytes"
                             : metric->in_parts ? " (measure it by lockstep sweep --parts)"
                                                : "";

    for (; at.device < judged_devices(limit, point); ++at.device) {
        struct validate_judged one = unknown;

        one.limit = limit;
        one.point = point;
        one.units = worst->units;
        shown[at.device] = (struct validate_device){NAN, NAN, NAN};
        one.verdict = find_point_doubt(validate, point, one.why);
        /* Numbers that are wrong may be those of any device. */
        one.device = one.verdict == VALIDATE_FAIL || !metric->by_device ? -1 : at.device;
        if (one.verdict == VALIDATE_PASS && take_values(&at, limit, factor, value)) {
            shown[at.device] = validate_sum(&one, value, point->n);
            one.launches = point->n;
            one.middle = shown[at.device].median;
            one.lo = shown[at.device].lo;
            one.hi = shown[at.device].hi;
            validate_judge_numbers(&one);
            if (one.verdict != VALIDATE_FAIL && point->verified < point->n) {
                one.verdict = VALIDATE_INVALID;
                snprintf(one.why, sizeof one.why, "a device is slow on purpose");
            }
        } else if (one.verdict == VALIDATE_PASS) {
            one.verdict = VALIDATE_UNMEASURED;
            snprintf(one.why, sizeof one.why, "a launch of the cell has no %s%s", metric->name,
                     lack);
        }
        /* If the verdicts are equal, the one farther on the bad side is worse. */
        if (!worst->point || one.verdict > worst->verdict ||
            (one.verdict == worst->verdict && side * one.middle > side * worst->middle))
            *worst = one;
    }
    if (worst->point == point && worst->device >= 0 && worst->launches > 0) {
        worst->n_shown = judged_devices(limit, point);
        memcpy(worst->shown, shown, (size_t)worst->n_shown * sizeof shown[0]);
    }
}

void validate_judge_limit(const struct validate *validate, const struct profile_limit *limit,
                          double factor, struct validate_judged *judged)
{
    const struct report *report = validate->report;
    const struct validate_need *need = validate->need;
    size_t units = 0, launches = 1, samples = RECORD_MOST_PARTS;

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const struct profile_place here = validate_place_of(&point->row->cell->key);
        const size_t most = validate_most_samples(point);

        launches = point->n > launches ? point->n : launches;
        samples = most > samples ? most : samples;
        if (validate_limit_has(limit, &here))
            units += (size_t)judged_devices(limit, point);
    }
    double *value = cli_alloc(launches, sizeof *value), *steps = cli_alloc(samples, sizeof *steps);

    *judged = unknown;
    judged->limit = limit;
    judged->units = units;
    snprintf(judged->why, sizeof judged->why, "no cell of the records is at its place");
    for (size_t i = 0; i < report->n_points; ++i) {
        const struct profile_place here = validate_place_of(&report->point[i].row->cell->key);

        if (validate_limit_has(limit, &here))
            judge_point(validate, &report->point[i], factor, value, steps, judged);
    }
    free(value);
    free(steps);
    /* If a cell had to be measured and was not, the limit is not PASS, whatever the other cells
     * show. */
    for (size_t i = 0; need && i < need->n && judged->verdict < VALIDATE_UNMEASURED; ++i) {
        const struct profile_place *cell = &need->cell[i];
        bool found = !validate_limit_has(judged->limit, cell);

        for (size_t p = 0; p < report->n_points && !found; ++p) {
            const struct profile_place there = validate_place_of(&report->point[p].row->cell->key);

            found = validate_is_cell(cell, &there);
        }
        if (found)
            continue;
        judged->verdict = VALIDATE_UNMEASURED;
        snprintf(judged->why, sizeof judged->why,
                 "not measured: %.96s %.8s, %llu device%s, %llu row%s", cell->workload, cell->mode,
                 (unsigned long long)cell->devices, text_s(cell->devices),
                 (unsigned long long)cell->batch, text_s(cell->batch));
    }
}

/* A profile without binding limits accepts no machine. */
enum validate_machine validate_judge_machine(const size_t count[VALIDATE_VERDICTS],
                                             enum validate_verdict cases)
{
    size_t binding = 0;

    for (int v = 0; v < VALIDATE_VERDICTS; ++v)
        binding += count[v];
    if (count[VALIDATE_FAIL] > 0 || cases == VALIDATE_FAIL)
        return VALIDATE_REJECTED;
    return binding > 0 && count[VALIDATE_PASS] == binding && cases == VALIDATE_PASS
               ? VALIDATE_ACCEPTED
               : VALIDATE_NOT_SHOWN;
}

/* The verdict on a machine at 0.3 of the speed of these records. If it is not FAIL, the limit
 * accepts every machine: why, and what to do. */
static enum validate_verdict judge_at_worst(const struct validate *validate,
                                            const struct profile_limit *limit,
                                            char why[VALIDATE_TEXT])
{
    struct validate_judged judged;

    validate_judge_limit(validate, limit, VALIDATE_WORST, &judged);
    if (judged.verdict == VALIDATE_FAIL)
        return VALIDATE_FAIL;
    if (judged.verdict == VALIDATE_OPEN && isfinite(judged.lo))
        snprintf(why, VALIDATE_TEXT,
                 "these %zu launches scatter so much that a machine at 0.3 of the speed would not "
                 "fail this limit: measure on an idle machine, or delete it",
                 judged.launches);
    else
        snprintf(why, VALIDATE_TEXT, "it stays %s even at %s: %.200s",
                 validate_verdict_words[judged.verdict],
                 limit->row->fact ? "its worst" : "0.3 of the speed",
                 judged.verdict != VALIDATE_PASS
                     ? judged.why
                     : "write a bound near the number of a good machine, or delete it");
    return judged.verdict;
}

void validate_judge(struct validate *validate)
{
    const struct profile *profile = validate->profile;
    const unsigned n = profile->n_limits;
    char why[VALIDATE_TEXT];
    bool own = false; /* limits were learned from these records: they follow from each other */

    for (size_t i = 0; i < validate->report->n_files * profile->n_learned_from; ++i)
        own = own || strcmp(validate->report->file[i / profile->n_learned_from].run.run_id,
                            profile->learned_from[i % profile->n_learned_from]) == 0;
    validate->judged = cli_alloc(n, sizeof *validate->judged);
    for (unsigned i = 0; i < n; ++i) {
        struct validate_judged *judged = &validate->judged[i];

        validate_judge_limit(validate, &validate->profile->limit[i], 1.0, judged);
        /* The verdict of a limit that every machine passes, or that none does, means nothing. */
        validate_limit_itself(judged->limit, why);
        if (why[0] == '\0' && judged->verdict == VALIDATE_PASS &&
            judge_at_worst(validate, judged->limit, why) == VALIDATE_FAIL &&
            (own || profile->not_shown))
            snprintf(why, sizeof why, "%.300s",
                     own ? "the limit was learned from these records" : profile->not_shown);
        if (why[0] != '\0') {
            judged->verdict = VALIDATE_INVALID;
            memcpy(judged->why, why, sizeof why);
        }
        if (judged->verdict == VALIDATE_FAIL && judged->launches > 0 && judged->limit->row->of_pair)
            validate_find_link(judged);
        validate->count[judged->verdict] += judged->limit->binding;
    }
    validate->machine = validate_judge_machine(
        validate->count, validate->conformance ? validate->conformance->verdict : VALIDATE_PASS);
}

double validate_mutate(const struct profile *profile, const struct report *report,
                       const struct profile_limit *limit, char why[VALIDATE_TEXT])
{
    const struct validate validate = {.profile = profile, .report = report, .allow_dirty = true};
    const double itself = validate_limit_itself(limit, why);
    struct validate_judged judged = {.verdict = VALIDATE_PASS};

    if (why[0] == '\0' && !report && isnan(limit->healthy) && isnan(limit->peak_at))
        snprintf(why, VALIDATE_TEXT,
                 "nothing shows that it can fail: give it `expected` or `peak`, or name records");
    if (why[0] != '\0' || !report)
        return itself;
    if (judge_at_worst(&validate, limit, why) == VALIDATE_FAIL)
        for (double factor = 1.0; factor < VALIDATE_WORST; factor += factor < 1.2 ? 0.01 : 0.05) {
            validate_judge_limit(&validate, limit, factor, &judged);
            if (judged.verdict == VALIDATE_FAIL)
                return factor;
        }
    return VALIDATE_WORST;
}
