/* calls.h: the operations of impl.h as rows: the arguments and results of each, and where they lie.
 *
 * A call that is made in another process is carried by these rows: the wall copies the fields that
 * they name, exec writes them as JSON lines, and the process at the other end of the pipe reads
 * them. An operation that has no struct in impl.h gets one here. */
#ifndef IMPLS_CALLS_H
#define IMPLS_CALLS_H

#include "impl.h"

enum impl_op {
    IMPL_OP_OPEN,
    IMPL_OP_CLOSE,
    IMPL_OP_RESET,
    IMPL_OP_SPLIT,
    IMPL_OP_SCATTER,
    IMPL_OP_GATHER,
    IMPL_OP_BROADCAST,
    IMPL_OP_REDUCE,
    IMPL_OP_APPLY,
    IMPL_OP_BUCKETS,
    IMPL_OP_SAMPLER,
    IMPL_OP_MODEL_OPEN,
    IMPL_OP_MODEL_CLOSE,
    IMPL_OP_PARAMS,
    IMPL_OP_PARAM,
    IMPL_OP_SET,
    IMPL_OP_GET,
    IMPL_OP_TO,
    IMPL_OP_ZERO_GRAD,
    IMPL_OP_FORWARD,
    IMPL_OP_BACKWARD,
    IMPL_OP_STEP,
    IMPL_OPS
};

/* ---- arguments that impl.h has no struct for ------------------------------------------------- */

struct impl_open_call {
    struct impl_config config;
    struct impl_about about;      /* out */
    struct impl_session *session; /* out */
};

struct impl_model_open_call {
    const char *description;
    int ranks;
    struct impl_model *model; /* out */
};

struct impl_param_call {
    int i;
    struct impl_param param; /* out */
};

struct impl_value_call { /* set and get */
    int rank, i;
    enum impl_what what;
    struct impl_array *array;
};

struct impl_number_call { /* params: out; to: the device */
    int number;
};

union impl_arguments {
    struct impl_open_call open;
    struct impl_split split;
    struct impl_scatter scatter;
    struct impl_gather gather;
    struct impl_broadcast broadcast;
    struct impl_reduce reduce;
    struct impl_apply apply;
    struct impl_buckets buckets;
    struct impl_sampler sampler;
    struct impl_model_open_call model_open;
    struct impl_param_call param;
    struct impl_value_call value;
    struct impl_number_call number;
    struct impl_forward forward;
    struct impl_backward backward;
    struct impl_step step;
};

/* ---- rows ------------------------------------------------------------------------------------ */

enum impl_kind {
    /* these lie in the struct itself */
    FIELD_INT,
    FIELD_SIZE,
    FIELD_COUNT, /* a size that an answer may leave out: then it is 0 */
    FIELD_FLAG,
    FIELD_FLOAT,
    FIELD_WHAT,
    FIELD_ADAMW,  /* of impl_step: all fields that only AdamW uses */
    FIELD_HANDLE, /* a pointer of the other process */
    FIELD_ABOUT,
    FIELD_PARAM,
    FIELD_SIZES_HERE,
    /* these lie where a pointer points to */
    FIELD_TEXT,
    FIELD_INTS,
    FIELD_BUCKETS, /* ints, each below the number of them */
    FIELD_SIZES,
    FIELD_FLAGS,
    FIELD_DTYPES,
    FIELD_ARRAY,
    FIELD_ARRAYS,
    FIELD_OUTPUTS, /* arrays: IMPL_MAX_IO places for each rank, of which JSON has those in use */
    FIELD_CALLS,
    FIELD_TRACE
};

enum impl_way {
    FIELD_IN,
    FIELD_OUT,
    FIELD_WANTED, /* out, if the pointer is not NULL: the request says whether it is */
    FIELD_BOTH
};

struct impl_field {
    const char *name; /* name in JSON */
    enum impl_kind kind;
    enum impl_way way;
    size_t offset; /* in the arguments */
    /* A list has this number of elements. These are offsets of ints that are multiplied; 0:
     * none. */
    size_t n, times, most; /* most: a number, 0: none; for an int that is out: its largest value */
    bool each_rank;        /* also multiplied by the ranks of the model */
    bool wide;             /* n and length are size_t */
    /* Offset of the number of elements that are used; 0: all are. For a field that is out, `n` is
     * the capacity. For one that is in, it is equal to `n`, which JSON only has as the length of
     * the list. */
    size_t length;
};

/* The capacity of each array of a result, if another program than the suite provides its memory. */
enum impl_room { ROOM_OF_INPUTS, ROOM_OF_LARGEST, ROOM_OF_MODEL, ROOM_OF_PARAM };

struct impl_operation {
    const char *name;
    size_t bytes; /* size of the arguments */
    const struct impl_field *field;
    size_t n_fields;
    enum impl_room room;
    bool on_model;
};
extern const struct impl_operation impl_operations[IMPL_OPS];
extern const struct impl_operation impl_call_operation; /* each entry of impl_apply.calls */

/* Returns IMPL_OPS if there is no operation of that name. */
enum impl_op impl_op_of(const char *name);

/* Returns how many elements a list has, or has capacity for; 1 for a field that is no list. */
size_t impl_field_count(const struct impl_field *field, const void *arguments, int ranks);
/* Returns how many of them are used. */
size_t impl_field_used(const struct impl_field *field, const void *arguments, int ranks);
void impl_field_use(const struct impl_field *field, void *arguments, size_t n);
/* Returns the bytes of one element, or of the value in the struct itself. For a text: 1. */
size_t impl_field_bytes(enum impl_kind kind);
bool impl_field_is_pointer(enum impl_kind kind);
/* Return the address of a field in the arguments, and the address that a pointer there points
 * to. */
void *impl_field_at(const struct impl_field *field, const void *arguments);
void *impl_field_target(const struct impl_field *field, const void *arguments);

/* Makes the call on the session or the model, as the operation requires. */
int impl_invoke(const struct impl_ops *ops, enum impl_op op, struct impl_session *session,
                struct impl_model *model, void *arguments, struct impl_error *err);

#endif
