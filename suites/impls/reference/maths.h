/* maths.h: the loops of the adapter's layers, queued on the slot of their data. They are portable
 * float arithmetic in index order, as LAYERS.md defines it. Their arguments are a struct math. */
#ifndef REFERENCE_MATHS_H
#define REFERENCE_MATHS_H

#include "dp.h"

/* The arguments of a queued loop; each loop uses those that it needs. */
struct math {
    const float *x, *a, *b;
    const int32_t *index;
    float *y;
    size_t n, rows, columns;
    float factor, first, second;
    bool accumulate;
};

/* Fills uses with the memory that a loop reads and writes. Returns their number, at most
 * DP_CALL_USES. */
int math_uses(void (*loop)(const void *args), const struct math *m, struct dp_use uses[]);

/* Loops over elements: each computes y[i] for n elements. a and b without an index are one
 * number. */
void loop_affine(const void *args);        /* y = a*x + b, b NULL: y = a*x */
void loop_scale_twice(const void *args);   /* y = a*(a*x) */
void loop_shift(const void *args);         /* y = x*factor + first + second */
void loop_multiply(const void *args);      /* y = factor*(x[i]*a[i]) */
void loop_multiply_back(const void *args); /* y = (factor*x[i])*a[i] */

/* Loops that compute one number y; with accumulate, y = y + the sum. */
void loop_sum(const void *args);       /* of x[i] */
void loop_mean(const void *args);      /* of x[i], divided by n */
void loop_dot(const void *args);       /* of x[i]*a[i] */
void loop_tied_grad(const void *args); /* of x*(b*a[i]) and of (x*b)*a[i], x the gradient */
void loop_number(const void *args);    /* first */
void loop_spread(const void *args);    /* y[i] = x[0] / factor */

/* Loops over matrices y[rows][columns]. */
void loop_centre(const void *args);       /* x minus the mean of its column */
void loop_double_rows(const void *args);  /* rows 2i and 2i+1 are row i of x */
void loop_fold_rows(const void *args);    /* y[i] = x[i] + (a[2i] + a[2i+1]); either NULL: none */
void loop_pad_rows(const void *args);     /* n elements of x, then zeros */
void loop_sum_rows(const void *args);     /* y[j] = sum over rows of x[i][j] */
void loop_spread_rows(const void *args);  /* every row is x */
void loop_widen(const void *args);        /* y[i][j] = x[i] */
void loop_widen_back(const void *args);   /* y[i] = sum over columns of x[i][j] */
void loop_look_up(const void *args);      /* row i is row index[i] of x, of n elements */
void loop_look_up_back(const void *args); /* row r: sum of rows i of x, of n, with index[i] = r */
void loop_add(const void *args);          /* y = x of n elements, with accumulate y = y + x */

#endif
