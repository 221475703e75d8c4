/* report/peer_ratios.c: which ratios of a comparison there are, and their names. The same rows as
 * ratios_of of suites/peers/pytorch/lockstep_peers/figures.py. */
#include "report/peer_record.h"

#include <stdio.h>
#include <string.h>

/* What is above or under the line: an arm of lockstep or llm.c, or the fastest of a group of
 * PyTorch's. */
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
    const char *name; /* before the number of devices; of PARALLEL before its own name */
    enum peer_kind kind;
    enum peer_group group;
    bool counted;  /* the name ends with the devices */
    bool one;      /* on one device */
    bool may_lack; /* not every cell has it, or can measure it, and no row says so */
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

static const struct row {
    enum side above, under, per, for_each; /* the latter two: the unit is their ratio */
    const char *name;                      /* of a speed-up; NULL: from its sides */
    bool drawn;
} rows[] = {
    {OURS, FASTEST, .drawn = true},
    {OURS, PARALLEL, .drawn = true},
    {OURS, PLAIN, .drawn = true},
    {RANKS, PARALLEL, .drawn = true},
    {PROCESSES, PARALLEL, .drawn = true},
    {PROCESSES, RANKS, .drawn = true},
    {NCCL, PARALLEL, .drawn = true},
    {.above = NCCL, .under = RANKS},
    {ONE, PLAIN, .drawn = true},
    {BARE, PLAIN, .drawn = true},
    {ONE, STEPS, .drawn = true},
    {BARE, STEPS, .drawn = true},
    {.above = STEPS, .under = PLAIN},
    {OURS, LLMC, .drawn = true},
    {.above = OURS, .under = PRODUCTS},
    {.above = ONE, .under = PRODUCTS_1},
    {ONE, OURS, .name = "speed-up, lockstep"},
    {PLAIN, PARALLEL, .name = "speed-up, PyTorch's parallel program against plain"},
    {PRODUCTS_1, PRODUCTS, .name = "speed-up, products alone"},
    {ONE, OURS, PRODUCTS_1, PRODUCTS, .name = "speed-up, lockstep's over that of products"},
};
_Static_assert(sizeof rows / sizeof rows[0] == PEER_COMPARISONS, "a row of rows[] has no room");

static int devices_of(enum side side, int k)
{
    return sides[side].one ? 1 : k;
}

static struct peer_side side_of(const struct peer_cell *cell, enum side side, int k)
{
    const int devices = devices_of(side, k);
    const enum peer_group group = sides[side].group;

    if (group == PEER_PRODUCTS)
        return (struct peer_side){.products = cell, .devices = devices};
    return (struct peer_side){.arm = group != PEER_NO_GROUP
                                         ? peer_fastest(cell, group, devices)
                                         : peer_find(cell, sides[side].kind, devices)};
}

/* Whether the cell has an arm for it that is not absent. */
static bool has(const struct peer_cell *cell, enum side side)
{
    const enum peer_group group = sides[side].group;

    for (size_t a = 0; a < cell->n_arms; ++a) {
        const struct peer_arm *arm = &cell->arm[a];
        const bool same = group != PEER_NO_GROUP ? peer_group_of(arm->kind) == group
                                                 : arm->kind == sides[side].kind;

        if (same && arm->absent[0] == '\0')
            return true;
    }
    return false;
}

static bool makes_sense(const struct row *row, const struct peer_cell *cell, int k)
{
    const enum side all[] = {row->above, row->under, row->per, row->for_each};

    for (size_t s = 0; s < sizeof all / sizeof all[0]; ++s)
        if (all[s] != NO_SIDE && sides[all[s]].may_lack && !has(cell, all[s]))
            return false;
    /* On one device these are other rows again, or 1. */
    return k > 1 || (row->above != ONE && row->above != PRODUCTS_1 && !row->name);
}

static void add_side(struct peer_comparison *one, const struct peer_cell *cell, enum side side,
                     int k)
{
    const size_t length = strlen(one->name), room = sizeof one->name - length;

    if (sides[side].counted)
        snprintf(one->name + length, room, "%s%s%s%d", sides[side].name,
                 side == PARALLEL ? peer_parallel_name(cell) : "", side == PARALLEL ? " " : "",
                 devices_of(side, k));
    else
        snprintf(one->name + length, room, "%s", sides[side].name);
}

static void add_words(struct peer_comparison *one, const char *words)
{
    const size_t length = strlen(one->name);

    snprintf(one->name + length, sizeof one->name - length, "%s", words);
}

/* Which one is the fastest of several, of what is under the line. */
static void add_fastest(struct peer_comparison *one, const struct peer_cell *cell, enum side side,
                        int k)
{
    const enum peer_group group = sides[side].group;
    const int devices = devices_of(side, k);

    if (group == PEER_PRODUCTS && peer_makers(cell, devices) > 1)
        one->fastest = peer_fastest_maker(cell, devices, &one->rounds, &one->of);
    else if (group != PEER_NO_GROUP && peer_choice(cell, group, devices) > 1)
        one->fastest = peer_fastest(cell, group, devices);
}

static struct peer_comparison compare(const struct row *row, const struct peer_cell *cell, int k)
{
    const enum side all[] = {row->above, row->under, row->per, row->for_each};
    const size_t n_sides = row->per == NO_SIDE ? 2 : 4;
    struct peer_comparison one = {.drawn = row->drawn};
    struct peer_side held[4];

    if (row->name) {
        add_words(&one, row->name);
    } else {
        add_side(&one, cell, row->above, k);
        add_words(&one, " / ");
        add_side(&one, cell, row->under, k);
    }
    for (size_t s = 0; s < n_sides; ++s)
        held[s] = side_of(cell, all[s], k);
    one.value = peer_ratio_of(held, n_sides);
    if (!row->name)
        add_fastest(&one, cell, row->under, k);
    return one;
}

size_t peer_compare(const struct peer_record *record, const struct peer_cell *cell,
                    struct peer_comparison list[PEER_COMPARISONS])
{
    size_t n = 0;

    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r)
        if (makes_sense(&rows[r], cell, record->devices))
            list[n++] = compare(&rows[r], cell, record->devices);
    return n;
}
