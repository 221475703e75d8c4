/* gemm.h: the matrix product of the fake cuBLAS. */
#ifndef LOCKSTEP_FAKE_GEMM_H
#define LOCKSTEP_FAKE_GEMM_H

#include <stdbool.h>
#include <stddef.h>

enum fake_number { FAKE_F32, FAKE_BF16 };

struct fake_matrix {
    void *at;
    enum fake_number number;
    bool transposed; /* it is stored as its transpose */
    size_t lead;     /* elements from one column to the next */
};

/* c = alpha a b + beta c by columns, each sum in single precision and in the order of the index. */
struct fake_gemm {
    size_t m, n, k;
    float alpha, beta;
    bool tf32; /* a and b are rounded to ten bits of mantissa first */
    struct fake_matrix a, b, c;
};
void fake_gemm(const void *gemm);

#endif
