/* record_proof.c: an ok cell must show that it was measured and checked, or it is not read. */
#include "record_example.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void a_bad_flag(struct record_cell *cell)
{
    cell->flags[3] = RECORD_BAD_VALUES;
    record_derive(cell);
}

static void a_step_left_out(struct record_cell *cell)
{
    cell->flags[5] = RECORD_WARMUP;
    record_derive(cell);
}

static void an_outlier_more(struct record_cell *cell)
{
    cell->flags[2] |= RECORD_MILD;
}

static void a_step_without_time(struct record_cell *cell)
{
    cell->t_step_ns[2] = 0;
    record_derive(cell);
}

static void all_warmup(struct record_cell *cell)
{
    cell->warmup_steps = 8;
    record_derive(cell);
}

static void no_ranks(struct record_cell *cell)
{
    cell->n_ranks = 0;
}

static void no_batch(struct record_cell *cell)
{
    cell->key.global_batch = 0;
    cell->n_shards = 0;
}

static void longer_list(struct record_cell *cell)
{
    snprintf(cell->key.devices, sizeof cell->key.devices, "virt:20");
}

static void other_devices(struct record_cell *cell)
{
    cell->key.n_devices = 3;
}

static void no_devices_of_another_kind(struct record_cell *cell)
{
    snprintf(cell->key.devices, sizeof cell->key.devices, "other:0");
    cell->key.n_devices = 0;
}

static void no_devices(struct record_cell *cell)
{
    cell->key.n_devices = 0;
}

static void alone_on_two(struct record_cell *cell)
{
    snprintf(cell->key.mode, sizeof cell->key.mode, "plain");
}

/* The model is whole there. */
static void split_without_wrapper(struct record_cell *cell)
{
    snprintf(cell->key.mode, sizeof cell->key.mode, "plain-mt");
}

static void no_backward(struct record_cell *cell)
{
    memset(cell->phase_ns[RECORD_BACKWARD] + 8, 0, 8 * sizeof(uint64_t));
    record_derive(cell);
}

static void one_forward_less(struct record_cell *cell)
{
    cell->phase_ns[RECORD_FORWARD][8 + 6] = 0;
    record_derive(cell);
}

static void no_update(struct record_cell *cell)
{
    memset(cell->phase_ns[RECORD_UPDATE], 0, 8 * sizeof(uint64_t));
    record_derive(cell);
}

static void no_phases(struct record_cell *cell)
{
    for (int p = 0; p < RECORD_PHASES; ++p) {
        free(cell->phase_ns[p]);
        cell->phase_ns[p] = NULL;
    }
    record_derive(cell);
}

static void no_loss(struct record_cell *cell)
{
    free(cell->phase_ns[RECORD_LOSS]);
    cell->phase_ns[RECORD_LOSS] = NULL;
    record_derive(cell);
}

static void products_longer_than_steps(struct record_cell *cell)
{
    for (size_t i = 0; i < cell->n_samples * (size_t)cell->n_ranks; ++i)
        cell->matmul_ns[i] = 2 * cell->t_step_ns[i % cell->n_samples];
    record_derive(cell);
}

static void more_hidden(struct record_cell *cell)
{
    example_ranks(cell);
    cell->hidden_frac = 0.8;
}

static void hidden_that_is_cut(struct record_cell *cell)
{
    example_ranks(cell);
    for (int i = 0; i < cell->n_rounds; ++i)
        cell->round_ns[RECORD_WHOLE][i] = 150;
    cell->whole_ns = 150;
    cell->hidden_frac = 0;
}

static void another_median(struct record_cell *cell)
{
    example_ranks(cell);
    cell->round_ns[RECORD_COMM][0] = 50;
    cell->round_ns[RECORD_COMM][5] = 60;
}

static void few_rounds(struct record_cell *cell)
{
    example_ranks(cell);
    cell->n_rounds = 4;
}

static void rounds_of_no_ranks(struct record_cell *cell)
{
    cell->n_rounds = 5;
}

static void ranks_alone(struct record_cell *cell)
{
    example_ranks(cell);
    cell->n_alone = 5;
}

/* Adds a step for the phases of each sample, which is longer by that time. */
static void with_phased(struct record_cell *cell, uint64_t more)
{
    cell->phased_ns = calloc(cell->n_samples, sizeof cell->phased_ns[0]);
    cr_assert(cell->phased_ns);
    for (size_t i = 0; i < cell->n_samples; ++i)
        cell->phased_ns[i] = cell->t_step_ns[i] + more;
    record_derive(cell);
}

static void phases_in_a_shorter_step(struct record_cell *cell)
{
    with_phased(cell, 10);
    cell->phased_ns[4] = 1;
    record_derive(cell);
}

static void another_cost_of_phases(struct record_cell *cell)
{
    with_phased(cell, 10);
    cell->tracing_ns = 9;
}

static void phased_steps_of_a_chain(struct record_cell *cell)
{
    cell->key.chain = 1;
    with_phased(cell, 10);
}

static void hidden_of_nothing(struct record_cell *cell)
{
    example_ranks(cell);
    cell->n_rounds = 0;
    cell->comm_alone_ns = NAN;
}

/* The rows of each replica were carried to it, in time. */
static void no_copy(struct record_cell *cell)
{
    cell->key.host_inputs = 1;
    free(cell->phase_ns[RECORD_SCATTER]);
    cell->phase_ns[RECORD_SCATTER] = NULL;
    record_derive(cell);
}

static void no_copy_to_one(struct record_cell *cell)
{
    cell->key.host_inputs = 1;
    cell->phase_ns[RECORD_SCATTER][8 + 4] = 0;
    record_derive(cell);
}

static void no_copy_to_ranks(struct record_cell *cell)
{
    example_ranks(cell);
    cell->key.host_inputs = 1;
}

static void inputs_elsewhere(struct record_cell *cell)
{
    cell->key.host_inputs = 2;
}

/* A record is evidence: a cell that does not show that it was measured and checked is refused. */
Test(record_proof, unproven_cells_are_refused)
{
    static const struct {
        void (*change)(struct record_cell *cell);
        const char *named;
    } list[] = {
        {a_bad_flag, "step 3 has bad values"},
        {a_step_left_out, "step 5 is left out"},
        {an_outlier_more, "does not follow"},
        {a_step_without_time, "no time"},
        {all_warmup, "no step was measured"},
        {no_ranks, "\"n_ranks\" is 0, outside 2 to 2"},
        {no_batch, "\"shard_rows\" is"},
        {longer_list, "\"n_devices\" is 2, outside 20 to 20"},
        {other_devices, "\"n_devices\" is 3, outside 2 to 2"},
        {no_devices_of_another_kind, "\"n_devices\" is 0, outside 1"},
        {no_devices, "\"n_devices\" is 0, outside 1"},
        {alone_on_two, "\"n_devices\" is 2, outside 1 to 1"},
        {split_without_wrapper, "is not how mode plain-mt splits"},
        {no_backward, "backward of replica 1"},
        {one_forward_less, "step 6 has no time for forward of replica 1"},
        {no_update, "update of replica 0"},
        {no_phases, "forward of replica 0"},
        {no_loss, "loss of replica 0"},
        {products_longer_than_steps, "\"outside_frac\" is -1, outside 0"},
        {more_hidden, "\"hidden_frac\" is 0.8"},
        {hidden_of_nothing, "\"hidden_frac\" is 0.75"},
        {hidden_that_is_cut, "\"hidden_frac\" is 0, but its three times give -0.25"},
        {another_median, "\"comm_alone_ns\" is 40, outside 45.5 to 45.5"},
        {few_rounds, "\"rounds_ns\" is 4, outside 5 to 11"},
        {phases_in_a_shorter_step, "step 4 took 1 ns, but"},
        {another_cost_of_phases, "\"tracing_ns\" does not follow"},
        {phased_steps_of_a_chain, "mode dp on 2 devices has no \"phased_ns\""},
        {ranks_alone, "mode ddp on 2 devices has no \"alone_ns\""},
        {rounds_of_no_ranks, "mode dp on 2 devices has no \"rounds_ns\""},
        {no_copy, "step 0 has no time for scatter of replica 0"},
        {no_copy_to_one, "step 4 has no time for scatter of replica 1"},
        {no_copy_to_ranks, "step 0 has no time for scatter of replica 0"},
        {inputs_elsewhere, "\"host_inputs\" is 2, outside 0 to 1"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        struct record_cell cell = example_cell(0);
        list[i].change(&cell);
        record_cell_id(&cell.key, cell.cell_id);
        char *text = record_cell_text(&cell);
        example_refused(text, list[i].named);
        free(text);
        record_cell_free(&cell);
    }
}
