/* buffer.h: the cases of area BUF about batch norm (buffer_norm.c); their table is in buffer.c. */
#ifndef CASES_BUFFER_H
#define CASES_BUFFER_H

struct check;

void buf_norm_known(struct check *c);
void buf_norm_first_shard(struct check *c);
void buf_norm_clone(struct check *c);
void buf_norm_counts(struct check *c);
void buf_norm_shards(struct check *c);
void buf_norm_evaluation(struct check *c);
void buf_norm_one_row(struct check *c);

#endif
