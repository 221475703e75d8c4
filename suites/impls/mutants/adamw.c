/* adamw.c: clipping, and AdamW. */
#include "inside.h"

#include <math.h>

double square_of(const struct impl_array grads[], int n)
{
    double sum = 0;

    for (int i = 0; i < n; ++i)
        for (size_t e = 0; grads[i].dtype == IMPL_F32 && e < tensor_count(&grads[i]); ++e)
            sum += (double)floats(&grads[i])[e] * (double)floats(&grads[i])[e];
    return sum;
}

static double square_seen(const struct impl_model *model, int i)
{
    const struct impl_session *s = model->session;

    if (bug(s, BUG_CLIP_OWN))
        return model->own_square;
    if (bug(s, BUG_CLIP_EACH))
        return square_of(&model->base.grad[i], 1);
    return square_of(model->base.grad, model->n_params);
}

void clip_gradients(struct impl_model *model, float max_norm)
{
    float *factor;

    if (!(max_norm > 0))
        return;
    factor = arena_take(&model->arena, ((size_t)model->n_params + 1) * sizeof *factor);
    for (int i = 0; i < model->n_params; ++i) {
        const double ratio = (double)max_norm / (sqrt(square_seen(model, i)) + 1e-6);

        factor[i] = (float)(ratio < 1 || bug(model->session, BUG_CLIP_GROWS) ? ratio : 1);
    }
    for (int i = 0; i < model->n_params; ++i) {
        const struct impl_array *grad = &model->base.grad[i];

        for (size_t e = 0; grad->dtype == IMPL_F32 && e < tensor_count(grad); ++e)
            floats(grad)[e] *= factor[i];
    }
}

/* Counts a step of a parameter, and returns its number: each parameter counts its steps
 * separately. */
static unsigned step_number(struct impl_model *model, int i)
{
    const struct impl_session *s = model->session;
    struct param *param = &model->param[i];

    ++param->steps;
    if (bug(s, BUG_ADAM_COUNT_SHARED))
        return model->steps;
    if (bug(s, BUG_ADAM_COUNT_BACKWARDS))
        return model->backwards;
    return bug(s, BUG_ADAM_COUNT_ONE) ? 1 : param->steps;
}

void adamw_param(struct impl_model *model, int i, const struct impl_step *step)
{
    const struct impl_session *s = model->session;
    struct param *param = &model->param[i];
    const size_t n = tensor_count(&model->base.value[i]);
    const float *g = floats(&model->base.grad[i]);
    const double t = step_number(model, i), eps = (double)step->eps;
    const double shrunk = 1 - (double)step->lr * (double)step->decay;
    const double b1 = (double)step->beta1, b2 = (double)step->beta2;
    const bool inside = bug(s, BUG_ADAM_DECAY_INSIDE), under = bug(s, BUG_ADAM_EPS_INSIDE);
    const bool now = bug(s, BUG_ADAM_SECOND_NOW);
    float *w = floats(&model->base.value[i]);

    if (!param->first || (model->rank > 0 && bug(s, BUG_ADAM_RANK_FORGETS))) {
        param->first = arena_take(&model->arena, n * sizeof *param->first);
        param->second = arena_take(&model->arena, n * sizeof *param->second);
    }
    for (size_t e = 0; e < n; ++e) {
        const double slope =
            inside ? (double)g[e] + (double)step->decay * (double)w[e] : (double)g[e];
        double root, size;

        param->first[e] = (float)(b1 * (double)param->first[e] + (1 - b1) * slope);
        param->second[e] = (float)(b2 * (double)param->second[e] + (1 - b2) * slope * slope);
        size = (double)param->second[e] / (1 - pow(b2, t));
        if (now)
            size = slope * slope;
        root = under ? sqrt(size + eps) : sqrt(size) + eps;
        w[e] = (float)((inside ? 1 : shrunk) * (double)w[e] -
                       (double)step->lr / (1 - pow(b1, t)) * (double)param->first[e] / root);
    }
}
