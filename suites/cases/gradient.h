/* gradient.h: the cases of area GRAD; their table is in gradient.c. */
#ifndef CASES_GRADIENT_H
#define CASES_GRADIENT_H

struct check;

/* gradient_golden.c: the golden data set */
void grad_sum_of_ones(struct check *c);
void grad_rows(struct check *c);
void grad_two_steps(struct check *c);
void grad_two_steps_inference(struct check *c);
void grad_not_zeroed(struct check *c);
void grad_reaches_base(struct check *c);
void grad_momentum(struct check *c);
void grad_momentum_ragged(struct check *c);

/* gradient_sum.c: whose gradients are added */
void grad_each_replica(struct check *c);
void grad_dead_shard(struct check *c);
void grad_network(struct check *c);
void grad_network_step(struct check *c);
void grad_network_batches(struct check *c);
void grad_prefilled(struct check *c);
void grad_half_prefilled(struct check *c);
void grad_place(struct check *c);
void grad_branch(struct check *c);
void grad_branch_third(struct check *c);
void grad_embedding(struct check *c);

/* gradient_kept.c: what stays */
void grad_moved(struct check *c);
void grad_momentum_none(struct check *c);

/* gradient_more.c: sizes, and what lies outside or between */
void grad_large(struct check *c);
void grad_many(struct check *c);
void grad_cleared_outside(struct check *c);
void grad_inputs_apart(struct check *c);
void grad_momentum_between(struct check *c);

/* gradient_unused.c: parameters that nobody uses */
void grad_unused_one(struct check *c);
void grad_unused_zero(struct check *c);
void grad_unused_momentum(struct check *c);
void grad_unused_absent(struct check *c);

/* gradient_input.c: gradients of inputs */
void grad_input_rows(struct check *c);
void grad_input_delay(struct check *c);
void grad_input_shape(struct check *c);
void grad_input_device(struct check *c);
void grad_input_misfit(struct check *c);
void grad_input_cut(struct check *c);
void grad_input_missing(struct check *c);
void grad_inputs_both(struct check *c);
void grad_inputs_one(struct check *c);
void grad_input_none(struct check *c);
void grad_table(struct check *c);

/* gradient_reduce.c: the primitive */
void grad_reduce_values(struct check *c);
void grad_reduce_shapes(struct check *c);
void grad_reduce_host(struct check *c);
void grad_reduce_elsewhere(struct check *c);

#endif
