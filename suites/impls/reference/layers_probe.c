/* layers_probe.c: layers that show what happens inside: tags, sleep, fail. */
#include "layer.h"

#include <time.h>

/* ---- tags ------------------------------------------------------------------------------------ */

static int tag(struct call *c, float first, float second)
{
    return queue_output(c, &c->in[0], LOOP_SHIFT,
                        (struct math){.x = c->in[0].data,
                                      .n = dp_tensor_count(&c->in[0]),
                                      .factor = 1.0f,
                                      .first = first,
                                      .second = second});
}

static int tag_device_forward(struct call *c)
{
    return tag(c, 1000.0f * (float)(device_of(c->slot) + 1), 0.0f);
}

static int tag_replica_forward(struct call *c)
{
    return tag(c, 1000.0f * (float)(c->replica + 1), 0.0f);
}

static int tag_dim_forward(struct call *c)
{
    const struct dp_tensor *in = &c->in[0];
    const int dim = c->layer->dim;

    if (dim < -1 || dim >= in->ndim)
        return dp_fail(c->err, DP_EINVAL, "tag_dim: dim %d of %d", dim, in->ndim);
    return tag(c, 1000.0f * (dim == -1 ? (float)in->ndim : (float)in->dim[dim]), 0.0f);
}

static int tag_mode_forward(struct call *c)
{
    return tag(c, dp_run_has_grad(c->run) ? 1000.0f : 0.0f,
               dp_run_is_training(c->run) ? 2000.0f : 0.0f);
}

/* ---- sleep ----------------------------------------------------------------------------------- */

/* The worker sleeps, not the queue, so the order in which replicas finish depends on the time. */
static void rest(double ms)
{
    const long all = ms > 0.0 && ms < 60000.0 ? (long)(ms * 1e6) : 0;
    const struct timespec time = {.tv_sec = all / 1000000000, .tv_nsec = all % 1000000000};

    if (all > 0)
        (void)nanosleep(&time, NULL);
}

static int sleep_forward(struct call *c)
{
    rest(layer_number(c->layer->number, c->layer->n_numbers, c->replica));
    return pass_forward(c);
}

static int sleep_backward(struct call *c)
{
    rest(layer_number(c->layer->second, c->layer->n_second, c->replica));
    return pass_backward(c);
}

/* ---- fail ------------------------------------------------------------------------------------ */

static int fail_when(struct call *c, unsigned *calls, bool backward)
{
    const struct layer *layer = c->layer;

    ++*calls;
    if (layer->fail_backward != backward || !layer_listed(layer, c->replica) ||
        (layer->fail_at != 0 && layer->fail_at != *calls))
        return 0;
    return dp_fail(c->err, dp_status_of(layer->fail_status), "%s",
                   layer->fail_text[0] != '\0' ? layer->fail_text
                                               : "a layer that was told to fail");
}

static int fail_forward(struct call *c)
{
    const int status = fail_when(c, &c->node->forwards[c->replica], false);

    return status != 0 ? status : pass_forward(c);
}

static int fail_backward(struct call *c)
{
    const int status = fail_when(c, &c->node->backwards[c->replica], true);

    return status != 0 ? status : pass_backward(c);
}

const struct layer_type probe_types[LAYER_KINDS] = {
    [LAYER_TAG_DEVICE] = {.inputs = 1, .forward = tag_device_forward, .backward = pass_backward},
    [LAYER_TAG_REPLICA] = {.inputs = 1, .forward = tag_replica_forward, .backward = pass_backward},
    [LAYER_TAG_DIM] = {.inputs = 1, .forward = tag_dim_forward, .backward = pass_backward},
    [LAYER_TAG_MODE] = {.inputs = 1, .forward = tag_mode_forward, .backward = pass_backward},
    [LAYER_SLEEP] = {.inputs = 1,
                     .any_dtype = true,
                     .always = true,
                     .forward = sleep_forward,
                     .backward = sleep_backward},
    [LAYER_FAIL] = {.inputs = 1,
                    .any_dtype = true,
                    .always = true,
                    .forward = fail_forward,
                    .backward = fail_backward},
};
