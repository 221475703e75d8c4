/* gpt.h: area GPT: training of a transformer: its layers with DataParallel and with ranks, and
 * steps with clipping and with AdamW. */
#ifndef CASES_GPT_H
#define CASES_GPT_H

#include "check.h"

enum { GPT_PARAMS = 4, GPT_STEPS = 4 /* tokens of a sequence */ };

/* A batch of some rows, and its results. All numbers are small integers or fractions of powers of
 * two. */
struct gpt_pass {
    size_t rows;                    /* input */
    const struct impl_array *in[2]; /* the inputs of the model */
    int ndim;                       /* of the output */
    size_t dim[3];                  /* of the output; dim[0]: rows */
    const double *up;               /* the gradient of the output */
    double *y, *dx;                 /* dx NULL: the inputs are integers */
    size_t dx_size;                 /* elements */
    double *grad[GPT_PARAMS];       /* of the parameters: sums over all rows */
};

/* The model of a case, which runs on devices and on ranks. */
struct gpt_subject {
    const char *(*layers)(struct check *c);
    int n_in, n_params;
    size_t size[GPT_PARAMS]; /* elements of each parameter */
    /* The output is one number. Each row has its share of it in y, and a gradient of 1 in up. */
    bool scalar;
    double off; /* the largest allowed error of a number; 0: exact */
    void (*make)(struct check *c, struct gpt_pass *pass, uint64_t seed);
};

/* Makes two turns on every number of devices, and on 2 and 3 ranks, with different rows. */
void gpt_replicas(struct check *c, const struct gpt_subject *subject);
void gpt_ranks(struct check *c, const struct gpt_subject *subject);
/* Returns "[1,-2,3]", for example. */
const char *gpt_list(struct check *c, size_t n, const double values[]);
double *gpt_zeros(struct check *c, size_t n);
/* Takes an input [rows, GPT_STEPS, width] of these values; its gradient begins with zeros. */
void gpt_take_input(struct check *c, struct gpt_pass *pass, size_t width, const double values[]);
/* Sets the shape of an output [rows, GPT_STEPS, width]. */
void gpt_output_shape(struct gpt_pass *pass, size_t width);

/* ---- steps ----------------------------------------------------------------------------------- */

enum { GPT_TWO = 2 };

/* A model of two parameters with one element each, at first 4 and -4. */
struct gpt_trained {
    struct impl_model *model;
    int ranks; /* 0: it runs on devices */
    int n;     /* number of devices or ranks */
};
struct gpt_trained gpt_on_devices(struct check *c, int k, const char *layers);
struct gpt_trained gpt_on_ranks(struct check *c, int ranks, const char *layers);
/* Notes "2 ranks, step 1: ", for example. */
void gpt_note_step(struct check *c, const struct gpt_trained *t, int step);
/* Checks parameter p of the base, or of every rank. */
void gpt_all_are(struct check *c, const struct gpt_trained *t, enum impl_what what, int p,
                 double want);

/* The state of AdamW for one number, in double. */
struct gpt_adamw {
    double value, first, second;
    int steps;
};
/* The model makes the step; then both values must be those of AdamW with these gradients. */
void gpt_adamw_both(struct check *c, const struct gpt_trained *t, struct gpt_adamw a[GPT_TWO],
                    const struct impl_step *step, const double g[GPT_TWO]);
/* beta2 is 0; the rate over 1 - beta1^t is 21/32, 7/16, 3/8. */
extern const struct impl_step gpt_exact;

#endif
