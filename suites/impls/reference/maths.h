/* maths.h: the loops of the adapter's layers, queued on the slot of their data. They are portable
 * float arithmetic in index order, as LAYERS.md defines it. */
#ifndef REFERENCE_MATHS_H
#define REFERENCE_MATHS_H

#include "dp.h"

enum loop {
    /* Loops over elements: each computes y[i] for n elements. a and b without an index are one
     * number. */
    LOOP_AFFINE,        /* y = a*x + b, b NULL: y = a*x */
    LOOP_SCALE_TWICE,   /* y = a*(a*x) */
    LOOP_SHIFT,         /* y = x*factor + first + second */
    LOOP_MULTIPLY,      /* y = factor*(x[i]*a[i]) */
    LOOP_MULTIPLY_BACK, /* y = (factor*x[i])*a[i] */
    LOOP_SPREAD,        /* y[i] = x[0] / factor */
    LOOP_ADD,           /* y = x */
    /* Loops that compute one number y. */
    LOOP_SUM,       /* of x[i] */
    LOOP_MEAN,      /* of x[i], divided by n */
    LOOP_DOT,       /* of x[i]*a[i] */
    LOOP_TIED_GRAD, /* of x*(b*a[i]) and of (x*b)*a[i], x the gradient */
    LOOP_NUMBER,    /* first */
    /* Loops over matrices y[rows][columns]. */
    LOOP_CENTRE,      /* x minus the mean of its column */
    LOOP_DOUBLE_ROWS, /* rows 2i and 2i+1 are row i of x */
    LOOP_FOLD_ROWS,   /* y[i] = x[i] + (a[2i] + a[2i+1]); either NULL: none */
    LOOP_PAD_ROWS,    /* n elements of x, then zeros */
    LOOP_SUM_ROWS,    /* y[j] = sum over rows of x[i][j] */
    LOOP_SPREAD_ROWS, /* every row is x */
    LOOP_WIDEN,       /* y[i][j] = x[i] */
    LOOP_WIDEN_BACK,  /* y[i] = sum over columns of x[i][j] */
    LOOP_LOOK_UP,     /* row i is row index[i] of x, of n elements */
    LOOP_LOOK_UP_BACK /* row r: sum of rows i of x, of n, with index[i] = r */
};

/* The arguments of a queued loop; each loop uses those that it needs. */
struct math {
    enum loop loop;
    const float *x, *a, *b;
    const int32_t *index;
    float *y;
    size_t n, rows, columns;
    float factor, first, second;
    bool accumulate; /* what is computed is added to y */
};

/* The function of a queued call; its arguments are a struct math. */
void math_run(const void *args);
/* Fills uses with the memory that a loop reads and writes. Returns their number, at most
 * DP_CALL_USES. */
int math_uses(const struct math *m, struct dp_use uses[]);

#endif
