/* workload.h: the workloads of a sweep: models, and data that are exact by construction.
 *
 * All numbers are integers, most of them small, given by a seed and a set (0 or 1), so a verifier
 * can state every result exactly:
 *   weights   each row has two entries of +-1. Their columns are two affine maps of the row, so
 *             every column gets about 2 * out / in entries ("a sum of two signed permutations").
 *   inputs    row n is pattern row n mod period (a prime). So a reference costs at most that many
 *             rows for any batch.
 *   upstream  row n of c is scale(n) * pattern row n mod period, with scale 1, 2 or 3 by a hash of
 *             n. The backward is linear in c, so the gradients of row n are scale(n) times those of
 *             its pattern, but two rows a period apart may still have different c.
 * The two sets differ in all of these, also in the period.
 *
 * Small integers alone would not change when a result is rounded to few bits. So a batch of an
 * exact workload has up to 8 rows with wide inputs and up to 8 with wide upstream, spread over it.
 * These are odd integers of up to 19 bits, with one bit fewer in each further row, so that outputs
 * and gradients have some 20 bits and every sum of |terms| stays below 2^24. These rows have
 * separate patterns. A larger batch, a deeper model or a math that rounds operands leaves fewer
 * bits for them: `wide` says how many. A batch of one row has no wide upstream: the gradients of
 * biases and of the table of mixed are narrow there.
 *
 * The probe is a third set, of a step that is not timed. Its numbers have all the bits of a float,
 * so that rounding before, within or after a matrix product always shows. They are not exact, but
 * positive; a row of a weight has few that are not 0, and upstream is 0 but for few rows that are
 * spread over the batch. So sums have few terms of one sign, and narrow bounds.
 *
 * A language model (gpt) has tokens instead: row n is the sequence of its pattern, one token longer
 * than the context, and its classes are the next tokens. The period is small, because attention
 * makes a row expensive. Weights are small dyadic fractions, with few in a row that are not 0. The
 * loss is a mean, so no row has a scale, and the probe is of all rows. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdio.h>

#include "dp.h"

#define WORKLOAD_MAX_SIZES 16
#define WORKLOAD_MAX_WIDTH 65536
#define WORKLOAD_SETS      2    /* of steps that are timed */
#define WORKLOAD_PROBE     2    /* the index of the set that is not */
#define WORKLOAD_TABLE     1000 /* rows of the table of mixed */
#define WORKLOAD_PARAMS    592  /* at most, of what is no chain of linear layers */
#define WORKLOAD_WIDE      8    /* at most so many rows with wide inputs; with wide upstream */

struct workload_descriptor;

/* How a parameter's numbers are drawn: 1 of `every` is not 0. It is +-1..most times unit; of the
 * probe a fraction of all bits times unit, which may be either sign. */
struct workload_law {
    size_t count; /* 0: there is no such parameter; not of the probe */
    unsigned every, most;
    double unit;
    bool either; /* of the probe */
};

/* The sizes of a language model. */
enum workload_gpt { GPT_LAYERS, GPT_WIDTH, GPT_HEADS, GPT_CONTEXT, GPT_VOCABULARY, GPT_SIZES };

struct workload {
    char name[96];                        /* "tutorial", "mlp:1024,1024", "cnn" */
    const struct workload_descriptor *is; /* descriptor.h */
    size_t n_sizes;                       /* of a chain: layers + 1; of gpt GPT_SIZES; else 2 */
    size_t size[WORKLOAD_MAX_SIZES];      /* widths, the input's first; of gpt enum workload_gpt */
};

/* A row of what a step takes: numbers of 4 bytes, DP_F32 or DP_I32. */
struct workload_row {
    enum dp_dtype dtype;
    int ndim; /* number of dimensions after the rows */
    size_t dim[DP_MAX_DIMS - 1], width /* numbers of it */;
};
enum workload_side { WORKLOAD_INPUT, WORKLOAD_TARGET }; /* what the loss compares outputs with */

/* How a step continues after its outputs. */
struct workload_end {
    enum dp_loss_kind loss; /* DP_LOSS_SUM: of outputs times factors; DP_LOSS_XENT: the mean */
    bool adamw;             /* else SGD, with the rate of the verifier */
    /* For AdamW: gradients are clipped to this norm first, and are above it. */
    double max_norm;
    struct dp_adamw_config config;
};

struct workload_set {
    uint64_t seed;
    int index;     /* 0..WORKLOAD_SETS-1, or WORKLOAD_PROBE */
    size_t period; /* of the pattern rows */
    size_t stride; /* the probe: of the rows whose upstream is not 0; else of the wide rows */
    int wide;      /* bits of the widest numbers; 0: there are no wide rows */
};

/* One of a weight row's two entries; both may name the same column, then they add up. */
struct workload_entry {
    size_t column;
    double value;
};

/* 0, or -1 and one line in why. */
int workload_parse(const char *text, struct workload *workload, char *why, size_t bytes);
/* Names a workload that lists its widths, whether it is in the list or not. */
size_t workload_layers(const struct workload *workload);
size_t workload_params(const struct workload *workload);
/* Writes everything that a program in another language needs to make the same model and the same
 * numbers, a fact a line: name, widths, its laws (descriptor.h), then its modules in order. 0, or
 * -1: out has an error. */
int workload_describe(const struct workload *workload, FILE *out);
/* Writes the names of the workloads that are compared with PyTorch, a line each. A workload with
 * sizes is mlp:SIZES, after its names for some of them. */
void workload_list_peers(FILE *out);
/* "tutorial, mlp:SIZES, cnn": those that it keeps; what does not fit is cut. */
void workload_names(bool (*keep)(const struct workload *workload), char *text, size_t bytes);
/* The contents of a row, and the numbers of its outputs. */
struct workload_row workload_row(const struct workload *workload, enum workload_side side);
size_t workload_width(const struct workload *workload);
const struct workload_end *workload_end(const struct workload *workload);
/* The name of parameter p in other programs, such as nanoGPT's "transformer.wte.weight"; "": it has
 * none but that of dp_module_param_name. */
void workload_param_name(const struct workload *workload, size_t p, char *text, size_t bytes);
/* Operations of the matrix products of one training step; the input needs no gradient. */
double workload_flops(const struct workload *workload, size_t rows);

/* Tokens of a row; 0: rows are no sequences of tokens. */
size_t workload_tokens(const struct workload *workload);
/* Operations that training takes for a token, if nothing is computed that is not needed: 6 N + 6 L
 * D (C + 1) for L layers of width D and a context of C. N counts the weights that a token is
 * multiplied by: those of the layers, and the table once, as the output; not positions, norms and
 * biases. Attention is counted with its causal half. workload_flops counts the whole square, which
 * is what is computed. NaN: a row has no tokens. */
double workload_token_flops(const struct workload *workload);

/* ---- memory.c: what devices hold in training with AdamW, planned ----------------------------- */

/* The model alone; in DataParallel; as ranks. */
enum workload_way { WORKLOAD_ALONE, WORKLOAD_REPLICAS, WORKLOAD_RANKS };
struct workload_use {
    enum workload_way way;
    size_t devices;
    enum dp_math math; /* in bf16 a step keeps rounded operands, too */
};

/* Bytes on one device: tensors, and nothing that libraries or a system take.
 *   weights, gradients and AdamW's two states of the base model; of a replica on another device
 * weights and gradients; of a rank all four;
 *   gathered  gradients that are reduced: of the first replica of several, of the first rank
 *   batches   tokens and classes of the sets that a sweep has at a time
 *   step      what a step keeps of the rows of its shard, and on the first of several replicas
 * outputs of the whole batch, and their gradient
 *   spare     room that small tensors leave in the pieces that a step's memory comes in, at most */
struct workload_footprint {
    double weights, gradients, states, gathered, batches, step, spare;
};
/* Memory for a batch of rows, on the first device or on any other; false: a row has no tokens, and
 * the memory is not known. */
bool workload_footprint(const struct workload *workload, const struct workload_use *use, bool first,
                        size_t rows, struct workload_footprint *held);
/* Memory of the device that holds most; shared: of all together, which have one memory. least:
 * without spare, which devices hold at least; most: with it, at most twice as much. NaN: unknown.
 */
struct workload_memory {
    double least, most;
};
struct workload_memory workload_memory(const struct workload *workload,
                                       const struct workload_use *use, bool shared, size_t rows);
/* The largest batch for which bytes are enough, by the most; 0: none, or not known. */
size_t workload_fits(const struct workload *workload, const struct workload_use *use, bool shared,
                     double bytes);

/* The model with undefined parameters, on the host: weight, bias, weight, bias, ... The part of
 * mixed that moves its input has nowhere to move it. */
int workload_open(const struct workload *workload, struct dp_group *group, struct dp_module **model,
                  struct dp_error *err);
/* The same on slot (NULL: left on the host), but for the table of mixed, which stays on the host;
 * what a user wraps of the model, which is all of it, of blocks the middle one, of mixed the linear
 * layer, is given to wrap, and *wrapped (a reference) takes its place. */
typedef int workload_wrap_fn(void *user, struct dp_module *part, struct dp_module **wrapped,
                             struct dp_error *err);
int workload_open_wrapped(const struct workload *workload, struct dp_group *group,
                          struct dp_slot *slot, workload_wrap_fn *wrap, void *user,
                          struct dp_module **model, struct dp_error *err);
/* The same with dp_parallel, on the first device of config (NULL: all devices). */
int workload_open_parallel(const struct workload *workload, struct dp_group *group,
                           const struct dp_parallel_config *config, struct dp_module **model,
                           struct dp_error *err);

/* Without wide rows. */
struct workload_set workload_set(uint64_t seed, int index);
/* For so many rows of a workload: of an exact one with numbers as wide as they can be. A math that
 * rounds operands must leave them alone. */
struct workload_set workload_batch(const struct workload *workload, size_t rows, enum dp_math math,
                                   uint64_t seed, int index);
/* One bit less; in the end none is wide. */
void workload_narrow(struct workload_set *set);
/* 2^p for p significant bits that a math leaves the operands of matrix products: every integer of
 * at most that size has no more of them. */
double workload_operand_limit(enum dp_math math);
/* The pattern of a row: below workload_patterns, which is the same for all devices. */
size_t workload_pattern(const struct workload_set *set, size_t row);
size_t workload_patterns(const struct workload_set *set, size_t rows);
bool workload_is_wide(const struct workload_set *set, size_t row);
/* data_wide.c: the bits of the numbers of a pattern; 0: they are not wide. */
int workload_wide_input(const struct workload_set *set, size_t pattern);
int workload_wide_upstream(const struct workload_set *set, size_t pattern);
/* The probe for so many rows and devices: in every shard there is a row whose upstream is not 0. */
struct workload_set workload_probe(const struct workload *workload, uint64_t seed, size_t rows,
                                   size_t devices);
bool workload_is_probe(const struct workload_set *set);
/* All are exact in float; of the probe from 0 to 1, and a scale 0 or 1. */
void workload_weight(const struct workload *workload, const struct workload_set *set, size_t layer,
                     size_t row, struct workload_entry entry[2]);
double workload_bias(const struct workload_set *set, size_t layer, size_t row); /* -2..2 */
/* +-1..3, or wide */
double workload_input(const struct workload_set *set, size_t pattern, size_t column);
/* +-1..2, or wide */
double workload_upstream(const struct workload_set *set, size_t pattern, size_t column);
int workload_scale(const struct workload_set *set, size_t row); /* 1..3; of a wide row 1 */

/* 0..WORKLOAD_TABLE-1. The last rows of the table have the wide inputs of mixed. */
int workload_number(const struct workload_set *set, size_t pattern);
/* For a language model: token number i of a pattern, of context + 1. */
int workload_token(const struct workload *workload, const struct workload_set *set, size_t pattern,
                   size_t i);
/* One of the wide numbers that a hash may give. */
double workload_wide_number(uint64_t hash, int bits);

/* The same numbers as arrays: weights [out, in], biases [out], inputs [rows, size[0]],
 * upstream [rows, last size]. */
void workload_fill_weights(const struct workload *workload, const struct workload_set *set,
                           size_t layer, float values[]);
void workload_fill_biases(const struct workload *workload, const struct workload_set *set,
                          size_t layer, float values[]);
void workload_fill_inputs(const struct workload *workload, const struct workload_set *set,
                          size_t rows, float values[]);
/* One side of a batch, whatever it is: [rows, width] of workload_row. */
void workload_fill_side(const struct workload *workload, const struct workload_set *set,
                        enum workload_side side, size_t rows, void *values);
void workload_fill_upstream(const struct workload *workload, const struct workload_set *set,
                            size_t rows, float values[]);

/* Its results on this data are, bit for bit: no function of it rounds. */
bool workload_is_exact(const struct workload *workload);
/* Whether it is verified in that math. */
bool workload_has_math(const struct workload *workload, enum dp_math math);
bool workload_is_chain(const struct workload *workload); /* of linear layers */
size_t workload_n_params(const struct workload *workload);
size_t workload_param_count(const struct workload *workload, size_t p);
/* How its numbers are drawn, see descriptor.h; not of chains. */
struct workload_law workload_law(const struct workload *workload, size_t p, bool probe);
/* Number i of parameter p, exact in float; not of chains, whose weights are workload_weight. */
double workload_value(const struct workload *workload, const struct workload_set *set, size_t p,
                      size_t i);
void workload_fill_param(const struct workload *workload, const struct workload_set *set, size_t p,
                         float values[]);

#endif
