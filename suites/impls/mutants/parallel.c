/* parallel.c: the forward of a `parallel` layer: check, replicate, run, gather. */
#include "inside.h"

#include <string.h>

/* ---- which devices ------------------------------------------------------------------------- */

/* Checks that every parameter and buffer is on the first device. */
static int check_module(struct run *run, struct group *group)
{
    const struct impl_model *model = run->model;

    group->has = arena_take(&run->tape->arena, (size_t)model->n_params + 1);
    tree_params(model, group->layer, group->has);
    for (int i = 0; i < model->n_params && !bug(run->s, BUG_SILENT_MOVE); ++i) {
        const int device = run->state->value[i].device;

        if (!group->has[i])
            continue;
        if (device != group->ids[0]) {
            impl_fail(&run->err, IMPL_EDEVICE, "%s is on device %d, the module must be on %d",
                      model->param[i].name, device, group->ids[0]);
            run->err.device = device;
            run->err.device_also = group->ids[0];
            return IMPL_EDEVICE;
        }
        if (bug(run->s, BUG_FIRST_CHECKED))
            break;
    }
    return 0;
}

/* ---- replicas ------------------------------------------------------------------------------ */

/* Whether a bug gives replica i an old value of parameter p. */
static bool stale(const struct run *run, const struct wrapper *w, int i, int p)
{
    const struct impl_session *s = run->s;

    if (!w->has_kept)
        return false;
    if (bug(s, BUG_REPLICATE_ONCE) || (w != run->model->wrapper && bug(s, BUG_STALE_SECOND)))
        return true;
    if (i == 0)
        return false;
    if (bug(s, BUG_FORWARD_65))
        return true;
    return bug(s, BUG_STALE_AFTER_INFER) || (w->forwards % 3 == 2 && bug(s, BUG_STALE_THIRD)) ||
           (run->model->param[p].of->frozen && bug(s, BUG_STALE_FROZEN));
}

/* Keeps values for the next forward. */
static void keep_values(struct run *run, const struct group *group, struct wrapper *w)
{
    const struct impl_session *s = run->s;
    const bool long_run = w->forwards >= 63 && bug(s, BUG_FORWARD_65);
    const bool once = bug(s, BUG_REPLICATE_ONCE) || bug(s, BUG_STALE_FROZEN) ||
                      bug(s, BUG_STALE_SECOND) || long_run;
    const bool keeps = (once && !w->has_kept) || bug(s, BUG_STALE_THIRD) ||
                       (!run->grad && bug(s, BUG_STALE_AFTER_INFER));

    for (int p = 0; keeps && p < run->model->n_params; ++p)
        if (group->has[p])
            w->kept[p] = tensor_copy(&run->model->arena, &run->state->value[p], group->ids[0]);
    w->has_kept = keeps || (once && w->has_kept);
    ++w->forwards;
}

/* Gives old values to the replicas that a bug selects. */
static void give_old_values(struct run *run, struct group *group, const struct wrapper *w)
{
    for (int i = 0; i < group->m; ++i)
        for (int p = 0; p < run->model->n_params; ++p) {
            struct impl_array *value = &group->replica[i].state.value[p];
            const bool clone = i == 0 && !run->grad && bug(run->s, BUG_INFER_CLONES);

            if (group->has[p] && (clone || stale(run, w, i, p)))
                *value = tensor_copy(&run->tape->arena, clone ? value : &w->kept[p], value->device);
        }
}

static void parallel_replicate(struct run *run, struct group *group)
{
    struct arena *arena = &run->tape->arena;
    const int n_params = run->model->n_params, d0 = group->ids[0];
    const bool clones = run->s->dialect[IMPL_REPLICA_0] == IMPL_CLONE ||
                        (group->layer->functional && bug(run->s, BUG_FUNCTIONAL_CLONES));
    struct wrapper *w = model_wrapper(run->model, group->layer);
    struct impl_array *src = arena_take(arena, ((size_t)n_params + 1) * sizeof *src), *copies;
    int n = 0;

    for (int p = 0; p < n_params; ++p)
        if (group->has[p]) {
            src[n] = run->state->value[p];
            if (src[n].device != group->ids[0]) /* only with bugs of the check */
                src[n] = tensor_copy(arena, &src[n], group->ids[0]);
            ++n;
        }
    copies = arena_take(arena, ((size_t)(n * group->m) + 1) * sizeof *copies);
    broadcast(arena, src, n, group->ids, group->m, 0, copies);
    for (int i = 0; i < group->m; ++i) {
        int next = i * n;

        group->replica[i].state = state_new(arena, n_params);
        for (int p = 0; p < n_params; ++p)
            if (group->has[p])
                group->replica[i].state.value[p] =
                    clones && i == 0 ? tensor_copy(arena, &copies[next++], d0) : copies[next++];
    }
    for (int j = n; j < n * group->m; ++j)
        values_changed(run->s, &copies[j], BUG_REPLICA_ZERO);
    if (bug(run->s, BUG_LARGE_PARAMETER)) {
        /* Writes zeros after the first LARGE bytes of the copies of all replicas but the first. */
        for (int j = n; j < n * group->m; ++j)
            if (copies[j].capacity > LARGE)
                memset((char *)copies[j].data + LARGE, 0, copies[j].capacity - LARGE);
    }
    give_old_values(run, group, w);
    keep_values(run, group, w);
}

uint64_t group_bytes(const struct run *run, const struct group *group, bool gradients)
{
    uint64_t bytes = 0;

    for (int p = 0; p < run->model->n_params; ++p)
        if (group->has[p] && !(gradients && param_frozen(run->model, p)))
            bytes += tensor_bytes(&run->state->value[p]);
    return bug(run->s, BUG_BYTES_ELEMENTS) ? bytes / sizeof(float) : bytes;
}

/* Returns the argument list of replica i. */
static const struct impl_array *cut_args(struct run *run, const struct group *group, int i)
{
    struct impl_array *args =
        arena_take(&run->tape->arena, ((size_t)run->n_args + 1) * sizeof *args);
    struct impl_array pieces[IMPL_MAX_DEVICES];
    int m;

    for (int j = 0; j < run->n_args; ++j)
        if (scatter(&run->tape->arena, &run->args[j], group->ids, group->k, 0, NULL, pieces, &m,
                    &run->err) == 0)
            args[j] = pieces[i < m ? i : m - 1];
    return args;
}

static void parallel_prepare(struct run *run, struct group *group)
{
    for (int i = 0; i < group->m; ++i) {
        struct replica *r = &group->replica[i];
        const bool cuts = !group->direct && bug(run->s, BUG_ARGS_CUT);

        r->layer = group->layer;
        r->tape.arena.session = run->s;
        r->run = (struct run){.s = run->s,
                              .model = run->model,
                              .state = group->direct ? run->state : &r->state,
                              .tape = &r->tape,
                              .replica = i,
                              .device = group->ids[i],
                              .inside = !group->direct,
                              .k = group->k,
                              .whole = &group->in,
                              .grad = run->grad,
                              .train = run->train,
                              .args = cuts ? cut_args(run, group, i) : run->args,
                              .given = run->given,
                              .n_args = run->n_args};
        if (r->run.inside && bug(run->s, BUG_GRAD_MODE_LOST))
            r->run.grad = true;
        if (i > 0 && bug(run->s, BUG_TRAIN_LOST))
            r->run.train = true;
    }
}

void replica_error(const struct impl_session *s, const struct run *failed, int i, int first_device,
                   struct impl_error *err)
{
    const int device = bug(s, BUG_ERROR_DEVICE) ? first_device : failed->device;
    const int status = bug(s, BUG_ERROR_FAULT) ? IMPL_EFAULT : failed->err.status;

    impl_fail(err, status, "replica %d on device %d: %.200s", i, device,
              bug(s, BUG_ERROR_TEXT_LOST) ? "it failed" : failed->err.text);
    err->replica = bug(s, BUG_ERROR_NO_REPLICA) ? -1 : i;
    err->device = device;
    if (failed->err.device_also != IMPL_NOWHERE) {
        err->device = failed->err.device;
        err->device_also = failed->err.device_also;
    }
}

/* Returns how many replicas run at the same time. */
static int together(const struct run *run, const struct group *group)
{
    const bool backward = run->state != &run->model->base;

    if (backward && bug(run->s, BUG_BACKWARD_SERIAL))
        return 1;
    return bug(run->s, BUG_POOL_OF_FOUR) ? 4 : group->m;
}

int group_run(struct run *run, struct group *group, int (*work)(void *replica))
{
    struct job jobs[IMPL_MAX_DEVICES];
    const int most = together(run, group);
    int failed;

    for (int i = 0; i < group->m; ++i)
        jobs[i] = (struct job){.work = work, .context = &group->replica[i], .session = run->s};
    for (int i = 0; i < group->m; i += most)
        jobs_run(&jobs[i], group->m - i < most ? group->m - i : most);
    for (int i = 0; i < group->m; ++i)
        group->replica[i].job = jobs[i];
    jobs_order(jobs, group->m, group->finished);
    failed = jobs_failed(jobs, group->m);
    if (failed < 0)
        return 0;
    if (!group->direct &&
        (bug(run->s, BUG_ERROR_SWALLOWED) || (!run->grad && bug(run->s, BUG_INFER_SWALLOWED)) ||
         (run->model->errors > 0 && bug(run->s, BUG_ERROR_ONCE)))) {
        struct replica *r = &group->replica[failed];

        for (int j = 0; j < r->in.n; ++j)
            r->out.a[j] = tensor_like(&run->tape->arena, &r->in.a[j]);
        return 0;
    }
    replica_error(run->s, &group->replica[failed].run, failed, group->ids[0], &run->err);
    return run->err.status;
}

static int replica_forward(void *context)
{
    struct replica *r = context;

    r->out = r->in;
    return run_layers(&r->run, r->layer->child, r->layer->n_children, &r->out);
}

/* ---- traces -------------------------------------------------------------------------------- */

static void trace_forward(const struct run *run, const struct group *group)
{
    struct impl_trace *trace = run->trace;

    if (!trace)
        return;
    if (trace->replicas < group->m)
        trace->replicas = group->m;
    for (int i = 0; i < group->m; ++i) {
        const struct replica *r = &group->replica[i];
        const struct values *in = &group->replica[bug(run->s, BUG_TRACE_ROWS) ? 0 : i].in;
        struct impl_replica *to = &trace->replica[i];

        to->device = group->ids[i];
        ++to->calls;
        to->rows = in->n > 0 ? in->a[0].dim[wrap_dim(group->dim, in->a[0].ndim)] : 0;
        to->thread = r->job.thread;
        to->grad = r->run.grad;
        to->train = r->run.train;
        to->bytes_to += i > 0 ? group_bytes(run, group, false) : 0;
    }
}

int parallel_on_host(struct run *run, const struct layer *layer, struct values *v)
{
    if (layer->functional && run->s->dialect[IMPL_FUNCTIONAL_HOST] == IMPL_REFUSE)
        return impl_fail(&run->err, IMPL_ENODEV, "there are no devices");
    if (run->trace) {
        struct impl_replica *to = &run->trace->replica[0];

        run->trace->replicas = 1;
        to->device = IMPL_HOST;
        ++to->calls;
        to->rows = v->n > 0 && v->a[0].ndim > 0 ? v->a[0].dim[0] : 0;
        to->thread = this_thread();
        to->grad = run->grad;
        to->train = run->train;
    }
    return run_layers(run, layer->child, layer->n_children, v);
}

static void group_ids(const struct run *run, const struct layer *layer, struct group *group)
{
    const struct wrapper *first = run->model->n_wrappers > 0 ? run->model->wrapper : NULL;
    const bool all = layer->n_ids <= 0; /* an empty list is refused when the model is opened */

    group->layer = layer;
    group->k = all ? run->s->devices : layer->n_ids;
    if (all && layer->functional && bug(run->s, BUG_FUNCTIONAL_ONE))
        group->k = 1;
    group->dim = bug(run->s, BUG_SECOND_DIM) && first ? first->layer->dim : layer->dim;
    if (bug(run->s, BUG_DIM_IGNORED) || (layer->functional && bug(run->s, BUG_FUNCTIONAL_DIM)))
        group->dim = 0;
    for (int i = 0; i < group->k; ++i)
        group->ids[i] = all ? i : layer->ids[i];
    group->direct = group->k == 1;
    for (int i = 1; i < group->k; ++i) {
        if (bug(run->s, BUG_POSITION_DEVICE))
            group->ids[i] = i;
        if (bug(run->s, BUG_CONTIGUOUS_IDS))
            group->ids[i] = (group->ids[0] + i) % run->s->devices;
    }
}

int parallel_forward(struct run *run, const struct layer *layer, struct group **made,
                     struct values *v)
{
    struct group *group = *made = arena_take(&run->tape->arena, sizeof *group);
    int status;

    group_ids(run, layer, group);
    group->in = *v;
    status = check_module(run, group);
    if (status == 0)
        status = group_shards(run, group);
    if (status != 0)
        return status;
    parallel_prepare(run, group);
    if (!group->direct)
        parallel_replicate(run, group);
    status = group_run(run, group, replica_forward);
    trace_forward(run, group);
    run->last = group;
    if (!group->direct && bug(run->s, BUG_COUNTER_SUMMED)) {
        for (int p = 0; p < run->model->n_params; ++p)
            for (int i = 1; i < group->m; ++i)
                if (group->has[p] && run->model->param[p].of->buffer)
                    floats(&run->state->value[p])[0] += 1;
    }
    if (status == 0 && !group->direct)
        norm_after(run, group);
    return status != 0 ? status : group_outputs(run, group, v);
}
