/* first.c: the container whose layers only get the first input. */
#include "inside.h"

/* Adds two nodes to the tape, before and after its layers. They share the gradients of the inputs
 * that pass by the layers. */
int run_first(struct run *run, const struct layer *layer, struct values *v)
{
    struct node *node = tape_add(run->tape);
    const struct values all = *v;
    struct values *rest = arena_take(&run->tape->arena, sizeof *rest);
    int status;

    node->layer = layer;
    node->in = *v;
    node->rest = rest;
    v->n = all.n > 0;
    node->out = *v;
    rest->n = all.n - v->n;
    status = run_layers(run, layer->child, layer->n_children, v);
    if (status == 0 && v->n + rest->n > IMPL_MAX_IO)
        status = impl_fail(&run->err, IMPL_EINVAL, "%d tensors and %d more", v->n, rest->n);
    if (status != 0)
        return status;
    node = tape_add(run->tape);
    node->layer = layer;
    node->in = *v;
    node->rest = rest;
    for (int i = 0; i < rest->n; ++i)
        v->a[v->n++] = all.a[i + 1];
    node->out = *v;
    return 0;
}

/* The node after the layers has more outputs than inputs, or as many. */
void first_back(const struct node *node, const struct values *g, struct values *dx)
{
    struct values *rest = node->rest;
    const bool behind = node->out.n == node->in.n + rest->n;

    for (int i = 0; i < node->in.n && i < node->out.n; ++i)
        dx->a[i] = g->a[i];
    for (int i = 0; i < rest->n; ++i) {
        if (behind)
            rest->a[i] = g->a[node->in.n + i];
        else
            dx->a[node->out.n + i] = rest->a[i];
    }
}
