/* verify/recurrent.c: a float64 step of the models rnn and lstm, with a bound on the rounding of a
 * float step. */
#include "verify/recurrent.h"

struct bounded recurrent_sum(const struct reference_arrays *d, const struct recurrent *m,
                             const struct bounded *x, int t, size_t k)
{
    struct bounded_sum sum = {.v = 0};

    bounded_sum_add_dot(&sum, d->param[0].value + k * FEATURES, 1, x, FEATURES);
    if (t > 0)
        bounded_sum_add_dot(&sum, d->param[1].value + k * HIDDEN, 1, m->h[t - 1], HIDDEN);
    bounded_sum_add_one(&sum, (struct bounded){d->param[2].value[k], 0});
    bounded_sum_add_one(&sum, (struct bounded){d->param[3].value[k], 0});
    return bounded_sum_done(&sum);
}

void recurrent_pattern(void *model, struct verify_sums *s, size_t r)
{
    const struct bounded one = {1, 0};
    const struct recurrent_cell *cell = s->context;
    struct recurrent *m = model;
    struct bounded x[STEPS * FEATURES], dh[HIDDEN];

    verify_sums_input(s, r, STEPS * FEATURES, x);
    for (int t = 0; t < STEPS; ++t)
        cell->forward(s->arrays, m, x + t * FEATURES, t);
    verify_sums_linear(s, r, 4, m->h[STEPS - 1], HIDDEN, dh);
    cell->backward(s->arrays, m, dh);
    for (int t = 0; t < STEPS; ++t)
        for (size_t k = 0; k < cell->gates; ++k) {
            const struct bounded da = m->da[t][k];

            verify_sums_add_row(s, 0, k * FEATURES, da, x + (size_t)t * FEATURES, FEATURES);
            if (t > 0)
                verify_sums_add_row(s, 1, k * HIDDEN, da, m->h[t - 1], HIDDEN);
            verify_sums_add(s, 2, k, da, one);
            verify_sums_add(s, 3, k, da, one);
        }
}
