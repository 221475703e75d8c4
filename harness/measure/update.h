/* measure/update.h: the end of a step, as the workload has it: SGD, or clipping and AdamW. */
#ifndef HARNESS_MEASURE_UPDATE_H
#define HARNESS_MEASURE_UPDATE_H

#include "ddp.h"
#include "workload.h"

/* The update of a module, or of ranks if ddp is given to these functions. Close it also after an
 * open that failed. */
struct update {
    const struct workload_end *end;
    float rate;      /* learning rate */
    double max_norm; /* with AdamW; infinity: clipping takes its time, but changes nothing */
    struct dp_sgd *sgd;
    struct dp_adamw *adamw;
    struct dp_clip *clip;
};

int update_open(struct update *update, const struct workload *workload, struct dp_module *top,
                struct dp_error *err);
void update_close(struct update *update);
void update_set_rate(struct update *update, float rate);
/* Makes the next step the first one of the optimizer, which still reads its state, as in all
 * steps. */
int update_restart(struct update *update, struct dp_ddp *ddp, struct dp_error *err);
int update_clip(struct update *update, struct dp_ddp *ddp, struct dp_error *err);
int update_step(struct update *update, struct dp_ddp *ddp, struct dp_error *err);
/* The norm of the gradients before they were clipped; NaN: they are not. */
int update_norm(const struct update *update, const struct dp_ddp *ddp, double *norm,
                struct dp_error *err);

#endif
