/* inside.h: the declarations that the files of the second implementation share.
 *
 * Devices are simulated: a tensor is memory and a device tag (struct impl_array, whose data the
 * arena of a tape owns), and every operation checks tags. A forward writes a tape; the backward
 * runs it in reverse. Each replica has its tape, its state and its thread. */
#ifndef MUTANTS_INSIDE_H
#define MUTANTS_INSIDE_H

#include "bug.h"
#include "description.h"
#include "impl.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- memory and tensors (tensor.c) --------------------------------------------------------- */

struct piece;
struct arena { /* used by one thread at a time; freed as a whole */
    struct impl_session *session;
    struct piece *pieces;
};
void *arena_take(struct arena *arena, size_t bytes); /* zeroed, never NULL */
void arena_free(struct arena *arena);

struct values { /* tensors that one layer passes to the next */
    struct impl_array a[IMPL_MAX_IO];
    int n;
};

size_t dtype_bytes(enum impl_dtype dtype);
size_t tensor_count(const struct impl_array *tensor);
size_t tensor_bytes(const struct impl_array *tensor);
float *floats(const struct impl_array *tensor);
bool same_shape(const struct impl_array *a, const struct impl_array *b);
struct impl_array tensor_none(void);
struct impl_array tensor_new(struct arena *arena, enum impl_dtype dtype, int ndim,
                             const size_t dim[], int device);
struct impl_array tensor_like(struct arena *arena, const struct impl_array *like);
struct impl_array tensor_copy(struct arena *arena, const struct impl_array *from, int device);
void tensor_add(struct impl_array *to, const struct impl_array *from); /* any dtype */
/* For bugs: n rounded down to a multiple of block if it is above least; the first n elements as a
 * list; the data after the first bytes are those at the beginning again; the halves of so many
 * bytes change places; values are rounded to float. */
enum { MIB = 1 << 20 };
size_t without_tail(size_t n, bool cut, size_t block, size_t least);
struct impl_array tensor_list(const struct impl_array *a, size_t n);
void begin_again(const struct impl_array *a, size_t bytes);
void swap_halves(void *data, size_t bytes);
void round_to_float(struct impl_array *tensor, bool doubles);
/* Change some numbers if the bug is switched on, and nothing otherwise. */
float value_changed(const struct impl_session *s, float value, enum bug number);
void values_changed(const struct impl_session *s, struct impl_array *tensor, enum bug number);
void wide_rounded(const struct impl_session *s, struct impl_array *tensor, enum bug number);
/* For bugs: replaces the tensor by the one that lay at this address before, if that had as many
 * bytes; else remembers the tensor. */
struct memo;
void memo_use(struct memo *memo, const void *at, struct impl_array *tensor);
void memo_forget(struct memo *memo);
void tensor_poke(struct impl_array *tensor, size_t first, size_t count, int dim);
/* Copies count indices along dim. The tensors agree in all other dimensions. */
void slice_copy(struct impl_array *to, size_t to_first, const struct impl_array *from,
                size_t from_first, size_t count, int dim);
/* Copy between the caller's arrays and tensors. */
int tensor_in(struct arena *arena, const struct impl_array *array, struct impl_array *tensor,
              struct impl_error *err);
int tensor_out(const struct impl_array *tensor, struct impl_array *array, struct impl_error *err);

/* ---- sessions (session.c) ------------------------------------------------------------------ */

struct memo { /* the bytes that lay at an address */
    const void *at;
    void *bytes;
    size_t n;
};

struct spare { /* the first parameter of a model that was closed */
    float value[16], velocity[16];
    size_t n; /* 0: there was none */
    bool moving;
};

struct crumb { /* memory that is never freed */
    struct crumb *next;
};

/* Threads that stay until the session closes. A case has some hundred jobs, and to start a thread
 * for each would take more time than the jobs. */
struct hand;
struct hands {
    pthread_mutex_t lock;
    struct hand *first;
};

struct impl_session {
    int devices;
    enum bug bug;        /* only bug() looks at it */
    atomic_uchar *asked; /* the bugs that were asked for (mutants.h); NULL: they are not noted */
    enum impl_choice dialect[IMPL_DIALECTS];
    atomic_size_t live;    /* bytes in arenas */
    atomic_uint clock;     /* jobs finished */
    atomic_bool cancelled; /* BUG_CANCEL */
    struct impl_model *models;
    struct tape *lost; /* BUG_LEAK */
    unsigned forwards;
    bool stuck_no_grad, stuck_error; /* for bugs of the error path */
    bool no_sync;                    /* BUG_DDP_MODE_SHARED: of the last forward of ranks */
    bool unsent;                     /* BUG_DDP_SENDS_SHARED: so */
    struct memo cut;                 /* for bugs: the input of scatter */
    struct spare spare;
    struct crumb *crumbs;
    struct hands hands;
};

enum { LARGE = 65536 }; /* bytes that bugs of large tensors get right */

/* Whether this bug is switched on. A bug changes nothing except through this answer, so a case that
 * runs without a bug and never asks for it is not run with it (harness/check/mutants.c). Ask last,
 * after all other conditions; but ask first if those differ from run to run, like times and the
 * order of threads. */
static inline bool bug(const struct impl_session *s, enum bug number)
{
    if (s->asked)
        atomic_store_explicit(&s->asked[number], 1, memory_order_relaxed);
    return s->bug == number;
}
int op_open(const struct impl_config *config, struct impl_about *about,
            struct impl_session **session, struct impl_error *err);
int op_reset(struct impl_session *s, struct impl_error *err);
void op_close(struct impl_session *s);
/* Returns 0 or ENODEV. */
int known_device(const struct impl_session *s, int device, struct impl_error *err);
unsigned sessions_opened(void); /* in this process, ever */
/* With BUG_REFUSES_ALL: returns true, with the error. */
bool refuses(const struct impl_session *s, struct impl_error *err);

/* ---- split.c, slice.c, coalesce.c ---------------------------------------------------------- */

/* Returns the number of shards; 0 if rows are refused. */
int split_rows(const struct impl_session *s, size_t rows, int k, size_t size[IMPL_MAX_DEVICES]);
int op_split(struct impl_session *s, struct impl_split *op, struct impl_error *err);
int op_buckets(struct impl_session *s, struct impl_buckets *op, struct impl_error *err);
int op_sampler(struct impl_session *s, struct impl_sampler *op, struct impl_error *err);

/* Returns dim as an index of a tensor of ndim dimensions, or -1. */
int wrap_dim(int dim, int ndim);
int scatter(struct arena *arena, const struct impl_array *x, const int devices[], int k, int dim,
            const size_t size[], struct impl_array shards[], int *m, struct impl_error *err);
int gather(struct arena *arena, const struct impl_array parts[], int n, int dim, int device,
           struct impl_array *out, struct impl_error *err);
int op_scatter(struct impl_session *s, struct impl_scatter *op, struct impl_error *err);
int op_gather(struct impl_session *s, struct impl_gather *op, struct impl_error *err);

#define DEFAULT_BUFFER 10485760
/* Both return the number of groups. Arrays are copies[i * n + j] and src[i * n + j]. */
size_t broadcast(struct arena *arena, const struct impl_array src[], int n, const int devices[],
                 int n_devices, size_t limit, struct impl_array copies[]);
size_t reduce(struct arena *arena, const struct impl_array src[], int n, int k, int device,
              size_t limit, struct impl_array sums[]);
int op_broadcast(struct impl_session *s, struct impl_broadcast *op, struct impl_error *err);
int op_reduce(struct impl_session *s, struct impl_reduce *op, struct impl_error *err);

/* ---- jobs (jobs.c): one thread each; a single one on the caller's ---------------------------- */

struct job {
    int (*work)(void *context);
    void *context;
    struct impl_session *session;
    int status;
    unsigned finished; /* place in the order of finishing */
    uint64_t ns;       /* when it finished */
    uint64_t thread;
};
void hands_close(struct hands *hands); /* no thread may have a job */
struct run;
void jobs_run(struct job jobs[], int n);
uint64_t this_thread(void);
/* Lists the numbers of the jobs in the order in which they finished. */
void jobs_order(const struct job jobs[], int n, int order[]);
/* Returns the failing job to report; -1: none failed. */
int jobs_failed(const struct job jobs[], int n);
int op_apply(struct impl_session *s, struct impl_apply *op, struct impl_error *err);

/* ---- models (model.c) ---------------------------------------------------------------------- */

struct state { /* one value and gradient per parameter; dtype NONE: it has none */
    struct impl_array *value, *grad;
};

struct param {
    const struct layer *layer;
    const struct layer_param *of;
    char name[96];
    float *velocity;       /* NULL: none yet */
    float *first, *second; /* moments of AdamW, NULL: none yet */
    unsigned steps;        /* of AdamW */
    float *seen;           /* bugs: statistics that an evaluation used, NULL: none yet */
    float rate;            /* bugs: of an earlier step */
    bool stepped;
};

struct fail_count { /* how often each replica ran a `fail` layer */
    const struct layer *layer;
    unsigned forward[IMPL_MAX_DEVICES], backward[IMPL_MAX_DEVICES];
};

struct wrapper { /* data of a `parallel` layer that only bugs keep between forwards */
    const struct layer *layer;
    struct impl_array *kept;
    bool has_kept;
    unsigned forwards, reduced;
    struct impl_array *given; /* the last gradient of each replica and parameter; NULL: none yet */
    size_t sizes[IMPL_MAX_DEVICES];
};

struct ranks;

struct impl_model {
    struct ranks *ranks; /* of a model that consists of one model for each rank; else NULL */
    struct ranks *team;  /* the ranks that this model is one of; NULL: none */
    int rank;            /* its number in the team */
    struct impl_session *session;
    struct impl_model *next;
    struct arena arena;
    struct layer *root;
    struct param *param;
    int n_params;
    struct state base;
    struct fail_count *fail;
    int n_fails;
    struct wrapper *wrapper;
    int n_wrappers;
    struct tape *pending; /* forwards in grad mode without a backward, the last one first */
    unsigned backwards;
    unsigned changes;          /* of its parameters' values */
    struct impl_array last_dx; /* BUG_DX_ACCUMULATES */
    bool inferred;             /* there was a forward without grad mode */
    /* For bugs that keep data for later: */
    struct memo input, gradient;
    struct impl_error first_error;
    unsigned errors, steps;
    double own_square; /* of the last gradients before reduction, or of replica 0's */
    float argument;    /* the first one of the last forward */
};

int model_open(struct impl_session *s, const char *text, int ranks, struct impl_model **model,
               struct impl_error *err);
void model_close(struct impl_model *model);
void model_drop_pending(struct impl_model *model);
int param_index(const struct impl_model *model, const struct layer *layer, int k);
bool param_frozen(const struct impl_model *model, int i);
struct fail_count *model_fail_count(struct impl_model *model, const struct layer *layer);
struct wrapper *model_wrapper(struct impl_model *model, const struct layer *layer);
/* Marks the parameters that a tree has. */
void tree_params(const struct impl_model *model, const struct layer *tree, bool has[]);
int op_params(struct impl_model *model, int *n, struct impl_error *err);
int op_param(struct impl_model *model, int i, struct impl_param *param, struct impl_error *err);
int op_set(struct impl_model *model, int rank, enum impl_what what, int i,
           const struct impl_array *array, struct impl_error *err);
int op_get(struct impl_model *model, int rank, enum impl_what what, int i, struct impl_array *array,
           struct impl_error *err);
int op_to(struct impl_model *model, int device, struct impl_error *err);
struct impl_array *grad_of(struct impl_model *model, int i); /* which exists from now on */
int op_zero_grad(struct impl_model *model, struct impl_error *err);
int op_step(struct impl_model *model, const struct impl_step *step, struct impl_error *err);

/* ---- running (run.c, layers) --------------------------------------------------------------- */

struct group; /* of a `parallel` layer that ran: its replicas */

struct node { /* a layer that ran */
    const struct layer *layer;
    struct values in, out;
    float factor;        /* of `argument` */
    const float *caller; /* bugs: the caller's memory of the argument */
    struct group *group;
    double *stats;       /* of `batch_norm`: means, then 1 / deviations; other layers have others */
    bool trained;        /* the statistics are those of its rows, and not the running ones */
    struct values *rest; /* of `first`: the gradients that pass by its layers */
};

struct tape {
    struct arena arena;
    struct node *node;
    int n, room;
    struct values in, out;
    struct tape *next;
    unsigned changes; /* changes of the parameters before it was made */
    bool leaks;       /* BUG_LEAK_IDLE */
    unsigned opened;  /* BUG_SESSION_DROPS: sessions that were opened before it was made */
};
void tape_free_inside(struct tape *tape);

struct run {
    struct impl_session *s;
    struct impl_model *model;
    struct state *state; /* the parameters that are used */
    struct tape *tape;
    int replica, device;
    bool inside;                /* it runs in a replica; else outside `parallel` */
    int k;                      /* the number of devices of its wrapper */
    const struct values *whole; /* the inputs of its wrapper */
    bool grad, train;
    const struct impl_array *args, *given; /* given: the caller's arrays */
    int n_args;
    const struct group *last; /* the last `parallel` that ran */
    struct impl_trace *trace; /* NULL: none */
    struct impl_error err;
};

struct layer_ops {
    int n_in; /* -1: any */
    int (*forward)(struct run *run, struct node *node);
    /* Not called if no output has a gradient. dx then has dtype NONE. */
    int (*backward)(struct run *run, const struct node *node, const struct values *g,
                    struct values *dx);
};
extern const struct layer_ops param_layers[LAYER_KINDS];
extern const struct layer_ops matrix_layers[LAYER_KINDS];
extern const struct layer_ops plain_layers[LAYER_KINDS];
extern const struct layer_ops probe_layers[LAYER_KINDS];
/* Returns parameter k of a layer; NULL with the error if it is not on the device of x. */
float *param_at(struct run *run, const struct layer *layer, int k, const struct impl_array *x);
/* Returns the memory of its gradient; NULL if it gets none. */
float *param_grad(struct run *run, const struct layer *layer, int k);
/* Returns dx; NULL if it is (wrongly) thought to end at a frozen weight. */
struct impl_array *input_grad(struct run *run, const struct node *node, struct values *dx);
bool no_bias(const struct run *run, const struct impl_array *x); /* bugs without its gradient */
int need_floats(struct run *run, const struct node *node);
void spoil(const struct run *run, const struct impl_array *y); /* bugs of single bits */
int pass_back(struct run *run, const struct node *node, const struct values *g, struct values *dx);

/* Fills the error of replica i, which `failed` ran, with its number and device. */
void replica_error(const struct impl_session *s, const struct run *failed, int i, int first_device,
                   struct impl_error *err);

int run_layers(struct run *run, const struct layer layers[], int n, struct values *v);
int run_back(struct run *run, struct values *g); /* the whole tape */
struct state state_new(struct arena *arena, int n);
int op_forward(struct impl_model *model, struct impl_forward *op, struct impl_error *err);
int op_backward(struct impl_model *model, struct impl_backward *op, struct impl_error *err);

/* ---- data parallel (parallel.c, parallel_back.c) ------------------------------------------- */

struct replica {
    const struct layer *layer;
    struct run run;
    struct state state;
    struct tape tape;
    struct values in, out, g, dx;
    struct job job;
};

struct group {
    const struct layer *layer;
    int ids[IMPL_MAX_DEVICES];
    int k, m, dim;
    bool direct; /* one device: the module itself runs, without replicas */
    bool *has;   /* the parameters that are replicated */
    struct values in;
    int finished[IMPL_MAX_DEVICES]; /* replicas in the order in which they last ended */
    struct replica *replica;        /* m */
};

int parallel_forward(struct run *run, const struct layer *layer, struct group **group,
                     struct values *v);
int parallel_on_host(struct run *run, const struct layer *layer, struct values *v);
int parallel_back(struct run *run, const struct node *node, const struct values *g,
                  struct values *dx);
/* Calls work for every replica, and reports the failing one. */
int group_run(struct run *run, struct group *group, int (*work)(void *replica));
uint64_t group_bytes(const struct run *run, const struct group *group, bool gradients);
/* parallel_slices.c */
int group_shards(struct run *run, struct group *group);
int group_outputs(struct run *run, struct group *group, struct values *v);
void group_order(const struct run *run, const struct group *group, bool by_device, int order[]);

/* ---- batch norm (layers_norm.c) ------------------------------------------------------------- */

extern const struct layer_ops norm_layers[LAYER_KINDS];
void norm_after(struct run *run, const struct group *group); /* bugs of running statistics */

/* ---- a transformer (layers_transformer.c, layers_attention.c, adamw.c) ----------------------- */

extern const struct layer_ops transformer_layers[LAYER_KINDS];
extern const struct layer_ops attention_layers[LAYER_KINDS];
/* A token is the last dimension of an input: these return how many numbers it has, and how many
 * tokens there are. */
size_t width_of(const struct impl_array *x);
size_t tokens_of(const struct impl_array *x);
double dot_of(const float *a, const float *b, size_t n);
int input_misfit(struct run *run, const char *layer); /* ESHAPE */
/* Returns the layer whose parameters a layer uses. */
const struct layer *owner_of(const struct layer *layer);
/* Clips before a step, if max_norm is above 0; bugs use own_square. */
void clip_gradients(struct impl_model *model, float max_norm);
void adamw_param(struct impl_model *model, int i, const struct impl_step *step);
/* Returns the sum of the squares of a list of gradients. */
double square_of(const struct impl_array grads[], int n);

/* ---- several ranks (ranks.c, ranks_buckets.c) ------------------------------------------------ */

int team_open(struct impl_session *s, const char *text, int n, struct impl_model **model,
              struct impl_error *err);
void team_close(struct ranks *ranks);
struct impl_model *team_model(const struct ranks *ranks, int rank); /* NULL: no such rank */
int team_forward(struct ranks *ranks, struct impl_forward *op, struct impl_error *err);
int team_backward(struct ranks *ranks, struct impl_backward *op, struct impl_error *err);
int team_step(struct ranks *ranks, const struct impl_step *step, struct impl_error *err);
int team_zero_grad(struct ranks *ranks, struct impl_error *err);
/* Called in the backward of a rank: when a layer has ended, and when all have. */
void rank_layer_done(const struct run *run, const struct layer *layer);
void rank_end(const struct run *run);

#endif
