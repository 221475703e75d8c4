/* kernels_fast_heads.c: products of heads. They are small, and half of the work can be left out if
 * one of the three matrices is a triangle; a library does all of it. Tiles of eight rows (with AVX2
 * six) and sixteen columns are in registers. Every sum is over k ascending, in any tile, so its
 * bits do not depend on how many rows there are. The file is compiled with -ffp-contract=fast: sums
 * are fused multiply-adds, as in a library. */
#include "kernels_fast.h"

#include <string.h>

#if defined(__x86_64__)

#include <xmmintrin.h>

/* ROWS is the most that a tile has. K rows of its columns of b are packed at a time: 12 KiB of a
 * worker's stack. */
enum { ROWS = 8, WIDTH = 16, K = 192 };

typedef float wide __attribute__((vector_size(WIDTH * sizeof(float))));
typedef float half __attribute__((vector_size(WIDTH / 2 * sizeof(float))));

/* For functions that are compiled into their caller, for such a CPU. */
#define PART static inline __attribute__((always_inline))

/* One product, and the part of it that is being computed. */
struct work {
    const struct dp_gemm_heads *g;
    const float *a, *b;
    float *c;
    float *packed;        /* of b: a panel [k, WIDTH], with 0 after its last column */
    size_t first, k, col; /* number of terms, and the first column */
};

PART size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

PART size_t part(size_t at, size_t n, size_t most)
{
    return least(n - at, most);
}

/* The number of rows that fit the registers of the CPU. */
PART size_t tile_rows(bool avx512)
{
    return avx512 ? ROWS : 6;
}

PART void copy_rows(float *to, const float *from, size_t lead, size_t k, size_t n)
{
    for (size_t l = 0; l < k; ++l)
        memcpy(to + l * WIDTH, from + l * lead, n * sizeof *to);
}

/* Four rows as stored become four columns of a panel. */
PART void turn_four(float *to, const float *from, size_t lead, size_t k)
{
    const size_t whole = k - k % 4;
    for (size_t l = 0; l < whole; l += 4) {
        __m128 a = _mm_loadu_ps(from + l), b = _mm_loadu_ps(from + lead + l);
        __m128 c = _mm_loadu_ps(from + 2 * lead + l), d = _mm_loadu_ps(from + 3 * lead + l);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(to + l * WIDTH, a);
        _mm_storeu_ps(to + (l + 1) * WIDTH, b);
        _mm_storeu_ps(to + (l + 2) * WIDTH, c);
        _mm_storeu_ps(to + (l + 3) * WIDTH, d);
    }
    for (size_t l = whole; l < k; ++l) {
        for (size_t j = 0; j < 4; ++j)
            to[l * WIDTH + j] = from[j * lead + l];
    }
}

PART void turn_rows(float *to, const float *from, size_t lead, size_t k, size_t n)
{
    const size_t whole = n - n % 4;
    for (size_t j = 0; j < whole; j += 4)
        turn_four(to + j, from + j * lead, lead, k);
    for (size_t j = whole; j < n; ++j) {
        for (size_t l = 0; l < k; ++l)
            to[l * WIDTH + j] = from[j * lead + l];
    }
}

PART void pack_panel(const struct work *w)
{
    const size_t lead = w->g->at_b.lead, col = w->col, n = part(col, w->g->n, WIDTH);
    float *to = w->packed;
    if (n < WIDTH)
        memset(to, 0, w->k * WIDTH * sizeof *to);
    if (w->g->transpose_b)
        turn_rows(to, w->b + col * lead + w->first, lead, w->k, n);
    else if (n == WIDTH)
        copy_rows(to, w->b + w->first * lead + col, lead, w->k, WIDTH);
    else
        copy_rows(to, w->b + w->first * lead + col, lead, w->k, n);
}

PART size_t behind(size_t at, size_t first)
{
    return at > first ? at - first : 0;
}

/* The terms of this panel that a row of tiles has; for a triangle, all that are not 0 in every row.
 */
PART void terms_of(const struct work *w, size_t row, size_t rows, size_t *from, size_t *to)
{
    const struct dp_gemm_heads *g = w->g;
    const size_t last = row + rows;
    *from = 0;
    *to = w->k;
    if (g->triangle == DP_TRIANGLE_A && g->transpose_a)
        *from = least(behind(row, w->first), w->k);
    else if (g->triangle == DP_TRIANGLE_A)
        *to = least(behind(last, w->first), w->k);
}

/* Rows of a, and k of their terms. Row r begins at a[r], and its terms are next apart. */
struct tile {
    const float *a[ROWS];
    size_t rows, next, k;
};

/* The sums of a tile go through memory if the tile is not whole, or if earlier terms began it. */
PART void copy_tile(float *to, size_t to_lead, const float *from, size_t from_lead, size_t rows,
                    size_t cols)
{
    for (size_t r = 0; r < rows; ++r)
        memcpy(to + r * to_lead, from + r * from_lead, cols * sizeof *to);
}

/* c [8, WIDTH] = or += a b, over k rows of b. */
PART void add_wide(const struct tile *t, const float *b, float *c, size_t lead, bool more)
{
    const float *a0 = t->a[0], *a1 = t->a[1], *a2 = t->a[2], *a3 = t->a[3];
    const float *a4 = t->a[4], *a5 = t->a[5], *a6 = t->a[6], *a7 = t->a[7];
    const size_t next = t->next, end = t->k * next;
    wide sum[8] = {{0.0f}}, x;
    for (size_t r = 0; more && r < 8; ++r)
        memcpy(&sum[r], c + r * lead, sizeof x);
    for (size_t l = 0; l < end; l += next, b += WIDTH) {
        memcpy(&x, b, sizeof x);
        sum[0] += a0[l] * x;
        sum[1] += a1[l] * x;
        sum[2] += a2[l] * x;
        sum[3] += a3[l] * x;
        sum[4] += a4[l] * x;
        sum[5] += a5[l] * x;
        sum[6] += a6[l] * x;
        sum[7] += a7[l] * x;
    }
    for (size_t r = 0; r < 8; ++r)
        memcpy(c + r * lead, &sum[r], sizeof x);
}

/* c [6, WIDTH], with two vectors for each row. */
PART void add_pairs(const struct tile *t, const float *b, float *c, size_t lead, bool more)
{
    const float *a0 = t->a[0], *a1 = t->a[1], *a2 = t->a[2];
    const float *a3 = t->a[3], *a4 = t->a[4], *a5 = t->a[5];
    const size_t next = t->next, end = t->k * next;
    half left[6] = {{0.0f}}, right[6] = {{0.0f}}, x, y;
    for (size_t r = 0; more && r < 6; ++r) {
        memcpy(&left[r], c + r * lead, sizeof x);
        memcpy(&right[r], c + r * lead + WIDTH / 2, sizeof x);
    }
    for (size_t l = 0; l < end; l += next, b += WIDTH) {
        memcpy(&x, b, sizeof x);
        memcpy(&y, b + WIDTH / 2, sizeof y);
        left[0] += a0[l] * x, right[0] += a0[l] * y;
        left[1] += a1[l] * x, right[1] += a1[l] * y;
        left[2] += a2[l] * x, right[2] += a2[l] * y;
        left[3] += a3[l] * x, right[3] += a3[l] * y;
        left[4] += a4[l] * x, right[4] += a4[l] * y;
        left[5] += a5[l] * x, right[5] += a5[l] * y;
    }
    for (size_t r = 0; r < 6; ++r) {
        memcpy(c + r * lead, &left[r], sizeof x);
        memcpy(c + r * lead + WIDTH / 2, &right[r], sizeof x);
    }
}

/* A tile that is not whole is computed in other memory. The cache lines of c are requested before
 * the computation, because waiting for them afterwards takes as long as a small tile. */
PART void make_tile(const struct work *w, const struct tile *t, const float *b, float *c,
                    size_t cols, bool avx512)
{
    const bool whole = t->rows == tile_rows(avx512) && cols == WIDTH, more = w->first > 0;
    const size_t lead = w->g->at_c.lead;
    _Alignas(64) float sum[ROWS * WIDTH];
    float *to = whole ? c : sum;
    for (size_t r = 0; r < t->rows; ++r)
        __builtin_prefetch(c + r * lead, 1);
    if (!whole && more) {
        memset(sum, 0, sizeof sum);
        copy_tile(sum, WIDTH, c, lead, t->rows, cols);
    }
    if (avx512)
        add_wide(t, b, to, whole ? lead : WIDTH, more);
    else
        add_pairs(t, b, to, whole ? lead : WIDTH, more);
    if (!whole)
        copy_tile(c, lead, sum, WIDTH, t->rows, cols);
}

/* Rows of a transposed a are columns as stored. A missing row is replaced by its neighbour. */
PART void point_at_rows(const struct work *w, struct tile *t, size_t row, size_t from, size_t rows)
{
    const size_t lead = w->g->at_a.lead, term = w->first + from;
    t->next = w->g->transpose_a ? lead : 1;
    for (size_t r = 0; r < rows; ++r) {
        const size_t at = row + (r < t->rows ? r : t->rows - 1);
        t->a[r] = w->a + (w->g->transpose_a ? term * lead + at : at * lead + term);
    }
}

PART void tile_of_row(const struct work *w, size_t row, bool avx512)
{
    const size_t rows = tile_rows(avx512);
    size_t from, to;
    if (w->g->triangle == DP_TRIANGLE_C && w->col >= row + rows)
        return;
    struct tile t = {.rows = part(row, w->g->m, rows)};
    terms_of(w, row, t.rows, &from, &to);
    t.k = behind(to, from);
    point_at_rows(w, &t, row, from, rows);
    if (t.k > 0 || w->first == 0)
        make_tile(w, &t, w->packed + from * WIDTH, w->c + row * w->g->at_c.lead + w->col,
                  part(w->col, w->g->n, WIDTH), avx512);
}

PART void multiply(struct work *w, bool avx512)
{
    const struct dp_gemm_heads *g = w->g;
    _Alignas(64) float packed[K * WIDTH];
    w->packed = packed;
    for (w->first = 0; w->first < g->k; w->first += K) {
        w->k = part(w->first, g->k, K);
        for (w->col = 0; w->col < g->n; w->col += WIDTH) {
            pack_panel(w);
            for (size_t row = 0; row < g->m; row += tile_rows(avx512))
                tile_of_row(w, row, avx512);
        }
    }
}

__attribute__((target("avx512f"))) static void multiply_avx512(struct work *w)
{
    multiply(w, true);
}

__attribute__((target("avx2,fma"))) static void multiply_avx2(struct work *w)
{
    multiply(w, false);
}

bool dp_fast_gemm_heads(const struct dp_gemm_heads *g)
{
    const bool avx512 = __builtin_cpu_supports("avx512f");
    if (!avx512 && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
        return false;
    for (size_t row = 0; row < g->rows; ++row) {
        for (size_t head = 0; head < g->heads; ++head) {
            struct work w = {.g = g};
            w.a = g->a + row * g->at_a.row + head * g->at_a.head;
            w.b = g->b + row * g->at_b.row + head * g->at_b.head;
            w.c = g->c + row * g->at_c.row + head * g->at_c.head;
            if (avx512)
                multiply_avx512(&w);
            else
                multiply_avx2(&w);
        }
    }
    return true;
}

#else
bool dp_fast_gemm_heads(const struct dp_gemm_heads *g)
{
    (void)g;
    return false;
}
#endif
