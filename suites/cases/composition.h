/* composition.h: the cases of area COMP; their table is in composition.c. */
#ifndef CASES_COMPOSITION_H
#define CASES_COMPOSITION_H

struct check;

/* composition_value.c: what comes out, whatever the number of devices */
void comp_golden(struct check *c);
void comp_network(struct check *c);
void comp_every_size(struct check *c);
void comp_delay(struct check *c);
void comp_large(struct check *c);
void comp_shapes(struct check *c);
void comp_shard_mean(struct check *c);
void comp_shard_size(struct check *c);
void comp_special(struct check *c);
void comp_wide_rows(struct check *c);
void comp_constant(struct check *c);
void comp_constant_once(struct check *c);
void comp_arguments_all(struct check *c);
void comp_arguments_once(struct check *c);

/* composition_order.c: the order of work, and the short ways for one device or one row */
void comp_check_before_scatter(struct check *c);
void comp_check_before_apply(struct check *c);
void comp_scatter_before_apply(struct check *c);
void comp_apply_before_gather(struct check *c);
void comp_direct(struct check *c);
void comp_direct_moved(struct check *c);
void comp_direct_traffic(struct check *c);
void comp_one_row(struct check *c);
void comp_one_row_thread(struct check *c);
void comp_wrapper_moves(struct check *c);
void comp_wrapper_keeps(struct check *c);
void comp_functional(struct check *c);
void comp_functional_keeps(struct check *c);
void comp_functional_dim(struct check *c);
void comp_functional_output(struct check *c);

/* composition_repeat.c: several forwards, and what is left behind */
void comp_two_forwards(struct check *c);
void comp_interleaved(struct check *c);
void comp_two_models(struct check *c);
void comp_once_each(struct check *c);
void comp_deep(struct check *c);
void comp_input_kept(struct check *c);
void comp_resident(struct check *c);
void comp_resident_inference(struct check *c);
void comp_resident_idle(struct check *c);
void comp_live(struct check *c);
void comp_live_errors(struct check *c);

/* A sanitizer keeps what was freed: the memory of the process says nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KEEPS_FREED_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KEEPS_FREED_MEMORY 1
#endif
#endif
#ifndef KEEPS_FREED_MEMORY
#define KEEPS_FREED_MEMORY 0
#endif

#endif
