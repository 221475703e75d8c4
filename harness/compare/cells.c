/* compare/cells.c: launches of both files sorted so that those of one cell stand together, and
 * what is counted of them.
 *
 * A cell is what it was told to run: all of its key but the launch. */
#include "compare/exact.h"

#include "record/roles.h"

#include <stdlib.h>

static int compare_keys(const void *left, const void *right)
{
    const struct compare_launch *const *a = left, *const *b = right;

    return record_order(record_key_fields, RECORD_APART, &(*a)->row->cell->key,
                        &(*b)->row->cell->key);
}

static int compare_launches(const void *left, const void *right)
{
    const struct compare_launch *a = left, *b = right;

    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->side != b->side ? a->side - b->side : report_launch_order(a->row, b->row);
}

/* The place of each key in the order of keys, by the first launch of each stretch of one key: keys
 * are many words, and the rows of a file are sorted already. first: room for all launches. */
static void find_places(struct compare *compare, struct compare_launch *first[])
{
    size_t n = 0, place = 0;

    for (size_t i = 0; i < compare->n_launches; ++i) {
        struct compare_launch *launch = &compare->launch[i];

        if (n == 0 || compare_keys(&first[n - 1], &launch) != 0)
            first[n++] = launch;
    }
    qsort(first, n, sizeof first[0], compare_keys);
    for (size_t i = 0; i < n; ++i) {
        place += i > 0 && compare_keys(&first[i - 1], &first[i]) != 0;
        first[i]->place = place;
        first[i]->leads = true;
    }
    for (size_t i = 1; i < compare->n_launches; ++i)
        if (!compare->launch[i].leads)
            compare->launch[i].place = compare->launch[i - 1].place;
}

static int collect(struct compare *compare)
{
    struct compare_launch **first;

    for (int side = 0; side < COMPARE_SIDES; ++side)
        for (size_t i = 0; i < compare->report[side].n_all; ++i)
            compare->launch[compare->n_launches++] =
                (struct compare_launch){.row = &compare->report[side].row[i], .side = side};
    first = calloc(compare->n_launches + 1, sizeof *first);
    if (!first)
        return -1;
    find_places(compare, first);
    free(first);
    qsort(compare->launch, compare->n_launches, sizeof compare->launch[0], compare_launches);
    return 0;
}

/* The launches first..end-1 are those of one cell. */
static void add_cell(struct compare *compare, size_t first, size_t end)
{
    struct compare_cell cell = {.first = first, .key = &compare->launch[first].row->cell->key};

    for (size_t i = first; i < end; ++i) {
        ++cell.n[compare->launch[i].side];
        cell.verified[compare->launch[i].side] += compare->launch[i].row->verified;
    }
    compare->only[COMPARE_A] += cell.n[COMPARE_B] == 0;
    compare->only[COMPARE_B] += cell.n[COMPARE_A] == 0;
    if (cell.n[COMPARE_A] > 0 && cell.n[COMPARE_B] > 0)
        compare->cell[compare->n_cells++] = cell;
}

int compare_cells(struct compare *compare)
{
    const size_t most = compare->report[COMPARE_A].n_all + compare->report[COMPARE_B].n_all;

    compare->launch = calloc(most + 1, sizeof compare->launch[0]);
    compare->cell = calloc(most + 1, sizeof compare->cell[0]);
    if (!compare->launch || !compare->cell || collect(compare) != 0)
        return -1;
    for (size_t first = 0, end; first < compare->n_launches; first = end) {
        for (end = first + 1; end < compare->n_launches &&
                              compare->launch[first].place == compare->launch[end].place;)
            ++end;
        add_cell(compare, first, end);
    }
    return 0;
}

int compare_exact(struct compare *compare)
{
    compare->changes = exact_room(compare->n_cells);
    if (!compare->changes)
        return -1;
    for (size_t c = 0; c < compare->n_cells; ++c) {
        const struct compare_cell *cell = &compare->cell[c];
        struct exact_side side[COMPARE_SIDES] = {{.launches = 0}};

        for (size_t i = cell->first; i < cell->first + cell->n[COMPARE_A] + cell->n[COMPARE_B]; ++i)
            if (compare->launch[i].row->verified)
                exact_add(&side[compare->launch[i].side], compare->launch[i].row->cell);
        exact_compare(side, c, compare->changes);
    }
    return 0;
}
