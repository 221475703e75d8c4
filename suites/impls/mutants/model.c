/* model.c: models: makes parameters from a description, reads and writes them. */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- counting and checking the tree -------------------------------------------------------- */

struct census {
    int params, fails, wrappers;
};

static int count_layers(const struct layer *layer, bool inside, struct census *n,
                        struct impl_error *err)
{
    int status = 0;

    if (layer->kind == LAYER_PARALLEL && inside)
        return impl_fail(err, IMPL_EINVAL, "a parallel layer inside a parallel layer");
    if (layer->kind == LAYER_AGAIN)
        return count_layers(layer->of, inside, &(struct census){0}, err);
    n->params += layer->n_params;
    n->fails += layer->kind == LAYER_FAIL ? 1 : 0;
    n->wrappers += layer->kind == LAYER_PARALLEL ? 1 : 0;
    inside = inside || layer->kind == LAYER_PARALLEL;
    for (int i = 0; status == 0 && i < layer->n_children; ++i)
        status = count_layers(&layer->child[i], inside, n, err);
    return status;
}

/* ---- parameters ---------------------------------------------------------------------------- */

int param_index(const struct impl_model *model, const struct layer *layer, int k)
{
    int i = 0;

    while (model->param[i].layer != layer)
        ++i;
    return i + k;
}

bool param_frozen(const struct impl_model *model, int i)
{
    const struct layer_param *of = model->param[i].of;

    if (model->inferred && bug(model->session, BUG_NO_GRAD_FREEZES))
        return true;
    if (model->inferred && bug(model->session, BUG_NO_GRAD_UNFREEZES))
        return of->buffer;
    return of->frozen || of->buffer;
}

static void model_add_params(struct impl_model *m, const struct layer *layer, const char *path)
{
    for (int i = 0; i < m->n_params; ++i)
        if (m->param[i].layer == layer)
            return;
    for (int k = 0; k < layer->n_params; ++k) {
        const struct layer_param *of = &layer->param[k];
        const int i = m->n_params++;

        m->param[i].layer = layer;
        m->param[i].of = of;
        snprintf(m->param[i].name, sizeof m->param[i].name, "%s%s", path, of->name);
        m->base.value[i] = tensor_new(&m->arena, IMPL_F32, of->ndim, of->dim, layer->device);
        m->base.grad[i] = tensor_none();
        if (of->initial)
            memcpy(m->base.value[i].data, of->initial, m->base.value[i].capacity);
    }
}

static void walk(struct impl_model *m, const struct layer *layer, const char *path)
{
    if (layer->kind == LAYER_AGAIN)
        layer = layer->of;
    model_add_params(m, layer, path);
    if (layer->kind == LAYER_FAIL && !model_fail_count(m, layer))
        m->fail[m->n_fails++].layer = layer;
    if (layer->kind == LAYER_PARALLEL && !model_wrapper(m, layer))
        m->wrapper[m->n_wrappers++].layer = layer;
    for (int i = 0; i < layer->n_children; ++i) {
        char inner[96];

        snprintf(inner, sizeof inner, "%.70s%s%d.", path,
                 layer->kind == LAYER_PARALLEL ? "module." : "", i);
        walk(m, &layer->child[i], inner);
    }
}

struct fail_count *model_fail_count(struct impl_model *model, const struct layer *layer)
{
    for (int i = 0; i < model->n_fails; ++i)
        if (model->fail[i].layer == layer)
            return &model->fail[i];
    return NULL;
}

struct wrapper *model_wrapper(struct impl_model *model, const struct layer *layer)
{
    for (int i = 0; i < model->n_wrappers; ++i)
        if (model->wrapper[i].layer == layer)
            return &model->wrapper[i];
    return NULL;
}

const struct layer *owner_of(const struct layer *layer)
{
    return layer->kind == LAYER_OUTPUT ? layer->of : layer;
}

void tree_params(const struct impl_model *model, const struct layer *tree, bool has[])
{
    if (tree->kind == LAYER_AGAIN)
        tree = tree->of;
    for (int k = 0; k < owner_of(tree)->n_params; ++k)
        has[param_index(model, owner_of(tree), k)] = true;
    for (int i = 0; i < tree->n_children; ++i)
        tree_params(model, &tree->child[i], has);
}

/* ---- opening and closing ------------------------------------------------------------------- */

/* A wrapper around one device moves its module there at its first call. */
static int settle(struct impl_model *m, struct wrapper *w, struct impl_error *err)
{
    const struct layer *layer = w->layer;
    const int k = layer->n_ids == LAYER_ALL_DEVICES ? m->session->devices : layer->n_ids;
    bool *has = arena_take(&m->arena, (size_t)m->n_params + 1);
    const int d0 = layer->n_ids > 0 ? layer->ids[0] : 0;
    const bool moves = layer->functional ? bug(m->session, BUG_FUNCTIONAL_MOVES)
                                         : !bug(m->session, BUG_WRAPPER_STAYS);

    w->kept = arena_take(&m->arena, ((size_t)m->n_params + 1) * sizeof *w->kept);
    if (m->session->devices == 0)
        return 0;
    tree_params(m, layer, has);
    for (int i = 0; i < m->n_params; ++i) {
        if (has[i] && k == 1 && moves)
            m->base.value[i].device = d0;
        if (has[i] && bug(m->session, BUG_CHECK_AT_OPEN) && m->base.value[i].device != d0)
            return impl_fail(err, IMPL_EDEVICE, "a parameter is on device %d, must be on %d",
                             m->base.value[i].device, d0);
    }
    const struct impl_session *s = m->session;
    if (layer->n_ids == 0 && s->dialect[IMPL_EMPTY_IDS] == IMPL_REFUSE)
        return impl_fail(err, IMPL_EINVAL, "no device_ids");
    for (int i = 0; i < layer->n_ids; ++i)
        for (int j = 0; s->dialect[IMPL_DUPLICATES] == IMPL_REFUSE && j < i; ++j)
            if (layer->ids[i] == layer->ids[j])
                return impl_fail(err, IMPL_EINVAL, "device %d twice in device_ids", layer->ids[i]);
    return 0;
}

/* Keeps the first parameter of a model that closes, and uses it for one that is opened, if a bug
 * does so. */
static void spare_keep(struct spare *spare, const struct impl_model *model)
{
    const struct impl_array *value = model->n_params > 0 ? &model->base.value[0] : NULL;
    const float *velocity = value ? model->param[0].velocity : NULL;

    if (!value || value->capacity > sizeof spare->value)
        return;
    spare->n = tensor_count(value);
    memcpy(spare->value, value->data, value->capacity);
    spare->moving = velocity != NULL;
    if (velocity)
        memcpy(spare->velocity, velocity, value->capacity);
}

static void spare_use(const struct spare *spare, struct impl_model *model)
{
    const struct impl_array *value = model->n_params > 0 ? &model->base.value[0] : NULL;

    if (!value || spare->n == 0 || tensor_count(value) != spare->n)
        return;
    if (!model->param[0].of->initial && bug(model->session, BUG_MODEL_VALUE))
        memcpy(value->data, spare->value, value->capacity);
    if (spare->moving && bug(model->session, BUG_MODEL_VELOCITY)) {
        model->param[0].velocity = arena_take(&model->arena, value->capacity);
        memcpy(model->param[0].velocity, spare->velocity, value->capacity);
    }
}

int model_open(struct impl_session *s, const char *text, int ranks, struct impl_model **model,
               struct impl_error *err)
{
    struct layer *root = NULL;
    struct census n = {0};
    struct impl_model *m;
    int status;

    if (refuses(s, err))
        return err->status;
    if (ranks > 1)
        return team_open(s, text, ranks, model, err);
    if (ranks < 1)
        return impl_fail(err, IMPL_EINVAL, "%d ranks", ranks);
    root = description_read(text, s->devices, err);
    status = !root ? err->status : 0;
    if (status == 0)
        status = count_layers(root, false, &n, err);
    m = status == 0 ? calloc(1, sizeof *m) : NULL;
    if (!m) {
        description_free(root);
        return status != 0 ? status : impl_fail(err, IMPL_EBROKEN, "no memory");
    }
    m->session = m->arena.session = s;
    m->root = root;
    m->param = arena_take(&m->arena, ((size_t)n.params + 1) * sizeof *m->param);
    m->base = state_new(&m->arena, n.params);
    m->fail = arena_take(&m->arena, ((size_t)n.fails + 1) * sizeof *m->fail);
    m->wrapper = arena_take(&m->arena, ((size_t)n.wrappers + 1) * sizeof *m->wrapper);
    m->next = s->models;
    s->models = m;
    walk(m, root, "");
    for (int i = 0; status == 0 && i < m->n_wrappers; ++i)
        status = settle(m, &m->wrapper[i], err);
    if (status != 0)
        model_close(m);
    else
        *model = m;
    if (status == 0)
        spare_use(&s->spare, m);
    return status;
}

void model_drop_pending(struct impl_model *model)
{
    while (model->pending) {
        struct tape *tape = model->pending;

        model->pending = tape->next;
        tape_free_inside(tape);
        free(tape);
    }
}

void model_close(struct impl_model *model)
{
    struct impl_model **link = &model->session->models;

    while (*link && *link != model)
        link = &(*link)->next;
    if (*link == model)
        *link = model->next;
    if (model->ranks)
        team_close(model->ranks);
    model_drop_pending(model);
    spare_keep(&model->session->spare, model);
    memo_forget(&model->input);
    memo_forget(&model->gradient);
    arena_free(&model->arena);
    description_free(model->root);
    free(model);
}
