/* gpt.h: area GPT: what training a transformer adds: its layers under DataParallel and of ranks,
 * and the steps that clip and that are AdamW's. */
#ifndef CASES_GPT_H
#define CASES_GPT_H

#include "check.h"

enum { GPT_PARAMS = 4, GPT_STEPS = 4 /* tokens of a sequence */ };

/* A batch of some rows, and what must come of it. Small integers or fractions of powers of two. */
struct gpt_pass {
    size_t rows;                    /* in */
    const struct impl_array *in[2]; /* what the model gets */
    int ndim;                       /* of the output */
    size_t dim[3];                  /* so; dim[0]: rows */
    const double *up;               /* the gradient of the output */
    double *y, *dx;                 /* dx NULL: the input is of integers */
    size_t dx_size;                 /* elements */
    double *grad[GPT_PARAMS];       /* of the parameters: sums over all rows */
};

/* A model that a case is about, whatever it is run on. */
struct gpt_subject {
    const char *(*layers)(struct check *c);
    int n_in, n_params;
    size_t size[GPT_PARAMS]; /* elements of each parameter */
    /* The output is one number: of y each row has its share of it, and up is 1 of each row. */
    bool scalar;
    double off; /* how far a number may be away from what it must be; 0: exact */
    void (*make)(struct check *c, struct gpt_pass *pass, uint64_t seed);
};

/* Two turns on every number of devices; on 2 and 3 ranks, of different rows. */
void gpt_replicas(struct check *c, const struct gpt_subject *subject);
void gpt_ranks(struct check *c, const struct gpt_subject *subject);
/* "[1,-2,3]" */
const char *gpt_list(struct check *c, size_t n, const double values[]);
double *gpt_zeros(struct check *c, size_t n);
/* An input [rows, GPT_STEPS, width] of these values, and its gradient, zeros. */
void gpt_take_input(struct check *c, struct gpt_pass *pass, size_t width, const double values[]);
/* An output [rows, GPT_STEPS, width]. */
void gpt_output_shape(struct gpt_pass *pass, size_t width);

/* ---- steps ----------------------------------------------------------------------------------- */

enum { GPT_TWO = 2 };

/* A model of two parameters of one element each, first 4 and -4. */
struct gpt_trained {
    struct impl_model *model;
    int ranks; /* 0: on devices */
    int n;     /* devices or ranks */
};
struct gpt_trained gpt_on_devices(struct check *c, int k, const char *layers);
struct gpt_trained gpt_on_ranks(struct check *c, int ranks, const char *layers);
/* "2 ranks, step 1: " */
void gpt_note_step(struct check *c, const struct gpt_trained *t, int step);
/* Parameter p of the base, or of every rank. */
void gpt_all_are(struct check *c, const struct gpt_trained *t, enum impl_what what, int p,
                 double want);

/* AdamW of one number, in double. */
struct gpt_adamw {
    double value, first, second;
    int steps;
};
/* Returns what the step takes off. */
double gpt_adamw_step(struct gpt_adamw *a, const struct impl_step *step, double g);
/* The model makes the step; then both values must be those of AdamW with these gradients. */
void gpt_adamw_both(struct check *c, const struct gpt_trained *t, struct gpt_adamw a[GPT_TWO],
                    const struct impl_step *step, const double g[GPT_TWO]);
/* beta2 is 0; the rate over 1 - beta1^t is 21/32, 7/16, 3/8. */
extern const struct impl_step gpt_exact;

extern const struct check_table gpt_layers_table;
extern const struct check_table gpt_attention_table;
extern const struct check_table gpt_clip_table;
extern const struct check_table gpt_adamw_table;

#endif
