/* workload.h: what the sweep runs: models, and data that is exact by construction.
 *
 * All numbers are small integers given by a seed and a set (0 or 1), so a verifier can state
 * every result exactly:
 *   weights   each row has two entries of +-1; their columns are two affine maps of the row, so
 *             every column gets about 2 * out / in entries ("a sum of two signed permutations")
 *   inputs    row n is pattern row n mod period (a prime): a reference costs at most period
 *             rows whatever the batch
 *   upstream  row n of c is scale(n) * pattern row n mod period, scale 1, 2 or 3 by a hash of n:
 *             the backward pass is linear in c, so row n's gradients are scale(n) times those
 *             of its pattern, and still no two rows a period apart need have the same c
 * The two sets differ in all of these, the period included. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include "dp.h"

#define WORKLOAD_MAX_SIZES 16
#define WORKLOAD_MAX_WIDTH 65536
#define WORKLOAD_SETS      2

/* A multi-layer perceptron: linear layers with bias, ReLU between them. */
struct workload {
    char name[96];                   /* "tutorial", "mlp:1024,1024" */
    size_t n_sizes;                  /* layers + 1 */
    size_t size[WORKLOAD_MAX_SIZES]; /* widths, the input's first */
};

struct workload_set {
    uint64_t seed;
    int index;     /* 0..WORKLOAD_SETS-1 */
    size_t period; /* of the pattern rows */
};

/* One of a weight row's two entries; both may name the same column, then they add up. */
struct workload_entry {
    size_t column;
    int sign;
};

/* 0, or -1 and one line in why. */
int workload_parse(const char *text, struct workload *workload, char *why, size_t bytes);
size_t workload_layers(const struct workload *workload);
size_t workload_params(const struct workload *workload);
/* Of the matrix products of one training step; the input needs no gradient. */
double workload_flops(const struct workload *workload, size_t rows);

/* The model with undefined parameters, on the host: weight, bias, weight, bias, ... */
int workload_open(const struct workload *workload, struct dp_group *group, struct dp_module **model,
                  struct dp_error *err);

struct workload_set workload_set(uint64_t seed, int index);
void workload_weight(const struct workload *workload, const struct workload_set *set, size_t layer,
                     size_t row, struct workload_entry entry[2]);
int workload_bias(const struct workload_set *set, size_t layer, size_t row);          /* -2..2 */
int workload_input(const struct workload_set *set, size_t pattern, size_t column);    /* +-1..3 */
int workload_upstream(const struct workload_set *set, size_t pattern, size_t column); /* +-1..2 */
int workload_scale(const struct workload_set *set, size_t row);                       /* 1..3 */

/* The same numbers as arrays: weights [out, in], biases [out], inputs [rows, size[0]],
 * upstream [rows, last size]. */
void workload_fill_weights(const struct workload *workload, const struct workload_set *set,
                           size_t layer, float values[]);
void workload_fill_biases(const struct workload *workload, const struct workload_set *set,
                          size_t layer, float values[]);
void workload_fill_inputs(const struct workload *workload, const struct workload_set *set,
                          size_t rows, float values[]);
void workload_fill_upstream(const struct workload *workload, const struct workload_set *set,
                            size_t rows, float values[]);

#endif
