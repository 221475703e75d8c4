/* descriptor.h: what a workload is, as a row. Each is in descriptors.c or gpt.c, and in
 * list.cmake.
 *
 * All that sweep, train and the verifier do with a workload by its name follows from here; its
 * float64 reference is in harness/verify. */
#ifndef WORKLOAD_DESCRIPTOR_H
#define WORKLOAD_DESCRIPTOR_H

#include "workload.h"

#define WORKLOAD_LAWS 16 /* at most, in a descriptor */

/* How sums of |terms| grow with the model. */
struct workload_growth {
    double results; /* a product of activation and gradient is so much larger than its factors */
    double terms;   /* a sum backward is so much smaller than that of its |terms| */
};

struct workload_parts;

/* Sizes that have a name. */
struct workload_known {
    const char *name;
    size_t size[WORKLOAD_MAX_SIZES];
    bool peer; /* scripts/compare-pytorch has it by this name: others are too large for a CPU */
};

/* The numbers that a step keeps on a device until it is over, forward and backward, for each token
 * of its rows. */
struct workload_kept {
    double numbers; /* floats */
    double outputs; /* of these, of the model's outputs; their gradient is as large */
    size_t tensors; /* of a step, whatever its rows */
    /* Operands of linear layers: numbers of a token, weights, and how many tensors they are. */
    double operands, weights;
    size_t rounded;
};

/* Where parameters follow from sizes in the name, and the model is no chain. */
struct workload_sized {
    const struct workload_known *known; /* ends with one without a name */
    size_t n_sizes;                     /* in the name */
    /* 0, or -1 and one line in why. */
    int (*check)(const struct workload *workload, char *why, size_t bytes);
    struct workload_law (*law)(const struct workload *workload, size_t p, bool probe);
    void (*param_name)(const struct workload *workload, size_t p, char *text, size_t bytes);
    double (*products)(const struct workload *workload);
    double (*token_flops)(const struct workload *workload); /* workload_token_flops */
    struct workload_kept (*kept)(const struct workload *workload);
};

struct workload_descriptor {
    const char *name;
    size_t n_sizes, size[WORKLOAD_MAX_SIZES]; /* none: they follow the name */
    const struct workload_sized *sized;       /* or NULL */
    void (*add)(struct workload_parts *parts, const struct workload *workload); /* its modules */

    bool chain;    /* of linear layers; parameters and products follow from the widths */
    bool straight; /* nothing between the layers of the chain */
    bool table;    /* rows are numbers, of a table that stays on the host */
    bool tokens;   /* rows are sequences of tokens: a language model */
    bool inside;   /* a part of it is wrapped, which `add` says: workload_wrap_last */
    bool shards;   /* what a row gives depends on the other rows of its shard: batch norm */
    bool peer;     /* scripts/compare-pytorch has it; all its modules have a twin there */

    /* Not of chains. Multiplications of a row in the products of a step: forward, weight gradient,
     * and, but for what reads the input alone, input gradient. */
    struct workload_law law[WORKLOAD_LAWS], probe[WORKLOAD_LAWS];
    double products;

    const struct workload_end *end;   /* NULL: factors and SGD */
    size_t period[WORKLOAD_SETS + 1]; /* of the patterns of each set; 0: as others have */

    bool exact;                    /* no function of it rounds; of a chain always */
    bool maths;                    /* it rounds, and is verified in other maths than f32, too */
    int wide_bits;                 /* of an exact one: at most so many bits of inputs */
    struct workload_growth growth; /* not of chains; that sums stay below the limit is tested */

    /* Training: found on the digits, see results/training.md; never 0. positions: in how many
     * places of a row a weight is used at most, of those that are exact on whole numbers (see
     * harness/train/exact.c); 0: they have functions that round. */
    double lr;
    size_t positions;
};

/* open.c: children of a sequence as they are opened. The first failure stops: what is added after
 * it does nothing. */
void workload_add_linear(struct workload_parts *parts, size_t in, size_t out);
void workload_add_relu(struct workload_parts *parts);
/* 3 x 3 */
void workload_add_conv(struct workload_parts *parts, size_t in, size_t out, size_t stride,
                       size_t padding, bool bias);
void workload_add_norm(struct workload_parts *parts, size_t channels); /* with PyTorch's defaults */
void workload_add_pool(struct workload_parts *parts);                  /* 2 x 2 */
void workload_add_view(struct workload_parts *parts, int ndim, const size_t dim[]); /* 0: flat */
void workload_add_recurrent(struct workload_parts *parts, bool lstm); /* 8 x 8 to 128, to 10 */
void workload_add_capsule(struct workload_parts *parts, const struct dp_capsule_config *config);
void workload_add_table(struct workload_parts *parts, size_t rows, size_t width);
void workload_add_move(struct workload_parts *parts); /* to where the next part is */
void workload_add_positions(struct workload_parts *parts, size_t context, size_t width);
void workload_add_layer_norm(struct workload_parts *parts, size_t width); /* eps 1e-5 */
void workload_add_attention(struct workload_parts *parts, size_t heads);  /* without dropout */
void workload_add_gelu(struct workload_parts *parts);                     /* the tanh form */
void workload_add_tied(struct workload_parts *parts); /* the output, by the table that is first */
/* The input of the last n parts, which become one, is added to their output. */
void workload_skip_last(struct workload_parts *parts, int n);
/* Marks the part that was added last as the one that a user wraps. */
void workload_wrap_last(struct workload_parts *parts);

#endif
