/* record/planned.c: what the command in a header says about all lines that follow.
 *
 * The fields of the header are those that a sweep with this command writes. Each cell is one that
 * the sweep plans, and is not run again after it was verified. The end line counts what is there.
 */
#include "record/reading.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/device_list.h"
#include "dp.h"
#include "record/record.h"
#include "text/alloc.h"
#include "verify/verify.h"

static int compare_places(const void *a, const void *b)
{
    const struct planned_place *x = a, *y = b;

    return strcmp(x->cell_id, y->cell_id);
}

/* ---- the header ------------------------------------------------------------------------------ */

/* Writes the communicators that the command asks for. In the run, each of them may have a name of
 * another form. */
static void planned_communicators(const struct record_run *run, const struct plan_options *plan,
                                  char text[sizeof run->communicator])
{
    const char *own = run->communicator; /* that the backend has by default; so if it is unknown */
    struct dp_backend_row backend;
    size_t used = 0, i = 0;

    for (int b = 0; dp_backends(b, &backend); ++b)
        if (strcmp(backend.name, plan->backend) == 0)
            own = backend.communicator;
    do {
        const char *asked = plan->n_communicators > 0 ? plan->communicator[i] : own;
        struct dp_communicator_row row;
        char here[32];

        plan_communicator(run->communicator, i, here);
        if (dp_communicator_of(here, &row) && strcmp(row.name, asked) == 0)
            asked = here;
        used += (size_t)snprintf(text + used, sizeof run->communicator - used, "%s%s",
                                 i > 0 ? "," : "", asked);
    } while (++i < plan->n_communicators && used < sizeof run->communicator);
}

static int check_header(const struct record_run *run, const struct plan_options *plan,
                        struct text_error *err)
{
    const int devices = device_list_count(plan->devices);
    char communicators[sizeof run->communicator];
    const struct {
        const char *name, *here, *planned;
    } texts[] = {
        {"scaling", run->scaling, plan->weak ? "weak" : "strong"},
        {"devices", run->devices, plan->devices},
        {"backend", run->backend, plan->backend},
        {"communicator", run->communicator, communicators},
    };
    const struct {
        const char *name;
        uint64_t here, planned;
    } rows[] = {
        {"seed", run->seed, plan->seed},
        {"planned", run->planned, plan_cells(plan)},
        {"launches", (uint64_t)run->launches, plan->launches},
        {"launcher", run->launcher[0] != '\0', plan->n_per_process > 0},
        {"slots", (uint64_t)run->n_slots, (uint64_t)(devices < 0 ? run->n_slots : devices)},
    };

    planned_communicators(run, plan, communicators);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i)
        if (strcmp(texts[i].here, texts[i].planned) != 0)
            return record_fail(err,
                               "\"%s\" is \"%.40s\", but with this \"command\" it is \"%.40s\"",
                               texts[i].name, texts[i].here, texts[i].planned);
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
                return record_fail(err, "\"name\" of slots %d and %d is \"%s\"", k, i, slot->name);

        if (strlen(slot->kind) != kind || strncmp(slot->kind, plan->devices, kind) != 0 ||
            strncmp(slot->name, plan->devices, kind + 1) != 0)
            return record_fail(err,
                               "\"kind\" of slot %d, whose \"name\" is \"%s\", is \"%s\", but "
                               "\"devices\" is \"%s\"",
                               i, slot->name, slot->kind, plan->devices);
        if (slot->bound != plan->bind)
            return record_fail(err, "\"bound\" of slot %d is %s, but \"command\" has --bind %s", i,
                               slot->bound ? "true" : "false", plan->bind ? "cores" : "none");
    }
    return 0;
}

int record_plan_open(const struct record_run *run, struct record_plan *plan, struct text_error *err)
{
    struct text_error why = {""};
    struct dp_kind_row kind;
    struct record_cell cell;

    if (plan_read(run->command, run->n_slots, &plan->options, &why) != 0)
        return record_fail(err, "\"command\" is that of no sweep: %.180s", why.text);
    if (check_header(run, &plan->options, err) != 0 || check_slots(run, &plan->options, err) != 0)
        return -1;

    struct plan_options one = plan->options;

    one.launches = 1;
    if (dp_kind_of(run->devices, &kind) && kind.flags & DP_KIND_CORES)
        plan->cores = run->cores < run->usable_pus ? run->cores : run->usable_pus;
    plan->clocked = run->clocked;
    plan->memory = run->mem_bytes > 0 ? (double)run->mem_bytes : INFINITY;
    plan->cells = plan_cells(&one);
    plan->cell = plan_make(&one, run->communicator, run->run_id);
    plan->place = cli_alloc(plan->cells, sizeof *plan->place);
    plan->taken = cli_alloc(run->planned, sizeof *plan->taken);
    plan->state = cli_alloc(run->planned, sizeof *plan->state);
    for (size_t i = 0; i < plan->cells; ++i) {
        cell_identify(&plan->cell[i], &cell);
        memcpy(plan->place[i].cell_id, cell.cell_id, sizeof cell.cell_id);
        plan->place[i].index = i;
    }
    qsort(plan->place, plan->cells, sizeof *plan->place, compare_places);
    return 0;
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

/* Returns -1 for an unknown number, so that unknown numbers compare as equal. */
static double known_or_less(double number)
{
    return isnan(number) ? -1 : number;
}

/* Checks numbers that follow from the command alone. Older records do not have tokens. */
static int check_planned(const struct record_cell *cell, const struct cell_config *planned,
                         struct text_error *err)
{
    if (planned->mode == CELL_COLLECTIVE)
        return 0; /* its key says all of it */

    const struct workload *workload = &planned->workload;
    const bool messages = cell->tokens_per_row > 0 || !isnan(cell->flops_per_token);
    const double params = (double)workload_params(workload);
    const double flops = workload_flops(workload, planned->rows);
    const double tokens = messages ? (double)workload_tokens(workload) : 0;
    const double of_token = messages ? known_or_less(workload_token_flops(workload)) : -1;
    const struct record_bound rows[] = {
        {"model_params", (double)cell->model_params, params, params},
        {"flops_per_step", cell->flops_per_step, flops, flops},
        {"tokens_per_row", (double)cell->tokens_per_row, tokens, tokens},
        {"flops_per_token", known_or_less(cell->flops_per_token), of_token, of_token},
    };

    return record_check_bounds(rows, sizeof rows / sizeof rows[0], err);
}

/* The smallest sum over all steps among the ranks that have rows; INFINITY if it was not measured.
 */
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

/* More than a core can compute in a nanosecond: its matrix unit for bfloat16 does 8192 operations.
 */
static const double MOST_RATE = 1e4;

/* Checks where a verified cell ran, and how it was warmed up. */
static int check_conditions(const struct record_plan *plan, const struct record_cell *cell,
                            const struct cell_config *planned, struct text_error *err)
{
    const int devices = cell->key.n_devices;
    char rule[CELL_RULE_BYTES];

    /* The cores of several processes may be on other machines. */
    if (plan->cores > 0 && planned->per_process == 0 &&
        (cell->oversubscribed ? devices == 1 : devices > plan->cores))
        return record_fail(err, "\"oversubscribed\" is %s, but %d device%s ran on %d cores",
                           cell->oversubscribed ? "true" : "false", devices,
                           devices == 1 ? "" : "s", plan->cores);
    /* A command of an older program says nothing about the warm-up. */
    cell_warmup_rule(&planned->limits, rule);
    if (planned->limits.warmup_steps != 0 && strcmp(cell->warmup_rule, rule) != 0)
        return record_fail(err, "\"warmup_rule\" is \"%.80s\", but by \"command\" it is \"%.80s\"",
                           cell->warmup_rule, rule);
    return 0;
}

/* Checks what a verified cell shows about the command: its amounts. */
static int check_measured(const struct record_plan *plan, const struct record_cell *cell,
                          const struct cell_config *planned, struct text_error *err)
{
    const struct workload *workload = &planned->workload;
    const int devices = cell->key.n_devices;
    const bool trains = planned->mode != CELL_COLLECTIVE, ddp = planned->mode == CELL_DDP;
    const bool messages = plan->clocked || !isnan(cell->clock_ratio),
               exact = trains && workload_is_exact(workload);
    /* The cores of several processes may be on other machines. */
    const bool here = plan->cores > 0 && planned->per_process == 0;
    const bool moves = messages && trains && cell->n_shards > 1 && record_on_cores(cell);
    const double rate = here ? MOST_RATE * plan->cores : INFINITY;
    const struct cell_limits samples = cell_samples(planned);
    const size_t warmup = cell->warmup_steps, n = cell->n_samples;
    const double wait = n < warmup + samples.max_steps ? samples.seconds * 1e9 : 0;
    double inputs = -1, values = 0, peak = INFINITY, most_peak = 0;

    /* The values that are compared at least; for a collective, record/check.c knows them. For both
     * sets of data: the number of shards, the rows of each, outputs, loss, gradients and updated
     * parameters. */
    if (trains)
        values = (double)(WORKLOAD_SETS *
                          (2 + (size_t)cell->n_shards + planned->rows * workload_width(workload) +
                           2 * workload_params(workload)));
    /* The bytes that a step copies at least if its inputs start on the host: its rows and the
     * factors of its loss. Inputs that are numbers of rows of a table do not count, because the
     * table is on the host, too. */
    if (planned->host_inputs > 0)
        inputs = (double)planned->rows * sizeof(float) *
                 (double)(workload_row(workload, WORKLOAD_TARGET).width +
                          (verify_has_ranks(workload) ? workload_row(workload, WORKLOAD_INPUT).width
                                                      : 0));
    for (int i = 0; i < cell->n_peaks; ++i) {
        peak = i < cell->n_shards ? fmin(peak, (double)cell->peak_bytes[i]) : peak;
        most_peak = fmax(most_peak, (double)cell->peak_bytes[i]);
    }
    /* Programs that did not yet compare clocks wrote 0 for some of these. */
    const struct record_bound rows[] = {
        {"values_checked", (double)cell->values_checked, values, INFINITY},
        {"n_samples", (double)n, (double)(warmup + samples.min_steps),
         (double)(warmup + samples.max_steps)},
        {"wall_ns", (double)cell->wall_ns, wait, INFINITY},
        {"clock_ratio", messages ? cell->clock_ratio : 1, 0, INFINITY},
        {"launch_ns", (double)cell->launch_ns, messages, INFINITY},
        {"devices_ns", (double)cell->devices_ns, messages, INFINITY},
        {"reference_ns", (double)cell->reference_ns, messages && trains, INFINITY},
        {"verify_ns", (double)cell->verify_ns, messages && trains, INFINITY},
        {"probe_values", (double)cell->probe_values, messages && trains, INFINITY},
        {"exact_bits", cell->exact_bits, messages && exact, 24},
        {"peak_bytes", cell->n_peaks, messages ? devices : 0, INFINITY},
        {"peak_bytes", peak, messages, INFINITY},
        {"peak_bytes", most_peak, 0, here ? plan->memory : INFINITY},
        {"bytes_per_step", known_or_less(cell->bytes_per_step), moves ? fmax(1, inputs) : inputs,
         INFINITY},
        {"matmul_ns", least_of(cell, cell->matmul_ns, cell->n_shards), messages, INFINITY},
        {"reduce", least_of(cell, cell->phase_ns[RECORD_REDUCE], ddp ? cell->n_shards : 1), moves,
         INFINITY},
        {"rounds_ns", cell->n_rounds, messages && ddp && exact ? RECORD_LEAST_ROUNDS : 0,
         RECORD_MOST_ROUNDS},
        {"min_ns", cell->min_ns, cell->flops_per_step / rate, INFINITY},
    };

    return record_check_bounds(rows, sizeof rows / sizeof rows[0], err);
}

int record_plan_take(struct record_plan *plan, const struct record_cell *cell,
                     struct text_error *err)
{
    const struct record_key *key = &cell->key;
    const size_t launch = (size_t)key->launch, order = cell->order_index;
    struct planned_place wanted, *found;
    struct record_key first = *key;
    char amount[RECORD_AMOUNT_TEXT];

    first.launch = 0;
    record_cell_id(&first, wanted.cell_id);
    found = bsearch(&wanted, plan->place, plan->cells, sizeof wanted, compare_places);
    record_amount_words(key, amount);
    if (!found || launch >= plan->options.launches)
        return record_fail(err,
                           "\"command\" plans no cell %.60s, mode %s, %s, %s, %s, %s, %s, "
                           "launch %d",
                           key->workload, key->mode, key->devices, amount, key->dtype, key->backend,
                           key->communicator, key->launch);
    if (cell->sitting < plan->sitting)
        return record_fail(err, "\"sitting\" is %d, but %d in an earlier line", cell->sitting,
                           plan->sitting);
    plan->sitting = cell->sitting;
    const struct cell_config *planned = &plan->cell[found->index];
    const size_t place = launch * plan->cells + found->index, taken = found->index + 1;

    if (check_planned(cell, planned, err) != 0 ||
        (cell->status == RECORD_OK && (check_conditions(plan, cell, planned, err) != 0 ||
                                       check_measured(plan, cell, planned, err) != 0)))
        return -1;
    /* A cell has one place in the order, in the block of its launch, which no other cell has. A
     * cell that was verified is not run again. */
    if (order / plan->cells != launch)
        return record_fail(err, "\"order_index\" is %zu, but launch %zu has %zu to %zu", order,
                           launch, launch * plan->cells, (launch + 1) * plan->cells - 1);
    if (plan->taken[order] != 0 && plan->taken[order] != taken)
        return record_fail(err, "\"order_index\" is %zu, which another cell has", order);
    if (plan->state[place] == RECORD_PLAN_OK)
        return record_fail(err, "the cell was verified in an earlier line, and is here again");
    plan->taken[order] = taken;
    plan->n_not_ok -= plan->state[place] == RECORD_PLAN_NOT_OK;
    plan->state[place] = cell->status == RECORD_OK ? RECORD_PLAN_OK : RECORD_PLAN_NOT_OK;
    plan->n_ok += cell->status == RECORD_OK;
    plan->n_not_ok += cell->status != RECORD_OK;
    return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Checks the end line. A session that was not interrupted has run all cells. One that was
 * interrupted has left some, and counts cells that failed in an earlier session only if it came to
 * them. */
int record_plan_end(const struct record_plan *plan, const struct record_end *end,
                    struct text_error *err)
{
    const size_t planned = plan->options.launches * plan->cells, not_ok = plan->n_not_ok;
    const bool rest = end->ok + end->not_ok != planned;
    const struct record_bound rows[] = {
        {"planned", (double)end->planned, (double)planned, (double)planned},
        {"ok", (double)end->ok, (double)plan->n_ok, (double)plan->n_ok},
        {"not_ok", (double)end->not_ok, end->interrupted ? 0 : (double)not_ok, (double)not_ok},
        {"interrupted", end->interrupted, rest, rest},
    };

    return record_check_bounds(rows, sizeof rows / sizeof rows[0], err);
}
