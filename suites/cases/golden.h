/* golden.h: the data and functions that the cases about whole models share: devices in mixed order,
 * the golden data set (y = 2x + 1, x = 1..N), a small network with its closed form, and the state
 * that an error must leave. */
#ifndef CASES_GOLDEN_H
#define CASES_GOLDEN_H

#include "check.h"

#define GOLDEN_AFFINE "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]}"

/* The values of impl_status for arguments that do not fit. */
#define GOLDEN_UNFIT (ALLOW(IMPL_ESHAPE) | ALLOW(IMPL_EINVAL))

/* Returns k devices, out of order if there are two or more: (2, 0, 3, 1) of four. */
const int *golden_ids(struct check *c, int k);
/* Returns the limit of the places where arrays are put: IMPL_HOST, and the devices below this
 * number, which is at most 4. */
int golden_places(const struct check *c);
/* Returns the largest number of devices of check_count that is at most `most`. */
int golden_most(const struct check *c, int most);
/* Opens `layers` in parallel on golden_ids. */
struct impl_model *golden_parallel(struct check *c, int k, const char *options, const char *layers);
struct impl_model *golden_affine(struct check *c, int k);
/* Return a vector that needs a gradient: 1..n, or first, first + step, .. */
struct impl_array *golden_rows(struct check *c, size_t n);
struct impl_array *golden_vector(struct check *c, size_t n, double first, double step);
/* Returns [rows, columns] with consecutive numbers, row by row; it needs a gradient. */
struct impl_array *golden_matrix(struct check *c, size_t rows, size_t columns, double first,
                                 double step);

/* Return 1 + 2 + .. + n, and 1 + 4 + .. + n * n. */
double golden_sum(size_t n);
double golden_squares(size_t n);

/* Checks float32, this shape and these bits. */
void golden_is(struct check *c, const char *what, const struct impl_array *got, int ndim,
               const size_t dim[], const double want[]);
void golden_is_vector(struct check *c, const char *what, const struct impl_array *got, size_t n,
                      const double want[]);
/* Checks first, first + step, ... in this shape. */
void golden_is_sequence(struct check *c, const char *what, const struct impl_array *got, int ndim,
                        const size_t dim[], double first, double step);
void golden_is_counted(struct check *c, const char *what, const struct impl_array *got, size_t n,
                       double first, double step);

/* ---- calls with any number of inputs and outputs ------------------------------------------- */

struct golden_call {
    const struct impl_array *in[IMPL_MAX_IO];
    int n_in;
    const struct impl_array *arg; /* NULL: none */
    bool no_grad;
    struct impl_array *out; /* of the forward */
    int n_out;
    struct impl_trace trace;
};
int golden_try_forward(struct check *c, struct impl_model *model, struct golden_call *call);
void golden_forward(struct check *c, struct impl_model *model, struct golden_call *call);
/* Makes a backward with one gradient per output, NULL: none; returns the gradients of the
 * inputs. */
struct impl_array *golden_backward(struct check *c, struct impl_model *model,
                                   const struct golden_call *call,
                                   const struct impl_array *const grad_out[]);
int golden_try_one(struct check *c, struct impl_model *model, const struct impl_array *x);
int golden_try_backward(struct check *c, struct impl_model *model, const struct impl_array *g);

/* ---- errors --------------------------------------------------------------------------------- */

/* Sets the gradients 1000 and 123 of parameters 0 and 1 of a model that computes 2x + 1. */
void golden_prefill(struct check *c, struct impl_model *model);
/* Checks that these gradients and the parameters are still there, and that one good step adds the
 * right gradients. */
void golden_unharmed(struct check *c, struct impl_model *model);
/* Checks that a right call is accepted, next to each refusal: a step of another model on k
 * devices. */
void golden_works(struct check *c, int k);

/* How a failing replica or call must be reported. */
struct golden_failure {
    int status, replica, device;
    const char *text; /* a part of the error's text */
};
/* Two replicas failed, one *ms after the other, and the first in time must be named. A busy machine
 * can turn their order. If the report is that of `later`, in every part, *ms becomes 64 times as
 * long and the result is true: the case tries again, once in all its turns. Any other report
 * counts. */
bool golden_try_later(const struct check *c, int status, const struct golden_failure *later,
                      int *ms);

/* ---- the network ---------------------------------------------------------------------------- */

/* The network is x [n, 3], linear 3 -> 4, relu, linear 4 -> 2, some levels deep. All numbers are
 * small integers, so results are exact. */
enum { NET_IN = 3, NET_MID = 4, NET_OUT = 2, NET_PARAMS = 4 };
struct golden_net {
    size_t n;
    const double *weight[NET_PARAMS];  /* first weight, first bias, second weight, second bias */
    const double *x, *g;               /* g: the gradient of the output */
    double *y, *dx, *grad[NET_PARAMS]; /* the results */
};
extern const size_t golden_net_size[NET_PARAMS];
/* Fills the numbers of a batch of n rows, as a function of seed; the weights are those of
 * `weights`. */
void golden_net_batch(struct check *c, struct golden_net *net, size_t n, uint64_t weights,
                      uint64_t seed);
const char *golden_net_layers(struct check *c, const struct golden_net *net);
/* Makes forward and backward of the batch; outputs and the gradient of the input must be right. */
void golden_net_run(struct check *c, struct impl_model *model, const struct golden_net *net);
/* Checks that the gradients are times x those of the batch. */
void golden_net_grads(struct check *c, struct impl_model *model, const struct golden_net *net,
                      double times);

#endif
