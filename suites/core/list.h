/* list.h: all cases, area by area. An area is one file with one table at its end. */
#ifndef CASES_LIST_H
#define CASES_LIST_H

#include "context.h"

struct case_table {
    const struct test_case *cases;
    size_t n;
};

extern const struct case_table apply_cases, coalesce_cases, composition_cases, ddp_primitives_cases,
    determinism_cases, device_cases, distributed_cases, dim_cases, error_cases, gather_cases,
    golden_cases, graphs_cases, gradient_cases, group_cases, kernel_cases, layer_cases, loss_cases,
    memory_cases, nest_cases, order_cases, output_cases, parameter_cases, replicate_cases,
    scatter_cases, sgd_cases;

size_t case_count(void);
const struct test_case *case_at(size_t i); /* NULL past the end */

#endif
