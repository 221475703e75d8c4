/* ddp.h: area DDP: models of several ranks, and the cases about them; their table is in ddp.c. */
#ifndef CASES_DDP_H
#define CASES_DDP_H

#include "check.h"

/* All models of several ranks lie on the plain CPU: nothing says on which device a rank would. */
#define DDP_MODEL(layers) "{\"device\":-1,\"layers\":[" layers "]}"
#define DDP_AFFINE        "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]}"

enum { DDP_MOST = 4 };

/* Numbers of ranks with which a mean is exact: for (i = 0; (ranks = ddp_ranks(i)); ++i). */
int ddp_ranks(int i);

/* ---- one forward and backward of all ranks (ddp_ranks.c) ------------------------------------- */

/* One input and one output for each rank. */
struct ddp_call {
    int ranks;
    const struct impl_array *in[DDP_MOST]; /* NULL: none, of a rank that is not active */
    const struct impl_array *g[DDP_MOST];  /* of the outputs; all NULL: ones */
    const bool *active;                    /* NULL, or by rank */
    bool no_sync;
    bool infer, eval;                           /* without grad mode, without training mode */
    struct impl_trace *forward, *backward;      /* NULL, or out */
    const struct impl_array *out[DDP_MOST];     /* of the forward */
    const struct impl_array *grad_in[DDP_MOST]; /* of the backward */
};

/* The try_ forms return the status, the others end the case unless it is 0. */
int ddp_try_forward(struct check *c, struct impl_model *model, struct ddp_call *call);
int ddp_try_backward(struct check *c, struct impl_model *model, struct ddp_call *call);
void ddp_forward(struct check *c, struct impl_model *model, struct ddp_call *call);
void ddp_backward(struct check *c, struct impl_model *model, struct ddp_call *call);
/* Both, and each output is there; the vectors in x are the inputs, the gradients are ones. */
void ddp_pass(struct check *c, struct impl_model *model, struct ddp_call *call);

/* values NULL: none (gradients) */
void ddp_set(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
             const double values[]);
/* Parameter i of every rank: n elements, or one. */
void ddp_all_are(struct check *c, struct impl_model *model, int ranks, enum impl_what what, int i,
                 size_t n, const double want[]);
void ddp_all_is(struct check *c, struct impl_model *model, int ranks, enum impl_what what, int i,
                double want);
/* Of one rank, one element. */
void ddp_rank_is(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
                 double want);

/* ---- batches for DDP_AFFINE ------------------------------------------------------------------ */

/* What one rank gets and must give. Small integers; no two ranks have as many rows. */
struct ddp_batch {
    size_t n;
    const double *x, *g;
    double weight, bias; /* the gradients */
};
void ddp_batches(struct check *c, int ranks, uint64_t turn, struct ddp_batch batch[DDP_MOST]);
/* The call with these batches. */
struct ddp_call ddp_call_of(struct check *c, int ranks, const struct ddp_batch batch[]);
/* Rank r has the one row x[r]; its gradients are x[r] and 1. */
struct ddp_call ddp_rows(struct check *c, int ranks, const double x[]);

/* ---- cases ----------------------------------------------------------------------------------- */

/* ddp_training.c: the mean, the exactness of it, equal parameters */
void ddp_mean_known(struct check *c);
void ddp_mean_steps(struct check *c);
void ddp_mean_network(struct check *c);
void ddp_mean_large(struct check *c);
void ddp_mean_exact(struct check *c);
void ddp_mean_range(struct check *c);
void ddp_mean_infinite(struct check *c);
void ddp_values_same(struct check *c);
void ddp_values_not_sent(struct check *c);
void ddp_gradients_same(struct check *c); /* DET-07 */

/* ddp_models.c: layers that run twice or are frozen, no rows, other modes */
void ddp_mean_again(struct check *c);
void ddp_mean_frozen(struct check *c);
void ddp_mean_eval(struct check *c);
void ddp_mean_no_rows(struct check *c);
void ddp_sync_infer(struct check *c);

/* ddp_loss.c: losses of unequal batches; what cannot be wrapped */
void ddp_loss_mean(struct check *c);
void ddp_loss_mean_equal(struct check *c);
void ddp_loss_sum(struct check *c);
void ddp_loss_scaled(struct check *c);
void ddp_loss_own(struct check *c);
void ddp_nothing_to_train(struct check *c);

/* ddp_sync.c: gradients that are not sent at once */
void ddp_no_sync_known(struct check *c);
void ddp_no_sync_several(struct check *c);
void ddp_no_sync_prefilled(struct check *c);
void ddp_sync_each(struct check *c);

/* ddp_buffers.c: buffers are sent, and in place */
void ddp_buffers_sent(struct check *c);
void ddp_buffers_statistics(struct check *c);
void ddp_buffers_two_forwards(struct check *c);

/* ddp_buckets.c: what is reduced together, in which order, and when */
void ddp_buckets_limits(struct check *c);
void ddp_buckets_reversed(struct check *c);
void ddp_buckets_arrival(struct check *c);
void ddp_buckets_order(struct check *c);
void ddp_buckets_beside(struct check *c);
void ddp_traffic(struct check *c); /* COST-04 */

/* ddp_unused.c: parameters without a gradient */
void ddp_unused_on_some(struct check *c);
void ddp_unused_everywhere(struct check *c);
void ddp_unused_later(struct check *c);
void ddp_unused_after_no_sync(struct check *c);
void ddp_unused_refused(struct check *c);

/* ddp_unlike.c: ranks that are not built alike */
void ddp_unlike_values(struct check *c);
void ddp_unlike_shapes(struct check *c);
void ddp_unlike_order(struct check *c);

/* ddp_join.c: ranks with fewer batches */
void ddp_join_divisor(struct check *c);
void ddp_join_divisor_many(struct check *c);
void ddp_join_last(struct check *c);
void ddp_join_tie(struct check *c);
void ddp_join_buffers(struct check *c);

#endif
