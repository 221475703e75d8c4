/* apply_cases.h: the cases of area APPLY that are not in apply.c. */
#ifndef CASES_APPLY_CASES_H
#define CASES_APPLY_CASES_H

#include "check.h"

/* apply_model.c: the same rules in the forward and backward of a wrapped module. */
void apply_model_order(struct check *c);
void apply_model_backward_order(struct check *c);
void apply_model_together(struct check *c);
void apply_model_backward_together(struct check *c);
void apply_model_eight(struct check *c);
void apply_model_threads(struct check *c);
void apply_model_modes(struct check *c);
void apply_modes_after_failure(struct check *c);
void apply_model_devices(struct check *c);

/* apply_several.c: several inputs and outputs. */
void apply_several(struct check *c);

/* apply_fault.c: replicas that fail. */
void apply_joined(struct check *c);
void apply_joined_forward(struct check *c);
void apply_lowest(struct check *c);
void apply_lowest_forward(struct check *c);
void apply_first(struct check *c);
void apply_first_forward(struct check *c);
void apply_report(struct check *c);
void apply_report_forward(struct check *c);
void apply_report_backward(struct check *c);
void apply_retry_forward(struct check *c);
void apply_retry_backward(struct check *c);
void apply_reuse(struct check *c);

#endif
