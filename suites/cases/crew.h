/* crew.h: models of several ranks, of any number of them, each with several inputs and outputs; the
 * calls of ddp.h are of four ranks at most, with one of each. */
#ifndef CASES_CREW_H
#define CASES_CREW_H

#include "check.h"

enum { CREW_MOST = 16 };
#define CREW_MODEL(layers) "{\"device\":-1,\"layers\":[" layers "]}"

struct crew_call {
    int ranks, n_in, n_out;
    const struct impl_array *in[CREW_MOST][IMPL_MAX_IO]; /* all NULL: of a rank that has joined */
    const struct impl_array *g[CREW_MOST][IMPL_MAX_IO];  /* of the outputs; NULL: none */
    const bool *active;                                  /* NULL, or by rank */
    bool no_sync, infer, eval;
    size_t room; /* floats of each output and each input gradient; 0: 256 */
    const struct impl_array *out[CREW_MOST][IMPL_MAX_IO], *grad_in[CREW_MOST][IMPL_MAX_IO];
};
void crew_forward(struct check *c, struct impl_model *model, struct crew_call *call);
void crew_backward(struct check *c, struct impl_model *model, struct crew_call *call);
void crew_pass(struct check *c, struct impl_model *model, struct crew_call *call);

/* The i-th integer from 1 on that is the mean's share of `ranks` times itself, bit for bit, whether
 * it is divided by their number or multiplied by its inverse. Three and five have all of them. */
double crew_share(int ranks, int i);

/* Parameter i of every rank. */
void crew_all_are(struct check *c, struct impl_model *model, int ranks, enum impl_what what, int i,
                  size_t n, const double want[]);
void crew_rank_is(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
                  double want);
void crew_set(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
              const double values[]);

#endif
