/* replicate_cases.h: the cases of area REPL that are not in replicate.c. */
#ifndef CASES_REPLICATE_CASES_H
#define CASES_REPLICATE_CASES_H

#include "check.h"

/* replicate_fresh.c: replicas are made anew by every forward. */
void replicate_two_steps(struct check *c);
void replicate_modes(struct check *c);
void replicate_step_then_infer(struct check *c);
void replicate_edits(struct check *c);
void replicate_two_modules(struct check *c);
void replicate_count(struct check *c);
void replicate_without_parameters(struct check *c);
void replicate_without_traffic(struct check *c);
void replicate_no_grad(struct check *c);
void replicate_own_gradients(struct check *c);

/* replicate_copies.c: copies, and what is no copy. */
void replicate_counter_alias(struct check *c);
void replicate_counter_clone(struct check *c);
void replicate_poke(struct check *c);
void replicate_poke_host(struct check *c);
void replicate_bits(struct check *c);
void replicate_wide(struct check *c);
void replicate_again(struct check *c);
void replicate_model_bits(struct check *c);
void replicate_wrong_source(struct check *c);
void replicate_several_sources(struct check *c);
void replicate_host_base(struct check *c);
void replicate_nothing(struct check *c);

/* replicate_params.c: which parameters, in whatever tree. */
void replicate_tree(struct check *c);
void replicate_tied(struct check *c);
void replicate_used_again(struct check *c);
void replicate_list(struct check *c);
void replicate_frozen(struct check *c);
void replicate_borrowed_base(struct check *c);
void replicate_borrowed_refused(struct check *c);

/* replicate_more.c: two uses of one thing, and a frozen bias. */
void replicate_second_wrapper(struct check *c);
void replicate_wrapper_twice(struct check *c);
void replicate_used_outside(struct check *c);
void replicate_frozen_bias(struct check *c);

#endif
