/* gradient.c: area GRAD: the sum of gradients, and the gradients of inputs. */
#include "gradient.h"
#include "check.h"
#include "state.h"
#include "values.h"

enum {
    DP = PROFILE_DATAPARALLEL,
    PRIMITIVE = PROFILE_PRIMITIVES,
    PARALLEL = IMPL_CAP_PARALLEL,
    REDUCE = IMPL_CAP_REDUCE
};

/* id, rule, obligation, evidence, profiles, needs, devices, run, limit, dialect, choice */
static const struct check_case cases[] = {
    {"GRAD-01.ones", "GRAD-01", MUST, OBSERVED, DP, PARALLEL, 1, grad_sum_of_ones, 0, 0, 0},
    {"GRAD-01.replicas", "GRAD-01", MUST, OBSERVED, DP, PARALLEL, 1, grad_each_replica, 0, 0, 0},
    {"GRAD-01.dead_shard", "GRAD-01", MUST, OBSERVED, DP, PARALLEL, 1, grad_dead_shard, 0, 0, 0},
    {"GRAD-02.rows", "GRAD-02", MUST, OBSERVED, DP, PARALLEL, 1, grad_rows, 0, 0, 0},
    {"GRAD-02.two_steps", "GRAD-02", MUST, OBSERVED, DP, PARALLEL, 1, grad_two_steps, 0, 0, 0},
    {"GRAD-02.inference", "GRAD-02", MUST, OBSERVED, DP, PARALLEL, 1, grad_two_steps_inference, 0,
     0, 0},
    {"GRAD-03.network", "GRAD-03", MUST, OBSERVED, DP, PARALLEL, 1, grad_network, 0, 0, 0},
    {"GRAD-03.large", "GRAD-03", MUST, OBSERVED, DP, PARALLEL, 1, grad_large, 0, 0, 0},
    {"GRAD-03.many", "GRAD-03", MUST, OBSERVED, DP, PARALLEL, 1, grad_many, 0, 0, 0},
    {"GRAD-04.prefilled", "GRAD-04", MUST, OBSERVED, DP, PARALLEL, 1, grad_prefilled, 0, 0, 0},
    {"GRAD-04.one_of_two", "GRAD-04", MUST, OBSERVED, DP, PARALLEL, 1, grad_half_prefilled, 0, 0,
     0},
    {"GRAD-04.many", "GRAD-04", MUST, OBSERVED, DP, PARALLEL, 1, grad_network_batches, 0, 0, 0},
    {"GRAD-05.not_zeroed", "GRAD-05", MUST, OBSERVED, DP, PARALLEL, 1, grad_not_zeroed, 0, 0, 0},
    {"GRAD-05.outside", "GRAD-05", MUST, OBSERVED, DP, PARALLEL, 2, grad_cleared_outside, 0, 0, 0},
    {"GRAD-06.device", "GRAD-06", MUST, REPORTED, DP, PARALLEL, 1, grad_place, 0, 0, 0},
    {"GRAD-06.moved", "GRAD-06", MUST, REPORTED, DP, PARALLEL, 1, grad_moved, 0, 0, 0},
    {"GRAD-07.rows", "GRAD-07", MUST, OBSERVED, DP, PARALLEL, 1, grad_input_rows, 0, 0, 0},
    {"GRAD-07.delay", "GRAD-07", MUST, OBSERVED, DP, PARALLEL, 2, grad_input_delay, 0, 0, 0},
    {"GRAD-07.shape", "GRAD-07", MUST, OBSERVED, DP, PARALLEL, 1, grad_input_shape, 0, 0, 0},
    {"GRAD-07.device", "GRAD-07", MUST, REPORTED, DP, PARALLEL, 1, grad_input_device, 0, 0, 0},
    {"GRAD-07.apart", "GRAD-07", MUST, REPORTED, DP, PARALLEL, 2, grad_inputs_apart, 0, 0, 0},
    {"GRAD-07.misfit", "GRAD-07", MUST_REFUSE, OBSERVED, DP, PARALLEL, 1, grad_input_misfit, 0, 0,
     0},
    {"GRAD-08.rows", "GRAD-08", MUST, OBSERVED, DP, PARALLEL, 1, grad_input_cut, 0, 0, 0},
    {"GRAD-08.output", "GRAD-08", MUST, OBSERVED, DP, PARALLEL, 1, grad_input_missing, 0, 0, 0},
    {"GRAD-09.both", "GRAD-09", MUST, OBSERVED, DP, PARALLEL, 1, grad_inputs_both, 0, 0, 0},
    {"GRAD-09.one", "GRAD-09", MUST, OBSERVED, DP, PARALLEL, 1, grad_inputs_one, 0, 0, 0},
    {"GRAD-09.none", "GRAD-09", MUST, OBSERVED, DP, PARALLEL, 1, grad_input_none, 0, 0, 0},
    {"GRAD-10.table", "GRAD-10", MUST, OBSERVED, DP, PARALLEL, 1, grad_table, 0, 0, 0},
    {"GRAD-11.one_device", "GRAD-11", MUST, OBSERVED, DP, PARALLEL, 1, grad_unused_one, 0, 0, 0},
    {"GRAD-11.zero", "GRAD-11", MUST, OBSERVED, DP, PARALLEL, 2, grad_unused_zero, 0, IMPL_UNUSED,
     IMPL_ZERO},
    {"GRAD-11.zero_momentum", "GRAD-11", MUST, OBSERVED, DP, PARALLEL, 2, grad_unused_momentum, 0,
     IMPL_UNUSED, IMPL_ZERO},
    {"GRAD-11.absent", "GRAD-11", MUST, OBSERVED, DP, PARALLEL, 2, grad_unused_absent, 0,
     IMPL_UNUSED, IMPL_ABSENT},
    {"GRAD-12.branch", "GRAD-12", MUST, OBSERVED, DP, PARALLEL, 1, grad_branch, 0, 0, 0},
    {"GRAD-12.last_replica", "GRAD-12", MUST, OBSERVED, DP, PARALLEL, 2, grad_branch_third, 0, 0,
     0},
    {"GRAD-13.embedding", "GRAD-13", MUST, OBSERVED, DP, PARALLEL, 1, grad_embedding, 0, 0, 0},
    {"GRAD-15.values", "GRAD-15", MUST, OBSERVED, PRIMITIVE, REDUCE, 1, grad_reduce_values, 0, 0,
     0},
    {"GRAD-15.shapes", "GRAD-15", MUST_REFUSE, OBSERVED, PRIMITIVE, REDUCE, 2, grad_reduce_shapes,
     0, 0, 0},
    {"GRAD-15.host", "GRAD-15", MUST_REFUSE, OBSERVED, PRIMITIVE, REDUCE, 2, grad_reduce_host, 0, 0,
     0},
    {"GRAD-15.elsewhere", "GRAD-15", MUST_REFUSE, OBSERVED, PRIMITIVE, REDUCE, 2,
     grad_reduce_elsewhere, 0, 0, 0},
    {"GRAD-16.base", "GRAD-16", MUST, OBSERVED, DP, PARALLEL, 1, grad_reaches_base, 0, 0, 0},
    {"GRAD-16.network", "GRAD-16", MUST, OBSERVED, DP, PARALLEL, 1, grad_network_step, 0, 0, 0},
    {"GRAD-17.momentum", "GRAD-17", MUST, OBSERVED, DP, PARALLEL, 1, grad_momentum, 0, 0, 0},
    {"GRAD-17.between", "GRAD-17", MUST, OBSERVED, DP, PARALLEL, 2, grad_momentum_between, 0, 0, 0},
    {"GRAD-17.none", "GRAD-17", MUST, OBSERVED, DP, PARALLEL, 1, grad_momentum_none, 0, 0, 0},
    {"GRAD-17.ragged", "GRAD-17", MUST, OBSERVED, DP, PARALLEL, 1, grad_momentum_ragged, 0, 0, 0},
    {"GRAD-18.not_finite", "GRAD-18", MUST, OBSERVED, DP, PARALLEL, 1, values_not_finite, 30000, 0,
     0},
    {"GRAD-18.small", "GRAD-18", MUST, OBSERVED, DP, PARALLEL, 1, values_small, 0, 0, 0},
    {"GRAD-19.rates", "GRAD-19", MUST, OBSERVED, DP, PARALLEL, 1, state_rate, 30000, 0, 0},
    {"GRAD-19.ranks", "GRAD-19", MUST, OBSERVED, PROFILE_DDP, IMPL_CAP_DDP, 0, state_rate_ranks,
     30000, 0, 0},
};

static const struct check_excuse excuses[] = {
    {"GRAD-14", false, "no layer of the interface has a buffer that needs a gradient"},
};

const struct check_area area_gradient = {
    "GRAD", 19, cases, sizeof cases / sizeof cases[0], excuses, sizeof excuses / sizeof excuses[0]};
