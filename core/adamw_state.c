/* adamw_state.c: the state of AdamW, and its step for parameters that have a gradient.
 *
 * The rates of a step depend on how many steps a parameter had. They change in each step, but the
 * launches must not, so the rates are in memory of the device: once for all parameters with equal
 * counts. */
#include "optimizer.h"

#include <math.h>
#include <stdlib.h>

static bool is_rate(double x)
{
    return isfinite(x) && x >= 0.0;
}

static bool is_beta(double x)
{
    return x >= 0.0 && x < 1.0;
}

int dp_adamw_check(const struct dp_adamw_config *config, struct dp_error *err)
{
    const struct {
        const char *name, *range;
        double value;
        bool good;
    } row[] = {{"lr", "0 or more", config->lr, is_rate(config->lr)},
               {"beta1", "0 <= beta1 < 1", config->beta1, is_beta(config->beta1)},
               {"beta2", "0 <= beta2 < 1", config->beta2, is_beta(config->beta2)},
               {"eps", "0 or more", config->eps, is_rate(config->eps)},
               {"decay", "0 or more", config->decay, is_rate(config->decay)}};
    for (size_t i = 0; i < sizeof row / sizeof *row; ++i) {
        if (!row[i].good)
            return dp_fail(err, DP_EINVAL, "AdamW's %s %g: %s", row[i].name, row[i].value,
                           row[i].range);
    }
    return 0;
}

int dp_adamw_state_open(struct dp_adamw_state *state, int n, struct dp_error *err)
{
    const size_t capacity = (size_t)n + 1;
    *state = (struct dp_adamw_state){.n = n,
                                     .clock = calloc(capacity, sizeof *state->clock),
                                     .clock_of = calloc(capacity, sizeof *state->clock_of),
                                     .moments = calloc(capacity, sizeof *state->moments),
                                     .empty = calloc(capacity, sizeof *state->empty)};
    if (!state->clock || !state->clock_of || !state->moments || !state->empty)
        return dp_fail(err, DP_ENOMEM, "no memory for the state of AdamW");
    for (int i = 0; i < n; ++i) {
        state->clock_of[i] = -1;
        state->empty[i] = true;
    }
    return 0;
}

void dp_adamw_state_close(struct dp_adamw_state *state)
{
    for (int i = 0; state->moments && i < state->n; ++i)
        dp_tensor_free(&state->moments[i]);
    for (int k = 0; k < state->n_clocks; ++k)
        dp_tensor_free(&state->clock[k].rates);
    free(state->clock);
    free(state->clock_of);
    free(state->moments);
    free(state->empty);
    *state = (struct dp_adamw_state){.n = 0};
}

/* ---- clocks ------------------------------------------------------------------------------ */

static int add_clock(struct dp_adamw_state *s, struct dp_slot *slot, uint64_t steps, int *number,
                     struct dp_error *err)
{
    struct dp_adamw_clock *k = &s->clock[s->n_clocks];
    *k = (struct dp_adamw_clock){.steps = steps, .written = {NAN, NAN, NAN}, .rest = -1};
    const int status = dp_tensor_alloc(slot, DP_F32, 1, (size_t[]){DP_ADAMW_RATES}, &k->rates, err);
    if (status == 0)
        *number = s->n_clocks++;
    return status;
}

static void move_to_clock(struct dp_adamw_state *s, int i, int number)
{
    if (s->clock_of[i] >= 0)
        --s->clock[s->clock_of[i]].members;
    ++s->clock[number].members;
    s->clock_of[i] = number;
}

/* Parameters that have their first step together share a clock. */
static int first_clock(struct dp_adamw_state *s, int i, struct dp_slot *slot, struct dp_error *err)
{
    int number = -1, status = 0;
    for (int k = 0; k < s->n_clocks && number < 0; ++k) {
        if (s->clock[k].steps == 0 && s->clock[k].rates.slot == slot)
            number = k;
    }
    if (number < 0)
        status = add_clock(s, slot, 0, &number, err);
    if (status == 0)
        move_to_clock(s, i, number);
    return status;
}

static int set_clocks(struct dp_adamw_state *s, const struct dp_target target[],
                      struct dp_error *err)
{
    int status = 0;
    for (int k = 0; k < s->n_clocks; ++k) {
        s->clock[k].due = 0;
        s->clock[k].rest = -1;
    }
    for (int i = 0; status == 0 && i < s->n; ++i) {
        if (target[i].due && s->clock_of[i] < 0)
            status = first_clock(s, i, target[i].value->slot, err);
        if (status == 0 && target[i].due)
            ++s->clock[s->clock_of[i]].due;
    }
    for (int i = 0; status == 0 && i < s->n; ++i) {
        if (!target[i].due && s->clock_of[i] >= 0 && s->clock[s->clock_of[i]].due > 0) {
            /* Other members of its clock have a step now, and this one has none. All members
             * without a step move to a new clock. */
            struct dp_adamw_clock *k = &s->clock[s->clock_of[i]];
            status = k->rest < 0 ? add_clock(s, k->rates.slot, k->steps, &k->rest, err) : 0;
            if (status == 0)
                move_to_clock(s, i, k->rest);
        }
    }
    return status;
}

/* ---- a step ------------------------------------------------------------------------------ */

int dp_adamw_prepare(struct dp_adamw_state *state, const struct dp_target target[],
                     struct dp_error *err)
{
    int status = 0;
    for (int i = 0; status == 0 && i < state->n; ++i) {
        const struct dp_tensor *value = target[i].value;
        struct dp_tensor *moments = &state->moments[i];
        if (!target[i].due)
            continue;
        status = moments->slot
                     ? dp_same_slot("the parameter", value, "its moments", moments, err)
                     : dp_tensor_alloc(value->slot, DP_F32, 2,
                                       (size_t[]){2, dp_tensor_count(value)}, moments, err);
    }
    return status ? status : set_clocks(state, target, err);
}

int dp_adamw_write(struct dp_adamw_state *state, const struct dp_adamw_config *config,
                   struct dp_error *err)
{
    for (int k = 0; k < state->n_clocks; ++k) {
        struct dp_adamw_clock *clock = &state->clock[k];
        float rate[DP_ADAMW_RATES];
        /* The rates of step t, counted from 1. */
        const uint64_t t = clock->steps + 1;
        rate[0] = (float)(1.0 - config->lr * config->decay);
        rate[1] = (float)(config->lr / (1.0 - pow(config->beta1, (double)t)));
        rate[2] = (float)sqrt(1.0 - pow(config->beta2, (double)t));
        for (int i = 0; clock->due > 0 && i < DP_ADAMW_RATES; ++i) {
            const struct dp_fill fill = {(float *)clock->rates.data + i, rate[i], 1};
            if (clock->written[i] == rate[i])
                continue;
            const int status =
                dp_launch(&clock->rates.slot->compute, DP_KERNEL_FILL, &fill, sizeof fill, err);
            if (status)
                return status;
            clock->written[i] = rate[i];
        }
    }
    return 0;
}

int dp_adamw_launch(const struct dp_adamw_state *state, const struct dp_target target[],
                    const struct dp_adamw_config *config, struct dp_error *err)
{
    int status = 0;
    for (int i = 0; status == 0 && i < state->n; ++i) {
        if (!target[i].due)
            continue;
        const struct dp_adamw_clock *clock = &state->clock[state->clock_of[i]];
        const size_t n = dp_tensor_count(target[i].value);
        float *moments = state->moments[i].data;
        const struct dp_adamw_args args = {.value = target[i].value->data,
                                           .m = moments,
                                           .s = moments ? moments + n : NULL,
                                           .grad = target[i].grad->data,
                                           .rates = clock->rates.data,
                                           .beta1 = (float)config->beta1,
                                           .rest1 = (float)(1.0 - config->beta1),
                                           .beta2 = (float)config->beta2,
                                           .rest2 = (float)(1.0 - config->beta2),
                                           .eps = (float)config->eps,
                                           .first = state->empty[i],
                                           .n = n};
        status =
            dp_launch(&target[i].value->slot->compute, DP_KERNEL_ADAMW, &args, sizeof args, err);
    }
    return status;
}

void dp_adamw_count(struct dp_adamw_state *state)
{
    for (int i = 0; i < state->n; ++i) {
        if (state->clock_of[i] >= 0 && state->clock[state->clock_of[i]].due > 0)
            state->empty[i] = false;
    }
    for (int k = 0; k < state->n_clocks; ++k)
        state->clock[k].steps += state->clock[k].due > 0;
}

int dp_adamw_forget(struct dp_adamw_state *state, struct dp_error *err)
{
    int status = 0;
    for (int k = 0; k < state->n_clocks; ++k)
        state->clock[k].steps = 0;
    for (int i = 0; status == 0 && i < state->n; ++i) {
        const struct dp_tensor *moments = &state->moments[i];
        const struct dp_fill zeros = {moments->data, 0.0f, dp_tensor_count(moments)};
        if (!state->empty[i])
            status = dp_launch(&moments->slot->compute, DP_KERNEL_FILL, &zeros, sizeof zeros, err);
    }
    return status;
}
