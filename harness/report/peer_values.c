/* report/peer_values.c: computes medians over launches, and ratios paired by round, of a
 * comparison.
 *
 * The sums and rows are those of suites/peers/pytorch/lockstep_peers/figures.py; the statistics are
 * those of harness/analysis. */
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

bool peer_is_tf32(const struct peer_record *record)
{
    return strcmp(record->math, "tf32") == 0;
}

/* ---- arms --------------------------------------------------------------------------------- */

typedef double peer_number_fn(const struct peer_launch *launch);

static double step_of_peer(const struct peer_launch *launch)
{
    return launch->step_ns;
}

static double outside_of_peer(const struct peer_launch *launch)
{
    return launch->outside;
}

static double products_of_peer(const struct peer_launch *launch)
{
    return launch->step_ns * (1 - launch->outside);
}

static struct report_value over_good_launches(const struct peer_arm *arm, peer_number_fn *number)
{
    double values[PEER_MAX_LAUNCHES];
    size_t n = 0;

    for (size_t i = 0; arm && !arm->wrong && i < arm->n; ++i)
        if (arm->launch[i].ok && isfinite(number(&arm->launch[i])))
            values[n++] = number(&arm->launch[i]);
    return n > 0 ? report_value_of(values, n) : report_unknown;
}

struct report_value peer_step(const struct peer_arm *arm)
{
    return over_good_launches(arm, step_of_peer);
}

struct report_value peer_outside(const struct peer_arm *arm)
{
    return over_good_launches(arm, outside_of_peer);
}

/* The number of the good launch of that round; NaN if there is none, or the arm was wrong. */
static double number_in_round(const struct peer_arm *arm, size_t round, peer_number_fn *number)
{
    for (size_t i = 0; arm && !arm->wrong && i < arm->n; ++i)
        if (arm->launch[i].ok && arm->launch[i].round == round)
            return number(&arm->launch[i]);
    return NAN;
}

/* ---- groups ------------------------------------------------------------------------------- */

/* Whether the arm belongs to a group. An arm that is absent belongs to none. */
static bool is_of_group(const struct peer_arm *arm, enum peer_group group, int devices)
{
    return peer_kinds[arm->kind].group == group && arm->absent[0] == '\0' &&
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

        if (!is_of_group(arm, group, devices))
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
        n += is_of_group(&cell->arm[a], group, devices) ? 1 : 0;
    return n;
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

/* ---- products alone: each round counts the fastest arm that measured products ------------- */

/* How an arm measures products on so many devices: each PyTorch by torch.mm, and lockstep in its
 * steps; NULL: it does not. */
static peer_number_fn *made_by(const struct peer_arm *arm, int devices)
{
    bool measured = false;

    if (is_of_group(arm, PEER_PRODUCTS, devices))
        return step_of_peer;
    for (size_t i = 0; i < arm->n && !measured; ++i)
        measured = isfinite(arm->launch[i].outside);
    return measured && peer_is_lockstep(arm) && arm->devices == devices ? products_of_peer : NULL;
}

/* The number of arms that measured products on so many devices; 0 if torch.mm was not measured. */
static size_t count_makers(const struct peer_cell *cell, int devices)
{
    size_t n = 0;

    for (size_t a = 0; a < cell->n_arms; ++a)
        n += made_by(&cell->arm[a], devices) ? 1 : 0;
    return peer_choice(cell, PEER_PRODUCTS, devices) > 0 ? n : 0;
}

/* The arm with the fastest products of a round, and its time. NULL: one of the arms has no number
 * in this round, or no arm measured products. */
static const struct peer_arm *maker_in_round(const struct peer_cell *cell, int devices,
                                             size_t round, double *ns)
{
    const struct peer_arm *best = NULL;

    *ns = NAN;
    for (size_t a = 0; count_makers(cell, devices) > 0 && a < cell->n_arms; ++a) {
        const struct peer_arm *arm = &cell->arm[a];
        peer_number_fn *const made = made_by(arm, devices);
        const double found = made ? number_in_round(arm, round, made) : NAN;

        if (made && !isfinite(found))
            return NULL;
        if (made && (!best || found < *ns)) {
            best = arm;
            *ns = found;
        }
    }
    return best;
}

/* The arm that was fastest in most rounds. *rounds becomes the number of these, and *of that of all
 * rounds that count. NULL: none. */
static const struct peer_arm *fastest_maker(const struct peer_cell *cell, int devices,
                                            size_t *rounds, size_t *of)
{
    size_t won[PEER_MAX_ARMS] = {0}, best = 0;
    double ns;

    *of = 0;
    for (size_t round = 0; round < PEER_MAX_LAUNCHES; ++round) {
        const struct peer_arm *arm = maker_in_round(cell, devices, round, &ns);

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

/* One side of a ratio: an arm, or the products alone. */
struct operand {
    const struct peer_arm *arm;       /* NULL: none, or products */
    const struct peer_cell *products; /* NULL: the side is an arm */
    int devices;                      /* devices of the products */
};

static double operand_in_round(const struct operand *operand, size_t round)
{
    double ns;

    if (!operand->products)
        return number_in_round(operand->arm, round, step_of_peer);
    return maker_in_round(operand->products, operand->devices, round, &ns) ? ns : NAN;
}

/* The ratio of two operands. With four operands, it is the ratio of the first two over the ratio of
 * the last two. */
static struct report_value ratio_of(const struct operand operand[], size_t n_operands)
{
    double ratios[PEER_MAX_LAUNCHES];
    size_t n = 0;

    for (size_t round = 0; round < PEER_MAX_LAUNCHES; ++round) {
        double ratio = operand_in_round(&operand[0], round) / operand_in_round(&operand[1], round);

        if (n_operands == 4)
            ratio /= operand_in_round(&operand[2], round) / operand_in_round(&operand[3], round);
        if (isfinite(ratio))
            ratios[n++] = ratio;
    }
    return n > 0 ? report_value_of(ratios, n) : report_unknown;
}

struct report_value peer_ratio(const struct peer_arm *above, const struct peer_arm *under)
{
    return ratio_of((const struct operand[]){{.arm = above}, {.arm = under}}, 2);
}

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
} sides[] = {
    [OURS] = {"lockstep ", PEER_LOCKSTEP_DP, .counted = true},
    [ONE] = {"lockstep ", PEER_LOCKSTEP_DP, .counted = true, .one = true},
    [RANKS] = {"lockstep DDP ", PEER_LOCKSTEP_DDP, .counted = true, .may_lack = true},
    [PROCESSES] = {"lockstep MPI ", PEER_LOCKSTEP_PROCESSES, .counted = true, .may_lack = true},
    [NCCL] = {"lockstep NCCL ", PEER_LOCKSTEP_DDP_NCCL, .counted = true, .may_lack = true},
    [BARE] = {"lockstep plain", PEER_LOCKSTEP_PLAIN, .one = true},
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

/* Whether the cell has an arm for this side that is not absent. */
static bool has_side(const struct peer_cell *cell, enum side side)
{
    const enum peer_group group = sides[side].group;

    for (size_t a = 0; a < cell->n_arms; ++a) {
        const struct peer_arm *arm = &cell->arm[a];
        const bool same = group != PEER_NO_GROUP ? peer_kinds[arm->kind].group == group
                                                 : arm->kind == sides[side].kind;

        if (same && arm->absent[0] == '\0')
            return true;
    }
    return false;
}

static bool makes_sense(const struct ratio_row *row, const struct peer_cell *cell, int k)
{
    for (size_t s = 0; s < sizeof row->side / sizeof row->side[0]; ++s)
        if (sides[row->side[s]].may_lack && !has_side(cell, row->side[s]))
            return false;
    /* On one device, these rows would repeat others, or be 1. */
    return k > 1 || (row->side[0] != ONE && row->side[0] != PRODUCTS_1 && !row->name);
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
    const size_t n = row->side[2] == NO_SIDE ? 2 : 4;
    const enum peer_group under = sides[row->side[1]].group;
    const int devices = devices_of_side(row->side[1], k);
    struct peer_comparison one = {.drawn = row->drawn};
    struct operand operand[4];

    for (size_t s = 0; s < n; ++s) {
        const enum side side = row->side[s];
        const enum peer_group group = sides[side].group;
        const int on = devices_of_side(side, k);

        operand[s] = (struct operand){.products = group == PEER_PRODUCTS ? cell : NULL,
                                      .devices = on,
                                      .arm = group == PEER_PRODUCTS ? NULL
                                             : group != PEER_NO_GROUP
                                                 ? peer_fastest(cell, group, on)
                                                 : peer_find(cell, sides[side].kind, on)};
    }
    one.value = ratio_of(operand, n);
    if (row->name) {
        text_add(one.name, sizeof one.name, "%s", row->name);
        return one;
    }
    add_side_name(&one, cell, row->side[0], k);
    text_add(one.name, sizeof one.name, " / ");
    add_side_name(&one, cell, row->side[1], k);
    /* Sets which of several arms under the line is the fastest. */
    if (under == PEER_PRODUCTS && count_makers(cell, devices) > 1)
        one.fastest = fastest_maker(cell, devices, &one.rounds, &one.of);
    else if (under != PEER_NO_GROUP && peer_choice(cell, under, devices) > 1)
        one.fastest = peer_fastest(cell, under, devices);
    return one;
}

size_t peer_compare(const struct peer_record *record, const struct peer_cell *cell,
                    struct peer_comparison list[PEER_COMPARISONS])
{
    size_t n = 0;

    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r)
        if (makes_sense(&rows[r], cell, record->devices))
            list[n++] = compare_sides(&rows[r], cell, record->devices);
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
    if (record->machine_class[0] != '\0' || run->machine_class[0] != '\0')
        return strcmp(record->machine_class, run->machine_class) == 0 &&
               record->usable_pus == (size_t)run->usable_pus;
    return strcmp(record->node_hash, run->node_hash) == 0 &&
           strcmp(record->cpu_model, run->cpu_model) == 0 &&
           record->packages == (size_t)run->packages && record->cores == (size_t)run->cores &&
           record->pus == (size_t)run->pus && record->usable_pus == (size_t)run->usable_pus;
}
