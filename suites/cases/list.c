/* list.c: the areas, in the order of RULES.md, with the tables of their cases, and the rules that
 * have no case. */
#include "check.h"

#include <string.h>

/* ---- tables ---------------------------------------------------------------------------------- */

extern const struct check_table split_table, split_scatter_table, split_model_table,
    state_kept_split_table, values_kept_split_table;
extern const struct check_table replicate_fresh_table, replicate_more_table, replicate_copies_table,
    values_kept_replicate_table, replicate_params_table;
extern const struct check_table apply_table, apply_model_table, apply_fault_table,
    failure_second_table;
extern const struct check_table gather_table, gather_model_table, values_kept_gather_table;
extern const struct check_table composition_value_table, values_kept_composition_table,
    composition_order_table, composition_repeat_table, state_kept_composition_table,
    state_steps_composition_table;
extern const struct check_table gradient_golden_table, gradient_sum_table, gradient_more_table,
    gradient_kept_table, gradient_input_table, gradient_unused_table, gradient_reduce_table,
    values_gradient_gradient_table, state_steps_gradient_table;
extern const struct check_table loss_table;
extern const struct check_table buffer_table, buffer_norm_table, state_norm_table;
extern const struct check_table device_table_table, device_list_table;
extern const struct check_table output_table;
extern const struct check_table dim_table;
extern const struct check_table nest_table, nest_mixed_table;
extern const struct check_table cpu_table;
extern const struct check_table structure_table;
extern const struct check_table argument_table, state_kept_argument_table;
extern const struct check_table error_table, error_shape_table, error_state_table;
extern const struct check_table ddp_training_table, ddp_models_table, state_steps_ddp_table,
    ddp_loss_table, values_gradient_ddp_table, ddp_unlike_table, ddp_buffers_table, ddp_join_table,
    state_kept_ddp_table, ddp_table, ddp_buckets_table, ddp_sync_table, ddp_unused_table,
    ddp_types_table, ddp_calls_table, failure_ranks_table;
extern const struct check_table coalesce_table, values_kept_coalesce_table;
extern const struct check_table determinism_table, ddp_training_determinism_table;
extern const struct check_table cost_table, ddp_buckets_cost_table;
extern const struct check_table agree_table;
extern const struct check_table size_table;
extern const struct check_table count_table, count_ranks_table;
extern const struct check_table shape_table;
extern const struct check_table gpt_layers_table, gpt_attention_table, gpt_clip_table,
    gpt_adamw_table;

static const struct check_table *const split[] = {&split_table, &split_scatter_table,
                                                  &split_model_table, &state_kept_split_table,
                                                  &values_kept_split_table};
static const struct check_table *const replicate[] = {
    &replicate_fresh_table, &replicate_more_table, &replicate_copies_table,
    &values_kept_replicate_table, &replicate_params_table};
static const struct check_table *const apply[] = {&apply_table, &apply_model_table,
                                                  &apply_fault_table, &failure_second_table};
static const struct check_table *const gather[] = {&gather_table, &gather_model_table,
                                                   &values_kept_gather_table};
static const struct check_table *const composition[] = {
    &composition_value_table,  &values_kept_composition_table, &composition_order_table,
    &composition_repeat_table, &state_kept_composition_table,  &state_steps_composition_table};
static const struct check_table *const gradient[] = {
    &gradient_golden_table,     &gradient_sum_table,
    &gradient_more_table,       &gradient_kept_table,
    &gradient_input_table,      &gradient_unused_table,
    &gradient_reduce_table,     &values_gradient_gradient_table,
    &state_steps_gradient_table};
static const struct check_table *const loss[] = {&loss_table};
static const struct check_table *const buffer[] = {&buffer_table, &buffer_norm_table,
                                                   &state_norm_table};
static const struct check_table *const device[] = {&device_table_table, &device_list_table};
static const struct check_table *const output[] = {&output_table};
static const struct check_table *const dim[] = {&dim_table};
static const struct check_table *const nest[] = {&nest_table, &nest_mixed_table};
static const struct check_table *const cpu[] = {&cpu_table};
static const struct check_table *const structure[] = {&structure_table};
static const struct check_table *const argument[] = {&argument_table, &state_kept_argument_table};
static const struct check_table *const error[] = {&error_table, &error_shape_table,
                                                  &error_state_table};
static const struct check_table *const ddp[] = {
    &ddp_training_table,        &ddp_models_table, &state_steps_ddp_table, &ddp_loss_table,
    &values_gradient_ddp_table, &ddp_unlike_table, &ddp_buffers_table,     &ddp_join_table,
    &state_kept_ddp_table,      &ddp_table,        &ddp_buckets_table,     &ddp_sync_table,
    &ddp_unused_table,          &ddp_types_table,  &ddp_calls_table,       &failure_ranks_table};
static const struct check_table *const coalesce[] = {&coalesce_table, &values_kept_coalesce_table};
static const struct check_table *const determinism[] = {&determinism_table,
                                                        &ddp_training_determinism_table};
static const struct check_table *const cost[] = {&cost_table, &ddp_buckets_cost_table};
static const struct check_table *const agree[] = {&agree_table};
static const struct check_table *const size[] = {&size_table};
static const struct check_table *const count[] = {&count_table, &count_ranks_table};
static const struct check_table *const shape[] = {&shape_table};
static const struct check_table *const gpt[] = {&gpt_layers_table, &gpt_attention_table,
                                                &gpt_clip_table, &gpt_adamw_table};

/* ---- rules without a case -------------------------------------------------------------------- */

static const struct check_excuse no_split[] = {
    {"SPLIT-11", false, "about Python containers: here a scatter always gives a list of arrays"},
    {"SPLIT-13", false, "about strided memory: arrays of impl.h are row-major and contiguous"},
};
static const struct check_excuse no_replicate[] = {
    {"REPL-04", false, "about a tutorial's own code, whose values are right; traffic is REPL-03"},
    {"REPL-16", false, "about two ways of calling: impl_broadcast has devices and always outputs"},
    {"REPL-19", false, "about complex numbers, which impl.h does not have"},
    {"REPL-20", false, "about parameters without a shape, which a description cannot contain"},
};
static const struct check_excuse no_apply[] = {
    {"APPLY-01", false,
     "about lists of different lengths: an impl_call holds module, inputs and device of one call"},
    {"APPLY-07", false, "about calls without a device: impl_call always has one"},
};
static const struct check_excuse no_gather[] = {
    {"GATH-11", false, "about an output given by the caller: impl_gather makes its own"},
};
static const struct check_excuse no_composition[] = {
    {"COMP-07", false, "about Python's tuples; in C the inputs are always a list"},
    {"COMP-11", false, "the interface has no gradients of gradients"},
};
static const struct check_excuse no_gradient[] = {
    {"GRAD-14", false, "no layer of the interface has a buffer that needs a gradient"},
};
static const struct check_excuse no_buffer[] = {
    {"BUF-07", false, "a C module has no attributes to bind anew: a buffer is memory"},
    {"BUF-11", false, "the rule promises nothing about random layers, and there is none"},
};
static const struct check_excuse no_device[] = {
    {"DEV-06", false, "a device is a number here; there are no device objects"},
    {"DEV-08", false, "the interface has no warnings and does not tell the size of a device"},
};
static const struct check_excuse no_output[] = {
    {"OUT-06", false, "the interface tells no memory of a single device"},
};
static const struct check_excuse no_nest[] = {
    {"NEST-08", false, "about a mistake in a Python sample (constructor keywords)"},
};
static const struct check_excuse no_structure[] = {
    {"STRUCT-02", false, "C has no keyword arguments"},
    {"STRUCT-09", false, "C has no foreign objects: an input is an array"},
    {"STRUCT-11", false, "a replica cannot return nothing: no layer has a missing output"},
    {"STRUCT-12", false, "a replica cannot return a shorter list: every layer has a fixed number"},
};
static const struct check_excuse no_argument[] = {
    {"NONT-02", false, "C has no containers to rebuild: an argument is one array"},
    {"NONT-04", false, "C has no keyword arguments that could be fewer than the positional ones"},
    {"NONT-05", false, "an output is an array: a replica cannot return a number, text or nothing"},
};
static const struct check_excuse no_error[] = {
    {"ERR-04", false, "a call carries its own module, input and device: the counts cannot differ"},
    {"ERR-09", false, "no layer leaves its thread without a result or an error"},
    {"ERR-10", false, "the interface has one caller at a time"},
};
static const struct check_excuse no_ddp[] = {
    {"DDP-06", false, "communication hooks are not in the interface"},
    {"DDP-13", false, "depends on the version of PyTorch, and the cap is not in the interface"},
    {"DDP-18", false, "one call serves all ranks: without a join none can be missing from it"},
    {"DDP-24", false, "no layer runs a backward inside a backward: nothing gets ready twice"},
    {"DDP-30", false, "second-order gradients are not in the interface"},
};
static const struct check_excuse no_coalesce[] = {
    {"COAL-05", false, "how older code closed a group; COAL-04 counts what holds today"},
    {"COAL-11", false, "there are no sparse tensors"},
    {"COAL-12", false, "how DistributedDataParallel sends its buffers cannot be seen from outside"},
};
static const struct check_excuse no_determinism[] = {
    {"DET-02", false, "differs from DET-01 in the sign of zero alone, and both are allowed"},
};
static const struct check_excuse no_cost[] = {
    {"COST-03", false, "a warning about speed: no number is demanded"},
    {"COST-05", false, "the interface tells the memory of all devices together"},
    {"COST-07", false, "about measuring: the first call is left out of timings"},
};

/* ---- areas ----------------------------------------------------------------------------------- */

#define LIST(rows) rows, sizeof(rows) / sizeof(rows)[0]

const struct check_area *const check_areas[] = {
    &(const struct check_area){"SPLIT", 14, LIST(split), LIST(no_split)},
    &(const struct check_area){"REPL", 20, LIST(replicate), LIST(no_replicate)},
    &(const struct check_area){"APPLY", 13, LIST(apply), LIST(no_apply)},
    &(const struct check_area){"GATH", 14, LIST(gather), LIST(no_gather)},
    &(const struct check_area){"COMP", 14, LIST(composition), LIST(no_composition)},
    &(const struct check_area){"GRAD", 20, LIST(gradient), LIST(no_gradient)},
    &(const struct check_area){"LOSS", 7, LIST(loss), NULL, 0},
    &(const struct check_area){"BUF", 12, LIST(buffer), LIST(no_buffer)},
    &(const struct check_area){"DEV", 9, LIST(device), LIST(no_device)},
    &(const struct check_area){"OUT", 6, LIST(output), LIST(no_output)},
    &(const struct check_area){"DIM", 7, LIST(dim), NULL, 0},
    &(const struct check_area){"NEST", 9, LIST(nest), LIST(no_nest)},
    &(const struct check_area){"CPU", 4, LIST(cpu), NULL, 0},
    &(const struct check_area){"STRUCT", 13, LIST(structure), LIST(no_structure)},
    &(const struct check_area){"NONT", 7, LIST(argument), LIST(no_argument)},
    &(const struct check_area){"ERR", 10, LIST(error), LIST(no_error)},
    &(const struct check_area){"DDP", 36, LIST(ddp), LIST(no_ddp)},
    &(const struct check_area){"COAL", 13, LIST(coalesce), LIST(no_coalesce)},
    &(const struct check_area){"DET", 7, LIST(determinism), LIST(no_determinism)},
    &(const struct check_area){"COST", 7, LIST(cost), LIST(no_cost)},
    &(const struct check_area){"AGREE", 3, LIST(agree), NULL, 0},
    &(const struct check_area){"SIZE", 5, LIST(size), NULL, 0},
    &(const struct check_area){"COUNT", 4, LIST(count), NULL, 0},
    &(const struct check_area){"SHAPE", 7, LIST(shape), NULL, 0},
    &(const struct check_area){"GPT", 9, LIST(gpt), NULL, 0},
};
const int check_n_areas = sizeof check_areas / sizeof check_areas[0];

const char *check_words(const char *name)
{
    static const struct {
        const char *name, *words;
    } rows[] = {
#include "rules.h"
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].words;
    return "";
}

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
