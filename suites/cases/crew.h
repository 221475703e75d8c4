/* crew.h: models of any number of ranks, each with several inputs and outputs. The calls of ddp.h
 * have at most four ranks, and one input and output for each. */
#ifndef CASES_CREW_H
#define CASES_CREW_H

#include "check.h"

enum { CREW_MOST = 16 };
#define CREW_MODEL(layers) "{\"device\":-1,\"layers\":[" layers "]}"

struct crew_call {
    int ranks, n_in, n_out;
    const struct impl_array *in[CREW_MOST][IMPL_MAX_IO]; /* all NULL: the rank has joined */
    const struct impl_array *g[CREW_MOST][IMPL_MAX_IO];  /* of the outputs; NULL: none */
    const bool *active;                                  /* NULL, or by rank */
    bool no_sync, infer, eval;
    size_t room; /* floats of each output and each input gradient; 0: 256 */
    const struct impl_array *out[CREW_MOST][IMPL_MAX_IO], *grad_in[CREW_MOST][IMPL_MAX_IO];
};
void crew_forward(struct check *c, struct impl_model *model, struct crew_call *call);
void crew_backward(struct check *c, struct impl_model *model, struct crew_call *call);
void crew_pass(struct check *c, struct impl_model *model, struct crew_call *call);

/* Returns the i-th integer, from 1 on, that the mean gives back bit for bit if one rank gives it
 * times `ranks`, both if the sum is divided by their number and if it is multiplied by the inverse.
 * With three and five ranks every integer is one. */
double crew_share(int ranks, int i);

/* Checks parameter i of every rank. */
void crew_all_are(struct check *c, struct impl_model *model, int ranks, enum impl_what what, int i,
                  size_t n, const double want[]);
void crew_rank_is(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
                  double want);
void crew_set(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
              const double values[]);

#endif
