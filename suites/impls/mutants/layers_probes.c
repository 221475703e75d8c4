/* layers_probes.c: layers that show what happens inside replicas: tags, delays, failures, moves. */
#include "inside.h"

#include <time.h>

static int probes_add(struct run *run, struct node *node, float number)
{
    const struct impl_array *x = &node->in.a[0];

    if (x->dtype != IMPL_F32)
        return impl_fail(&run->err, IMPL_EINVAL, "the layer works on float32");
    node->out.a[0] = tensor_like(&run->tape->arena, x);
    for (size_t i = 0; i < tensor_count(x); ++i)
        floats(&node->out.a[0])[i] = floats(x)[i] + number;
    return 0;
}

static int forward_tag_device(struct run *run, struct node *node)
{
    return probes_add(run, node, 1000.0f * (float)(node->in.a[0].device + 1));
}

static int forward_tag_replica(struct run *run, struct node *node)
{
    return probes_add(run, node, 1000.0f * (float)(run->replica + 1));
}

static int forward_tag_dim(struct run *run, struct node *node)
{
    const struct impl_array *x = &node->in.a[0];
    const int dim = node->layer->dim;

    if (dim < -1 || dim >= x->ndim)
        return impl_fail(&run->err, IMPL_EINVAL, "dimension %d of %d", dim, x->ndim);
    return probes_add(run, node, 1000.0f * (float)(dim < 0 ? (size_t)x->ndim : x->dim[dim]));
}

static int forward_tag_mode(struct run *run, struct node *node)
{
    return probes_add(run, node, (run->grad ? 1000.0f : 0.0f) + (run->train ? 2000.0f : 0.0f));
}

/* ---- delays and failures ------------------------------------------------------------------- */

/* Sleeps until a time, and not for a number of naps: if a nap of 1 ms took 2 ms, sixty of them
 * would look like two turns of 60 ms. */
static void doze(const struct run *run, double ms)
{
    const struct timespec nap = {0, 1000000};
    struct timespec now;
    double end;

    clock_gettime(CLOCK_MONOTONIC, &now);
    end = 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec + ms;
    while (!atomic_load(&run->s->cancelled) &&
           1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec < end) {
        nanosleep(&nap, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
}

static int forward_sleep(struct run *run, struct node *node)
{
    const struct layer *layer = node->layer;

    doze(run, layer_number(layer->number, layer->n_numbers, run->replica));
    node->out = node->in;
    return 0;
}

static int backward_sleep(struct run *run, const struct node *node, const struct values *g,
                          struct values *dx)
{
    doze(run, layer_number(node->layer->second, node->layer->n_second, run->replica));
    return pass_back(run, node, g, dx);
}

static int maybe_fail(struct run *run, const struct layer *layer, bool backward)
{
    struct fail_count *counts = model_fail_count(run->model, layer);
    unsigned *count = backward ? &counts->backward[run->replica] : &counts->forward[run->replica];

    ++*count;
    if (layer->fail_backward != backward || !layer_listed(layer, run->replica) ||
        (layer->fail_at != 0 && layer->fail_at != *count))
        return 0;
    return impl_fail(&run->err, layer->fail_status, "%s",
                     layer->fail_text[0] != '\0' ? layer->fail_text : "failed on request");
}

static int forward_fail(struct run *run, struct node *node)
{
    node->out = node->in;
    return maybe_fail(run, node->layer, false);
}

static int backward_fail(struct run *run, const struct node *node, const struct values *g,
                         struct values *dx)
{
    const int status = maybe_fail(run, node->layer, true);

    return status != 0 ? status : pass_back(run, node, g, dx);
}

/* ---- devices and arguments ----------------------------------------------------------------- */

static int forward_to(struct run *run, struct node *node)
{
    node->out.a[0] = tensor_copy(&run->tape->arena, &node->in.a[0], node->layer->target);
    return 0;
}

static int backward_to(struct run *run, const struct node *node, const struct values *g,
                       struct values *dx)
{
    dx->a[0] = tensor_copy(&run->tape->arena, &g->a[0], node->in.a[0].device);
    return 0;
}

static int forward_argument(struct run *run, struct node *node)
{
    const struct impl_array *x = &node->in.a[0];
    const int index = node->layer->index;
    const struct impl_array *a;

    if (index < 0 || index >= run->n_args)
        return impl_fail(&run->err, IMPL_EINVAL, "argument %d of %d", index, run->n_args);
    a = &run->args[index];
    if (a->dtype != IMPL_F32 || a->ndim != 1 || a->dim[0] == 0)
        return impl_fail(&run->err, IMPL_EINVAL, "an argument must be a list of float32");
    if (probes_add(run, node, 0) != 0)
        return run->err.status;
    node->factor = floats(a)[0];
    node->caller = bug(run->s, BUG_ARGUMENT_REREAD) ? run->given[index].data : NULL;
    for (size_t i = 0; i < tensor_count(x); ++i)
        floats(&node->out.a[0])[i] = floats(x)[i] * node->factor + 1000.0f * (float)a->dim[0];
    return 0;
}

static int backward_argument(struct run *run, const struct node *node, const struct values *g,
                             struct values *dx)
{
    float factor = node->caller ? node->caller[0] : node->factor;

    if (bug(run->s, BUG_ARGUMENT_LAST))
        factor = run->model->argument;
    dx->a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    for (size_t i = 0; i < tensor_count(&dx->a[0]); ++i)
        floats(&dx->a[0])[i] = floats(&g->a[0])[i] * factor;
    return 0;
}

const struct layer_ops probe_layers[LAYER_KINDS] = {
    [LAYER_TAG_DEVICE] = {1, forward_tag_device, pass_back},
    [LAYER_TAG_REPLICA] = {1, forward_tag_replica, pass_back},
    [LAYER_TAG_DIM] = {1, forward_tag_dim, pass_back},
    [LAYER_TAG_MODE] = {1, forward_tag_mode, pass_back},
    [LAYER_SLEEP] = {1, forward_sleep, backward_sleep},
    [LAYER_FAIL] = {1, forward_fail, backward_fail},
    [LAYER_TO] = {1, forward_to, backward_to},
    [LAYER_ARGUMENT] = {1, forward_argument, backward_argument},
};
