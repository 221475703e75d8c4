/* composition.c: area COMP: scatter, replicate, apply and gather as one. */
#include "composition.h"
#include "check.h"
#include "state.h"
#include "values.h"

static const struct check_table *const tables[] = {
    &composition_value_table,  &values_kept_composition_table, &composition_order_table,
    &composition_repeat_table, &state_kept_composition_table,  &state_steps_composition_table,
};

static const struct check_excuse excuses[] = {
    {"COMP-07", false, "about Python's tuples; in C the inputs are always a list"},
    {"COMP-11", false, "the interface has no gradients of gradients"},
};

const struct check_area area_composition = {"COMP",  14,
                                            tables,  sizeof tables / sizeof tables[0],
                                            excuses, sizeof excuses / sizeof excuses[0]};
