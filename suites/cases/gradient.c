/* gradient.c: area GRAD: the sum of gradients, and the gradients of inputs. */
#include "gradient.h"
#include "check.h"
#include "state.h"
#include "values.h"

static const struct check_table *const tables[] = {
    &gradient_golden_table,      &gradient_sum_table,
    &gradient_more_table,        &gradient_kept_table,
    &gradient_input_table,       &gradient_unused_table,
    &gradient_reduce_table,      &values_gradient_gradient_table,
    &state_steps_gradient_table,
};

static const struct check_excuse excuses[] = {
    {"GRAD-14", false, "no layer of the interface has a buffer that needs a gradient"},
};

const struct check_area area_gradient = {"GRAD",  20,
                                         tables,  sizeof tables / sizeof tables[0],
                                         excuses, sizeof excuses / sizeof excuses[0]};
