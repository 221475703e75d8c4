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

/* Every model takes rows of size[0] floats, but for mixed (one 32-bit integer a row, [N]), and
 * gives rows of the last size. MLP      linear layers with bias, ReLU between them ("tutorial" is
 * one of 5, 2) BLOCKS   linear 10-20, 20-20, 20-20, nothing between; the middle one is what is
 * wrapped MIXED    embedding(1000, 10) on the host, moved, linear 10-10 on the devices, which is
 * wrapped CNN      8 x 8 images: conv 1-32 3x3 padding 1, relu, conv 32-64 the same, relu, max-pool
 * 2, linear 1024-10 RNN      8 steps of 8 features, 128 hidden units, the last step's to linear
 * 128-10; LSTM alike CAPSNET  8 x 8 images: conv 1-32 3x3, relu, conv 32-64 3x3 stride 2, as 32
 * capsules of 8; 10 capsules of 16 in 3 rounds, linear 160-10 */
enum workload_kind {
    WORKLOAD_MLP,
    WORKLOAD_BLOCKS,
    WORKLOAD_MIXED,
    WORKLOAD_CNN,
    WORKLOAD_RNN,
    WORKLOAD_LSTM,
    WORKLOAD_CAPSNET
};

struct workload {
    char name[96]; /* "tutorial", "mlp:1024,1024", "cnn" */
    enum workload_kind kind;
    size_t n_sizes;                  /* MLP: layers + 1; else 2 */
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

/* The model with undefined parameters, on the host: weight, bias, weight, bias, ... The part of
 * mixed that moves its input has nowhere to move it. */
int workload_open(const struct workload *workload, struct dp_group *group, struct dp_module **model,
                  struct dp_error *err);
/* The same with what is wrapped wrapped: all of it, the middle block, the linear layer. On the
 * first device of config (NULL: all devices), but for the table of mixed, which is on the host. */
int workload_open_parallel(const struct workload *workload, struct dp_group *group,
                           const struct dp_parallel_config *config, struct dp_module **model,
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

/* Models that a sweep can verify: MLP, CNN, LSTM. What follows is for these. */
bool workload_has_verifier(const struct workload *workload);
size_t workload_n_params(const struct workload *workload);
size_t workload_param_count(const struct workload *workload, size_t p);
/* Number i of parameter p, exact in float; not of MLP, whose weights are workload_weight. */
double workload_value(const struct workload *workload, const struct workload_set *set, size_t p,
                      size_t i);
void workload_fill_param(const struct workload *workload, const struct workload_set *set, size_t p,
                         float values[]);

#endif
