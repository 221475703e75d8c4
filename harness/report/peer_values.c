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

const struct peer_arm *peer_parallel(const struct peer_cell *cell, int devices)
{
    const struct peer_arm *arm = peer_find(cell, PEER_PYTORCH_DP, devices);

    return arm ? arm : peer_find(cell, PEER_PYTORCH_DDP, devices);
}

const struct peer_arm *peer_faster(const struct peer_cell *cell, int devices)
{
    const struct peer_arm *parallel = peer_parallel(cell, devices);
    const struct peer_arm *plain = peer_find(cell, PEER_PYTORCH_PLAIN, 1);
    const double with = parallel ? peer_step(parallel).middle : NAN;
    const double without = plain ? peer_step(plain).middle : NAN;

    if (!isfinite(with) || !isfinite(without))
        return NULL;
    return with < without ? parallel : plain;
}

const char *peer_parallel_name(const struct peer_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; ++a)
        if (cell->arm[a].kind == PEER_PYTORCH_DP)
            return "DP";
    return "DDP";
}

struct report_value peer_ratio(const struct peer_arm *above, const struct peer_arm *under)
{
    double ratios[PEER_MAX_LAUNCHES];
    size_t n = 0;

    if (!above || !under || above->wrong || under->wrong)
        return NOTHING;
    for (size_t i = 0; i < above->n; ++i)
        for (size_t j = 0; j < under->n; ++j)
            if (above->launch[i].ok && under->launch[j].ok &&
                above->launch[i].round == under->launch[j].round)
                ratios[n++] = above->launch[i].step_ns / under->launch[j].step_ns;
    return value_of(ratios, n);
}

size_t peer_compare(const struct peer_record *record, const struct peer_cell *cell,
                    struct peer_comparison list[PEER_COMPARISONS])
{
    const int k = record->devices;
    const struct peer_arm *ours = peer_find(cell, PEER_LOCKSTEP_DP, k);
    const struct peer_arm *one = peer_find(cell, PEER_LOCKSTEP_DP, 1);
    const struct peer_arm *ranks = peer_find(cell, PEER_LOCKSTEP_DDP, k);
    const struct peer_arm *processes = peer_find(cell, PEER_LOCKSTEP_PROCESSES, k);
    const struct peer_arm *bare = peer_find(cell, PEER_LOCKSTEP_PLAIN, 1);
    const struct peer_arm *parallel = peer_parallel(cell, k);
    const struct peer_arm *plain = peer_find(cell, PEER_PYTORCH_PLAIN, 1);
    const char *name = peer_parallel_name(cell);
    size_t n = 0;

    list[n].value = peer_ratio(ours, parallel);
    snprintf(list[n++].name, sizeof list->name, "lockstep %d / PyTorch %s %d", k, name, k);
    list[n].value = peer_ratio(ours, plain);
    snprintf(list[n++].name, sizeof list->name, "lockstep %d / PyTorch plain", k);
    list[n].value = peer_ratio(ours, peer_faster(cell, k));
    snprintf(list[n++].name, sizeof list->name, "lockstep %d / PyTorch's faster", k);
    if (ranks) {
        list[n].value = peer_ratio(ranks, parallel);
        snprintf(list[n++].name, sizeof list->name, "lockstep DDP %d / PyTorch %s %d", k, name, k);
    }
    if (processes) {
        list[n].value = peer_ratio(processes, parallel);
        snprintf(list[n++].name, sizeof list->name, "lockstep MPI %d / PyTorch %s %d", k, name, k);
        list[n].value = peer_ratio(processes, ranks);
        snprintf(list[n++].name, sizeof list->name, "lockstep MPI %d / lockstep DDP %d", k, k);
    }
    if (k > 1) {
        list[n].value = peer_ratio(one, plain);
        snprintf(list[n++].name, sizeof list->name, "lockstep 1 / PyTorch plain");
    }
    list[n].value = peer_ratio(bare, plain);
    snprintf(list[n++].name, sizeof list->name, "lockstep plain / PyTorch plain");
    for (size_t i = 0; i < n; ++i)
        list[i].speedup = false;
    if (k > 1) {
        list[n].speedup = list[n + 1].speedup = true;
        list[n].value = peer_ratio(one, ours);
        snprintf(list[n++].name, sizeof list->name, "speed-up, lockstep %d against 1", k);
        list[n].value = peer_ratio(plain, parallel);
        snprintf(list[n++].name, sizeof list->name, "speed-up, PyTorch %s %d against plain", name,
                 k);
    }
    return n;
}

void peer_arm_words(const struct peer_arm *arm, const struct peer_cell *cell, char text[96])
{
    const int n = arm->devices;
    const char *plural = n == 1 ? "" : "s";

    switch (arm->kind) {
    case PEER_LOCKSTEP_DP:
        snprintf(text, 96, "lockstep DataParallel, %d device%s", n, plural);
        break;
    case PEER_LOCKSTEP_DDP:
        snprintf(text, 96, "lockstep DDP, %d device%s", n, plural);
        break;
    case PEER_LOCKSTEP_PROCESSES:
        snprintf(text, 96, "lockstep DDP over MPI, %d process%s", n, n == 1 ? "" : "es");
        break;
    case PEER_LOCKSTEP_PLAIN:
        snprintf(text, 96, "lockstep plain, 1 device");
        break;
    case PEER_PYTORCH_DDP:
        snprintf(text, 96, "PyTorch DDP over gloo, %d process%s", n, n == 1 ? "" : "es");
        break;
    case PEER_PYTORCH_DP:
        snprintf(text, 96, "PyTorch DataParallel, %d GPU%s", n, plural);
        break;
    case PEER_PYTORCH_PLAIN:
        snprintf(text, 96, "PyTorch plain, 1 process");
        break;
    default:
        snprintf(text, 96, "torch.mm alone, %zu rows",
                 cell->batch / (size_t)n + (cell->batch % (size_t)n != 0));
    }
}

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
