/* containers.c: the containers of containers.h. */
#include "containers.h"

#include <stdlib.h>
#include <string.h>

/* ---- passage --------------------------------------------------------------------------------- */

struct passage {
    struct world *world;
    struct dp_module *inner;   /* the same children in a dp_sequential; NULL without any */
    struct dp_module *turned;  /* in reverse order; NULL: no replica runs them so */
    const struct layer *layer; /* lists the replicas that run them in reverse order */
    bool watched;
};

static size_t containers_rows_of(const struct dp_tensor *in, int dim)
{
    const int d = dim < 0 ? dim + in->ndim : dim;

    return d >= 0 && d < in->ndim ? in->dim[d] : 0;
}

int world_replica(const struct world *world, const struct dp_run *run)
{
    const int replica = dp_run_replica(run);

    return world->first_rank + (replica < 0 ? 0 : replica);
}

/* Each replica has an entry, which its worker writes. */
static struct impl_replica *containers_look(const struct passage *p, const struct dp_run *run)
{
    const int replica = dp_run_replica(run);
    const int i = p->world->first_replica + (replica < 0 ? 0 : replica);
    struct impl_replica *seen;

    if (!p->watched || !p->world->trace)
        return NULL;
    seen = &p->world->trace->replica[i];
    seen->device = device_of(dp_run_slot(run));
    seen->thread = thread_number();
    seen->grad = dp_run_has_grad(run);
    seen->train = dp_run_is_training(run);
    return seen;
}

/* Returns the layers in the order in which this replica runs them. */
static struct dp_module *order_of(const struct passage *p, const struct dp_run *run)
{
    return p->turned && layer_listed(p->layer, world_replica(p->world, run)) ? p->turned : p->inner;
}

/* Returns how many of n tensors the layers get: all, or with `first` the first one. */
static int taken_by(const struct passage *p, int n)
{
    return p->layer->kind == LAYER_FIRST && n > 1 ? 1 : n;
}

static int passage_forward(struct dp_module *module, struct dp_run *run,
                           const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                           int *n_out, struct dp_error *err)
{
    const struct passage *p = dp_module_self(module);
    struct impl_replica *seen = containers_look(p, run);
    const int taken = taken_by(p, n_in), left = n_in - taken;
    int status = 0;

    if (seen) {
        ++seen->calls;
        seen->rows = n_in > 0 ? containers_rows_of(&in[0], p->layer->dim) : 0;
    }
    if (p->inner)
        status = dp_forward(order_of(p, run), run, in, taken, out, n_out, err);
    if (status == 0 && p->inner && *n_out + left > DP_MAX_IO)
        status =
            dp_fail(err, DP_EINVAL, "%d tensors and %d more, at most %d", *n_out, left, DP_MAX_IO);
    if (status != 0)
        return status;
    if (!p->inner) {
        memcpy(out, in, (size_t)n_in * sizeof *out);
        *n_out = n_in;
        return 0;
    }
    memcpy(out + *n_out, in + taken, (size_t)left * sizeof *out);
    *n_out += left;
    return 0;
}

static int passage_backward(struct dp_module *module, struct dp_run *run,
                            const struct dp_tensor grad_out[], int n_out,
                            struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    const struct passage *p = dp_module_self(module);
    const int taken = p->inner ? taken_by(p, n_in) : 0, left = n_in - taken;

    containers_look(p, run);
    memcpy(grad_in + taken, grad_out + n_out - left, (size_t)left * sizeof *grad_in);
    if (!p->inner)
        return 0;
    return dp_backward(order_of(p, run), run, grad_out, n_out - left, grad_in, taken, err);
}

static void passage_close(void *self)
{
    struct passage *p = self;

    dp_module_close(p->inner);
    dp_module_close(p->turned);
    free(p);
}

static int open_turned(struct passage *p, struct dp_module *const children[], int n,
                       struct dp_error *err)
{
    struct dp_module **other = calloc((size_t)n, sizeof *other);
    int status;

    if (!other)
        return dp_fail(err, DP_ENOMEM, "no memory for a container");
    for (int i = 0; i < n; ++i)
        other[i] = children[n - 1 - i];
    status = dp_sequential(p->world->group, other, n, &p->turned, err);
    free(other);
    return status;
}

int passage_open(struct world *world, const struct layer *layer, struct dp_module *const children[],
                 bool watched, struct dp_module **module, struct dp_error *err)
{
    static const struct dp_module_ops ops = {"sequence", passage_forward, passage_backward,
                                             passage_close};
    struct passage *p = calloc(1, sizeof *p);
    const int n = layer->n_children;
    int status = 0;

    if (!p)
        return dp_fail(err, DP_ENOMEM, "no memory for a container");
    *p = (struct passage){world, NULL, NULL, layer, watched};
    if (n > 0)
        status = dp_sequential(world->group, children, n, &p->inner, err);
    if (status == 0 && n > 0 && layer->kind == LAYER_SEQUENCE && layer->n_numbers > 0)
        status = open_turned(p, children, n, err);
    if (status == 0)
        status = dp_module_open(world->group, &ops, p, children, n, module, err);
    if (status != 0)
        passage_close(p);
    return status;
}

/* ---- functional ------------------------------------------------------------------------------ */

struct functional {
    struct world *world;
    struct dp_slot *slot[DP_MAX_SLOTS];
    struct dp_parallel_config config;
};

void world_close_calls(struct world *world)
{
    for (int i = 0; i < world->n_calls; ++i)
        dp_module_close(world->call[i]);
    free(world->call);
    world->call = NULL;
    world->n_calls = world->calls_capacity = 0;
}

/* Inside a replica core refuses the call before anything is made, so only the caller's thread keeps
 * calls. */
static int functional_forward(struct dp_module *module, struct dp_run *run,
                              const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                              int *n_out, struct dp_error *err)
{
    const struct functional *f = dp_module_self(module);
    struct dp_module *call = NULL;
    int status = dp_data_parallel(dp_module_child(module, 0), run, f->config.device_ids,
                                  f->config.n_device_ids, f->config.output_device, f->config.dim,
                                  in, n_in, out, n_out, &call, err);

    if (status != 0)
        return status;
    if (dp_run_has_grad(run)) {
        struct world *world = f->world;
        struct dp_module **room =
            list_room(world->call, world->n_calls, &world->calls_capacity, sizeof *room, err);

        world->call = room ? room : world->call;
        status = room ? dp_run_save(run, module, &call, sizeof call, err) : DP_ENOMEM;
    }
    if (status != 0 || !dp_run_has_grad(run))
        dp_module_close(call);
    else
        f->world->call[f->world->n_calls++] = call;
    return status;
}

static int functional_backward(struct dp_module *module, struct dp_run *run,
                               const struct dp_tensor grad_out[], int n_out,
                               struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    const struct functional *f = dp_module_self(module);
    struct dp_module *call = NULL;
    int status = dp_run_restore(run, module, &call, sizeof call, err);

    if (status == 0)
        status = dp_backward(call, run, grad_out, n_out, grad_in, n_in, err);
    if (status == 0) {
        struct world *world = f->world;
        bool closed = false;

        /* Backwards come in reverse order of their forwards, so the call is the last one; later
         * ones had no backward. */
        while (!closed && world->n_calls > 0) {
            closed = world->call[world->n_calls - 1] == call;
            dp_module_close(world->call[--world->n_calls]);
        }
    }
    return status;
}

/* The module has the kind of core's wrapper, so that parameter names have the wrapper's level. */
int functional_open(struct world *world, struct dp_module *child,
                    const struct dp_parallel_config *config, struct dp_module **module,
                    struct dp_error *err)
{
    static const struct dp_module_ops ops = {"data_parallel", functional_forward,
                                             functional_backward, free};
    struct functional *f = calloc(1, sizeof *f);
    int status;

    if (!f)
        return dp_fail(err, DP_ENOMEM, "no memory for a container");
    f->world = world;
    f->config = *config;
    f->config.device_ids = f->slot;
    if (!config->device_ids)
        f->config.n_device_ids = dp_group_size(world->group);
    for (int i = 0; i < f->config.n_device_ids; ++i)
        f->slot[i] = config->device_ids ? config->device_ids[i] : dp_group_slot(world->group, i);
    status = dp_module_open(world->group, &ops, f, &child, 1, module, err);
    if (status != 0)
        free(f);
    return status;
}
