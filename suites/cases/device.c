/* device.c: area DEV: where a module, its replicas and its inputs are. */
#include "device.h"
#include "check.h"

enum { DP = PROFILE_DATAPARALLEL };
#define PARALLEL IMPL_CAP_PARALLEL
#define TRACE    (IMPL_CAP_PARALLEL | IMPL_CAP_TRACE)

/* id, rule, obligation, evidence, profiles, needs, devices, run, limit, dialect, choice */
static const struct check_case cases[] = {
    {"DEV-01.accepted", "DEV-01", MUST, OBSERVED, DP, PARALLEL, 2, dev_accepted, 0, 0, 0},
    {"DEV-01.single", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, dev_refused_single, 0, 0,
     0},
    {"DEV-01.host", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, dev_refused_host, 0, 0, 0},
    {"DEV-01.spread", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, dev_refused_spread, 0, 0,
     0},
    {"DEV-01.moved", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, dev_refused_moved, 0, 0, 0},
    {"DEV-01.names", "DEV-01", MUST_REFUSE, REPORTED, DP, PARALLEL, 2, dev_names, 0, 0, 0},
    {"DEV-01.buffer", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, dev_buffer, 0, 0, 0},
    {"DEV-01.frozen", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, dev_frozen, 0, 0, 0},
    {"DEV-01.one_device", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 1, dev_moved_away, 0, 0,
     0},
    {"DEV-01.inference", "DEV-01", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, dev_inference, 0, 0, 0},
    {"DEV-02.wrap_then_move", "DEV-02", MUST, OBSERVED, DP, PARALLEL, 2, dev_wrap_then_move, 0, 0,
     0},
    {"DEV-03.tags", "DEV-03", MUST, REPORTED, DP, PARALLEL, 1, dev_order, 0, 0, 0},
    {"DEV-03.base", "DEV-03", MUST, REPORTED, DP, PARALLEL, 1, dev_order_base, 0, 0, 0},
    {"DEV-03.trace", "DEV-03", MUST, REPORTED, DP, TRACE, 2, dev_order_trace, 0, 0, 0},
    {"DEV-03.rows", "DEV-03", MUST, OBSERVED, DP, PARALLEL, 1, dev_order_rows, 0, 0, 0},
    {"DEV-03.permutations", "DEV-03", MUST, REPORTED, DP, PARALLEL, 3, dev_permutations, 0, 0, 0},
    {"DEV-04.anywhere", "DEV-04", MUST, OBSERVED, DP, PARALLEL, 1, dev_inputs, 0, 0, 0},
    {"DEV-04.apart", "DEV-04", MUST, OBSERVED, DP, PARALLEL, 1, dev_inputs_apart, 0, 0, 0},
    {"DEV-04.integers", "DEV-04", MUST, OBSERVED, DP, PARALLEL, 1, dev_integers, 0, 0, 0},
    {"DEV-05.all", "DEV-05", MUST, OBSERVED, DP, PARALLEL, 1, dev_all, 0, 0, 0},
    {"DEV-05.order", "DEV-05", MUST, REPORTED, DP, PARALLEL, 1, dev_all_order, 0, 0, 0},
    {"DEV-07.refused", "DEV-07", MUST_REFUSE, OBSERVED, DP, PARALLEL, 1, dev_duplicates_refused, 0,
     IMPL_DUPLICATES, IMPL_REFUSE},
    {"DEV-07.right", "DEV-07", MUST, OBSERVED, DP, PARALLEL, 1, dev_duplicates_right, 0,
     IMPL_DUPLICATES, IMPL_ACCEPT},
    {"DEV-09.alone", "DEV-09", MUST, OBSERVED, DP, PARALLEL, 2, dev_spread_alone, 0, 0, 0},
    {"DEV-09.wrapped", "DEV-09", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, dev_spread_wrapped, 0, 0,
     0},
};

static const struct check_excuse excuses[] = {
    {"DEV-06", false, "a device is a number here; there are no device objects"},
    {"DEV-08", false, "the interface has no warnings and does not tell the size of a device"},
};

const struct check_area area_device = {
    "DEV", 9, cases, sizeof cases / sizeof cases[0], excuses, sizeof excuses / sizeof excuses[0]};
