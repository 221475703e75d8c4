/* description.h: reads a model's description (LAYERS.md) from JSON into a tree of plain structs,
 * for implementations written in C. It knows the grammar and the fields of every kind of layer, and
 * does not know how a layer works. */
#ifndef IMPLS_DESCRIPTION_H
#define IMPLS_DESCRIPTION_H

#include "impl.h"

enum layer_kind {
    /* containers */
    LAYER_SEQUENCE,
    LAYER_FIRST,
    LAYER_PARALLEL,
    LAYER_AGAIN,
    /* layers with parameters */
    LAYER_AFFINE,
    LAYER_LINEAR,
    LAYER_TIED,
    LAYER_UNUSED,
    LAYER_BRANCH,
    LAYER_CONSTANT,
    LAYER_EMBEDDING,
    LAYER_COUNTER,
    LAYER_BORROW,
    LAYER_BATCH_NORM,
    LAYER_POSITIONS,
    LAYER_LAYER_NORM,
    LAYER_OUTPUT,
    LAYER_GRAD,
    /* layers without parameters */
    LAYER_RELU,
    LAYER_IDENTITY,
    LAYER_MULTIPLY,
    LAYER_SUBTRACT_MEAN,
    LAYER_DOUBLE_ROWS,
    LAYER_TAKE,
    LAYER_FORK,
    LAYER_SUM,
    LAYER_MEAN,
    LAYER_SUM_ROWS,
    LAYER_WIDEN,
    LAYER_SCALAR_AT,
    LAYER_TO,
    LAYER_ARGUMENT,
    LAYER_GELU,
    LAYER_ATTENTION,
    LAYER_CROSS_ENTROPY,
    /* probes */
    LAYER_TAG_DEVICE,
    LAYER_TAG_REPLICA,
    LAYER_TAG_DIM,
    LAYER_TAG_MODE,
    LAYER_SLEEP,
    LAYER_FAIL,
    LAYER_KINDS
};

#define LAYER_MAX_PARAMS  5
#define LAYER_ALL_DEVICES (-1) /* n_ids of `parallel` without device_ids */

struct layer_param {
    char name[24];
    int ndim;
    size_t dim[2];
    float *initial; /* NULL: zeros */
    bool frozen, buffer;
    bool by_columns; /* its elements lie in memory column by column */
    bool half;       /* of float16; its arrays are float32 */
};

struct layer {
    enum layer_kind kind;
    char name[32]; /* "": none */
    int device;    /* where its parameters lie at first: already resolved, never IMPL_NOWHERE */

    struct layer_param param[LAYER_MAX_PARAMS];
    int n_params;

    struct layer *child; /* containers; NULL */
    int n_children;
    struct layer *of; /* again, borrow, output: the layer that it refers to */

    /* parallel */
    int ids[IMPL_MAX_DEVICES], n_ids; /* LAYER_ALL_DEVICES: all */
    int output_device;                /* IMPL_NOWHERE: the default */
    int dim;                          /* also of tag_dim */
    bool functional;

    size_t in, out;      /* linear; embedding, constant, positions: rows, columns */
    bool with_bias;      /* affine, linear */
    bool by_columns;     /* linear */
    bool half, scalar;   /* grad, counter */
    float factor;        /* multiply; branch: above */
    float momentum, eps; /* batch_norm; layer_norm: eps */
    size_t heads;        /* attention */
    bool tanh_form;      /* gelu */
    int index;           /* argument */
    int target;          /* to */

    /* Of the model: its ranks search for unused parameters; how many values are handed over by
     * name; no_sync is entered once more, and left; backwards run within no_sync. */
    bool find_unused, inner_no_sync, no_sync_backward;
    int keywords;

    /* Numbers by replica; the last one holds for all further replicas: take, widen, grad, sleep
     * (forward). The backward_ms of sleep are in second. scalar_at, fail, sequence: the replicas
     * that are listed. */
    double *number, *second;
    int n_numbers, n_second;

    bool fail_backward;
    int fail_status;
    unsigned fail_at; /* 0: always */
    char fail_text[128];
};

/* Reads a model, which is a LAYER_SEQUENCE. devices: the number of devices of the session, for the
 * defaults and to check device numbers (fail: ENODEV). Returns NULL and *err on failure. */
struct layer *description_read(const char *text, int devices, struct impl_error *err);
void description_free(struct layer *model);
/* Returns the part of the text that is about one rank: an entry of a list, or the whole text if it
 * is none. The caller frees it; NULL and *err on failure. */
char *description_of_rank(const char *text, int rank, int ranks, struct impl_error *err);

/* Returns numbers[replica]; for further replicas the last one, and 0 if there is none. */
double layer_number(const double numbers[], int n, int replica);
bool layer_listed(const struct layer *layer, int replica); /* scalar_at, fail, sequence */
/* Fills *err, if it holds no error yet, and returns status. */
int impl_fail(struct impl_error *err, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
