/* forecast/fit.h: the time of a step as a function of ranks and rows: curves through what was
 * measured. Pure functions on arrays; no allocation, and nothing of records. */
#ifndef HARNESS_FORECAST_FIT_H
#define HARNESS_FORECAST_FIT_H

#include <stddef.h>

enum { FIT_POINTS = 128 }; /* at most, of a setting */

/* Of a reduction: transfers that follow each other, and bytes that are written in them. */
struct fit_traffic {
    double transfers, bytes;
};

/* A point of a sweep, of one launch or of several in the middle. Times in ns. */
struct fit_point {
    int ranks;
    size_t shard; /* rows of the rank that has most */
    size_t model; /* points of one model have one */
    struct fit_traffic traffic;
    double step;    /* the whole */
    double compute; /* without its reduction */
    double comm;    /* the reduction alone */
    double hidden;  /* of it, behind the computation */
};

/* y = alpha + beta x. Through points of one x there is no line: it is known at that x only. */
struct fit_curve {
    double alpha, beta;
    double only; /* that x; NaN: a line */
    size_t n;    /* points; 0: nothing is known */
};
void fit_curve(const double x[], const double y[], size_t n, struct fit_curve *curve);
/* NaN where it is not known. */
double fit_at(const struct fit_curve *curve, double x);

/* What a step computes, by the rows of a rank: with one rank, with several, and with any. */
enum fit_kind { FIT_ONE, FIT_SEVERAL, FIT_ALL, FIT_KINDS };

struct fit_model {
    struct fit_curve compute[FIT_KINDS];
    struct fit_curve transfer; /* the time of a transfer by its bytes, of all models */
    double share,
        cover; /* hidden: at most of the reduction, and of the computation; NaN: unknown */
};

/* Fits one model through all points but skip (n or more: none), of which those of other models say
 * what a transfer takes. n is at most FIT_POINTS. */
void fit_model(const struct fit_point point[], size_t n, size_t skip, size_t model,
               struct fit_model *fit);

struct fit_time {
    double compute, comm, hidden, step; /* NaN: not known */
};
struct fit_time fit_time(const struct fit_model *fit, int ranks, size_t shard,
                         struct fit_traffic traffic);

#endif
