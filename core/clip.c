/* clip.c: clips gradients by the norm of all of them together. The factor is computed and read on
 * the device. Nothing is copied to the host, unless the caller asks for the norm. */
#include "optimizer.h"

#include <stdlib.h>

/* The first part of the memory; the sums of squares follow it. */
struct result {
    double norm;
    float factor;
};

static double *sums_of(const struct dp_block *workspace)
{
    return (double *)((struct result *)workspace->memory + 1);
}

static size_t chunks(const struct dp_target *target)
{
    const size_t n = dp_tensor_count(target->grad);
    return n / DP_SQUARES_CHUNK + (n % DP_SQUARES_CHUNK != 0);
}

int dp_clip_check(double max_norm, struct dp_error *err)
{
    return max_norm >= 0.0 ? 0
                           : dp_fail(err, DP_EINVAL, "a norm of at most %g: 0 or more", max_norm);
}

int dp_clip_prepare(struct dp_block **workspace, const struct dp_target target[], int n,
                    struct dp_error *err)
{
    const struct dp_target *first = NULL;
    size_t bytes = sizeof(struct result);
    for (int i = 0; i < n; ++i) {
        bytes += chunks(&target[i]) * sizeof(double);
        if (!target[i].due)
            continue;
        first = first ? first : &target[i];
        const int status = dp_same_slot("a gradient", first->grad, "another", target[i].grad, err);
        if (status)
            return status;
    }
    if (!first || (*workspace && (*workspace)->slot == first->grad->slot))
        return 0;
    dp_block_release(*workspace);
    *workspace = NULL;
    return dp_block_open(first->grad->slot, bytes, workspace, err);
}

int dp_clip_launch(const struct dp_block *workspace, const struct dp_target target[], int n,
                   double max_norm, struct dp_error *err)
{
    if (!workspace)
        return 0;
    struct dp_queue *queue = &workspace->slot->compute;
    struct result *result = workspace->memory;
    struct dp_clip_args clip = {.sums = sums_of(workspace),
                                .most = max_norm,
                                .norm = &result->norm,
                                .factor = &result->factor};
    double *sums = sums_of(workspace);
    int status = 0;
    clip.n = 0;
    for (int i = 0; status == 0 && i < n; ++i) {
        if (!target[i].due)
            continue;
        const struct dp_squares_args args = {sums + clip.n, target[i].grad->data,
                                             dp_tensor_count(target[i].grad)};
        status = dp_launch(&workspace->slot->compute, DP_KERNEL_SQUARES, &args, sizeof args, err);
        clip.n += chunks(&target[i]);
    }
    if (status == 0)
        status = dp_launch(queue, DP_KERNEL_CLIP, &clip, sizeof clip, err);
    for (int i = 0; status == 0 && i < n; ++i) {
        if (!target[i].due)
            continue;
        const struct dp_scale_args args = {target[i].grad->data, &result->factor,
                                           dp_tensor_count(target[i].grad)};
        status = dp_launch(queue, DP_KERNEL_SCALE, &args, sizeof args, err);
    }
    return status;
}

int dp_clip_read(const struct dp_block *workspace, double *norm, struct dp_error *err)
{
    const struct dp_tensor tensor = {.data = workspace ? &((struct result *)workspace->memory)->norm
                                                       : NULL,
                                     .slot = workspace ? workspace->slot : NULL,
                                     .dtype = DP_F64};
    *norm = 0.0;
    return workspace ? dp_tensor_read(norm, &tensor, err) : 0;
}

/* ---- on the base module ------------------------------------------------------------------ */

struct dp_clip {
    struct dp_group *group;
    struct dp_param_list params;
    struct dp_target *target;
    struct dp_block *workspace;
};

int dp_clip_open(struct dp_module *module, struct dp_clip **clip, struct dp_error *err)
{
    struct dp_clip *c = calloc(1, sizeof *c);
    if (!c)
        return dp_fail(err, DP_ENOMEM, "no memory to clip gradients");
    c->group = dp_module_group(module);
    int status = dp_param_list_open(module, &c->params, err);
    if (status == 0)
        status = dp_targets_open(&c->params, &c->target, err);
    if (status) {
        dp_clip_close(c);
        return status;
    }
    *clip = c;
    return 0;
}

int dp_clip_grads(struct dp_clip *clip, double max_norm, double *norm, struct dp_error *err)
{
    struct dp_group *group = clip->group;
    int status = dp_clip_check(max_norm, err);
    dp_targets_choose(&clip->params, clip->target);
    if (status == 0)
        status = dp_clip_prepare(&clip->workspace, clip->target, clip->params.n, err);
    dp_slots_hold(group->slot, group->size);
    if (status == 0)
        status = dp_clip_launch(clip->workspace, clip->target, clip->params.n, max_norm, err);
    const int issued = dp_slots_issue(group->slot, group->size, err);
    status = status ? status : issued;
    if (status == 0 && norm)
        status = dp_clip_read(clip->workspace, norm, err);
    if (status)
        dp_group_wait(group, NULL);
    return status;
}

int dp_clip_norm(const struct dp_clip *clip, double *norm, struct dp_error *err)
{
    return dp_clip_read(clip->workspace, norm, err);
}

void dp_clip_close(struct dp_clip *clip)
{
    if (!clip)
        return;
    dp_block_release(clip->workspace);
    dp_param_list_close(&clip->params);
    free(clip->target);
    free(clip);
}
