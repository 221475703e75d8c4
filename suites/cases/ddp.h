/* ddp.h: models of several ranks: calls, and checks of all ranks. */
#ifndef CASES_DDP_H
#define CASES_DDP_H

#include "check.h"

/* All models of several ranks lie on the host, because the interface does not say on which device a
 * rank is. */
#define DDP_MODEL(layers) "{\"device\":-1,\"layers\":[" layers "]}"
#define DDP_AFFINE        "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]}"

/* The statuses of a refusal of ranks. Their rules say what is refused; which class of exception a
 * layer raises is its own choice: PyTorch's DDP raises RuntimeError for most. */
#define DDP_REFUSALS (ALLOW(IMPL_EINVAL) | ALLOW(IMPL_ESHAPE) | ALLOW(IMPL_EFAULT))

enum { DDP_MOST = 4 };

/* Numbers of ranks with which a mean is exact: for (i = 0; (ranks = ddp_ranks(i)); ++i). */
int ddp_ranks(int i);

/* ---- one forward and backward of all ranks (ddp_ranks.c) ------------------------------------- */

enum { DDP_RANKS = 16 };

struct ddp_call {
    int ranks, n_in, n_out;
    const struct impl_array *in[DDP_RANKS][IMPL_MAX_IO]; /* all NULL: the rank is not active */
    const struct impl_array *g[DDP_RANKS][IMPL_MAX_IO];  /* of the outputs; all NULL: ones */
    const bool *active;                                  /* NULL, or by rank */
    bool no_sync;
    bool infer, eval;              /* without grad mode, without training mode */
    const struct impl_array *args; /* n_args, the same for all ranks */
    int n_args;
    size_t room; /* floats of each output and each input gradient; 0: enough for small ones */
    struct impl_trace *forward, *backward; /* NULL, or out */
    const struct impl_array *out[DDP_RANKS][IMPL_MAX_IO], *grad_in[DDP_RANKS][IMPL_MAX_IO];
};

/* The try_ forms return the status; the others end the case unless it is 0. All check that each
 * rank has n_out outputs; without active ranks that is not checked, unless n_out is 0. */
int ddp_try_forward(struct check *c, struct impl_model *model, struct ddp_call *call);
int ddp_try_backward(struct check *c, struct impl_model *model, struct ddp_call *call);
void ddp_forward(struct check *c, struct impl_model *model, struct ddp_call *call);
void ddp_backward(struct check *c, struct impl_model *model, struct ddp_call *call);
void ddp_pass(struct check *c, struct impl_model *model, struct ddp_call *call); /* both */
/* Both, after zeroing the gradients. */
void ddp_fresh_pass(struct check *c, struct impl_model *model, struct ddp_call *call);
/* The same, and the number of outputs counts as a comparison of the case. */
void ddp_forward_counted(struct check *c, struct impl_model *model, struct ddp_call *call);
void ddp_pass_counted(struct check *c, struct impl_model *model, struct ddp_call *call);

/* Returns the i-th integer, from 1 on, that the mean gives back bit for bit if one rank gives it
 * times `ranks`, both if the sum is divided by their number and if it is multiplied by the inverse.
 * With three and five ranks every integer is one. */
double ddp_share(int ranks, int i);

/* values NULL: none (gradients). */
void ddp_set(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
             const double values[]);
/* Check parameter i of every rank: n elements, or one. */
void ddp_all_are(struct check *c, struct impl_model *model, int ranks, enum impl_what what, int i,
                 size_t n, const double want[]);
void ddp_all_is(struct check *c, struct impl_model *model, int ranks, enum impl_what what, int i,
                double want);
/* Checks the gradients of parameters 0 and 1, a weight and a bias, of every rank. */
void ddp_grads_are(struct check *c, struct impl_model *model, int ranks, double weight,
                   double bias);
/* Checks one element of one rank. */
void ddp_rank_is(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
                 double want);

/* ---- batches for DDP_AFFINE ------------------------------------------------------------------ */

/* The batch of one rank, and its results. All numbers are small integers, and no two ranks have as
 * many rows. */
struct ddp_batch {
    size_t n;
    const double *x, *g;
    double weight, bias; /* the gradients */
};
void ddp_batches(struct check *c, int ranks, uint64_t turn, struct ddp_batch batch[DDP_MOST]);
/* Returns the call with these batches. */
struct ddp_call ddp_call_of(struct check *c, int ranks, const struct ddp_batch batch[]);
/* Rank r has one row, x[r]; its gradients are x[r] and 1. */
struct ddp_call ddp_rows(struct check *c, int ranks, const double x[]);

#endif
