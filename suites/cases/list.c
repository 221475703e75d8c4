/* list.c: the areas, in the order of RULES.md, and the cases of each. */
#include "check.h"

extern const struct check_area area_split;
extern const struct check_area area_replicate;
extern const struct check_area area_apply;
extern const struct check_area area_gather;
extern const struct check_area area_composition;
extern const struct check_area area_gradient;
extern const struct check_area area_loss;
extern const struct check_area area_buffer;
extern const struct check_area area_device;
extern const struct check_area area_output;
extern const struct check_area area_dim;
extern const struct check_area area_nest;
extern const struct check_area area_cpu;
extern const struct check_area area_structure;
extern const struct check_area area_argument;
extern const struct check_area area_error;
extern const struct check_area area_ddp;
extern const struct check_area area_coalesce;
extern const struct check_area area_determinism;
extern const struct check_area area_cost;
extern const struct check_area area_agree;
extern const struct check_area area_size;
extern const struct check_area area_count;
extern const struct check_area area_shape;
extern const struct check_area area_gpt;

const struct check_area *const check_areas[] = {
    &area_split,    &area_replicate, &area_apply,    &area_gather,      &area_composition,
    &area_gradient, &area_loss,      &area_buffer,   &area_device,      &area_output,
    &area_dim,      &area_nest,      &area_cpu,      &area_structure,   &area_argument,
    &area_error,    &area_ddp,       &area_coalesce, &area_determinism, &area_cost,
    &area_agree,    &area_size,      &area_count,    &area_shape,       &area_gpt,
};
const int check_n_areas = sizeof check_areas / sizeof check_areas[0];

int check_area_size(const struct check_area *area)
{
    int n = 0;

    for (int t = 0; t < area->n_tables; ++t)
        n += area->tables[t]->n;
    return n;
}

const struct check_case *check_area_case(const struct check_area *area, int i)
{
    for (int t = 0; t < area->n_tables; i -= area->tables[t++]->n)
        if (i < area->tables[t]->n)
            return &area->tables[t]->cases[i];
    return NULL;
}
