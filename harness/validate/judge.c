/* validate/judge.c: judges limits by the launches of the cells that they are about. */
#include "validate/validate.h"

#include "machine/provenance.h"
#include "numbers/stats.h"
#include "validate/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double validate_alpha = 0.05;

const char *const validate_verdict_words[VALIDATE_VERDICTS] = {"PASS", "OPEN", "UNMEASURED",
                                                               "INVALID", "FAIL"};
const char *const validate_machine_words[3] = {"ACCEPTED", "REJECTED", "NOT SHOWN"};

/* ---- which cells -------------------------------------------------------------------------- */

static bool fits(const char *wanted, const char *is)
{
    return !wanted || strcmp(wanted, is) == 0;
}

static bool is_at(const struct profile_limit *limit, const struct report_point *point)
{
    const struct profile_place *at = &limit->at;
    const struct record_key *key = &point->row->cell->key;

    return fits(at->workload, key->workload) && fits(at->mode, key->mode) &&
           fits(at->backend, key->backend) && fits(at->communicator, key->communicator) &&
           fits(at->math, key->dtype) && validate_limit_takes(limit, key->chain) &&
           (at->devices == 0 || at->devices == (uint64_t)key->n_devices) &&
           (at->batch == 0 || at->batch == key->global_batch) &&
           at->host_inputs == key->host_inputs;
}

static int devices_of(const struct profile_limit *limit, const struct report_point *point)
{
    return limit->row->by_device ? point->row->cell->key.n_devices : 1;
}

static size_t count_units(const struct validate *validate, const struct profile_limit *limit)
{
    size_t units = 0;

    for (size_t i = 0; i < validate->report->n_points; ++i)
        if (is_at(limit, &validate->report->point[i]))
            units += (size_t)devices_of(limit, &validate->report->point[i]);
    return units;
}

/* ---- one cell, one device ----------------------------------------------------------------- */

struct room {
    double *value, *steps;
};

/* Whether launches with right results ran on a device that is slow on purpose: their times may be
 * too slow, so a verdict by them is never good. */
static bool is_slowed(const struct report_point *point)
{
    for (size_t i = 0; i < point->n; ++i) {
        const struct record_cell *cell = point->row[i].cell;

        if ((!strstr(cell->key.devices, "+fault:slow@") &&
             !strstr(cell->key.devices, "+fault:link@")) ||
            cell->status != RECORD_FAILED || cell->first_bad_step >= 0 || cell->steps_checked == 0)
            return false;
    }
    return true;
}

/* Finds the first launch whose GPUs did not run as they can. */
static void find_gpu_doubt(const struct report_point *point, char why[VALIDATE_TEXT])
{
    char text[RECORD_NODE_TEXT];

    for (size_t i = 0; i < point->n && why[0] == '\0'; ++i)
        if (record_gpu_doubt(point->row[i].cell, text))
            snprintf(why, VALIDATE_TEXT, "launch %d: %.200s", point->row[i].cell->key.launch, text);
}

/* Finds the first launch of a file whose times must not be used to judge. */
static void find_file_doubt(const struct validate *validate, const struct report_point *point,
                            char why[VALIDATE_TEXT])
{
    const enum provenance_dirty dirty = validate->allow_dirty ? PROVENANCE_TAKEN : PROVENANCE_ASKED;
    char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT];

    for (size_t i = 0; i < point->n && why[0] == '\0'; ++i)
        if (provenance_doubts(point->row[i].run, dirty, doubt) > 0)
            snprintf(why, VALIDATE_TEXT, "it is of %s", doubt[0]);
}

/* Finds a reason why the numbers of a cell are not valid; "": they are valid. */
static void find_doubt(const struct validate *validate, const struct report_point *point,
                       char why[VALIDATE_TEXT])
{
    const uint64_t needed = validate->profile->requires.launches;

    why[0] = '\0';
    find_gpu_doubt(point, why);
    find_file_doubt(validate, point, why);
    if (why[0] != '\0')
        return;
    if (point->verified < point->n && !is_slowed(point))
        snprintf(why, VALIDATE_TEXT, "%zu of its %zu launches are not verified",
                 point->n - point->verified, point->n);
    else if (report_oversubscribed(point))
        snprintf(why, VALIDATE_TEXT,
                 "it is oversubscribed: more devices than cores, or several "
                 "slots on one GPU");
    else if (point->n < needed)
        snprintf(why, VALIDATE_TEXT, "%zu launches, and the profile requires %llu", point->n,
                 (unsigned long long)needed);
}

/* Whether the launch has the size of the limit: a bandwidth depends on the size, which the limit
 * has to name. */
static bool is_size(const struct profile_limit *limit, const struct report_row *row)
{
    return !limit->row->bytes || limit->row->bytes(row) == limit->at_bytes;
}

/* Takes the values of all launches. Returns their number, or -1 if one of them does not have the
 * value. */
static int take_values(const struct profile_limit *limit, const struct report_point *point,
                       int device, double factor, const struct room *room)
{
    int n = 0;

    for (size_t i = 0; i < point->n; ++i) {
        const double value = limit->row->of(point, &point->row[i], device, limit->by, room->steps);

        if (!is_size(limit, &point->row[i]) || !isfinite(value) || value < 0.0)
            return -1;
        room->value[n++] = limit->row->fact     ? (factor > 1.0 ? limit->row->worst : value)
                           : limit->row->higher ? value / factor
                                                : value * factor;
    }
    return n;
}

/* The part of the error that each unit has if there are that many. */
static double part_of(size_t units)
{
    return -expm1(log1p(-validate_alpha) / (double)units);
}

/* The number of launches that a one-sided bound needs. */
size_t validate_launches_for(size_t units)
{
    return (size_t)ceil(-log2(part_of(units)));
}

static enum validate_verdict side_of(const struct profile_limit *limit, double lo, double hi)
{
    if (lo >= limit->least && hi <= limit->most)
        return VALIDATE_PASS;
    return hi < limit->least || lo > limit->most ? VALIDATE_FAIL : VALIDATE_OPEN;
}

/* A counted value has no error: it is the same in all launches, or else the smallest and the
 * largest are its bounds. */
struct validate_device validate_sum(const struct validate_judged *judged, double value[], size_t n)
{
    struct stats_interval interval;
    struct validate_device shown = {NAN, NAN, NAN};

    stats_sort(value, n);
    shown.median = stats_quantile(value, n, 0.5);
    interval = stats_median_interval(value, n, 1.0 - 2.0 * part_of(judged->units));
    if (judged->limit->row->counted) {
        shown.lo = value[0];
        shown.hi = value[n - 1];
    } else if (interval.valid) {
        shown.lo = interval.lo;
        shown.hi = interval.hi;
    }
    return shown;
}

void validate_judge_numbers(struct validate_judged *judged)
{
    const size_t needed = judged->limit->row->counted ? 1 : validate_launches_for(judged->units);

    judged->verdict = VALIDATE_OPEN;
    if (judged->launches < needed || !isfinite(judged->lo) || !isfinite(judged->hi)) {
        snprintf(judged->why, sizeof judged->why, "%zu launches; a bound at 95 %% takes %zu",
                 judged->launches, needed);
        return;
    }
    judged->verdict = side_of(judged->limit, judged->lo, judged->hi);
    if (judged->verdict == VALIDATE_OPEN)
        snprintf(judged->why, sizeof judged->why,
                 "the limit is between the bounds of %zu launches: more launches can decide",
                 judged->launches);
}

static void judge_values(struct validate_judged *judged, double value[], size_t n)
{
    const struct validate_device shown = validate_sum(judged, value, n);

    judged->launches = n;
    judged->middle = shown.median;
    judged->lo = shown.lo;
    judged->hi = shown.hi;
    validate_judge_numbers(judged);
}

static void judge_unit(const struct validate *validate, double factor, const struct room *room,
                       struct validate_judged *judged)
{
    int n;

    find_doubt(validate, judged->point, judged->why);
    if (judged->why[0] != '\0') {
        judged->verdict = VALIDATE_INVALID;
        return;
    }
    n = take_values(judged->limit, judged->point, judged->device < 0 ? 0 : judged->device, factor,
                    room);
    if (n > 0) {
        judge_values(judged, room->value, (size_t)n);
        if (judged->verdict != VALIDATE_FAIL && judged->point->verified < judged->point->n) {
            judged->verdict = VALIDATE_INVALID;
            snprintf(judged->why, sizeof judged->why, "a device is slow on purpose");
        }
        return;
    }
    judged->verdict = VALIDATE_UNMEASURED;
    snprintf(judged->why, sizeof judged->why, "a launch of the cell has no %s%s",
             judged->limit->row->name,
             judged->limit->row->has_base && !judged->point->base ? " (it has no base)"
             : judged->limit->row->bytes                          ? " of these bytes"
             : judged->limit->row->in_parts ? " (measure it by lockstep sweep --parts)"
                                            : "");
}

/* ---- all ---------------------------------------------------------------------------------- */

/* Whether a is worse than b: by its verdict, or with the same verdict farther on the bad side. */
static bool is_worse(const struct validate_judged *a, const struct validate_judged *b)
{
    if (a->verdict != b->verdict)
        return a->verdict > b->verdict;
    return a->limit->row->higher ? a->middle < b->middle : a->middle > b->middle;
}

static void judge_point(const struct validate *validate, const struct report_point *point,
                        double factor, const struct room *room, struct validate_judged *worst)
{
    const int devices = devices_of(worst->limit, point);

    for (int d = 0; d < devices; ++d) {
        struct validate_judged one = {.limit = worst->limit,
                                      .point = point,
                                      .device = worst->limit->row->by_device ? d : -1,
                                      .units = worst->units,
                                      .middle = NAN,
                                      .lo = NAN,
                                      .hi = NAN};

        judge_unit(validate, factor, room, &one);
        if (!worst->point || is_worse(&one, worst))
            *worst = one;
    }
}

static bool is_there(const struct report *report, const struct validate_cell *cell)
{
    for (size_t i = 0; i < report->n_points; ++i) {
        const struct record_key *key = &report->point[i].row->cell->key;
        const struct validate_cell there = {key->workload,     key->mode,  (uint64_t)key->n_devices,
                                            key->global_batch, key->chain, key->host_inputs};

        if (validate_is_cell(cell, &there))
            return true;
    }
    return false;
}

/* Finds a cell that had to be measured and was not: then the limit is not PASS, whatever the other
 * cells show. */
static void find_missing(const struct validate *validate, struct validate_judged *judged)
{
    const struct validate_need *need = validate->need;

    for (size_t i = 0; need && i < need->n && judged->verdict < VALIDATE_UNMEASURED; ++i) {
        const struct validate_cell *cell = &need->cell[i];

        if (!validate_limit_has(judged->limit, cell) || is_there(validate->report, cell))
            continue;
        judged->verdict = VALIDATE_UNMEASURED;
        snprintf(judged->why, sizeof judged->why,
                 "nobody measured %.96s %.8s, %llu devices, %llu rows", cell->workload, cell->mode,
                 (unsigned long long)cell->devices, (unsigned long long)cell->batch);
    }
}

static size_t longest(const struct report *report, bool of_steps)
{
    size_t most = of_steps ? (size_t)RECORD_MOST_PARTS : 1;

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];

        if (!of_steps && point->n > most)
            most = point->n;
        for (size_t j = 0; of_steps && j < point->n; ++j)
            if (point->row[j].cell->n_samples > most)
                most = point->row[j].cell->n_samples;
    }
    return most;
}

int validate_judge_limit(const struct validate *validate, const struct profile_limit *limit,
                         double factor, struct validate_judged *judged)
{
    const struct report *report = validate->report;
    const struct room room = {calloc(longest(report, false), sizeof *room.value),
                              calloc(longest(report, true), sizeof *room.steps)};
    const int status = room.value && room.steps ? 0 : -1;

    *judged = (struct validate_judged){.limit = limit,
                                       .verdict = VALIDATE_UNMEASURED,
                                       .device = -1,
                                       .units = count_units(validate, limit),
                                       .middle = NAN,
                                       .lo = NAN,
                                       .hi = NAN};
    snprintf(judged->why, sizeof judged->why, "no cell of the records is at its place");
    for (size_t i = 0; status == 0 && i < report->n_points; ++i)
        if (is_at(limit, &report->point[i]))
            judge_point(validate, &report->point[i], factor, &room, judged);
    find_missing(validate, judged);
    free(room.value);
    free(room.steps);
    return status;
}

/* Marks a limit that every machine passes, or that none does: its verdict means nothing. */
static void doubt_limit(struct validate_judged *judged)
{
    if (validate_is_wrong(judged->limit, judged->why))
        judged->verdict = VALIDATE_INVALID;
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

int validate_judge(struct validate *validate)
{
    const unsigned n = validate->profile->n_limits;

    validate->judged = calloc(n + 1, sizeof *validate->judged);
    if (!validate->judged)
        return -1;
    for (unsigned i = 0; i < n; ++i) {
        struct validate_judged *judged = &validate->judged[i];

        if (validate_judge_limit(validate, &validate->profile->limit[i], 1.0, judged) != 0)
            return -1;
        doubt_limit(judged);
        if (judged->verdict == VALIDATE_FAIL && judged->limit->row->of_pair &&
            validate_find_link(judged) != 0)
            return -1;
        validate->count[judged->verdict] += judged->limit->binding;
    }
    validate->machine = validate_judge_machine(
        validate->count, validate->conformance ? validate->conformance->verdict : VALIDATE_PASS);
    return 0;
}
