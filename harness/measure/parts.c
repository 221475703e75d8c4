/* measure/parts.c: measures matrix products in rounds that visit all devices, so that other load of
 * the machine affects all of them alike; then the copies.
 *
 * A product is that of a linear layer, x W. Both operands have one small integer per row times one
 * per column, so every sum is exact and the answer is known without a second product. */
#include "measure/measure.h"
#include "text/alloc.h"

#include <stdlib.h>
#include <string.h>

/* The phases that the products of a turn are timed as; nothing else here uses them. A turn has
 * several products, because on a busy machine a device waits longer for its turn than it
 * computes. */
static const enum dp_phase timed[] = {DP_PHASE_LOSS, DP_PHASE_UPDATE, DP_PHASE_GATHER,
                                      DP_PHASE_SCATTER};

enum { LEAST_SAMPLES = 5, TIMED = sizeof timed / sizeof timed[0] };
/* Sizes of the matrices. For a core it is the largest size at which its caches still hold both
 * operands; for a GPU it is large enough to fill it. */
static const size_t SIZE_OF_CORE = 256, SIZE_OF_GPU = 4096;

struct products {
    struct dp_group *group;
    int devices;
    size_t size;
    struct dp_module *linear, *turn;
    struct dp_replicas *replicas;
    struct dp_tensor in[DP_MAX_SLOTS], out[DP_MAX_SLOTS][DP_MAX_IO];
    int whose;    /* the device that computes now; -1: all */
    int timed;    /* samples of a turn */
    size_t chain; /* products of a sample */
    struct dp_trace trace;
    float *host; /* size * size */
};

/* ---- numbers ------------------------------------------------------------------------------ */

static float left_number(size_t row, size_t inner)
{
    return (float)(1 + row % 3) * (float)(inner % 2 ? -1 - (int)(inner % 5) : 1 + (int)(inner % 3));
}

/* A number of the weight: W[output][inner]. */
static float right_number(size_t output, size_t inner)
{
    return (float)(1 + output % 2) * (float)(1 + inner % 4);
}

static void fill_matrix(float host[], size_t size, float (*number)(size_t, size_t))
{
    for (size_t i = 0; i < size * size; ++i)
        host[i] = number(i / size, i % size);
}

/* ---- products ----------------------------------------------------------------------------- */

static int product(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                   struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    dp_run_reset(run);
    return dp_forward(dp_module_child(module, 0), run, in, 1, out, n_out, err);
}

/* Runs on the worker of each device; only the device whose turn it is does anything. It has waited
 * while others had their turns, so a first product, which is not timed, brings the operands back
 * into its caches. */
static int product_forward(struct dp_module *module, struct dp_run *run,
                           const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                           int *n_out, struct dp_error *err)
{
    struct products *p = dp_module_self(module);
    int status = 0;

    (void)n_in;
    *n_out = 0;
    if (p->whose >= 0 && p->whose != dp_run_replica(run))
        return 0;
    if (p->whose >= 0)
        status = product(module, run, in, out, n_out, err);
    for (int t = 0; t < p->timed; ++t) {
        const struct dp_span span = dp_phase_within(dp_run_slot(run), timed[t], DP_PHASE_FORWARD);

        for (size_t i = 0; status == 0 && i < p->chain; ++i)
            status = product(module, run, in, out, n_out, err);
        dp_phase_end(&span);
    }
    return status;
}

static int open_products(struct products *p, struct dp_error *err)
{
    static const struct dp_module_ops ops = {"turn", product_forward, measure_no_backward, NULL};
    struct dp_slot *slot[DP_MAX_SLOTS];
    struct dp_param *weight;
    int status;

    p->host = session_floats(p->size * p->size);
    if (!p->host)
        return dp_fail(err, DP_ENOMEM, "no memory for a product of size %zu", p->size);
    for (int d = 0; d < p->devices; ++d)
        slot[d] = dp_group_slot(p->group, d);
    fill_matrix(p->host, p->size, right_number);
    if ((status = dp_linear(p->group, p->size, p->size, false, &p->linear, err)) ||
        (status = dp_module_open(p->group, &ops, p, &p->linear, 1, &p->turn, err)) ||
        (status = dp_module_to(p->turn, slot[0], err)))
        return status;
    (void)dp_module_params(p->turn, &weight, 1);
    if ((status = dp_tensor_write(&weight->value, p->host, err)) ||
        (status = dp_replicas_open(p->turn, slot, p->devices, &p->replicas, err)) ||
        (status = dp_replicate(p->replicas, p->devices, err)))
        return status;
    fill_matrix(p->host, p->size, left_number);
    for (int d = 0; d < p->devices && status == 0; ++d) {
        const size_t dim[] = {p->size, p->size};

        dp_run_grad_mode(dp_replicas_run(p->replicas, d), false);
        if ((status = dp_tensor_alloc(slot[d], DP_F32, 2, dim, &p->in[d], err)) == 0)
            status = dp_tensor_write(&p->in[d], p->host, err);
    }
    dp_group_trace(p->group, &p->trace);
    return status;
}

int measure_no_backward(struct dp_module *module, struct dp_run *run,
                        const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                        int n_in, struct dp_error *err)
{
    (void)module, (void)run, (void)grad_out, (void)n_out, (void)grad_in, (void)n_in;
    return dp_fail(err, DP_EINVAL, "what is measured has no backward");
}

/* Runs the products; afterwards the trace has the times of the devices that computed. */
static int compute(struct products *p, int whose, struct dp_error *err)
{
    struct dp_call call[DP_MAX_SLOTS];
    int status;

    for (int d = 0; d < p->devices; ++d)
        call[d] =
            (struct dp_call){p->turn, dp_replicas_run(p->replicas, d), &p->in[d], 1, p->out[d], 0};
    p->whose = whose;
    memset(&p->trace, 0, sizeof p->trace);
    status = dp_apply(call, p->devices, err);
    if (status == 0)
        status = dp_group_wait(p->group, err);
    return status ? status : dp_trace_read(p->group, err);
}

static uint64_t time_of(const struct products *p, int device, int t)
{
    return p->trace.replica[device].ns[timed[t]];
}

/* Stores the times of a device; samples are [sample][device]. */
static void take_times(const struct products *p, int device, uint64_t ns[])
{
    for (int t = 0; t < p->timed; ++t)
        ns[t * p->devices + device] = time_of(p, device, t);
}

/* Runs a round in which the devices take turns. The order is reversed in every second round, so
 * that no device is always after the same one. */
static int in_turn(struct products *p, size_t round, uint64_t ns[], struct dp_error *err)
{
    int status = 0;

    for (int i = 0; status == 0 && i < p->devices; ++i) {
        const int device = round % 2 == 0 ? i : p->devices - 1 - i;

        status = compute(p, device, err);
        take_times(p, device, ns);
    }
    return status;
}

static int at_once(struct products *p, size_t round, uint64_t ns[], struct dp_error *err)
{
    const int status = compute(p, -1, err);

    (void)round;
    for (int d = 0; d < p->devices; ++d)
        take_times(p, d, ns);
    return status;
}

typedef int round_fn(struct products *p, size_t round, uint64_t ns[], struct dp_error *err);

/* Checks the last product of every device. */
static int check_products(const struct products *p, struct dp_error *err)
{
    float sum = 0;
    int status = 0;

    for (size_t k = 0; k < p->size; ++k)
        sum += left_number(0, k) * right_number(0, k);
    for (int d = 0; status == 0 && d < p->devices; ++d) {
        status = dp_tensor_read(p->host, &p->out[d][0], err);
        for (size_t i = 0; status == 0 && i < p->size * p->size; ++i) {
            const float want = (float)(1 + i / p->size % 3) * (float)(1 + i % p->size % 2) * sum;

            if (!(p->host[i] == want))
                return dp_fail(err, DP_EFAULT, "value %zu of a product on %s is %g, not %g", i,
                               dp_slot_name(dp_group_slot(p->group, d)), (double)p->host[i],
                               (double)want);
        }
    }
    return status;
}

/* Runs rounds; the first one only warms up. Samples are kept as [sample][device] until their number
 * is known. */
static int run_product_rounds(struct products *p, round_fn *round, double seconds,
                              enum record_part part, struct record_cell *cell, struct dp_error *err)
{
    const size_t devices = (size_t)p->devices, each = (size_t)p->timed;
    uint64_t *ns = cli_alloc(RECORD_MOST_PARTS * devices, sizeof *ns), start;
    size_t n = 0;
    int status = round(p, 1, ns, err);

    if (status == 0)
        status = check_products(p, err);
    start = watch_clock_ns();
    while (status == 0 && n + each <= RECORD_MOST_PARTS &&
           (n < LEAST_SAMPLES || session_seconds_since(start) < seconds)) {
        status = round(p, n / each, ns + n * devices, err);
        n += each;
    }
    if (status == 0)
        status = check_products(p, err);
    if (status == 0)
        record_part_alloc(cell, part, n);
    for (size_t i = 0; status == 0 && i < n * devices; ++i)
        cell->part[part].ns[i % devices * n + i / devices] = ns[i];
    cell->part[part].work = 2 * (uint64_t)p->size * p->size * p->size * p->chain;
    free(ns);
    return status;
}

/* ---- all ---------------------------------------------------------------------------------- */

int measure_parts(struct dp_group *group, const struct cell_config *config,
                  struct record_cell *cell, struct dp_error *err)
{
    const int devices = dp_group_size(group);
    const double seconds = config->parts;
    struct products *products;
    uint64_t longest = 1;
    struct dp_slot_info info;
    int status;

    dp_slot_describe(dp_group_slot(group, 0), &info);
    if (!(seconds > 0) || info.lag || measure_modes[config->mode].wide_blas)
        return 0;
    products = cli_alloc(1, sizeof *products);
    products->group = group;
    products->devices = devices;
    products->size = info.flags & DP_KIND_GPU ? SIZE_OF_GPU : SIZE_OF_CORE;
    products->chain = 1;
    products->timed = TIMED;
    status = open_products(products, err);
    if (status == 0)
        status = run_product_rounds(products, in_turn, seconds, RECORD_PRODUCT, cell, err);
    /* A sample has so many products that all samples together fill the given time. */
    for (int d = 0; status == 0 && d < devices; ++d)
        longest = time_of(products, d, 0) > longest ? time_of(products, d, 0) : longest;
    products->timed = 1;
    products->chain = 1 + (size_t)(1e9 * seconds / RECORD_MOST_PARTS / (double)longest);
    if (status == 0)
        status = run_product_rounds(products, at_once, seconds, RECORD_SUSTAINED, cell, err);
    dp_group_trace(group, NULL);
    for (int d = 0; d < devices; ++d)
        dp_tensor_free(&products->in[d]);
    dp_replicas_close(products->replicas);
    dp_module_close(products->turn);
    dp_module_close(products->linear);
    free(products->host);
    free(products);
    if (status == 0 && devices > 1)
        status = measure_copies(group, seconds, cell, err);
    if (status == 0)
        status = measure_memory(group, seconds, cell, err);
    if (status != 0)
        record_parts_free(cell);
    return status;
}
