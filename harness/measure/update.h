/* measure/update.h: the end of a step: gradients are clipped or not, then SGD or AdamW changes the
 * parameters. */
#ifndef HARNESS_MEASURE_UPDATE_H
#define HARNESS_MEASURE_UPDATE_H

#include "ddp.h"
#include "dp.h"

/* The update of a module, or of ranks if ddp is given to these functions. */
struct update {
    /* The caller fills these in before update_open. */
    bool adamw;
    float momentum, decay; /* of SGD */
    /* The largest norm of all gradients together; 0: they are not clipped; infinity: clipping takes
     * its time, but changes nothing. */
    double max_norm;
    struct dp_adamw_config config; /* its learning rate is also that of SGD */
    struct dp_sgd *sgd;
    struct dp_adamw *states;
    struct dp_clip *clip;
};

/* Opens what the update of a module needs. Close it in any case. */
int update_open(struct update *update, struct dp_module *top, struct dp_error *err);
void update_close(struct update *update);
void update_set_rate(struct update *update, double rate);
/* Makes the next step the first one of the optimizer, which still reads its state, as in all
 * steps. */
int update_restart(struct update *update, struct dp_ddp *ddp, struct dp_error *err);
int update_clip(struct update *update, struct dp_ddp *ddp, struct dp_error *err);
int update_step(struct update *update, struct dp_ddp *ddp, struct dp_error *err);
/* The norm of the gradients before they were clipped; NaN: they are not. */
int update_norm(const struct update *update, const struct dp_ddp *ddp, double *norm,
                struct dp_error *err);

#endif
