/* far.c: sums over GPUs that cannot read each other's memory: more than fits on its way at once,
 * and more slots than GPUs. Integers, so every element is exact. */
#include "../must.h"
#include "fakecuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS = 2, SLOTS = 4, MANY = 64 };

static float far_value(int slot, size_t i)
{
    return (float)((int)((i * 7 + (size_t)slot * 13) % 101) - 50);
}

static void far_fill(struct dp_slot *slot, int number, size_t n, struct dp_tensor *tensor)
{
    float *values = malloc(n * sizeof *values);
    must(values ? 0 : dp_fail(&must_err, DP_ENOMEM, "no memory for the values"));
    for (size_t i = 0; i < n; ++i)
        values[i] = far_value(number, i);
    must(dp_tensor_alloc(slot, DP_F32, 1, &n, tensor, &must_err));
    must(dp_tensor_write(tensor, values, &must_err));
    free(values);
}

/* Returns how many elements are wrong. */
static size_t far_compare(const struct dp_tensor *sum, int slots, size_t n)
{
    float *got = malloc(n * sizeof *got);
    size_t wrong = 0;
    must(got ? dp_tensor_read(got, sum, &must_err)
             : dp_fail(&must_err, DP_ENOMEM, "no memory for the sum"));
    for (size_t i = 0; i < n; ++i) {
        float want = 0.0f;
        for (int k = 0; k < slots; ++k)
            want += far_value(k, i);
        wrong += !(got[i] == want);
    }
    free(got);
    return wrong;
}

/* The GPUs are used in turn. Returns false if something is wrong, and prints it. */
static bool sums_well(int slots, size_t n)
{
    char devices[DP_MAX_SLOTS * 2 + 8] = "cuda:";
    struct dp_group *group;
    struct dp_run *run;
    struct dp_tensor src[DP_MAX_SLOTS], sum;
    for (int i = 0; i < slots; ++i)
        strcat(devices, i == 0 ? "0" : i % GPUS == 0 ? ",0" : ",1");
    struct fakecuda_config config = fakecuda_defaults();
    config.devices = GPUS;
    config.peer = false;
    fakecuda_start(&config);
    must(dp_group_open(&(struct dp_group_config){.devices = devices}, &group, &must_err));
    const bool staged = strcmp(dp_group_communicator(group), "peer-staged") == 0;
    must(dp_run_open(group, &run, &must_err));
    for (int i = 0; i < slots; ++i)
        far_fill(dp_group_slot(group, i), i, n, &src[i]);
    must(dp_reduce_add_coalesced(run, src, 1, slots, dp_group_slot(group, 0), DP_BUFFER_BYTES, &sum,
                                 &must_err));
    const size_t wrong = far_compare(&sum, slots, n);
    for (int i = 0; i < slots; ++i)
        dp_tensor_free(&src[i]);
    dp_run_close(run);
    dp_group_close(group);
    const int violations = fakecuda_finish();
    printf("%d slots, %zu floats: %s, %zu wrong, %d violations\n", slots, n,
           staged ? "staged" : "not staged", wrong, violations);
    return staged && wrong == 0 && violations == 0;
}

int main(void)
{
    bool well = sums_well(SLOTS, 3 << 20); /* 12 MiB each; two are far, with 8 MiB on the way */
    well = sums_well(MANY, 200000) && well;
    return well ? EXIT_SUCCESS : EXIT_FAILURE;
}
