/* gather_cases.h: the cases of area GATH that are not in gather.c. */
#ifndef CASES_GATHER_CASES_H
#define CASES_GATHER_CASES_H

#include "check.h"

/* gather_model.c: what a wrapped module puts out, and the gradient that comes back. */
void gather_model_order(struct check *c);
void gather_model_sizes(struct check *c);
void gather_model_shapes(struct check *c);
void gather_model_recorded(struct check *c);
void gather_model_large(struct check *c);
void gather_model_double(struct check *c);
void gather_model_vector(struct check *c);
void gather_model_mean(struct check *c);
void gather_model_vector_back(struct check *c);
void gather_model_mix(struct check *c);
void gather_model_dim(struct check *c);
void gather_model_scalar(struct check *c);
void gather_model_destination(struct check *c);

#endif
