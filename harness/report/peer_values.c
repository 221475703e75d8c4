/* report/peer_values.c: computes ratios, paired by round, of a comparison.
 *
 * The sums and rows are those of suites/peers/pytorch/lockstep_peers/figures.py; the statistics are
 * those of harness/analysis. */
#include "report/figure.h"
#include "report/peer.h"

#include <math.h>
#include <string.h>

const struct peer_arm *peer_find(const struct peer_cell *cell, enum peer_kind kind, int devices)
{
    for (size_t a = 0; a < cell->n_arms; ++a)
        if (cell->arm[a].kind == kind && cell->arm[a].devices == devices)
            return &cell->arm[a];
    return NULL;
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

/* ---- groups ------------------------------------------------------------------------------- */

/* Whether the arm belongs to a group. An arm that is absent belongs to none. */
static bool is_of_group(const struct peer_arm *arm, enum peer_group group, int devices)
{
    const enum peer_group of = peer_kinds[arm->kind].group;
    const bool plain = of == PEER_PLAIN;

    return (of == group || (group == PEER_ANY && (plain || of == PEER_PARALLEL))) &&
           arm->absent[0] == '\0' && arm->devices == (plain ? 1 : devices);
}

const struct peer_arm *peer_fastest(const struct peer_cell *cell, enum peer_group group,
                                    int devices)
{
    const struct peer_arm *best = NULL;
    bool there[PEER_ANY] = {false};

    for (size_t a = 0; a < cell->n_arms; ++a) {
        const struct peer_arm *arm = &cell->arm[a];
        const double step = report_middle(arm->point, REPORT_STEP);

        if (!is_of_group(arm, group, devices))
            continue;
        if (!isfinite(step))
            return NULL;
        there[peer_kinds[arm->kind].group] = true;
        best = best && report_middle(best->point, REPORT_STEP) <= step ? best : arm;
    }
    return group == PEER_ANY && !(there[PEER_PARALLEL] && there[PEER_PLAIN]) ? NULL : best;
}

const char *peer_parallel_name(const struct peer_cell *cell)
{
    bool dp = false, ddp = false;

    for (size_t a = 0; a < cell->n_arms; ++a) {
        const struct peer_arm *arm = &cell->arm[a];

        if (peer_kinds[arm->kind].group != PEER_PARALLEL || arm->absent[0] != '\0')
            continue;
        dp = dp || arm->kind == PEER_PYTORCH_DP;
        ddp = ddp || arm->kind != PEER_PYTORCH_DP;
    }
    return !dp ? "DDP" : ddp ? "DP or DDP" : "DP";
}

/* ---- rounds ------------------------------------------------------------------------------- */

/* The time of a step of that round, or of the matrix products in it; NaN: there is none. */
static double time_in_round(const struct peer_arm *arm, bool products, int round)
{
    for (size_t i = 0; arm && i < arm->point->n; ++i) {
        const struct record_cell *cell = arm->row[i].cell;

        if (arm->row[i].verified && cell->key.launch == round)
            return products ? cell->median_ns * (1 - cell->outside_frac) : cell->median_ns;
    }
    return NAN;
}

/* Whether the arm measured matrix products alone on so many devices: a PyTorch by torch.mm,
 * lockstep in its steps. */
static bool has_products(const struct peer_arm *arm, int devices)
{
    bool measured = false;

    for (size_t i = 0; i < arm->point->n && peer_is_lockstep(arm) && !measured; ++i)
        measured = arm->devices == devices && isfinite(arm->cell[i].outside_frac);
    return measured || is_of_group(arm, PEER_PRODUCTS, devices);
}

/* The arm with the fastest products of a round, and its time. NULL: one of the arms has no number
 * in this round, or torch.mm was not measured. */
static const struct peer_arm *fastest_products(const struct peer_cell *cell, int devices, int round,
                                               double *ns)
{
    const struct peer_arm *best = NULL;
    bool alone = false;

    for (size_t a = 0; a < cell->n_arms; ++a) {
        const struct peer_arm *arm = &cell->arm[a];

        if (!has_products(arm, devices))
            continue;
        const double found = time_in_round(arm, peer_is_lockstep(arm), round);

        if (!isfinite(found))
            return NULL;
        alone = alone || !peer_is_lockstep(arm);
        if (!best || found < *ns) {
            best = arm;
            *ns = found;
        }
    }
    return alone ? best : NULL;
}

struct report_value peer_ratio(const struct peer_arm *above, const struct peer_arm *under)
{
    double ratios[PEER_MAX_LAUNCHES];
    size_t n = 0;

    for (int round = 0; round < PEER_MAX_LAUNCHES; ++round) {
        ratios[n] = time_in_round(above, false, round) / time_in_round(under, false, round);
        n += isfinite(ratios[n]) ? 1 : 0;
    }
    return report_value_of(ratios, n);
}

/* ---- ratios ------------------------------------------------------------------------------- */

/* The sides of the ratios in the table: an arm of lockstep or llm.c, or the fastest arm of a group
 * of PyTorch. */
enum side {
    NO_SIDE,
    OURS,
    ONE, /* DataParallel on one device */
    RANKS,
    PROCESSES,
    NCCL,
    BARE,
    FASTEST,
    PARALLEL,
    PLAIN,
    STEPS,
    LLMC,
    PRODUCTS,
    PRODUCTS_1
};

static const struct {
    /* Name before the number of devices; with PARALLEL the name of the program follows. */
    const char *name;
    enum peer_kind kind;
    enum peer_group group;
    bool counted;  /* the name ends with the number of devices */
    bool one;      /* on one device */
    bool may_lack; /* not every cell can have it, and a cell that lacks it has no row */
    size_t style;  /* of its ratios in the figure; 0: FIGURE_DP */
} sides[] = {
    [OURS] = {"lockstep ", PEER_LOCKSTEP_DP, .counted = true},
    [ONE] = {"lockstep ", PEER_LOCKSTEP_DP, .counted = true, .one = true},
    [RANKS] = {"lockstep DDP ", PEER_LOCKSTEP_DDP, .counted = true, .may_lack = true,
               .style = FIGURE_RANKS},
    [PROCESSES] = {"lockstep MPI ", PEER_LOCKSTEP_PROCESSES, .counted = true, .may_lack = true},
    [NCCL] = {"lockstep NCCL ", PEER_LOCKSTEP_DDP_NCCL, .counted = true, .may_lack = true,
              .style = FIGURE_RANKS},
    [BARE] = {"lockstep plain", PEER_LOCKSTEP_PLAIN, .one = true, .style = FIGURE_PLAIN},
    [FASTEST] = {"PyTorch's fastest", .group = PEER_ANY},
    [PARALLEL] = {"PyTorch ", .group = PEER_PARALLEL, .counted = true},
    [PLAIN] = {"PyTorch plain", .group = PEER_PLAIN, .one = true},
    [STEPS] = {"PyTorch in steps", PEER_PYTORCH_STEPS, .one = true, .may_lack = true},
    [LLMC] = {"llm.c ", PEER_LLMC_STEP, .counted = true, .may_lack = true},
    [PRODUCTS] = {"products alone ", .group = PEER_PRODUCTS, .counted = true, .may_lack = true},
    [PRODUCTS_1] = {"products alone ", .group = PEER_PRODUCTS, .counted = true, .one = true,
                    .may_lack = true},
};

static const struct ratio_row {
    enum side side[4]; /* above, under; the last two, if set, divide their ratio */
    const char *name;  /* name of a speed-up; NULL: the name is made of the sides */
    bool drawn;
} rows[] = {
    {{OURS, FASTEST}, .drawn = true},
    {{OURS, PARALLEL}, .drawn = true},
    {{OURS, PLAIN}, .drawn = true},
    {{RANKS, PARALLEL}, .drawn = true},
    {{PROCESSES, PARALLEL}, .drawn = true},
    {{PROCESSES, RANKS}, .drawn = true},
    {{NCCL, PARALLEL}, .drawn = true},
    {{NCCL, RANKS}, .drawn = false},
    {{ONE, PLAIN}, .drawn = true},
    {{BARE, PLAIN}, .drawn = true},
    {{ONE, STEPS}, .drawn = true},
    {{BARE, STEPS}, .drawn = true},
    {{STEPS, PLAIN}, .drawn = false},
    {{OURS, LLMC}, .drawn = true},
    {{OURS, PRODUCTS}, .drawn = false},
    {{ONE, PRODUCTS_1}, .drawn = false},
    {{ONE, OURS}, .name = "speed-up, lockstep"},
    {{PLAIN, PARALLEL}, .name = "speed-up, PyTorch's parallel program against plain"},
    {{PRODUCTS_1, PRODUCTS}, .name = "speed-up, products alone"},
    {{ONE, OURS, PRODUCTS_1, PRODUCTS}, .name = "speed-up, lockstep's over that of products"},
};
_Static_assert(sizeof rows / sizeof rows[0] == PEER_COMPARISONS, "a row of rows[] has no room");

static int devices_of_side(enum side side, int k)
{
    return sides[side].one ? 1 : k;
}

/* The arm of a side in a round, and its time; of products, the fastest. NULL: there is none. */
static const struct peer_arm *arm_of_side(const struct peer_cell *cell, enum side side, int k,
                                          int round, double *ns)
{
    const enum peer_group group = sides[side].group;
    const int devices = devices_of_side(side, k);
    const struct peer_arm *const arm =
        group == PEER_PRODUCTS   ? fastest_products(cell, devices, round, ns)
        : group != PEER_NO_GROUP ? peer_fastest(cell, group, devices)
                                 : peer_find(cell, sides[side].kind, devices);

    if (!arm || group != PEER_PRODUCTS)
        *ns = time_in_round(arm, false, round);
    return arm;
}

static void add_side_name(struct peer_comparison *one, const struct peer_cell *cell, enum side side,
                          int k)
{
    text_add(one->name, sizeof one->name, "%s", sides[side].name);
    if (side == PARALLEL)
        text_add(one->name, sizeof one->name, "%s ", peer_parallel_name(cell));
    if (sides[side].counted)
        text_add(one->name, sizeof one->name, "%d", devices_of_side(side, k));
}

static struct peer_comparison compare_sides(const struct ratio_row *row,
                                            const struct peer_cell *cell, int k)
{
    const enum side *side = row->side;
    const enum peer_group under = sides[side[1]].group;
    const int devices = devices_of_side(side[1], k);
    struct peer_comparison one = {.drawn = row->drawn,
                                  .style = sides[side[0]].style ? sides[side[0]].style : FIGURE_DP};
    double ratios[PEER_MAX_LAUNCHES];
    size_t n = 0, arms = 0, of = 0, won[PEER_MAX_ARMS] = {0}, best = 0;

    for (int round = 0; round < PEER_MAX_LAUNCHES; ++round) {
        const struct peer_arm *arm[2] = {NULL};
        double ns[4] = {1, 1, 1, 1};

        for (size_t s = 0; s < 4 && side[s] != NO_SIDE; ++s)
            arm[s % 2] = arm_of_side(cell, side[s], k, round, &ns[s]);
        ratios[n] = ns[0] / ns[1] / (ns[2] / ns[3]);
        n += isfinite(ratios[n]) ? 1 : 0;
        if (arm[1]) {
            ++won[arm[1] - cell->arm];
            ++of;
        }
    }
    one.value = report_value_of(ratios, n);
    if (row->name) {
        text_add(one.name, sizeof one.name, "%s", row->name);
        return one;
    }
    add_side_name(&one, cell, side[0], k);
    text_add(one.name, sizeof one.name, " / ");
    add_side_name(&one, cell, side[1], k);
    /* The arm that was the fastest in most rounds, if there are several. */
    for (size_t a = 0; a < cell->n_arms && under != PEER_NO_GROUP; ++a) {
        arms += under == PEER_PRODUCTS ? has_products(&cell->arm[a], devices)
                                       : is_of_group(&cell->arm[a], under, devices);
        best = won[a] > won[best] ? a : best;
    }
    if (arms < 2 || of == 0)
        return one;
    one.fastest = &cell->arm[best];
    one.rounds = won[best];
    one.of = under == PEER_PRODUCTS ? of : 0;
    return one;
}

size_t peer_compare(const struct peer_record *record, const struct peer_cell *cell,
                    struct peer_comparison list[PEER_COMPARISONS])
{
    size_t n = 0;

    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
        const enum side *side = rows[r].side;
        /* On one device, these rows would repeat others, or be 1. */
        bool has =
            record->devices > 1 || (side[0] != ONE && side[0] != PRODUCTS_1 && !rows[r].name);

        for (size_t s = 0; s < sizeof rows[r].side / sizeof side[0] && has; ++s) {
            const enum peer_group group = sides[side[s]].group;

            has = !sides[side[s]].may_lack;
            for (size_t a = 0; a < cell->n_arms && !has; ++a)
                has = cell->arm[a].absent[0] == '\0' &&
                      (group != PEER_NO_GROUP ? peer_kinds[cell->arm[a].kind].group == group
                                              : cell->arm[a].kind == sides[side[s]].kind);
        }
        if (has)
            list[n++] = compare_sides(&rows[r], cell, record->devices);
    }
    return n;
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
    const struct record_run *own = &record->run;

    if (own->machine_class[0] != '\0' || run->machine_class[0] != '\0')
        return strcmp(own->machine_class, run->machine_class) == 0 &&
               own->usable_pus == run->usable_pus;
    return strcmp(own->node_hash, run->node_hash) == 0 &&
           strcmp(own->cpu_model, run->cpu_model) == 0 && own->packages == run->packages &&
           own->cores == run->cores && own->pus == run->pus && own->usable_pus == run->usable_pus;
}
