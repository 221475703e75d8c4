/* list.c: gathers the tables of all areas. If a table is not named here, only the linker could
 * notice that it is unused; so list.h declares the tables next to this list. */
#include "list.h"

static const struct case_table *const tables[] = {
    &primitives_cases,
    &refused_cases,
    &replicate_cases,
    &apply_cases,
    &composition_cases,
    &gradient_cases,
    &parameter_cases,
    &logged_cases,
    &decorated_cases,
    &determinism_cases,
    &layer_cases,
    &sgd_cases,
    &optimizer_cases,
    &clip_cases,
    &error_cases,
    &order_cases,
    &memory_cases,
    &group_cases,
    &communicator_cases,
    &collectives_cases,
    &collective_calls_cases,
    &kernel_cases,
    &kernel_norm_cases,
    &ddp_primitives_cases,
    &distributed_cases,
    &graphs_cases,
    &graphs_training_cases,
    &distributed_order_cases,
    &distributed_sync_cases,
    &world_cases,
    &faults_cases,
    &grouping_cases,
    &torch_cases,
    &torch_transformer_cases,
    &transformer_cases,
    &image_cases,
    &state_cases,
    &models_cases,
    &math_cases,
};

const struct test_case *case_at(size_t i)
{
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; ++t) {
        if (i < tables[t]->n)
            return &tables[t]->cases[i];
        i -= tables[t]->n;
    }
    return NULL;
}

size_t case_count(void)
{
    size_t n = 0;
    while (case_at(n))
        ++n;
    return n;
}
