/* measure/update.h: the end of a step, as the workload has it: SGD, or clipping and AdamW. */
#ifndef HARNESS_MEASURE_UPDATE_H
#define HARNESS_MEASURE_UPDATE_H

#include "ddp.h"
#include "workload.h"

/* Of a module, or, where ddp is given to these functions, of its ranks. Close it also after an open
 * that failed. */
struct update {
    const struct workload_end *end;
    float rate;      /* of learning */
    double max_norm; /* of AdamW; infinity: clipping costs what it costs, and changes nothing */
    struct dp_sgd *sgd;
    struct dp_adamw *adamw;
    struct dp_clip *clip;
};

int update_open(struct update *update, const struct workload *workload, struct dp_module *top,
                struct dp_error *err);
void update_close(struct update *update);
void update_set_rate(struct update *update, float rate);
/* The next step is the first, but it reads what an optimizer keeps, as all do. */
int update_restart(struct update *update, struct dp_ddp *ddp, struct dp_error *err);
int update_clip(struct update *update, struct dp_ddp *ddp, struct dp_error *err);
int update_step(struct update *update, struct dp_ddp *ddp, struct dp_error *err);
/* The norm of the gradients before they were clipped; NaN: they are not. */
int update_norm(const struct update *update, const struct dp_ddp *ddp, double *norm,
                struct dp_error *err);

#endif
