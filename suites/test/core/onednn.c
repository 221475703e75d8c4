/* onednn.c: products by oneDNN (and convolutions: onednn_convolution.c) have the bits of the
 * reference on exact data, do not change the thread's number of OpenMP threads, start none, and
 * keep no memory from the second product of a shape on. Lockstep asks for none that may round in
 * secret (onednn_asked.c).
 *
 * Usage: lockstep-core-onednn OMP_LIBRARY
 *
 * The exit status is 77 if oneDNN has no kernels for this CPU. */
#include "onednn.h"

#include "backend.h"
#include "cpu/kernels_ref.h"
#include "cpu/products.h"

#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSED = 0, FAILED = 1, SKIPPED = 77 };

static const struct {
    size_t m, n, k;
} sizes[] = {{64, 64, 64},    {65, 129, 63},   {128, 512, 1024}, {4608, 32, 288}, {32, 288, 4608},
             {1, 1024, 1024}, {1024, 1, 1024}, {1023, 10, 77},   {7, 4096, 11},   {513, 257, 129}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* The numbers of one shape: operands, the result of the reference, and that of oneDNN. */
struct data {
    float *a, *b, *expected, *got;
    size_t n;
};

/* a has numbers that 8 or 11 bits of a mantissa cannot hold; sums stay below 2^24. */
static int data_open(struct data *data, const struct dp_gemm *g)
{
    *data = (struct data){.n = g->m * g->n};
    data->a = malloc(g->m * g->k * sizeof(float));
    data->b = malloc(g->k * g->n * sizeof(float));
    data->expected = malloc(data->n * sizeof(float));
    data->got = malloc(data->n * sizeof(float));
    if (!data->a || !data->b || !data->expected || !data->got)
        return 1;
    for (size_t i = 0; i < g->m * g->k; ++i)
        data->a[i] = (float)(i * 7 % 11) * 409 - 2049;
    for (size_t i = 0; i < g->k * g->n; ++i)
        data->b[i] = (float)(i * 5 % 3) - 1;
    /* The old values of the result matter only if the product is added to them. */
    for (size_t i = 0; i < data->n; ++i)
        data->expected[i] = data->got[i] = g->accumulate ? (float)(i % 13) : NAN;
    return 0;
}

static void data_close(struct data *data)
{
    free(data->a);
    free(data->b);
    free(data->expected);
    free(data->got);
}

static int threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = -2; /* . and .. */
    while (tasks && readdir(tasks))
        ++n;
    if (tasks)
        closedir(tasks);
    return n;
}

/* Returns 1 if oneDNN made the product, 0 if it leaves it to another library, -1 if it failed. */
static int onednn_multiply(struct dp_slot *slot, const struct dp_gemm *g)
{
    static const int results[] = {
        [DP_PRODUCT_MADE] = 1, [DP_PRODUCT_ELSEWHERE] = 0, [DP_PRODUCT_FAILED] = -1};
    return results[slot->group->products->multiply(slot->products, g)];
}

/* Whether memory is kept from the second product of a shape on, or a product failed. oneDNN
 * allocates some small pieces in each call, and frees them. */
static bool keeps_memory(struct dp_slot *slot, const struct dp_gemm *g)
{
    const size_t before = mallinfo2().uordblks;
    bool made = true;
    for (int i = 0; i < 3; ++i)
        made = onednn_multiply(slot, g) == 1 && made;
    return !made || mallinfo2().uordblks != before;
}

/* Returns the number of products that oneDNN made, or -1. */
static int try_shape(struct dp_slot *slot, struct dp_gemm g)
{
    struct data data;
    int made = -1;
    if (data_open(&data, &g) == 0) {
        g.a = data.a;
        g.b = data.b;
        g.c = data.expected;
        dp_ref_gemm(&g);
        g.c = data.got;
        made = onednn_multiply(slot, &g);
        if (made == 1 && memcmp(data.expected, data.got, data.n * sizeof(float)) != 0) {
            printf("FAIL: %zu x %zu x %zu, transposed %d %d, accumulate %d: other numbers\n", g.m,
                   g.n, g.k, g.transpose_a, g.transpose_b, g.accumulate);
            made = -1;
        }
        if (made == 1 && keeps_memory(slot, &g)) {
            printf("FAIL: %zu x %zu x %zu, transposed %d %d, accumulate %d: keeps memory\n", g.m,
                   g.n, g.k, g.transpose_a, g.transpose_b, g.accumulate);
            made = -1;
        }
    }
    data_close(&data);
    return made;
}

/* oneDNN makes a size in each of its 8 forms, or in none. */
static int try_all(struct dp_slot *slot)
{
    int made = 0;
    for (int i = 0; i < SIZES * 8; ++i) {
        const struct dp_gemm g = {.m = sizes[i / 8].m,
                                  .n = sizes[i / 8].n,
                                  .k = sizes[i / 8].k,
                                  .transpose_a = i & 1,
                                  .transpose_b = i & 2,
                                  .accumulate = i & 4};
        const int one = try_shape(slot, g);
        if (one < 0)
            return -1;
        made += one;
        if (i % 8 == 7 && made % 8 != 0) {
            printf("FAIL: %zu x %zu x %zu: by oneDNN in %d forms of 8\n", g.m, g.n, g.k, made % 8);
            return -1;
        }
    }
    return made;
}

int main(int argc, char **argv)
{
    const struct dp_group_config config = {.devices = "virt:2", .backend = "cpu-onednn"};
    struct dp_group *group = NULL;
    struct dp_error err = {0};
    int (*most)(void) = NULL;
    const int status = dp_group_open(&config, &group, &err);
    if (status) {
        const bool slow = strstr(err.text, "no kernels for this CPU") != NULL;
        printf("%s: %s\n", slow ? "skipped" : "FAIL", err.text);
        return slow ? SKIPPED : FAILED;
    }
    void *omp = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) : NULL;
    void *const symbol = omp ? dlsym(omp, "omp_get_max_threads") : NULL;
    memcpy(&most, &symbol, sizeof symbol);
    const int threads_before = threads(), most_before = most ? most() : -1;
    const int made = try_all(dp_group_slot(group, 0));
    int of = 0;
    const int convolved = try_convolutions(dp_group_slot(group, 0), &of);
    if (made >= 0 && convolved >= 0)
        printf("%d of %d products and %d of %d convolutions by %s\n", made, SIZES * 8, convolved,
               of, dp_group_products(group));
    const bool same =
        threads() == threads_before && most && most() == most_before && most_before > 1;
    if (!same)
        printf("FAIL: %d threads, before %d; OpenMP may have %d, before %d\n", threads(),
               threads_before, most ? most() : -1, most_before);
    dp_group_close(group);
    if (made == 0)
        puts("FAIL: it has kernels, and made nothing");
    if (convolved == 0)
        puts("FAIL: it has kernels, and convolved nothing");
    return made <= 0 || convolved <= 0 || !same || !asked_strictly() ? FAILED : PASSED;
}
