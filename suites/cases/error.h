/* error.h: the cases of error_shape.c and error_state.c, for the table in error.c. */
#ifndef CASES_ERROR_H
#define CASES_ERROR_H

#include "check.h"

void error_outputs_clash(struct check *c);
void error_parts_clash(struct check *c);
void error_summands_clash(struct check *c);
void error_shapes_clash(struct check *c);
void error_forward_leaves(struct check *c);
void error_backward_leaves(struct check *c);
void error_gather_leaves(struct check *c);
void error_modes_leave(struct check *c);
void error_other_model(struct check *c);
void error_waiting_stays(struct check *c);
void error_primitive_leaves(struct check *c);

#endif
