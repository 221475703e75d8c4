/* report/peer_values.c: medians over launches and ratios paired by round, of a comparison.
 *
 * The same sums as suites/peers/pytorch/lockstep_peers/figures.py, by the statistics of the report.
 */
#include "report/peer_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct report_value NOTHING = {
    .middle = NAN, .lo = NAN, .hi = NAN, .range = REPORT_NONE, .coverage = NAN};

const struct peer_arm *peer_find(const struct peer_cell *cell, enum peer_kind kind, int devices)
{
    for (size_t a = 0; a < cell->n_arms; ++a)
        if (cell->arm[a].kind == kind && cell->arm[a].devices == devices)
            return &cell->arm[a];
    return NULL;
}

typedef double number_fn(const struct peer_launch *launch);

static double step_of(const struct peer_launch *launch)
{
    return launch->step_ns;
}

static double outside_of(const struct peer_launch *launch)
{
    return launch->outside;
}

static struct report_value value_of(double values[], size_t n)
{
    return n > 0 ? report_value_of(values, n) : NOTHING;
}

static struct report_value over_launches(const struct peer_arm *arm, number_fn *number)
{
    double values[PEER_MAX_LAUNCHES];
    size_t n = 0;

    if (!arm || arm->wrong)
        return NOTHING;
    for (size_t i = 0; i < arm->n; ++i)
        if (arm->launch[i].ok && isfinite(number(&arm->launch[i])))
            values[n++] = number(&arm->launch[i]);
    return value_of(values, n);
}

struct report_value peer_step(const struct peer_arm *arm)
{
    return over_launches(arm, step_of);
}

struct report_value peer_outside(const struct peer_arm *arm)
{
    return over_launches(arm, outside_of);
}

enum peer_group peer_group_of(enum peer_kind kind)
{
    static const enum peer_group groups[PEER_KINDS + 1] = {
        [PEER_PYTORCH_DDP] = PEER_PARALLEL,      [PEER_PYTORCH_DDP_DEFAULT] = PEER_PARALLEL,
        [PEER_PYTORCH_DDP_NCCL] = PEER_PARALLEL, [PEER_PYTORCH_DDP_NCCL_DEFAULT] = PEER_PARALLEL,
        [PEER_PYTORCH_DP] = PEER_PARALLEL,       [PEER_PYTORCH_PLAIN] = PEER_PLAIN,
        [PEER_PYTORCH_COMPILED] = PEER_PLAIN,    [PEER_PYTORCH_PRODUCTS] = PEER_PRODUCTS};

    return groups[kind];
}

bool peer_is_lockstep(const struct peer_arm *arm)
{
    return arm->kind <= PEER_LOCKSTEP_PLAIN;
}

bool peer_is_on_gpus(const struct peer_record *record)
{
    const struct peer_cell *cell = &record->cell[0];

    for (size_t a = 0; record->n_cells > 0 && a < cell->n_arms; ++a)
        if (cell->arm[a].kind == PEER_PYTORCH_DP)
            return true;
    return false;
}

bool peer_is_tf32(const struct peer_record *record)
{
    return strcmp(record->math, "tf32") == 0;
}

/* An arm that is absent is in no group. */
static bool is_of(const struct peer_arm *arm, enum peer_group group, int devices)
{
    return peer_group_of(arm->kind) == group && arm->absent[0] == '\0' &&
           arm->devices == (group == PEER_PLAIN ? 1 : devices);
}

static const struct peer_arm *shorter(const struct peer_arm *a, const struct peer_arm *b)
{
    if (!a || !b)
        return NULL;
    return peer_step(a).middle <= peer_step(b).middle ? a : b;
}

const struct peer_arm *peer_fastest(const struct peer_cell *cell, enum peer_group group,
                                    int devices)
{
    const struct peer_arm *best = NULL;

    if (group == PEER_ANY)
        return shorter(peer_fastest(cell, PEER_PARALLEL, devices),
                       peer_fastest(cell, PEER_PLAIN, devices));
    for (size_t a = 0; a < cell->n_arms; ++a) {
        const struct peer_arm *arm = &cell->arm[a];

        if (!is_of(arm, group, devices))
            continue;
        if (!isfinite(peer_step(arm).middle))
            return NULL;
        best = best ? shorter(best, arm) : arm;
    }
    return best;
}

size_t peer_choice(const struct peer_cell *cell, enum peer_group group, int devices)
{
    size_t n = 0;

    if (group == PEER_ANY)
        return peer_choice(cell, PEER_PARALLEL, devices) + peer_choice(cell, PEER_PLAIN, devices);
    for (size_t a = 0; a < cell->n_arms; ++a)
        n += is_of(&cell->arm[a], group, devices) ? 1 : 0;
    return n;
}

const char *peer_parallel_name(const struct peer_cell *cell)
{
    bool dp = false, ddp = false;

    for (size_t a = 0; a < cell->n_arms; ++a) {
        const struct peer_arm *arm = &cell->arm[a];

        if (peer_group_of(arm->kind) != PEER_PARALLEL || arm->absent[0] != '\0')
            continue;
        dp = dp || arm->kind == PEER_PYTORCH_DP;
        ddp = ddp || arm->kind != PEER_PYTORCH_DP;
    }
    return !dp ? "DDP" : ddp ? "DP or DDP" : "DP";
}

/* Of the round's launch that was good, unless the arm was wrong; NAN: there is none. */
static double number_in(const struct peer_arm *arm, size_t round, number_fn *number)
{
    for (size_t i = 0; arm && !arm->wrong && i < arm->n; ++i)
        if (arm->launch[i].ok && arm->launch[i].round == round)
            return number(&arm->launch[i]);
    return NAN;
}

/* ---- products alone ----------------------------------------------------------------------- */

static double products_of(const struct peer_launch *launch)
{
    return launch->step_ns * (1 - launch->outside);
}

static bool is_measured(const struct peer_arm *arm)
{
    for (size_t i = 0; i < arm->n; ++i)
        if (isfinite(arm->launch[i].outside))
            return true;
    return false;
}

/* What the arm says of products on so many devices; NULL: it did not make them. */
static number_fn *made_by(const struct peer_arm *arm, int devices)
{
    if (is_of(arm, PEER_PRODUCTS, devices))
        return step_of;
    return peer_is_lockstep(arm) && arm->devices == devices && is_measured(arm) ? products_of
                                                                                : NULL;
}

size_t peer_makers(const struct peer_cell *cell, int devices)
{
    size_t n = 0;

    for (size_t a = 0; a < cell->n_arms; ++a)
        n += made_by(&cell->arm[a], devices) ? 1 : 0;
    return peer_choice(cell, PEER_PRODUCTS, devices) > 0 ? n : 0;
}

/* Of a round, with its time. NULL: one of them has no number in it, or there is none. */
static const struct peer_arm *maker_in(const struct peer_cell *cell, int devices, size_t round,
                                       double *ns)
{
    const struct peer_arm *best = NULL;

    *ns = NAN;
    for (size_t a = 0; peer_makers(cell, devices) > 0 && a < cell->n_arms; ++a) {
        const struct peer_arm *arm = &cell->arm[a];
        number_fn *const made = made_by(arm, devices);
        const double found = made ? number_in(arm, round, made) : NAN;

        if (made && !isfinite(found))
            return NULL;
        if (made && (!best || found < *ns)) {
            best = arm;
            *ns = found;
        }
    }
    return best;
}

const struct peer_arm *peer_fastest_maker(const struct peer_cell *cell, int devices, size_t *rounds,
                                          size_t *of)
{
    size_t won[PEER_MAX_ARMS] = {0}, best = 0;
    double ns;

    *of = 0;
    for (size_t round = 0; round < PEER_MAX_LAUNCHES; ++round) {
        const struct peer_arm *arm = maker_in(cell, devices, round, &ns);

        if (!arm)
            continue;
        ++won[arm - cell->arm];
        ++*of;
    }
    for (size_t a = 1; a < cell->n_arms; ++a)
        best = won[a] > won[best] ? a : best;
    *rounds = won[best];
    return *of > 0 ? &cell->arm[best] : NULL;
}

/* ---- ratios ------------------------------------------------------------------------------- */

static double side_in(const struct peer_side *side, size_t round)
{
    double ns;

    if (!side->products)
        return number_in(side->arm, round, step_of);
    return maker_in(side->products, side->devices, round, &ns) ? ns : NAN;
}

struct report_value peer_ratio_of(const struct peer_side sides[], size_t n_sides)
{
    double ratios[PEER_MAX_LAUNCHES];
    size_t n = 0;

    for (size_t round = 0; round < PEER_MAX_LAUNCHES; ++round) {
        double ratio = side_in(&sides[0], round) / side_in(&sides[1], round);

        if (n_sides == 4)
            ratio /= side_in(&sides[2], round) / side_in(&sides[3], round);
        if (isfinite(ratio))
            ratios[n++] = ratio;
    }
    return value_of(ratios, n);
}

struct report_value peer_ratio(const struct peer_arm *above, const struct peer_arm *under)
{
    return peer_ratio_of((const struct peer_side[]){{.arm = above}, {.arm = under}}, 2);
}

/* ---- the whole ---------------------------------------------------------------------------- */

size_t peer_failed(const struct peer_record *record)
{
    size_t failed = 0;

    for (size_t c = 0; c < record->n_cells; ++c)
        for (size_t a = 0; a < record->cell[c].n_arms; ++a)
            failed += record->cell[c].arm[a].failed;
    return failed;
}

bool peer_is_good(const struct peer_record *record)
{
    return record->complete && peer_failed(record) == 0;
}

bool peer_same_machine(const struct peer_record *record, const struct record_run *run)
{
    if (record->machine_class[0] != '\0' || run->machine_class[0] != '\0')
        return strcmp(record->machine_class, run->machine_class) == 0 &&
               record->usable_pus == (size_t)run->usable_pus;
    return strcmp(record->node_hash, run->node_hash) == 0 &&
           strcmp(record->cpu_model, run->cpu_model) == 0 &&
           record->packages == (size_t)run->packages && record->cores == (size_t)run->cores &&
           record->pus == (size_t)run->pus && record->usable_pus == (size_t)run->usable_pus;
}
