/* compare/pairs.c: `lockstep compare --ab`: runs pairs of launches, block after block.
 *
 * A block has one pair of every cell, in an order that is drawn for it. The first launch of a cell
 * decides how many steps all its other launches have, in both arms. No launch is dropped or
 * repeated: a launch that is not verified makes its cell INVALID. */
#include "compare/pairs.h"

#include "command/command.h"
#include "files/files.h"
#include "launch/watch.h"
#include "machine/machine.h"
#include "numbers/stats.h"
#include "record/json.h"
#include "record/record.h"
#include "text/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char NAME[] = "lockstep compare";

static void identify_cell(const struct cell_config *config, char id[17])
{
    struct cell_config first = *config;
    struct record_cell cell;

    first.launch = 0;
    cell_identify(&first, &cell);
    memcpy(id, cell.cell_id, 17);
}

struct place {
    char id[17];
    size_t cell;
};

static int order_by_id(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    return strcmp(a->id, b->id);
}

/* Allocates the arrays, and finds the cell at each place of the plan; the cells are numbered in the
 * order of the first block. */
static int prepare_pairs(struct pairs *pairs)
{
    const size_t cells = pairs->cells, all = cells * pairs->per_look * pairs->looks;
    const struct cell_config *plan = pairs->arm[PAIRS_OLD].plan;
    struct place *place = cli_alloc(cells, sizeof place[0]), wanted;

    pairs->cell = cli_alloc(all, sizeof pairs->cell[0]);
    pairs->pair = cli_alloc(all, sizeof pairs->pair[0]);
    pairs->steps = cli_alloc(cells, sizeof pairs->steps[0]);
    pairs->judged = cli_alloc(cells, sizeof pairs->judged[0]);
    pairs->cost = cli_alloc(cells, sizeof pairs->cost[0]);
    pairs->side = cli_alloc(PAIRS_ARMS * cells, sizeof pairs->side[0]);
    for (size_t c = 0; c < cells; ++c) {
        place[c].cell = c;
        identify_cell(&plan[c], place[c].id);
    }
    qsort(place, cells, sizeof place[0], order_by_id);
    for (size_t i = 0; i < all; ++i) {
        identify_cell(&plan[i], wanted.id);
        pairs->cell[i] =
            ((struct place *)bsearch(&wanted, place, cells, sizeof place[0], order_by_id))->cell;
    }
    free(place);
    if (machine_instance("", pairs->instance) != 0)
        return command_refuse(NAME, "the start of this machine cannot be read");
    for (int arm = 0; arm < PAIRS_ARMS; ++arm)
        if (strcmp(pairs->arm[arm].run.source, "simulated") == 0) {
            command_complain(NAME, "INVALID: times of these devices are simulated");
            return PAIRS_EXIT_INVALID;
        }
    return 0;
}

/* Keeps a line of the record, if there is one, with these members. */
static int keep_line(struct pairs *pairs, const char *type, json_t *members, bool last)
{
    json_t *root = value_object("schema:t type:t", PAIRS_SCHEMA, type);
    struct text_error why = {""};

    json_object_update_new(root, members);
    char *const line = document_text(root, JSON_COMPACT | JSON_REAL_PRECISION(12));

    if (pairs->output.fd < 0) {
        free(line);
        return 0;
    }
    if (output_append(&pairs->output, line, last, &why) == 0)
        return 0;
    return command_refuse(NAME, "%s", why.text);
}

/* Returns 0, an exit status after one line, or EXIT_INTERRUPTED. */
static int run_pair_launch(struct pairs *pairs, size_t place, int arm, struct pairs_launch *launch)
{
    struct cell_config config = pairs->arm[arm].plan[place];
    size_t *steps = &pairs->steps[pairs->cell[place]];
    struct record_cell cell;

    if (*steps > 0)
        config.limits.min_steps = config.limits.max_steps =
            *steps * (config.chain > 0 ? config.chain : 1);
    if (launch_cell(pairs->arm[arm].program, &config, pairs->arm[arm].sweep.timeout, &cell, NULL) !=
        0)
        return EXIT_INTERRUPTED;

    pairs_launch_of(&cell, launch);
    if (launch->status == RECORD_OK)
        exact_add(&pairs->side[pairs->cell[place] * PAIRS_ARMS + (size_t)arm], &cell);
    record_cell_free(&cell);
    if (*steps == 0)
        *steps = launch->steps;
    return 0;
}

/* Runs the pairs up to the next interim analysis: both launches of each pair, in an order that is
 * drawn. */
static int run_pairs(struct pairs *pairs)
{
    const size_t all = pairs->cells * pairs->n;
    const bool terminal = isatty(STDERR_FILENO);
    struct watch watch;
    int status = 0;

    watch_start(&watch);
    for (size_t place = pairs->done; place < all && status == 0; ++place) {
        const size_t cell = pairs->cell[place], number = place / pairs->cells;
        struct pairs_pair *pair = &pairs->pair[number * pairs->cells + cell];
        uint64_t order = place;

        order = pairs->seed ^ random_next(&order);
        pair->first = (int)(random_next(&order) & 1);
        for (int i = 0; i < PAIRS_ARMS && status == 0; ++i) {
            const int arm = i == 0 ? pair->first : PAIRS_OLD + PAIRS_NEW - pair->first;

            status = run_pair_launch(pairs, place, arm, &pair->launch[arm]);
        }
        if (status == 0)
            status = keep_line(pairs, "pair", pairs_pair_json(pairs, cell, number), false);
        pairs->done += status == 0;
        if (status == 0 && (place + 1) % pairs->cells == 0 &&
            (terminal || 10 * (number + 1) / pairs->n > 10 * number / pairs->n))
            fprintf(stderr, "%zu of %zu pairs of each of %zu cells, %.0f s\n", number + 1, pairs->n,
                    pairs->cells, watch_seconds(&watch));
    }
    watch_close(&watch);
    if (status == EXIT_INTERRUPTED)
        command_complain(NAME, "interrupted: %zu of %zu pairs %s done; %s", pairs->done, all,
                         text_are(pairs->done),
                         pairs->look > 1
                             ? "only the first interim analysis was judged, in the record"
                             : "nothing was judged");
    return status;
}

/* Runs and judges until the result is settled, and prints it. */
static int run_and_report(struct pairs *pairs)
{
    int status = 0;
    bool last = false;

    while (status == 0 && !last) {
        pairs->n += pairs->per_look;
        ++pairs->look;
        status = run_pairs(pairs);
        if (status == 0)
            pairs_sum_up(pairs);
        for (size_t c = 0; c <= pairs->cells && status == 0; ++c)
            status = keep_line(pairs, "verdict", pairs_verdict_json(pairs, c), false);
        last = pairs->look == pairs->looks || pairs_settled(pairs);
    }
    if (status == EXIT_INTERRUPTED &&
        keep_line(pairs, "end", pairs_end_json(pairs, true), true) != 0)
        return EXIT_MISUSE;
    for (size_t i = 0; status == 0 && i < pairs->changes->n; ++i)
        status = keep_line(pairs, "change", exact_change_json(&pairs->changes->change[i]), false);
    if (status == 0)
        status = keep_line(pairs, "end", pairs_end_json(pairs, false), true);
    if (status != 0)
        return status;
    status = compare_print(&pairs_page, pairs, pairs->cells, pairs->options.format,
                           pairs->options.verbose);
    if (pairs->options.figure && pairs_forest(pairs, pairs->options.figure) != 0)
        status = EXIT_MISUSE;
    return status == 0 ? pairs_exit(pairs) : status;
}

int pairs_main(const struct compare_options *options)
{
    struct pairs *pairs = cli_alloc(1, sizeof *pairs);
    struct core_locks locks = {.fd = NULL};
    struct text_error why = {""};

    pairs->output.fd = -1;

    int status = pairs_options(options, pairs);
    const char *const path = pairs->arm[PAIRS_OLD].sweep.out;

    stop_watch_signals(); /* before there is a file that would have no end */
    if (status == 0)
        status = pairs_ask(pairs);
    if (status == 0)
        status = prepare_pairs(pairs);
    /* The cores of both arms are locked, as a sweep locks those that it uses; a core of both arms
     * is locked once. */
    const struct record_run *const other = &pairs->arm[PAIRS_NEW].run;
    struct record_run *both = cli_alloc(1, sizeof *both);

    if (status == 0) {
        *both = pairs->arm[PAIRS_OLD].run;
        for (int i = 0; i < other->n_slots && both->n_slots < RECORD_MAX_SLOTS; ++i)
            both->slot[both->n_slots++] = other->slot[i];
        status = core_locks_take("", NAME, both, pairs->arm[PAIRS_OLD].sweep.wait, &locks);
        if (status == 0 && locks.note.text[0] != '\0')
            command_complain(NAME, "%s", locks.note.text);
    }
    free(both);
    if (status == 0 && path[0] != '\0') {
        if (output_open(&pairs->output, path, false, &why) != 0 ||
            output_repair(&pairs->output, &why) != 0)
            status = command_refuse(NAME, "%s", why.text);
        else
            status = keep_line(pairs, "begin", pairs_begin_json(pairs), false);
    }
    if (status == 0)
        status = run_and_report(pairs);
    core_locks_release(&locks);
    output_close(&pairs->output);
    for (int arm = 0; arm < PAIRS_ARMS; ++arm)
        free(pairs->arm[arm].plan);
    free(pairs->cell);
    free(pairs->pair);
    free(pairs->steps);
    free(pairs->judged);
    free(pairs->cost);
    free(pairs->side);
    free(pairs->sorted);
    free(pairs->changes);
    free(pairs);
    return status;
}
