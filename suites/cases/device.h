/* device.h: the cases of area DEV; their table is in device.c. */
#ifndef CASES_DEVICE_H
#define CASES_DEVICE_H

struct check;

/* device_table.c: where a module may be */
void dev_accepted(struct check *c);
void dev_refused_single(struct check *c);
void dev_refused_host(struct check *c);
void dev_refused_spread(struct check *c);
void dev_refused_moved(struct check *c);
void dev_names(struct check *c);
void dev_buffer(struct check *c);
void dev_frozen(struct check *c);
void dev_moved_away(struct check *c);
void dev_inference(struct check *c);
void dev_wrap_then_move(struct check *c);
void dev_spread_alone(struct check *c);
void dev_spread_wrapped(struct check *c);

/* device_list.c: the list of devices, and inputs from anywhere */
void dev_order(struct check *c);
void dev_order_base(struct check *c);
void dev_order_trace(struct check *c);
void dev_order_rows(struct check *c);
void dev_permutations(struct check *c);
void dev_inputs(struct check *c);
void dev_inputs_apart(struct check *c);
void dev_integers(struct check *c);
void dev_all(struct check *c);
void dev_all_order(struct check *c);
void dev_duplicates_refused(struct check *c);
void dev_duplicates_right(struct check *c);

#endif
