/* far.c: sums over GPUs that cannot read each other's memory: more than fits on its way at once,
 * and more slots than GPUs. Integers, so every element is exact. */
#include "dp.h"
#include "fakecuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS = 2, SLOTS = 4, MANY = 64 };

static float far_value(int slot, size_t i)
{
    return (float)((int)((i * 7 + (size_t)slot * 13) % 101) - 50);
}

static int far_fill(struct dp_slot *slot, int number, size_t n, struct dp_tensor *tensor,
                    struct dp_error *err)
{
    float *values = malloc(n * sizeof *values);
    int status = dp_tensor_alloc(slot, DP_F32, 1, &n, tensor, err);
    for (size_t i = 0; values && i < n; ++i)
        values[i] = far_value(number, i);
    if (status == 0)
        status = values ? dp_tensor_write(tensor, values, err) : DP_ENOMEM;
    free(values);
    return status;
}

/* Returns how many elements are wrong. */
static size_t far_compare(const struct dp_tensor *sum, int slots, size_t n, int *status,
                          struct dp_error *err)
{
    float *got = malloc(n * sizeof *got);
    size_t wrong = 0;
    *status = got ? dp_tensor_read(got, sum, err) : DP_ENOMEM;
    for (size_t i = 0; *status == 0 && i < n; ++i) {
        float want = 0.0f;
        for (int k = 0; k < slots; ++k)
            want += far_value(k, i);
        wrong += !(got[i] == want);
    }
    free(got);
    return wrong;
}

static int sum_on(struct dp_group *group, size_t n, size_t *wrong, struct dp_error *err)
{
    struct dp_tensor src[DP_MAX_SLOTS] = {{0}}, sum;
    struct dp_run *run = NULL;
    const int slots = dp_group_size(group);
    int status = dp_run_open(group, &run, err);
    for (int i = 0; status == 0 && i < slots; ++i)
        status = far_fill(dp_group_slot(group, i), i, n, &src[i], err);
    if (status == 0)
        status = dp_reduce_add_coalesced(run, src, 1, slots, dp_group_slot(group, 0),
                                         DP_BUFFER_BYTES, &sum, err);
    if (status == 0)
        *wrong = far_compare(&sum, slots, n, &status, err);
    for (int i = 0; i < slots; ++i)
        if (src[i].slot)
            dp_tensor_free(&src[i]);
    dp_run_close(run);
    return status;
}

/* The GPUs are used in turn. Returns false if something is wrong, and prints it. */
static bool sums_well(int slots, size_t n)
{
    char devices[DP_MAX_SLOTS * 2 + 8] = "cuda:";
    struct fakecuda_config config;
    struct dp_group *group = NULL;
    struct dp_error err = {0};
    size_t wrong = 0;
    for (int i = 0; i < slots; ++i)
        strcat(devices, i == 0 ? "0" : i % GPUS == 0 ? ",0" : ",1");
    fakecuda_defaults(&config);
    config.devices = GPUS;
    config.peer = false;
    fakecuda_start(&config);
    int status = dp_group_open(&(struct dp_group_config){.devices = devices}, &group, &err);
    const bool staged = status == 0 && strcmp(dp_group_communicator(group), "peer-staged") == 0;
    if (status == 0)
        status = sum_on(group, n, &wrong, &err);
    dp_group_close(group);
    const int violations = fakecuda_finish();
    printf("%d slots, %zu floats: status %d %s, %s, %zu wrong, %d violations\n", slots, n, status,
           err.text, staged ? "staged" : "not staged", wrong, violations);
    return status == 0 && staged && wrong == 0 && violations == 0;
}

int main(void)
{
    bool well = sums_well(SLOTS, 3 << 20); /* 12 MiB each; two are far, with 8 MiB on the way */
    well = sums_well(MANY, 200000) && well;
    return well ? EXIT_SUCCESS : EXIT_FAILURE;
}
