/* part_inside.h: the declarations that the files of a part share. */
#ifndef REFERENCE_PART_INSIDE_H
#define REFERENCE_PART_INSIDE_H

#include "reference.h"

/* Whether it is a model of one rank that is not in this process. */
bool part_is_elsewhere(const struct impl_model *model);
/* Changes a device's number from that in this process to that among all; a number of no device
 * stays. */
void part_shift_device(const struct impl_model *model, int *device);
/* Returns the status of a call that all processes make: if it fails here, it fails in the others,
 * too. */
int part_done(const struct impl_model *model, int status);
int part_forward(struct impl_model *model, struct impl_forward *op, struct impl_error *err);
int part_backward(struct impl_model *model, struct impl_backward *op, struct impl_error *err);

#endif
