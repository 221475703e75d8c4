/* verify/lstm.c: the cell of the model lstm, forward and back. */
#include "verify/recurrent.h"

enum { GATES = 4 * HIDDEN };

static void step_forward(const struct reference_arrays *d, struct recurrent *m,
                         const struct near *x, int t)
{
    for (size_t k = 0; k < GATES; ++k) {
        const struct near sum = recurrent_sum(d, m, x, t, k);

        m->gate[t][k] = k / HIDDEN == 2 ? near_tanh(sum) : near_sigmoid(sum);
    }
    for (size_t u = 0; u < HIDDEN; ++u) {
        const struct near *gate = &m->gate[t][u];

        m->c[t][u] = near_times(gate[0], gate[2 * HIDDEN]);
        if (t > 0)
            m->c[t][u] = near_plus(near_times(gate[HIDDEN], m->c[t - 1][u]), m->c[t][u]);
        m->h[t][u] = near_times(gate[3 * HIDDEN], near_tanh(m->c[t][u]));
    }
}

static void unit_back(struct recurrent *m, int t, size_t u, struct near dh, struct near *dc)
{
    const struct near *gate = &m->gate[t][u];
    const struct near i = gate[0], f = gate[HIDDEN], n = gate[2 * HIDDEN], o = gate[3 * HIDDEN];
    const struct near tanh_c = near_tanh(m->c[t][u]);
    const struct near before = t > 0 ? m->c[t - 1][u] : (struct near){0, 0};
    struct near *da = &m->da[t][u];

    *dc = near_plus(*dc, near_times(near_times(dh, o), near_one_minus(near_times(tanh_c, tanh_c))));
    da[0] = near_times(near_times(near_times(*dc, n), i), near_one_minus(i));
    da[HIDDEN] = near_times(near_times(near_times(*dc, before), f), near_one_minus(f));
    da[2 * HIDDEN] = near_times(near_times(*dc, i), near_one_minus(near_times(n, n)));
    da[3 * HIDDEN] = near_times(near_times(near_times(dh, tanh_c), o), near_one_minus(o));
    *dc = near_times(*dc, f);
}

/* dh: of the last step. */
static void all_back(const struct reference_arrays *d, struct recurrent *m, struct near dh[HIDDEN])
{
    struct near dc[HIDDEN] = {{0, 0}};

    for (int t = STEPS - 1; t >= 0; --t) {
        for (size_t u = 0; u < HIDDEN; ++u) {
            if (t < STEPS - 1)
                dh[u] = near_dot(d->param[1].value + u, HIDDEN, m->da[t + 1], GATES);
        }
        for (size_t u = 0; u < HIDDEN; ++u)
            unit_back(m, t, u, dh[u], &dc[u]);
    }
}

static int fill(struct verify *v, const struct workload_set *set, struct text_error *why)
{
    static const struct recurrent_cell cell = {GATES, step_forward, all_back};

    return recurrent_fill(v, set, &cell, why);
}

const struct verify_reference verify_reference_lstm = {"lstm", fill, fill};
