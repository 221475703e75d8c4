/* replicate.c: area REPL: replicas of a module, copies of tensors. */
#include "replicate_cases.h"
#include "values.h"

static const struct check_table *const tables[] = {
    &replicate_fresh_table,       &replicate_more_table,   &replicate_copies_table,
    &values_kept_replicate_table, &replicate_params_table,
};

static const struct check_excuse excuses[] = {
    {"REPL-04", false, "about a tutorial's own code, whose values are right; traffic is REPL-03"},
    {"REPL-16", false, "about two ways of calling: impl_broadcast has devices and always outputs"},
    {"REPL-19", false, "about complex numbers, which impl.h does not have"},
    {"REPL-20", false, "about parameters without a shape, which a description cannot contain"},
};

const struct check_area area_replicate = {
    "REPL",  20,
    tables,  sizeof tables / sizeof tables[0],
    excuses, sizeof excuses / sizeof excuses[0],
};
