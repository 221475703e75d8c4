/* size_data.c: area SIZE: sizes, and data of any size whose sums are exact. */
#include "size.h"

#include "sized.h"

const size_t size_edges[SIZE_EDGES] = {31,   32,   33,   63,   64,   65,   96,   127,  128,  129,
                                       130,  191,  192,  255,  256,  257,  383,  384,  385,  500,
                                       511,  512,  513,  640,  641,  767,  1000, 1023, 1024, 1025,
                                       1151, 1536, 2047, 2048, 2049, 3001, 4095, 4096, 4097};

size_t size_drawn(const struct check *c, size_t i)
{
    uint64_t mixed = (check_seed(c) + 1) * UINT64_C(0x9e3779b97f4a7c15) + i;

    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return 33 + (size_t)((mixed ^ (mixed >> 27)) % 4064);
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum { FACTOR = 3 };
static const float weight[SIZE_OUT * SIZE_IN] = {1, -2, 3, 4, -5, 2}, bias[SIZE_OUT] = {7, -3};
const size_t size_params[SIZE_PARAMS] = {(size_t)SIZE_OUT * SIZE_IN, SIZE_OUT, 1, 1};

void size_batch_make(struct check *c, struct size_batch *b, size_t n)
{
    const size_t in[] = {n, SIZE_IN}, out[] = {n, SIZE_OUT};
    const float *x = sized_numbers(c, n * SIZE_IN, 2 * n);
    const float *g = sized_numbers(c, n * SIZE_OUT, 2 * n + 1);
    float *up = check_memory(c, n * SIZE_OUT * sizeof *up);

    b->n = n;
    b->x = check_needs_grad(sized_array(c, 2, in, x));
    b->g = sized_array(c, 2, out, g);
    b->y = check_memory(c, n * SIZE_OUT * sizeof *b->y);
    b->dx = check_memory(c, n * SIZE_IN * sizeof *b->dx);
    for (int p = 0; p < SIZE_PARAMS; ++p)
        b->grad[p] = check_memory(c, size_params[p] * sizeof(float));
    sized_linear(b->y, weight, bias, x, n, SIZE_IN, SIZE_OUT);
    for (size_t i = 0; i < n * SIZE_OUT; ++i) {
        up[i] = FACTOR * g[i];
        b->grad[2][0] += g[i] * b->y[i];
        b->grad[3][0] += g[i];
        b->y[i] = FACTOR * b->y[i] + 1;
    }
    sized_products(b->grad[0], b->grad[1], x, up, n, SIZE_IN, SIZE_OUT);
    sized_back(b->dx, weight, up, n, SIZE_IN, SIZE_OUT);
}

/* ---- large parameters ------------------------------------------------------------------------ */

/* first weight and bias, second, third */
enum { W1, B1, W2, B2, W3, B3 };

/* Keeps numbers small, because sums of a million products must stay below 2^24. */
static float narrow(float number, int most)
{
    const int size = (int)(number < 0 ? -number : number);

    return (float)(number < 0 ? -(size % most) - 1 : size % most + 1);
}

void size_chain_make(struct check *c, struct size_chain *chain, size_t m, size_t m3, size_t n)
{
    static const float inputs[CHAIN_ROWS] = {1, -2, 2, 3, -1, -3, 4, -4};

    if (n > CHAIN_ROWS)
        check_broken(c, "%zu rows of %d", n, (int)CHAIN_ROWS);
    *chain = (struct size_chain){.m = m, .m3 = m3, .n = n};
    const size_t size[CHAIN_PARAMS] = {chain->m, chain->m, chain->m, 1, chain->m3, chain->m3};

    for (int p = 0; p < CHAIN_PARAMS; ++p) {
        chain->size[p] = size[p];
        chain->value[p] = sized_numbers(c, size[p], 100 + (uint64_t)p);
        chain->grad[p] = check_memory(c, size[p] * sizeof(float));
    }
    for (size_t o = 0; o < chain->m; ++o) {
        chain->value[W1][o] = narrow(chain->value[W1][o], 2);
        chain->value[B1][o] = narrow(chain->value[B1][o], 2);
        chain->value[W2][o] = narrow(chain->value[W2][o], 2);
    }
    chain->x = check_memory(c, sizeof inputs);
    for (size_t row = 0; row < n; ++row)
        chain->x[row] = inputs[row];
    chain->g = sized_numbers(c, n * m3, 111);
    chain->y = check_memory(c, n * m3 * sizeof(float));
    for (size_t row = 0; row < n; ++row) {
        /* Computes one row: its output, and its contribution to the gradients. */
        float *const *value = chain->value, *const *grad = chain->grad;
        const float x = chain->x[row], *g = chain->g + row * chain->m3;
        float *y = chain->y + row * chain->m3, sum = value[B2][0], down = 0;

        for (size_t o = 0; o < chain->m; ++o)
            sum += value[W2][o] * (value[W1][o] * x + value[B1][o]);
        for (size_t o = 0; o < chain->m3; ++o) {
            y[o] = value[W3][o] * sum + value[B3][o];
            down += value[W3][o] * g[o];
            grad[W3][o] += g[o] * sum;
            grad[B3][o] += g[o];
        }
        for (size_t o = 0; o < chain->m; ++o) {
            grad[W1][o] += down * value[W2][o] * x;
            grad[B1][o] += down * value[W2][o];
            grad[W2][o] += down * (value[W1][o] * x + value[B1][o]);
        }
        grad[B2][0] += down;
        if (!(sum > -65536 && sum < 65536 && down > -65536 && down < 65536))
            check_broken(c, "row %zu: sums of %.9g and %.9g are not exact any more", row,
                         (double)sum, (double)down);
    }
}

const char *size_chain_layers(struct check *c, const struct size_chain *chain)
{
    return check_text(c,
                      "{\"kind\":\"linear\",\"in\":1,\"out\":%zu},"
                      "{\"kind\":\"linear\",\"in\":%zu,\"out\":1},"
                      "{\"kind\":\"linear\",\"in\":1,\"out\":%zu}",
                      chain->m, chain->m, chain->m3);
}
