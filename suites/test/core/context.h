/* context.h: the state of a case, and the functions that it opens, fills and compares with.
 *
 * A case is a function that opens groups, runs core and states what it expects. The first
 * expectation that does not hold ends the case: the functions here that can fail do not return
 * then, and the runner closes everything that was opened through the context. A case that compared
 * nothing has failed. Expectations are stated on the calling thread only; modules under test, which
 * run on workers, write what they saw into a probe (probes.h). */
#ifndef CASES_CONTEXT_H
#define CASES_CONTEXT_H

#include "dp.h"

#include <setjmp.h>

enum verdict { VERDICT_PASS, VERDICT_FAIL, VERDICT_SKIP };

struct case_settings {
    const char *backend; /* "cpu", "cpu-ref", "cpu-cblas", "cpu-onednn", "cuda", "cuda-staged" */
    bool lag;            /* devices are virt:K+lag */
    uint64_t lag_seed;
    int gpus;                     /* not 0: slots are on that many GPUs, in turn */
    bool no_graphs;               /* a case may change it before it opens a group, and the next */
    const char *communicator;     /* NULL: the backend's own */
    const struct dp_world *world; /* NULL: one process */
};

struct context {
    struct case_settings settings;
    enum verdict verdict;
    size_t compared;
    struct dp_error err;  /* given to every call that can fail */
    struct dp_error seen; /* the error that expect_error has found right last */
    char note[80];        /* the row of the case's table at work, "K=4 N=10: " */
    char message[600];    /* why it failed or was skipped */
    jmp_buf leave;
    struct resource *resources; /* opened so far, in order */
    size_t n_resources, capacity;
};

struct test_case {
    const char *name;  /* "area/subject" */
    const char *rules; /* "GRAD-01 GRAD-02" */
    void (*function)(struct context *c);
};

struct case_result {
    enum verdict verdict;
    size_t compared;
    char message[600];
};

/* Runs one case on new groups, and closes everything that it opened. */
void case_run(const struct test_case *test, const struct case_settings *settings,
              struct case_result *result);

_Noreturn void case_fail(struct context *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void case_skip(struct context *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sets the text that begins every later message. */
void case_note(struct context *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void case_release(struct context *c); /* closes all that was opened: between rows of a table */
void *case_memory(struct context *c, size_t bytes); /* zeroed, freed by release */

/* Returns the n numbers first, first + step, ... in case memory. */
const double *sequence(struct context *c, size_t n, double first, double step);
/* Returns n integers of -8..8, never zero, which depend on the seed only. Every sum of a case is
 * exact. */
const double *integers(struct context *c, size_t n, uint64_t seed);
/* Returns n floats uniform in -1..1, which depend on the seed only. */
const float *randoms(struct context *c, size_t n, uint64_t seed);

/* Calls close(object) when the case ends. */
void own(struct context *c, void (*close)(void *object), void *object);

/* ---- opening: a failure is the case's failure ------------------------------------------- */

/* A call with c->err has opened it, or failed with that status. */
struct dp_group *opened_group(struct context *c, int status, struct dp_group *const *group);
/* SLOTS devices of the settings' kind. */
struct dp_group *open_group(struct context *c, int slots);
bool adds_freely(const struct dp_group *group); /* DataParallel's sums: DP_COMM_FREE_SUMS */
struct dp_group *open_math_group(struct context *c, int slots, enum dp_math math);
/* All that a layer needs: a group, its first slot, and a run. */
struct one {
    struct dp_group *group;
    struct dp_slot *slot;
    struct dp_run *run;
};
struct one open_one(struct context *c, int slots);
/* "virt:4", "virt:4+lag", "cuda:0,1,0,1" on two GPUs. */
void device_list(const struct case_settings *settings, int slots, char text[256]);
/* Writes the name that slot i must have: "virt:3", "cuda:1#1". */
void slot_name(const struct case_settings *settings, int i, char text[32]);
struct dp_run *open_run(struct context *c, struct dp_group *group);
struct dp_replicas *open_replicas(struct context *c, struct dp_module *module,
                                  struct dp_slot *const slots[], int n);
struct dp_sgd *open_sgd(struct context *c, struct dp_module *module, float lr, float momentum,
                        float decay);
/* A call with c->err has opened it, or failed with that status: for openers not below. */
struct dp_module *opened_module(struct context *c, int status, struct dp_module *const *module);
struct dp_module *make_module(struct context *c, struct dp_group *group,
                              const struct dp_module_ops *ops,
                              void *self); /* a module of the case */
struct dp_module *make_linear(struct context *c, struct dp_group *group, size_t d_in, size_t d_out,
                              bool bias);
struct dp_module *make_relu(struct context *c, struct dp_group *group);
struct dp_module *make_tanh(struct context *c, struct dp_group *group);
struct dp_module *make_sequential(struct context *c, struct dp_group *group,
                                  struct dp_module *const children[], int n);
struct dp_module *make_loss(struct context *c, struct dp_group *group, enum dp_loss_kind kind,
                            float scale, bool mean);
struct dp_module *make_parallel(struct context *c, struct dp_module *module,
                                const struct dp_parallel_config *config);
/* Returns the slots with these numbers of the group, in case memory. */
struct dp_slot **slot_list(struct context *c, struct dp_group *group, const int order[], int n);
struct dp_slot **first_slots(struct context *c, struct dp_group *group, int n);
void move_module(struct context *c, struct dp_module *module, struct dp_slot *slot);
struct dp_param *param_at(struct context *c, struct dp_module *module, int i);

struct dp_tensor make_tensor(struct context *c, struct dp_slot *slot, enum dp_dtype dtype, int ndim,
                             const size_t dim[], const double values[]);
struct dp_tensor make_matrix(struct context *c, struct dp_slot *slot, size_t rows, size_t columns,
                             const double values[]); /* DP_F32 */
void write_values(struct context *c, const struct dp_tensor *tensor, const double values[]);
void write_floats(struct context *c, const struct dp_tensor *tensor, const float values[]);

/* ---- running: one tensor in, one out ---------------------------------------------------- */

struct dp_tensor forward(struct context *c, struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor *in);
/* grad_out NULL: ones. Returns the gradient of in[0]. */
struct dp_tensor backward(struct context *c, struct dp_module *module, struct dp_run *run,
                          const struct dp_tensor *grad_out);

/* ---- expecting -------------------------------------------------------------------------- */

void expect(struct context *c, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A call with c->err succeeded. Does not count as a comparison. */
void expect_ok(struct context *c, int status, const char *what);
/* A call with c->err failed with this status, the error says so, and its text contains the needles.
 * Moves the error to c->seen: the next call has none. */
void expect_error(struct context *c, int got, int status, const char *needle, const char *other);
/* The same for an error that is not c->err, which stays where it is. */
void expect_ok_of(struct context *c, int status, const struct dp_error *err, const char *what);
void expect_error_of(struct context *c, int got, int status, const struct dp_error *err,
                     const char *needle, const char *other);
void expect_shape(struct context *c, const char *what, const struct dp_tensor *tensor, int ndim,
                  const size_t dim[]);
void expect_slot(struct context *c, const char *what, const struct dp_tensor *tensor,
                 const struct dp_slot *slot);
/* All elements, read into poisoned and fenced memory. */
void expect_values(struct context *c, const char *what, const struct dp_tensor *tensor,
                   const double want[]);
void expect_bits(struct context *c, const char *what, const struct dp_tensor *tensor,
                 const float want[]);
void expect_within(struct context *c, const char *what, const struct dp_tensor *tensor,
                   const double want[], const double bound[]);
void expect_matrix(struct context *c, const char *what, const struct dp_tensor *tensor,
                   const struct dp_slot *slot, size_t rows, size_t columns, const double want[]);
void expect_scalar(struct context *c, const char *what, const struct dp_tensor *tensor,
                   const struct dp_slot *slot, double want);
/* The gradient exists, is on the slot of the parameter, and has these values. */
void expect_grad(struct context *c, const char *what, const struct dp_param *param,
                 const double want[]);
void expect_no_grad(struct context *c, const char *what, const struct dp_param *param);
/* Copies all elements into case memory. */
const float *read_floats(struct context *c, const struct dp_tensor *tensor);

/* Returns the rows of shard s, by arithmetic that is independent of core. */
size_t shard_rows(size_t rows, int k, int s);

#endif
