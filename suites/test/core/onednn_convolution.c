/* onednn_convolution.c: convolutions by oneDNN have the numbers of the definition on exact data,
 * for every window, number of channels and number of images. They add to the old values if they are
 * told to, and keep no memory from the second convolution of a shape on. */
#include "onednn.h"

#include "backend.h"
#include "cpu/products.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Some channels are a multiple of a vector and some are not; 70 or 350 images are several chunks.
 */
static const struct {
    size_t images, in, out, height, width, kernel[2], stride[2], padding[2];
} sizes[] = {
    {70, 16, 32, 8, 8, {3, 3}, {1, 1}, {1, 1}},  {350, 1, 32, 8, 8, {3, 3}, {2, 2}, {1, 1}},
    {40, 3, 5, 13, 9, {3, 2}, {2, 1}, {1, 0}},   {33, 17, 33, 7, 6, {1, 1}, {1, 1}, {0, 0}},
    {9, 16, 16, 10, 10, {5, 5}, {3, 2}, {2, 2}}, {70, 48, 10, 12, 12, {3, 3}, {1, 1}, {0, 1}}};
enum { SIZES = sizeof sizes / sizeof *sizes };

enum part { X, WEIGHT, BIAS, Y, DX, DWEIGHT, DBIAS, PARTS };

/* The inputs of one convolution, the results of the definition, and those of oneDNN. */
struct numbers {
    size_t n[PARTS];
    float *in[PARTS], *got[PARTS]; /* got: Y and the gradients; in of Y is dy */
    double *expected[PARTS];
};

static struct dp_geometry geometry(int i)
{
    struct dp_geometry g = {.images = sizes[i].images,
                            .channels = sizes[i].in,
                            .height = sizes[i].height,
                            .width = sizes[i].width};
    for (int d = 0; d < 2; ++d) {
        const size_t size = d == 0 ? g.height : g.width;
        g.kernel[d] = sizes[i].kernel[d];
        g.stride[d] = sizes[i].stride[d];
        g.padding[d] = sizes[i].padding[d];
        g.out[d] = (size + 2 * g.padding[d] - g.kernel[d]) / g.stride[d] + 1;
    }
    return g;
}

/* x has 12 significant bits, more than mantissas of 8 or 11 bits hold; sums stay below 2^24. */
static int open_numbers(struct numbers *t, const struct dp_geometry *g, size_t c_out)
{
    const size_t n[PARTS] = {
        [X] = g->images * g->channels * g->height * g->width,
        [WEIGHT] = c_out * g->channels * g->kernel[0] * g->kernel[1],
        [BIAS] = c_out,
        [Y] = g->images * c_out * g->out[0] * g->out[1],
    };
    bool complete = true;
    *t = (struct numbers){.n = {0}};
    for (int p = 0; p < PARTS; ++p) {
        t->n[p] = p < DX ? n[p] : n[p - DX];
        t->in[p] = malloc(t->n[p] * sizeof(float));
        t->got[p] = malloc(t->n[p] * sizeof(float));
        t->expected[p] = calloc(t->n[p], sizeof(double));
        complete = complete && t->in[p] && t->got[p] && t->expected[p];
    }
    for (int p = 0; complete && p < PARTS; ++p)
        for (size_t i = 0; i < t->n[p]; ++i)
            t->in[p][i] = p == X   ? (float)(i * 7 % 11) * 409 - 2049
                          : p == Y ? (float)(i % 97 == 0 ? i % 3 : 0) - (float)(i % 89 == 0)
                                   : (float)(i * 5 % 3) - 1;
    return complete ? 0 : 1;
}

static void close_numbers(struct numbers *t)
{
    for (int p = 0; p < PARTS; ++p) {
        free(t->in[p]);
        free(t->got[p]);
        free(t->expected[p]);
    }
}

/* Adds one place of a window in an image. */
static void define_place(struct numbers *t, size_t x, size_t w, size_t y)
{
    t->expected[Y][y] += (double)t->in[WEIGHT][w] * (double)t->in[X][x];
    t->expected[DX][x] += (double)t->in[WEIGHT][w] * (double)t->in[Y][y];
    t->expected[DWEIGHT][w] += (double)t->in[X][x] * (double)t->in[Y][y];
}

static void define_window(struct numbers *t, const struct dp_geometry *g, size_t c_out, size_t y)
{
    const size_t ow = y % g->out[1], oh = y / g->out[1] % g->out[0];
    const size_t o = y / (g->out[0] * g->out[1]) % c_out, n = y / (g->out[0] * g->out[1]) / c_out;
    const size_t taps = g->kernel[0] * g->kernel[1];
    for (size_t i = 0; i < g->channels * taps; ++i) {
        const size_t h = oh * g->stride[0] + i % taps / g->kernel[1] - g->padding[0];
        const size_t w = ow * g->stride[1] + i % g->kernel[1] - g->padding[1];
        if (h < g->height && w < g->width) /* before 0 is far beyond */
            define_place(t, ((n * g->channels + i / taps) * g->height + h) * g->width + w,
                         o * g->channels * taps + i, y);
    }
    t->expected[Y][y] += (double)t->in[BIAS][o];
    t->expected[DBIAS][o] += (double)t->in[Y][y];
}

static bool onednn_convolution_check(struct numbers *t, enum part p, bool accumulate, int size)
{
    for (size_t i = 0; i < t->n[p]; ++i) {
        const double there = accumulate ? (double)t->in[p][i] : 0;
        if ((double)t->got[p][i] == t->expected[p][i] + there)
            continue;
        printf("FAIL: convolution %d, part %d, accumulate %d: number %zu is %.9g, not %.9g\n", size,
               (int)p, accumulate, i, (double)t->got[p][i], t->expected[p][i] + there);
        return false;
    }
    return true;
}

static enum dp_product onednn_convolution_convolve(struct dp_slot *slot,
                                                   const struct dp_convolution *c)
{
    return slot->group->products->convolve(slot->products, c);
}

static bool keeps_memory(struct dp_slot *slot, const struct dp_convolution *c)
{
    const size_t before = mallinfo2().uordblks;
    bool made = true;
    for (int i = 0; i < 3; ++i)
        made = onednn_convolution_convolve(slot, c) == DP_PRODUCT_MADE && made;
    return !made || mallinfo2().uordblks != before;
}

/* Returns 1 if both ways are right, 0 if oneDNN leaves them to products, -1 if something failed. */
static int both_ways(struct dp_slot *slot, struct numbers *t, int size, bool accumulate)
{
    const struct dp_geometry g = geometry(size);
    struct dp_convolution c = {
        .at = g, .c_out = sizes[size].out, .x = t->in[X], .weight = t->in[WEIGHT]};
    c.bias = t->in[BIAS], c.y = t->got[Y];
    for (int p = 0; p < PARTS; ++p)
        for (size_t i = 0; i < t->n[p]; ++i)
            t->got[p][i] = accumulate ? t->in[p][i] : NAN;
    const enum dp_product forward = onednn_convolution_convolve(slot, &c);
    if (forward == DP_PRODUCT_ELSEWHERE)
        return 0;
    bool good = forward == DP_PRODUCT_MADE && onednn_convolution_check(t, Y, false, size) &&
                !keeps_memory(slot, &c);
    c.y = NULL, c.dy = t->in[Y];
    c.dx = t->got[DX], c.dweight = t->got[DWEIGHT], c.dbias = t->got[DBIAS];
    c.accumulate_weight = c.accumulate_bias = accumulate;
    good = good && onednn_convolution_convolve(slot, &c) == DP_PRODUCT_MADE &&
           onednn_convolution_check(t, DX, false, size) &&
           onednn_convolution_check(t, DWEIGHT, accumulate, size) &&
           onednn_convolution_check(t, DBIAS, accumulate, size) && !keeps_memory(slot, &c);
    if (!good)
        printf("FAIL: convolution %d, accumulate %d: wrong, not made, or memory is kept\n", size,
               accumulate);
    return good ? 1 : -1;
}

int try_convolutions(struct dp_slot *slot, int *of)
{
    int made = 0;
    *of = 2 * SIZES;
    for (int i = 0; i < SIZES; ++i) {
        const struct dp_geometry g = geometry(i);
        struct numbers t;
        int one = -1, two = -1;
        if (open_numbers(&t, &g, sizes[i].out) == 0) {
            for (size_t y = 0; y < t.n[Y]; ++y)
                define_window(&t, &g, sizes[i].out, y);
            one = both_ways(slot, &t, i, false);
            two = both_ways(slot, &t, i, true);
        }
        close_numbers(&t);
        if (one < 0 || two < 0)
            return -1;
        made += one + two;
    }
    return made;
}
