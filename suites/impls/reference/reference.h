/* reference.h: the declarations that the files of the reference's adapter share. The reference is
 * core/, used through dp.h only. All results come from there; the adapter copies arrays, builds
 * models and translates errors.
 *
 * Inside the adapter every function returns 0 or a status and fills a struct dp_error; statuses of
 * impl.h that core does not have are OWN_STATUS(..). The operations of the table translate them at
 * the end. */
#ifndef REFERENCE_REFERENCE_H
#define REFERENCE_REFERENCE_H

#include "ddp.h"
#include "description.h"
#include "dp.h"

#define OWN_STATUS(status) (-100 - (status)) /* an impl_status among the values of dp_status */

/* ---- tensors and arrays ---------------------------------------------------------------------- */

/* Tensors that the adapter made, and frees together. */
struct tensors {
    struct dp_tensor *item;
    int n, capacity;
};
void tensors_free(struct tensors *list);
/* Returns a list of n with room for one more, which may have moved; NULL with the error filled. */
void *list_room(void *list, int n, int *capacity, size_t bytes, struct dp_error *err);

struct dp_slot *slot_of(struct dp_group *group, int device, struct dp_error *err); /* NULL: none */
int device_of(const struct dp_slot *slot);
enum dp_dtype dtype_of(enum impl_dtype dtype); /* only for types that a tensor may have */

/* Makes a tensor with the contents of the array, on the device of the array. For NONE, slot is
 * NULL. */
int tensor_put(struct dp_group *group, const struct impl_array *array, struct tensors *list,
               struct dp_tensor *tensor, struct dp_error *err);
/* Copies a tensor to an array; a tensor without a slot becomes dtype NONE. */
int tensor_get(const struct dp_tensor *tensor, struct impl_array *array, struct dp_error *err);
/* These write into the memory of the tensor: one adds 1 to every element, the other sets all to
 * 0. */
int slot_tensor_add_one(const struct dp_tensor *tensor, struct dp_error *err);
int tensor_clear(const struct dp_tensor *tensor, struct dp_error *err);

/* ---- errors ---------------------------------------------------------------------------------- */

int error_of(struct dp_group *group, int status, const struct dp_error *from,
             struct impl_error *to);
int dp_status_of(int impl_status);

/* ---- sessions -------------------------------------------------------------------------------- */

struct impl_session {
    struct dp_group *group;
    struct dp_run *run; /* for the primitives */
    struct impl_model *models;
    struct dp_trace trace;
    struct part *part;         /* NULL: all ranks of its models are in this process (part.h) */
    struct impl_session *next; /* the next session of its part */
};
/* Opens a group with its run, and no models. */
int reference_session_open(const struct dp_group_config *config, struct impl_session **session,
                           struct impl_error *err);

/* One operation on a session: the memory that it made, and its error. */
struct work {
    struct impl_session *session;
    struct tensors made;
    struct memory *memory;
    struct dp_error error;
};
void work_begin(struct work *work, struct impl_session *session);
void *work_memory(struct work *work, size_t count, size_t bytes); /* zeroed; NULL: error filled */
/* Waits for all devices, frees the memory, and translates the error. */
int work_end(struct work *work, int status, struct impl_error *err);
int work_put(struct work *work, const struct impl_array *array, struct dp_tensor *tensor);
/* Convert n arrays, and n device numbers to slots. */
int work_put_all(struct work *work, const struct impl_array arrays[], int n,
                 struct dp_tensor tensors[]);
int work_slots(struct work *work, const int devices[], int n, struct dp_slot *slots[]);

void trace_begin(struct impl_session *session, struct impl_trace *trace); /* NULL: nothing */
void trace_end(struct impl_session *session, struct impl_trace *trace);

/* ---- models ---------------------------------------------------------------------------------- */

struct argument {
    float *value; /* NULL: not a list of floats */
    size_t n;
};

/* The data that the layers of a model share by reference: all replicas have the same. */
struct world {
    struct dp_group *group;
    struct argument *argument;
    int n_arguments;
    struct impl_trace *trace;    /* NULL: no trace was asked for */
    int first_replica;           /* index in the trace of replica 0 */
    int first_rank;              /* with several ranks: the first one in this process */
    struct dp_module **call;     /* functional forwards that had no backward yet */
    int n_calls, calls_capacity; /* of call */
};
void world_close_calls(struct world *world);
/* Returns which replica, or which rank of all processes, a run is for; 0: none. */
int world_replica(const struct world *world, const struct dp_run *run);
uint64_t thread_number(void);

/* Builds the modules of a model. watched: the outermost container writes the trace of the world.
 * The description and the world must live as long as the module. */
int model_build(struct world *world, const struct layer *model, bool watched,
                struct dp_module **module, struct dp_error *err);
struct layer *model_read(struct dp_group *group, const char *description, struct dp_error *err);

/* The devices of a forward's outputs. */
struct outputs {
    int n;
    int device[IMPL_MAX_IO];
};

struct impl_model {
    struct impl_session *session;
    struct impl_model *next;
    struct layer *description;
    struct world world;
    struct dp_module *root;
    struct dp_param **param;
    int n_params;
    struct dp_ddp *ddp; /* NULL: one rank */
    struct dp_run *run;
    struct outputs *outputs; /* of the forwards in grad mode that had no backward yet, in order */
    int pending, capacity;   /* the number of outputs, and the capacity */
    bool failed; /* the last backward failed, so those that are pending may be useless */
    struct tensors kept;
    struct dp_sgd *sgd;     /* NULL before the first step, and with AdamW */
    struct dp_adamw *adamw; /* NULL before the first step, and with SGD */
    struct dp_clip *clip;   /* NULL before the first step that clips */
    struct impl_step settings;
    /* The tensors of all ranks, during a call. */
    struct impl_array arrays[DP_MAX_SLOTS * IMPL_MAX_IO];
    struct dp_tensor in[DP_MAX_SLOTS * IMPL_MAX_IO], out[DP_MAX_SLOTS * DP_MAX_IO];
};
/* Checks that the array has the type and shape of the tensor. */
int check_fits(const struct impl_array *array, const struct dp_tensor *tensor,
               struct dp_error *err);
/* Copy values of parameters and buffers (value.c): LAYERS.md has floats only, but core counts
 * batches in an integer. */
int value_put(const struct dp_tensor *value, const struct impl_array *array, struct dp_error *err);
int value_get(const struct dp_tensor *value, struct impl_array *array, struct dp_error *err);
void value_describe(const struct dp_tensor *value, struct impl_param *to);

/* These are for models of several ranks. */
int ranks_open(struct impl_model *model, int ranks, struct dp_error *err);
int ranks_set(struct impl_model *model, int rank, enum impl_what what, int i,
              const struct impl_array *array, struct dp_error *err);
int ranks_get(struct impl_model *model, int rank, enum impl_what what, int i,
              struct impl_array *array, struct dp_error *err);
int ranks_forward(struct impl_model *model, struct impl_forward *op, struct dp_error *err);
int ranks_backward(struct impl_model *model, struct impl_backward *op, struct tensors *made,
                   struct dp_error *err);

/* Forgets pending forwards, and frees all of their data. */
void model_drop(struct impl_model *model);

/* ---- operations ------------------------------------------------------------------------------ */

int reference_open(const struct impl_config *config, struct impl_about *about,
                   struct impl_session **session, struct impl_error *err);
void reference_close(struct impl_session *session);
int reference_reset(struct impl_session *session, struct impl_error *err);

int reference_split(struct impl_session *session, struct impl_split *op, struct impl_error *err);
int reference_scatter(struct impl_session *session, struct impl_scatter *op,
                      struct impl_error *err);
int reference_gather(struct impl_session *session, struct impl_gather *op, struct impl_error *err);
int reference_broadcast(struct impl_session *session, struct impl_broadcast *op,
                        struct impl_error *err);
int reference_reduce(struct impl_session *session, struct impl_reduce *op, struct impl_error *err);
int reference_apply(struct impl_session *session, struct impl_apply *op, struct impl_error *err);
int reference_buckets(struct impl_session *session, struct impl_buckets *op,
                      struct impl_error *err);
int reference_sampler(struct impl_session *session, struct impl_sampler *op,
                      struct impl_error *err);

int reference_model_open(struct impl_session *session, const char *description, int ranks,
                         struct impl_model **model, struct impl_error *err);
void reference_model_close(struct impl_model *model);
int reference_params(struct impl_model *model, int *n, struct impl_error *err);
int reference_param(struct impl_model *model, int i, struct impl_param *param,
                    struct impl_error *err);
int reference_set(struct impl_model *model, int rank, enum impl_what what, int i,
                  const struct impl_array *array, struct impl_error *err);
int reference_get(struct impl_model *model, int rank, enum impl_what what, int i,
                  struct impl_array *array, struct impl_error *err);
int reference_to(struct impl_model *model, int device, struct impl_error *err);
int reference_zero_grad(struct impl_model *model, struct impl_error *err);
int reference_forward(struct impl_model *model, struct impl_forward *op, struct impl_error *err);
int reference_backward(struct impl_model *model, struct impl_backward *op, struct impl_error *err);
int reference_step(struct impl_model *model, const struct impl_step *step, struct impl_error *err);

#endif
