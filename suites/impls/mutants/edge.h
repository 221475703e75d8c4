/* edge.h: the bugs of edge_list.h: what they make of what was right. Without its bug each function
 * changes nothing. */
#ifndef MUTANTS_EDGE_H
#define MUTANTS_EDGE_H

#include "inside.h"

/* Rows that enter the gradient of a weight; one more than n: the last counts twice. */
size_t edge_weight_rows(const struct impl_session *s, size_t n);
size_t edge_bias_rows(const struct impl_session *s, size_t n);
/* a as a list of the products that enter a sum. */
struct impl_array edge_terms(const struct impl_session *s, const struct impl_array *a);
/* Elements that are added to what is there. */
struct impl_array edge_added(const struct impl_session *s, const struct impl_array *a);
/* Elements that a step moves. */
size_t edge_stepped(const struct impl_session *s, size_t n);
/* The gradient of a weight that is as wide as high. */
void edge_square(const struct run *run, float *gradient, size_t in, size_t out);

/* Copy i of n_devices of one tensor. */
void edge_copy(const struct impl_session *s, struct impl_array *copy);
/* How much of flat is added; k lists: how many. `later`: a group of its type came before. */
struct impl_array edge_summed(const struct impl_session *s, const struct impl_array *flat,
                              bool later, int *k);

/* A shard on its way, where it begins, and its dimension. */
void edge_shard(const struct impl_session *s, struct impl_array *shard, bool moved);
size_t edge_first(const struct impl_session *s, size_t first, int i, int m, const size_t size[],
                  int axis);
int edge_axis(const struct impl_session *s, int dim, int ndim);
/* The place of part i in what is glued. */
size_t edge_place(const struct impl_session *s, size_t first, int i,
                  const struct impl_array parts[], int axis);
const struct impl_array *edge_part(const struct impl_session *s, const struct impl_array parts[],
                                   int n, int i, int axis);
/* Rows of x on the axis that is cut. */
size_t edge_rows(const struct impl_session *s, const struct impl_array *x, int axis);
void edge_order(const struct impl_session *s, int k, int n, int order[]);
int edge_summands(const struct impl_session *s, int k, int n);
int edge_output_device(const struct impl_session *s, int device, int first);

/* What one rank gets of a bucket of n elements. sums: of all ranks; own: what it gave. */
struct edge_bucket {
    int bucket, n_buckets, ranks;
    size_t n;
};
bool edge_in_buckets(const struct impl_session *s); /* whether edge_bucket does anything */
void edge_bucket(const struct impl_session *s, const struct edge_bucket *b, float sums[],
                 const float own[]);
/* Which rank is added as the i-th, -1: none. */
int edge_rank(const struct impl_session *s, int ranks, int i);
/* Bytes of a value that is sent to a rank. */
size_t edge_sent(const struct impl_session *s, int rank, bool buffers_only, size_t bytes);

#endif
