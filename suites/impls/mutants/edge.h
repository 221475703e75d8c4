/* edge.h: the bugs of edge_list.h. Each function changes a right value if its bug is switched on,
 * and otherwise returns it unchanged. */
#ifndef MUTANTS_EDGE_H
#define MUTANTS_EDGE_H

#include "inside.h"

/* The number of rows that enter the gradient of a weight, or of a bias; if it is n + 1, the last
 * row counts twice. */
size_t edge_weight_rows(const struct impl_session *s, size_t n);
size_t edge_bias_rows(const struct impl_session *s, size_t n);
/* Returns a as a list of the products that enter a sum. */
struct impl_array edge_terms(const struct impl_session *s, const struct impl_array *a);
/* Returns the elements that are added to the gradient that was there. */
struct impl_array edge_added(const struct impl_session *s, const struct impl_array *a);
/* Returns how many elements a step changes. */
size_t edge_stepped(const struct impl_session *s, size_t n);
/* Changes the gradient of a weight that has as many rows as columns. */
void edge_square(const struct run *run, float *gradient, size_t in, size_t out);

/* Changes the copy of a tensor on one device. */
void edge_copy(const struct impl_session *s, struct impl_array *copy);
/* Returns the part of flat that is added; k lists: *k is how many are added. `later`: an earlier
 * group has the same type. */
struct impl_array edge_summed(const struct impl_session *s, const struct impl_array *flat,
                              bool later, int *k);

/* Change a shard that is sent, the index at which it begins, and the dimension along which it is
 * cut. */
void edge_shard(const struct impl_session *s, struct impl_array *shard, bool moved);
size_t edge_first(const struct impl_session *s, size_t first, int i, int m, const size_t size[],
                  int axis);
int edge_axis(const struct impl_session *s, int dim, int ndim);
/* Returns the index of part i in the concatenated result. */
size_t edge_place(const struct impl_session *s, size_t first, int i,
                  const struct impl_array parts[], int axis);
const struct impl_array *edge_part(const struct impl_session *s, const struct impl_array parts[],
                                   int n, int i, int axis);
/* Returns the rows of x along the axis that is cut. */
size_t edge_rows(const struct impl_session *s, const struct impl_array *x, int axis);
void edge_order(const struct impl_session *s, int k, int n, int order[]);
int edge_summands(const struct impl_session *s, int k, int n);
int edge_output_device(const struct impl_session *s, int device, int first);

/* Changes the sums that one rank gets of a bucket of n elements. sums: those of all ranks; own: the
 * values that this rank gave. */
struct edge_bucket {
    int bucket, n_buckets, ranks;
    size_t n;
};
bool edge_in_buckets(const struct impl_session *s); /* whether edge_bucket does anything */
void edge_bucket(const struct impl_session *s, const struct edge_bucket *b, float sums[],
                 const float own[]);
/* Returns which rank is the i-th that is added; -1: none. */
int edge_rank(const struct impl_session *s, int ranks, int i);
/* Returns how many bytes of a value are sent to a rank. */
size_t edge_sent(const struct impl_session *s, int rank, bool buffers_only, size_t bytes);

#endif
