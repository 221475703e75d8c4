/* split_cases.h: the cases of area SPLIT that are not in split.c. */
#ifndef CASES_SPLIT_CASES_H
#define CASES_SPLIT_CASES_H

#include "check.h"

/* split_scatter.c: pieces of real arrays. */
void split_scatter_order(struct check *c);
void split_scatter_types(struct check *c);
void split_scatter_wide(struct check *c);
void split_scatter_few(struct check *c);
void split_scatter_no_rows(struct check *c);
void split_scatter_no_rows_refused(struct check *c);
void split_scatter_ceil(struct check *c);
void split_explicit_sizes(struct check *c);
void split_explicit_sum(struct check *c);
void split_zero_size(struct check *c);
void split_zero_size_refused(struct check *c);
void split_scalar(struct check *c);
void split_negative(struct check *c);
void split_range(struct check *c);
void split_view(struct check *c);
void split_copy(struct check *c);
void split_host_copy(struct check *c);

/* split_model.c: what replicas get. */
void split_model_rows(struct check *c);
void split_model_idle(struct check *c);
void split_model_trace(struct check *c);
void split_model_few(struct check *c);
void split_model_no_rows(struct check *c);
void split_model_no_rows_kept(struct check *c);
void split_model_scalar(struct check *c);
void split_model_changing(struct check *c);

#endif
