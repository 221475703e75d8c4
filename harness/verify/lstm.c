/* verify/lstm.c: the cell of the model lstm, forward and back. */
#include "verify/recurrent.h"

enum { GATES = 4 * HIDDEN };

static void step_forward(const struct reference_arrays *d, struct recurrent *m,
                         const struct bounded *x, int t)
{
    for (size_t k = 0; k < GATES; ++k) {
        const struct bounded sum = recurrent_sum(d, m, x, t, k);

        m->gate[t][k] = k / HIDDEN == 2 ? bounded_tanh(sum) : bounded_sigmoid(sum);
    }
    for (size_t u = 0; u < HIDDEN; ++u) {
        const struct bounded *gate = &m->gate[t][u];

        m->c[t][u] = bounded_times(gate[0], gate[2 * HIDDEN]);
        if (t > 0)
            m->c[t][u] = bounded_plus(bounded_times(gate[HIDDEN], m->c[t - 1][u]), m->c[t][u]);
        m->h[t][u] = bounded_times(gate[3 * HIDDEN], bounded_tanh(m->c[t][u]));
    }
}

/* dh: the gradient of the state after the last step. */
static void all_back(const struct reference_arrays *d, struct recurrent *m,
                     struct bounded dh[HIDDEN])
{
    struct bounded dc[HIDDEN] = {{0, 0}};

    for (int t = STEPS - 1; t >= 0; --t) {
        for (size_t u = 0; u < HIDDEN; ++u) {
            if (t < STEPS - 1)
                dh[u] = bounded_dot(d->param[1].value + u, HIDDEN, m->da[t + 1], GATES);
        }
        for (size_t u = 0; u < HIDDEN; ++u) {
            const struct bounded *gate = &m->gate[t][u];
            const struct bounded i = gate[0], f = gate[HIDDEN], n = gate[2 * HIDDEN];
            const struct bounded o = gate[3 * HIDDEN];
            const struct bounded tanh_c = bounded_tanh(m->c[t][u]);
            const struct bounded before = t > 0 ? m->c[t - 1][u] : (struct bounded){0, 0};
            struct bounded *da = &m->da[t][u];

            dc[u] = bounded_plus(dc[u],
                                 bounded_times(bounded_times(dh[u], o),
                                               bounded_one_minus(bounded_times(tanh_c, tanh_c))));
            da[0] = bounded_times(bounded_times(bounded_times(dc[u], n), i), bounded_one_minus(i));
            da[HIDDEN] =
                bounded_times(bounded_times(bounded_times(dc[u], before), f), bounded_one_minus(f));
            da[2 * HIDDEN] =
                bounded_times(bounded_times(dc[u], i), bounded_one_minus(bounded_times(n, n)));
            da[3 * HIDDEN] =
                bounded_times(bounded_times(bounded_times(dh[u], tanh_c), o), bounded_one_minus(o));
            dc[u] = bounded_times(dc[u], f);
        }
    }
}

static const struct recurrent_cell cell = {GATES, step_forward, all_back};
const struct verify_reference verify_reference_lstm = {.workload = "lstm",
                                                       .pattern = recurrent_pattern,
                                                       .bytes = sizeof(struct recurrent),
                                                       .context = &cell};
