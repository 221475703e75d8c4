/* record/planned.c: what the command of a header says of all that follows it.
 *
 * The header's fields are those that a sweep with this command writes, a cell is one that it plans,
 * once verified it is not run again, and the end line counts what is there. */
#include "record/planned.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/backend.h"
#include "command/device_list.h"
#include "verify/verify.h"

static int compare_places(const void *a, const void *b)
{
    const struct record_place *x = a, *y = b;

    return strcmp(x->cell_id, y->cell_id);
}

/* ---- the header ------------------------------------------------------------------------------ */

/* The backend's own; of an unknown backend what the run has. */
static const char *own_communicator(const struct record_run *run, const char *name)
{
    struct dp_backend_row backend;

    for (int i = 0; dp_backends(i, &backend); ++i)
        if (strcmp(backend.name, name) == 0)
            return backend.communicator;
    return run->communicator;
}

/* Those that the command asks for; each may call itself otherwise. */
static void planned_communicators(const struct record_run *run, const struct plan_options *plan,
                                  char text[sizeof run->communicator])
{
    size_t used = 0, i = 0;

    do {
        const char *asked = plan->n_communicators > 0 ? plan->communicator[i]
                                                      : own_communicator(run, plan->backend);
        struct dp_communicator_row row;
        char here[32];

        plan_communicator(run->communicator, i, here);
        if (command_communicator_row(here, &row) && strcmp(row.name, asked) == 0)
            asked = here;
        used += (size_t)snprintf(text + used, sizeof run->communicator - used, "%s%s",
                                 i > 0 ? "," : "", asked);
    } while (++i < plan->n_communicators && used < sizeof run->communicator);
}

static int check_texts(const struct record_run *run, const struct plan_options *plan,
                       struct text_error *err)
{
    char communicators[sizeof run->communicator];

    planned_communicators(run, plan, communicators);

    const struct {
        const char *name, *here, *planned;
    } rows[] = {
        {"scaling", run->scaling, plan->weak ? "weak" : "strong"},
        {"devices", run->devices, plan->devices},
        {"backend", run->backend, plan->backend},
        {"communicator", run->communicator, communicators},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        if (strcmp(rows[i].here, rows[i].planned) != 0)
            return record_fail(err,
                               "\"%s\" is \"%.40s\", but with this \"command\" it is \"%.40s\"",
                               rows[i].name, rows[i].here, rows[i].planned);
    return 0;
}

static int check_numbers(const struct record_run *run, const struct plan_options *plan,
                         struct text_error *err)
{
    const int devices = device_list_count(plan->devices);
    const struct {
        const char *name;
        uint64_t here, planned;
    } rows[] = {
        {"seed", run->seed, plan->seed},
        {"planned", run->planned, plan_cells(plan)},
        {"launches", (uint64_t)run->launches, plan->launches},
        {"a launcher", run->launcher[0] != '\0', plan->n_per_process > 0},
        {"slots", (uint64_t)run->n_slots, (uint64_t)(devices < 0 ? run->n_slots : devices)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        if (rows[i].here != rows[i].planned)
            return record_fail(err,
                               "\"%s\" is %" PRIu64 ", but with this \"command\" it is %" PRIu64,
                               rows[i].name, rows[i].here, rows[i].planned);
    return 0;
}

static int check_slots(const struct record_run *run, const struct plan_options *plan,
                       struct text_error *err)
{
    const size_t kind = strcspn(plan->devices, ":");
    struct dp_kind_row is;
    const bool cores = dp_kind_of(plan->devices, &is) && is.flags & DP_KIND_CORES;

    for (int i = 0; i < run->n_slots; ++i) {
        const struct record_slot *slot = &run->slot[i];

        for (int k = 0; cores && k < i; ++k)
            if (strcmp(run->slot[k].name, slot->name) == 0)
                return record_fail(err, "slots %d and %d are both \"%s\"", k, i, slot->name);

        if (strlen(slot->kind) != kind || strncmp(slot->kind, plan->devices, kind) != 0)
            return record_fail(err, "\"kind\" of slot %d is \"%s\", but \"devices\" is \"%s\"", i,
                               slot->kind, plan->devices);
        if (slot->bound != plan->bind)
            return record_fail(err, "\"bound\" of slot %d is %s, but \"command\" has --bind %s", i,
                               slot->bound ? "true" : "false", plan->bind ? "cores" : "none");
    }
    return 0;
}

static int list_cells(const struct record_run *run, struct record_plan *plan)
{
    struct plan_options one = plan->options;
    struct dp_kind_row kind;
    struct record_cell cell;

    if (dp_kind_of(run->devices, &kind) && kind.flags & DP_KIND_CORES)
        plan->cores = run->cores < run->usable_pus ? run->cores : run->usable_pus;
    one.launches = 1;
    plan->cells = plan_cells(&one);
    plan->cell = plan_make(&one, run->communicator, run->run_id);
    plan->place = calloc(plan->cells, sizeof *plan->place);
    plan->taken = calloc(run->planned, sizeof *plan->taken);
    plan->state = calloc(run->planned, sizeof *plan->state);
    if (!plan->cell || !plan->place || !plan->taken || !plan->state)
        return -1;
    for (size_t i = 0; i < plan->cells; ++i) {
        cell_identify(&plan->cell[i], &cell);
        memcpy(plan->place[i].cell_id, cell.cell_id, sizeof cell.cell_id);
        plan->place[i].index = i;
    }
    qsort(plan->place, plan->cells, sizeof *plan->place, compare_places);
    return 0;
}

int record_plan_open(const struct record_run *run, struct record_plan *plan, struct text_error *err)
{
    struct text_error why = {""};

    if (plan_read(run->command, run->n_slots, &plan->options, &why) != 0)
        return record_fail(err, "\"command\" is that of no sweep: %.180s", why.text);
    if (check_texts(run, &plan->options, err) != 0 ||
        check_numbers(run, &plan->options, err) != 0 || check_slots(run, &plan->options, err) != 0)
        return -1;
    return list_cells(run, plan) == 0
               ? 0
               : record_fail(err, "no memory for a plan of %zu cells", run->planned);
}

void record_plan_close(struct record_plan *plan)
{
    free(plan->cell);
    free(plan->place);
    free(plan->taken);
    free(plan->state);
    *plan = (struct record_plan){.cells = 0};
}

/* ---- a cell ---------------------------------------------------------------------------------- */

/* The cell of a launch that has that key; NULL: the command does not plan it. */
static const struct cell_config *find_cell(const struct record_plan *plan,
                                           const struct record_key *key)
{
    struct record_place wanted, *found;
    struct record_key first = *key;

    first.launch = 0;
    record_cell_id(&first, wanted.cell_id);
    found = bsearch(&wanted, plan->place, plan->cells, sizeof wanted, compare_places);
    return found && (size_t)key->launch < plan->options.launches ? &plan->cell[found->index] : NULL;
}

/* Values that are surely compared; record/check.c knows them of a collective. Of both sets the
 * number of shards, the rows of each, outputs, loss, gradients and updated parameters. */
static size_t least_values(const struct cell_config *cell, int shards)
{
    if (cell->mode == CELL_COLLECTIVE)
        return 0;

    const struct workload *workload = &cell->workload;
    const size_t width = workload_width(workload);

    return WORKLOAD_SETS *
           (2 + (size_t)shards + cell->rows * width + 2 * workload_params(workload));
}

/* Records of before say nothing of tokens. */
static int check_tokens(const struct record_cell *cell, const struct workload *workload,
                        struct text_error *err)
{
    const double tokens = (double)workload_tokens(workload), flops = workload_token_flops(workload);

    if (cell->tokens_per_row == 0 && isnan(cell->flops_per_token))
        return 0;
    if ((double)cell->tokens_per_row != tokens)
        return record_fail(err, "\"tokens_per_row\" is %zu, but a row of %s has %.0f",
                           cell->tokens_per_row, cell->key.workload, tokens);
    if (isnan(cell->flops_per_token) != isnan(flops) || cell->flops_per_token < flops ||
        cell->flops_per_token > flops)
        return record_fail(err, "\"flops_per_token\" is %.17g, but a token of %s takes %.17g",
                           cell->flops_per_token, cell->key.workload, flops);
    return 0;
}

/* What follows from the command, whatever was measured. */
static int check_planned(const struct record_cell *cell, const struct cell_config *planned,
                         struct text_error *err)
{
    if (planned->mode == CELL_COLLECTIVE)
        return 0; /* nothing that its key does not say */

    const double params = (double)workload_params(&planned->workload);
    const double flops = workload_flops(&planned->workload, planned->rows);

    if ((double)cell->model_params != params)
        return record_fail(err, "\"model_params\" is %zu, but %s has %.0f", cell->model_params,
                           cell->key.workload, params);
    if (cell->flops_per_step < flops || cell->flops_per_step > flops)
        return record_fail(err, "\"flops_per_step\" is %.17g, but %s with %zu rows has %.17g",
                           cell->flops_per_step, cell->key.workload, planned->rows, flops);
    return check_tokens(cell, &planned->workload, err);
}

/* What a step carries at least where its inputs start on the host: the rows, but for numbers of
 * rows of a table, which is there, and the factors of its loss. */
static double least_bytes(const struct cell_config *cell)
{
    const struct workload *workload = &cell->workload;
    const size_t inputs =
        verify_has_ranks(workload) ? workload_row(workload, WORKLOAD_INPUT).width : 0;
    const size_t width = inputs + workload_row(workload, WORKLOAD_TARGET).width;

    return (double)cell->rows * (double)(width * sizeof(float));
}

/* A command of before says nothing of the warm-up. */
static int check_warmup(const struct record_cell *cell, const struct cell_limits *limits,
                        struct text_error *err)
{
    char rule[CELL_RULE_BYTES];

    cell_warmup_rule(limits, rule);
    return limits->warmup_steps == 0 || strcmp(cell->warmup_rule, rule) == 0
               ? 0
               : record_fail(err,
                             "\"warmup_rule\" is \"%.80s\", but by \"command\" it is \"%.80s\"",
                             cell->warmup_rule, rule);
}

/* What the rank that has least of it, of those with rows, has in all steps; not measured: more than
 * any. */
static double least_of(const struct record_cell *cell, const uint64_t *ns, int ranks)
{
    double least = INFINITY;

    for (int r = 0; ns && r < ranks; ++r) {
        double sum = 0;

        for (size_t i = 0; i < cell->n_samples; ++i)
            sum += (double)*ns++;
        least = fmin(least, sum);
    }
    return least;
}

/* What a verified cell has some of. Programs before the one that compared its clock wrote 0. */
static int check_least(const struct record_cell *cell, const struct cell_config *planned,
                       struct text_error *err)
{
    const bool trains = planned->mode != CELL_COLLECTIVE, ddp = planned->mode == CELL_DDP;
    const double moved = (double)cell->model_params * sizeof(float) * (cell->n_shards - 1);
    const bool moves = trains && cell->n_shards > 1 && record_on_cores(cell);
    double peak = INFINITY;

    for (int i = 0; i < cell->n_peaks && i < cell->n_shards; ++i)
        peak = fmin(peak, (double)cell->peak_bytes[i]);

    const struct record_bound rows[] = {
        {"launch_ns", (double)cell->launch_ns, 1, INFINITY},
        {"devices_ns", (double)cell->devices_ns, 1, INFINITY},
        {"reference_ns", (double)cell->reference_ns, trains, INFINITY},
        {"verify_ns", (double)cell->verify_ns, trains, INFINITY},
        {"probe_values", (double)cell->probe_values, trains, INFINITY},
        {"exact_bits", cell->exact_bits, trains && workload_is_exact(&planned->workload), 24},
        {"peak_bytes", peak, 1, INFINITY},
        {"bytes_per_step", cell->bytes_per_step, moves ? moved : 0, INFINITY},
        {"matmul_ns", least_of(cell, cell->matmul_ns, cell->n_shards), 1, INFINITY},
        {"reduce", least_of(cell, cell->phase_ns[RECORD_REDUCE], ddp ? cell->n_shards : 1), moves,
         INFINITY},
        {"rounds_ns", cell->n_rounds, ddp ? RECORD_LEAST_ROUNDS : 0, RECORD_MOST_ROUNDS},
    };
    return isnan(cell->clock_ratio) ? 0
                                    : record_check_bounds(rows, sizeof rows / sizeof rows[0], err);
}

/* What a verified cell shows of the command. */
static int check_measured(const struct record_plan *plan, const struct record_cell *cell,
                          const struct cell_config *planned, struct text_error *err)
{
    const struct cell_limits *limits = &planned->limits, samples = cell_samples(planned);
    const size_t least = least_values(planned, cell->n_shards);
    const int devices = cell->key.n_devices;
    const size_t steps = cell->n_samples - cell->warmup_steps;

    if (cell->values_checked < least)
        return record_fail(err, "\"values_checked\" is %zu, but a verified cell of %s has %zu",
                           cell->values_checked, cell->key.workload, least);
    if (planned->host_inputs > 0 && !(cell->bytes_per_step >= least_bytes(planned)))
        return record_fail(err, "\"bytes_per_step\" is %.17g, but its inputs alone are %.17g",
                           cell->bytes_per_step, least_bytes(planned));
    /* Cores of processes may be those of other machines. */
    if (plan->cores > 0 && planned->per_process == 0 &&
        (cell->oversubscribed ? devices == 1 : devices > plan->cores))
        return record_fail(err, "\"oversubscribed\" is %s, but %d device%s ran on %d cores",
                           cell->oversubscribed ? "true" : "false", devices,
                           devices == 1 ? "" : "s", plan->cores);
    if (check_warmup(cell, limits, err) || check_least(cell, planned, err))
        return -1;
    if (steps < samples.min_steps || steps > samples.max_steps)
        return record_fail(err, "%zu %s after the warm-up, but \"command\" has --steps %zu:%zu",
                           steps, planned->chain > 0 ? "chains" : "steps", limits->min_steps,
                           limits->max_steps);
    if (steps < samples.max_steps && (double)cell->wall_ns < limits->seconds * 1e9)
        return record_fail(err,
                           "\"wall_ns\" is %" PRIu64
                           ", but \"command\" has --seconds %g and fewer than %zu steps were run",
                           cell->wall_ns, limits->seconds, samples.max_steps);
    return 0;
}

/* A cell has one place in the order, in the block of its launch, and no other cell has it; what is
 * verified is not run again. */
static int take_place(struct record_plan *plan, const struct record_cell *cell, size_t index,
                      struct text_error *err)
{
    const size_t launch = (size_t)cell->key.launch, place = launch * plan->cells + index;

    if (cell->order_index / plan->cells != launch)
        return record_fail(err, "\"order_index\" is %zu, but launch %zu has %zu to %zu",
                           cell->order_index, launch, launch * plan->cells,
                           (launch + 1) * plan->cells - 1);
    if (plan->taken[cell->order_index] != 0 && plan->taken[cell->order_index] != index + 1)
        return record_fail(err, "\"order_index\" is %zu, which another cell has",
                           cell->order_index);
    if (plan->state[place] == RECORD_PLAN_OK)
        return record_fail(err, "the cell was verified in an earlier line, and is here again");
    plan->taken[cell->order_index] = index + 1;
    plan->n_not_ok -= plan->state[place] == RECORD_PLAN_NOT_OK;
    plan->state[place] = cell->status == RECORD_OK ? RECORD_PLAN_OK : RECORD_PLAN_NOT_OK;
    plan->n_ok += cell->status == RECORD_OK;
    plan->n_not_ok += cell->status != RECORD_OK;
    return 0;
}

int record_plan_take(struct record_plan *plan, const struct record_cell *cell,
                     struct text_error *err)
{
    const struct record_key *key = &cell->key;
    const struct cell_config *planned = find_cell(plan, key);
    char amount[RECORD_AMOUNT_TEXT];

    record_amount_words(key, amount);
    if (!planned)
        return record_fail(err,
                           "\"command\" plans no cell %.60s, mode %s, %s, %s, %s, %s, %s, "
                           "launch %d",
                           key->workload, key->mode, key->devices, amount, key->dtype, key->backend,
                           key->communicator, key->launch);
    if (cell->sitting < plan->sitting)
        return record_fail(err, "\"sitting\" is %d, but %d in an earlier line", cell->sitting,
                           plan->sitting);
    plan->sitting = cell->sitting;
    if (check_planned(cell, planned, err) != 0 ||
        (cell->status == RECORD_OK && check_measured(plan, cell, planned, err) != 0))
        return -1;
    return take_place(plan, cell, (size_t)(planned - plan->cell), err);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* A sitting that was not interrupted has run all cells; one that was has left some, and counts
 * those that failed in an earlier one only if it came to them. */
int record_plan_end(const struct record_plan *plan, const struct record_end *end,
                    struct text_error *err)
{
    const size_t planned = plan->options.launches * plan->cells;

    if (end->planned != planned)
        return record_fail(err, "\"planned\" is %zu, but line 1 plans %zu cells", end->planned,
                           planned);
    if (end->ok != plan->n_ok)
        return record_fail(err, "\"ok\" is %zu, but %zu cells are ok above", end->ok, plan->n_ok);
    if (end->not_ok > plan->n_not_ok || (!end->interrupted && end->not_ok != plan->n_not_ok))
        return record_fail(err, "\"not_ok\" is %zu, but %zu cells above are not ok", end->not_ok,
                           plan->n_not_ok);
    if (end->interrupted == (end->ok + end->not_ok == planned))
        return record_fail(err, "\"interrupted\" is %s, but %zu of %zu cells are above",
                           end->interrupted ? "true" : "false", end->ok + end->not_ok, planned);
    return 0;
}
