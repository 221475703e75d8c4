/* shape.h: the table of area SHAPE that is not in shape.c: several ranks. */
#ifndef CASES_SHAPE_H
#define CASES_SHAPE_H

#include "check.h"

/* Two square layers, whose weights are not equal to their transposes; n rows, and the results.
 * shape.c fills them. */
enum { SQUARE = 3, SQUARE_PARAMS = 4 };
#define SHAPE_SQUARES                                                                              \
    "{\"kind\":\"linear\",\"in\":3,\"out\":3,\"weight\":[1,2,-3,4,-5,6,7,-8,-2],"                  \
    "\"bias\":[1,-2,3]},{\"kind\":\"linear\",\"in\":3,\"out\":3,\"weight\":[2,-1,5,-4,3,8,-6,1,7]" \
    ","                                                                                            \
    "\"bias\":[-4,5,6]}"
struct shape_squares {
    size_t n;
    const float *x, *g;
    float *y, *dx, *grad[SQUARE_PARAMS];
};
extern const size_t shape_square_size[SQUARE_PARAMS];
void shape_squares_make(struct check *c, struct shape_squares *s, size_t n, uint64_t seed);

#endif
