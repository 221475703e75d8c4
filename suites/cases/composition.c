/* composition.c: area COMP: scatter, replicate, apply and gather as one. */
#include "composition.h"
#include "check.h"
#include "state.h"
#include "values.h"

enum { DP = PROFILE_DATAPARALLEL };
#define PARALLEL   IMPL_CAP_PARALLEL
#define TRACE      (IMPL_CAP_PARALLEL | IMPL_CAP_TRACE)
#define TRAFFIC    (IMPL_CAP_PARALLEL | IMPL_CAP_TRACE | IMPL_CAP_TRAFFIC)
#define FUNCTIONAL (IMPL_CAP_PARALLEL | IMPL_CAP_FUNCTIONAL)
#define ARGUMENTS  (IMPL_CAP_PARALLEL | IMPL_CAP_ARGUMENTS)
#define MEMORY     (IMPL_CAP_PARALLEL | IMPL_CAP_TRACE | IMPL_CAP_MEMORY)

/* id, rule, obligation, evidence, profiles, needs, devices, run, limit, dialect, choice */
static const struct check_case cases[] = {
    {"COMP-01.golden", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, comp_golden, 0, 0, 0},
    {"COMP-01.network", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, comp_network, 0, 0, 0},
    {"COMP-01.every_size", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, comp_every_size, 0, 0, 0},
    {"COMP-01.delay", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 2, comp_delay, 0, 0, 0},
    {"COMP-01.large", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, comp_large, 0, 0, 0},
    {"COMP-01.shapes", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, comp_shapes, 0, 0, 0},
    {"COMP-01.special", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, comp_special, 0, 0, 0},
    {"COMP-01.wide_rows", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, comp_wide_rows, 0, 0, 0},
    {"COMP-01.zero_sign", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, values_zero_sign, 0, 0, 0},
    {"COMP-02.mean", "COMP-02", MUST, OBSERVED, DP, PARALLEL, 1, comp_shard_mean, 0, 0, 0},
    {"COMP-02.size", "COMP-02", MUST, OBSERVED, DP, PARALLEL, 1, comp_shard_size, 0, 0, 0},
    {"COMP-03.check_scatter", "COMP-03", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     comp_check_before_scatter, 0, 0, 0},
    {"COMP-03.check_apply", "COMP-03", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     comp_check_before_apply, 0, 0, 0},
    {"COMP-03.scatter_apply", "COMP-03", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     comp_scatter_before_apply, 0, 0, 0},
    {"COMP-03.apply_gather", "COMP-03", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     comp_apply_before_gather, 0, 0, 0},
    {"COMP-04.direct", "COMP-04", MUST, OBSERVED, DP, PARALLEL, 1, comp_direct, 0, 0, 0},
    {"COMP-04.moved", "COMP-04", MUST, REPORTED, DP, PARALLEL, 1, comp_direct_moved, 0, 0, 0},
    {"COMP-04.traffic", "COMP-04", MUST, REPORTED, DP, TRAFFIC, 1, comp_direct_traffic, 0, 0, 0},
    {"COMP-05.one_row", "COMP-05", MUST, OBSERVED, DP, PARALLEL, 2, comp_one_row, 0, 0, 0},
    {"COMP-05.thread", "COMP-05", MUST, REPORTED, DP, TRACE, 2, comp_one_row_thread, 0, 0, 0},
    {"COMP-06.wrapper_moves", "COMP-06", MUST, OBSERVED, DP, PARALLEL, 1, comp_wrapper_moves, 0, 0,
     0},
    {"COMP-06.wrapper_keeps", "COMP-06", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, comp_wrapper_keeps,
     0, 0, 0},
    {"COMP-06.functional", "COMP-06", MUST, OBSERVED, DP, FUNCTIONAL, 1, comp_functional, 0, 0, 0},
    {"COMP-06.functional_keeps", "COMP-06", MUST_REFUSE, OBSERVED, DP, FUNCTIONAL, 1,
     comp_functional_keeps, 0, 0, 0},
    {"COMP-06.functional_dim", "COMP-06", MUST, OBSERVED, DP, FUNCTIONAL, 2, comp_functional_dim, 0,
     0, 0},
    {"COMP-06.functional_output", "COMP-06", MUST, REPORTED, DP, FUNCTIONAL, 2,
     comp_functional_output, 0, 0, 0},
    {"COMP-08.constant", "COMP-08", MUST, OBSERVED, DP, PARALLEL, 1, comp_constant, 0, 0, 0},
    {"COMP-08.once", "COMP-08", MUST, REPORTED, DP, TRACE, 2, comp_constant_once, 0, 0, 0},
    {"COMP-09.all", "COMP-09", MUST, OBSERVED, DP, ARGUMENTS, 2, comp_arguments_all, 0,
     IMPL_ARGUMENTS_ONLY, IMPL_ALL},
    {"COMP-09.once", "COMP-09", MUST, OBSERVED, DP, ARGUMENTS, 2, comp_arguments_once, 0,
     IMPL_ARGUMENTS_ONLY, IMPL_CALL},
    {"COMP-10.two_forwards", "COMP-10", MUST, OBSERVED, DP, PARALLEL, 1, comp_two_forwards, 0, 0,
     0},
    {"COMP-10.interleaved", "COMP-10", MUST, OBSERVED, DP, PARALLEL, 1, comp_interleaved, 0, 0, 0},
    {"COMP-10.two_models", "COMP-10", MUST, OBSERVED, DP, PARALLEL, 1, comp_two_models, 0, 0, 0},
    {"COMP-10.once_each", "COMP-10", MUST_REFUSE, OBSERVED, DP, PARALLEL, 1, comp_once_each, 0, 0,
     0},
    {"COMP-10.deep", "COMP-10", MUST, OBSERVED, DP, PARALLEL, 1, comp_deep, 0, 0, 0},
    {"COMP-10.input_kept", "COMP-10", MUST, OBSERVED, DP, PARALLEL, 1, comp_input_kept, 0, 0, 0},
    {"COMP-10.refilled", "COMP-10", MUST, OBSERVED, DP, PARALLEL, 1, state_refilled, 0, 0, 0},
    {"COMP-12.thousand", "COMP-12", MUST, OBSERVED, DP, PARALLEL, 1, state_resident, 120000, 0, 0},
    {"COMP-12.live_thousand", "COMP-12", MAY, REPORTED, DP, MEMORY, 1, state_live, 120000, 0, 0},
    {"COMP-12.resident", "COMP-12", MUST, OBSERVED, DP, PARALLEL, 1, comp_resident, 0, 0, 0},
    {"COMP-12.inference", "COMP-12", MUST, OBSERVED, DP, PARALLEL, 1, comp_resident_inference, 0, 0,
     0},
    {"COMP-12.idle", "COMP-12", MUST, OBSERVED, DP, PARALLEL, 1, comp_resident_idle, 0, 0, 0},
    {"COMP-12.live", "COMP-12", MAY, REPORTED, DP, MEMORY, 1, comp_live, 0, 0, 0},
    {"COMP-12.live_errors", "COMP-12", MAY, REPORTED, DP, MEMORY, 2, comp_live_errors, 0, 0, 0},
    {"COMP-13.models", "COMP-13", MUST, OBSERVED, DP, PARALLEL, 1, state_models, 0, 0, 0},
    {"COMP-13.sessions", "COMP-13", MUST, OBSERVED, DP, PARALLEL, 1, state_sessions, 0, 0, 0},
    {"COMP-14.many_steps", "COMP-14", MUST, OBSERVED, DP, PARALLEL, 1, state_many_steps, 30000, 0,
     0},
};

static const struct check_excuse excuses[] = {
    {"COMP-07", false, "about Python's tuples; in C the inputs are always a list"},
    {"COMP-11", false, "the interface has no gradients of gradients"},
};

const struct check_area area_composition = {
    "COMP", 14, cases, sizeof cases / sizeof cases[0], excuses, sizeof excuses / sizeof excuses[0]};
