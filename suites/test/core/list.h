/* list.h: all cases, area by area. An area is one file with one table at its end. */
#ifndef CASES_LIST_H
#define CASES_LIST_H

#include "context.h"

struct case_table {
    const struct test_case *cases;
    size_t n;
};

extern const struct case_table apply_cases;
extern const struct case_table collectives_cases;
extern const struct case_table collective_calls_cases;
extern const struct case_table composition_cases;
extern const struct case_table ddp_primitives_cases;
extern const struct case_table decorated_cases;
extern const struct case_table determinism_cases;
extern const struct case_table distributed_cases;
extern const struct case_table distributed_order_cases;
extern const struct case_table distributed_sync_cases;
extern const struct case_table error_cases;
extern const struct case_table faults_cases;
extern const struct case_table gradient_cases;
extern const struct case_table graphs_cases;
extern const struct case_table graphs_training_cases;
extern const struct case_table group_cases;
extern const struct case_table grouping_cases;
extern const struct case_table communicator_cases;
extern const struct case_table image_cases;
extern const struct case_table kernel_cases;
extern const struct case_table kernel_norm_cases;
extern const struct case_table layer_cases;
extern const struct case_table logged_cases;
extern const struct case_table math_cases;
extern const struct case_table memory_cases;
extern const struct case_table models_cases;
extern const struct case_table order_cases;
extern const struct case_table parameter_cases;
extern const struct case_table primitives_cases;
extern const struct case_table refused_cases;
extern const struct case_table replicate_cases;
extern const struct case_table sgd_cases;
extern const struct case_table optimizer_cases;
extern const struct case_table clip_cases;
extern const struct case_table state_cases;
extern const struct case_table torch_cases;
extern const struct case_table torch_transformer_cases;
extern const struct case_table transformer_cases;
extern const struct case_table world_cases;

size_t case_count(void);
const struct test_case *case_at(size_t i); /* NULL past the end */

#endif
