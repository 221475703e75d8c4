/* launchers.c: every kernel of the seam is launched on GPUs, and what is none of them is refused.
 */
#include "../../../../core/cuda/cuda.h"
#include "../../must.h"
#include "../fakecuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arguments that say: no elements. A loss has one result, batch norm counts its steps, a store is
 * of one number, an update reads its rates, clipping has a norm and a factor, and scaling reads it.
 */
static int launchers_issue(struct dp_slot *slot, int kernel, float *result, struct dp_error *err)
{
    union {
        struct dp_loss_args loss;
        struct dp_batch_norm_args norm;
        struct dp_store store;
        struct dp_sgd_args sgd;
        struct dp_adamw_args adamw;
        struct dp_clip_args clip;
        struct dp_scale_args scale;
        unsigned char bytes[1024];
    } none;
    memset(&none, 0, sizeof none);
    if (kernel == DP_KERNEL_LOSS)
        none.loss = (struct dp_loss_args){.kind = DP_LOSS_SUM, .out = result};
    if (kernel == DP_KERNEL_BATCH_NORM)
        none.norm.count = (int64_t *)(void *)result;
    if (kernel == DP_KERNEL_STORE)
        none.store.dst = (uint64_t *)(void *)result;
    if (kernel == DP_KERNEL_SGD)
        none.sgd.lr = result;
    if (kernel == DP_KERNEL_ADAMW)
        none.adamw.rates = result;
    if (kernel == DP_KERNEL_CLIP)
        none.clip = (struct dp_clip_args){.norm = (double *)(void *)result, .factor = result + 2};
    if (kernel == DP_KERNEL_SCALE)
        none.scale.factor = result;
    return dp_cuda_issue(&slot->compute, (enum dp_kernel)kernel, &none, err);
}

int main(void)
{
    struct dp_group *group;
    struct dp_tensor result;
    int bad = 0;
    must(dp_group_open(&(struct dp_group_config){.devices = "cuda:0"}, &group, &must_err));
    struct dp_slot *slot = dp_group_slot(group, 0);
    must(dp_tensor_alloc(slot, DP_I64, 1, (size_t[]){2}, &result, &must_err));
    must(dp_tensor_write(&result, (int64_t[]){0, 0}, &must_err));
    must(dp_cuda_enter(slot, &must_err));
    for (int kernel = 0; kernel < DP_KERNELS + 2; ++kernel) {
        struct dp_error why = {0};
        const int status = launchers_issue(slot, kernel, result.data, &why);
        if (kernel < DP_KERNELS ? status == 0
                                : status == DP_ENOTSUP && strstr(why.text, "does not run on GPUs"))
            continue;
        printf("kernel %d of %d: '%s'\n", kernel, DP_KERNELS, why.text);
        ++bad;
    }
    dp_tensor_free(&result);
    dp_group_close(group);
    return bad || fakecuda_finish() ? EXIT_FAILURE : EXIT_SUCCESS;
}
