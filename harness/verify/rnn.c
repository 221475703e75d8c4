/* verify/rnn.c: the cell of the model rnn, forward and back: h_t = tanh(sum). */
#include "verify/recurrent.h"

static void step_forward(const struct reference_arrays *d, struct recurrent *m,
                         const struct bounded *x, int t)
{
    for (size_t k = 0; k < HIDDEN; ++k)
        m->h[t][k] = bounded_tanh(recurrent_sum(d, m, x, t, k));
}

/* dh: the gradient of the state after the last step. */
static void all_back(const struct reference_arrays *d, struct recurrent *m,
                     struct bounded dh[HIDDEN])
{
    for (int t = STEPS - 1; t >= 0; --t) {
        for (size_t k = 0; k < HIDDEN && t < STEPS - 1; ++k)
            dh[k] = bounded_dot(d->param[1].value + k, HIDDEN, m->da[t + 1], HIDDEN);
        for (size_t k = 0; k < HIDDEN; ++k)
            m->da[t][k] =
                bounded_times(dh[k], bounded_one_minus(bounded_times(m->h[t][k], m->h[t][k])));
    }
}

static const struct recurrent_cell cell = {HIDDEN, step_forward, all_back};
const struct verify_reference verify_reference_rnn = {.workload = "rnn",
                                                      .pattern = recurrent_pattern,
                                                      .bytes = sizeof(struct recurrent),
                                                      .context = &cell};
