/* reference.c: the table of operations of the reference implementation. */
#include "reference.h"

#include "load.h"

static const struct impl_ops operations = {
    .version = IMPL_VERSION,
    .bytes = sizeof(struct impl_ops),
    .open = reference_open,
    .close = reference_close,
    .reset = reference_reset,
    .split = reference_split,
    .scatter = reference_scatter,
    .gather = reference_gather,
    .broadcast = reference_broadcast,
    .reduce = reference_reduce,
    .apply = reference_apply,
    .buckets = reference_buckets,
    .sampler = reference_sampler,
    .model_open = reference_model_open,
    .model_close = reference_model_close,
    .params = reference_params,
    .param = reference_param,
    .set = reference_set,
    .get = reference_get,
    .to = reference_to,
    .zero_grad = reference_zero_grad,
    .forward = reference_forward,
    .backward = reference_backward,
    .step = reference_step,
};

const struct impl_ops *reference_impl(void)
{
    return &operations;
}
