/* dp_optim.h: optimizers, clipping and learning rates; a part of dp.h, which includes it.
 *
 * They work on the base module only, and on the parameters of type DP_F32 that have a gradient.
 * Frozen parameters, buffers, and parameters whose gradient is none do not change. The work is
 * queued on the slot of the parameters, and allocates nothing from the second step on. ddp.h has
 * the same for ranks. */
#ifndef DP_OPTIM_H
#define DP_OPTIM_H

#ifndef DP_H
#error "dp_optim.h is a part of dp.h: include that"
#endif

/* SGD: g += decay*w; v = momentum*v + g (in the first step v = g); w -= lr*v. Source:
 * torch.optim.SGD. [GRAD-17] */
struct dp_sgd;
int dp_sgd_open(struct dp_module *module, float lr, float momentum, float decay,
                struct dp_sgd **sgd, struct dp_error *err);
int dp_sgd_step(struct dp_sgd *sgd, struct dp_error *err);
void dp_sgd_set_rate(struct dp_sgd *sgd, float lr); /* from the next step on */
void dp_sgd_close(struct dp_sgd *sgd);

/* AdamW: Adam with decoupled weight decay. In step t of a parameter, t from 1:
 *   w = w * (1 - lr*decay)
 *   m = beta1*m + (1 - beta1)*g,  s = beta2*s + (1 - beta2)*g*g   (both 0 before)
 *   w = w - lr/(1 - beta1^t) * m / (sqrt(s)/sqrt(1 - beta2^t) + eps)
 * t counts the steps of that parameter: without a gradient it keeps no state, and its first
 * gradient
 * comes in its step 1. Numbers that are the same for all elements are computed in double and
 * rounded
 * once, as in PyTorch; the others in the order above. A learning rate that changes from step to
 * step
 * does not change the CUDA graph. Source: torch.optim.AdamW. [GRAD-17] */
struct dp_adamw_config {
    double lr, beta1, beta2, eps, decay;
};
/* Returns PyTorch's defaults: 1e-3, 0.9, 0.999, 1e-8, 1e-2. */
struct dp_adamw_config dp_adamw_defaults(void);

/* config is copied. Errors: DP_EINVAL if lr, eps or decay is below 0 or not finite, or if a beta is
 * not in 0 <= beta < 1. Errors of a step: DP_EDEVICE if a parameter was moved since its first step.
 * After another error the parameters and their state are undefined. Ownership: close *adamw with
 * dp_adamw_close. */
struct dp_adamw;
int dp_adamw_open(struct dp_module *module, const struct dp_adamw_config *config,
                  struct dp_adamw **adamw, struct dp_error *err);
int dp_adamw_step(struct dp_adamw *adamw, struct dp_error *err);
void dp_adamw_set_rate(struct dp_adamw *adamw, double lr); /* from the next step on */
/* Forgets all steps: m and s are 0 again, and the next step is the first one of each parameter.
 * This is only queued; the memory is kept. */
int dp_adamw_restart(struct dp_adamw *adamw, struct dp_error *err);
void dp_adamw_close(struct dp_adamw *adamw); /* NULL is allowed */

/* Clips by the norm of all gradients together: norm = sqrt(sum of squares); every gradient is
 * multiplied by (float)min(1, max_norm / (norm + 1e-6)). A tied parameter counts once. Squares are
 * added in double, in an order that depends on the shapes alone and is the same on every device. A
 * norm that is not finite makes gradients NaN or zero, as in PyTorch. Without any gradient the norm
 * is 0. Call it between backward and step: it sees the sum over all replicas.
 *   norm   the norm before clipping; to read it, the call waits. NULL: not wanted, without waiting
 * Errors: DP_EINVAL if max_norm is below 0 or NaN (infinity only measures); DP_EDEVICE if gradients
 * are on two devices; both are named. Source: torch.nn.utils.clip_grad_norm_, norm_type 2. */
struct dp_clip;
int dp_clip_open(struct dp_module *module, struct dp_clip **clip, struct dp_error *err);
int dp_clip_grads(struct dp_clip *clip, double max_norm, double *norm, struct dp_error *err);
/* Reads the norm of the last dp_clip_grads; 0 before the first. It waits. */
int dp_clip_norm(const struct dp_clip *clip, double *norm, struct dp_error *err);
void dp_clip_close(struct dp_clip *clip); /* NULL is allowed */

/* The learning rate of a step, counted from 0: a linear warm-up, then half a period of a cosine.
 *   step < warmup  lr * (step + 1) / (warmup + 1)
 *   step < total   least + (lr - least) * (1 + cos(pi * (step - warmup) / (total - warmup))) / 2
 *   else           least
 * A pure function, in double. Source: nanoGPT's get_lr. */
struct dp_cosine {
    double lr, least;
    uint64_t warmup, total; /* steps */
};
double dp_cosine_rate(const struct dp_cosine *cosine, uint64_t step);

#endif
