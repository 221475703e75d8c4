/* test.c: the text of each kernel is compared with the portable kernel, or, if launch.h does not
 * promise its bits, with the twin that the fake GPUs have: bit for bit, on all memory around the
 * output, with the threads of a block in both orders. */
#include "cases.h"
#include "grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES (REGIONS * REGION * sizeof(float))

static void text_fill(float *to)
{
    for (size_t i = 0; i < REGIONS * REGION; ++i)
        to[i] = (float)((int)((i * 7919 + i / 97 * 31) % 9) - 4);
}

/* Prints the differences from the expected memory, and returns whether there are any. */
static int text_compare(const struct kernel_case *k, int variant, bool reverse,
                        float (*want)[REGION], float (*got)[REGION])
{
    union arguments args;
    const unsigned long missed = grid_missed();
    dp_kernel_fn *const inexact = twin_inexact(k->kernel);
    text_fill(want[0]);
    k->make(want, variant, &args);
    (inexact ? inexact : dp_kernels_ref[k->kernel])(&args);
    text_fill(got[0]);
    k->make(got, variant, &args);
    grid_reverse(reverse);
    int wrong = k->launch(&args, NULL) != 0;
    for (size_t i = 0; i < REGIONS * REGION && wrong == 0; ++i) {
        if (memcmp(&want[i / REGION][i % REGION], &got[i / REGION][i % REGION], sizeof(float)) == 0)
            continue;
        printf("%s, variant %d%s: float %zu of region %zu is %.9g, want %.9g\n", k->name, variant,
               reverse ? ", reverse" : "", i % REGION, i / REGION,
               (double)got[i / REGION][i % REGION], (double)want[i / REGION][i % REGION]);
        ++wrong;
    }
    if (grid_missed() == missed)
        return wrong;
    printf("%s, variant %d: not all threads of a block meet\n", k->name, variant);
    return wrong + 1;
}

struct totals {
    int compared, kernels, wrong;
};

static void text_run(const struct kernel_case cases[], int n, float (*want)[REGION],
                     float (*got)[REGION], struct totals *totals)
{
    for (int i = 0; i < n; ++i, ++totals->kernels)
        for (int variant = 0; variant < 2 * cases[i].variants; ++variant, ++totals->compared)
            totals->wrong += text_compare(&cases[i], variant / 2, variant % 2 != 0, want, got);
}

int main(void)
{
    float(*want)[REGION] = malloc(BYTES), (*got)[REGION] = malloc(BYTES);
    struct totals totals = {0, 0, 0};
    if (!want || !got)
        return 2;
    text_run(plain_cases, plain_cases_n, want, got, &totals);
    text_run(kernel_cases, kernel_cases_n, want, got, &totals);
    text_run(transformer_cases, transformer_cases_n, want, got, &totals);
    free(want);
    free(got);
    printf("%d runs of %d kernels, %lu meetings of blocks, %d wrong\n", totals.compared,
           totals.kernels, grid_meetings(), totals.wrong);
    return totals.wrong > 0 || totals.compared == 0 || grid_meetings() == 0;
}
