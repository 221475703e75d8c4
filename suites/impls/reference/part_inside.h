/* part_inside.h: what the files of a part share. */
#ifndef REFERENCE_PART_INSIDE_H
#define REFERENCE_PART_INSIDE_H

#include "reference.h"

/* A model of one rank, and not in this process. */
bool part_is_elsewhere(const struct impl_model *model);
/* A device's number in this process to that in all of them; what is none stays. */
void part_shift_device(const struct impl_model *model, int *device);
/* The status of a call that all processes make: one that fails here fails there, too. */
int part_done(const struct impl_model *model, int status);
int part_forward(struct impl_model *model, struct impl_forward *op, struct impl_error *err);
int part_backward(struct impl_model *model, struct impl_backward *op, struct impl_error *err);

#endif
