/* gemm_rate.c: the time of a square matrix product y = x W' of the library, one number a line, for
 * scripts/gpu-limits. Numbers of the result are compared with their exact values.
 * usage: lockstep-gemm-rate DEVICES SIZE ROUNDS */
#include "dp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARMUP = 3, SAMPLES = 512, SIZE_MAX_HERE = 16384, ROUNDS_MAX = 10000 };

struct rate {
    struct dp_group *group;
    struct dp_module *linear;
    struct dp_run *run;
    struct dp_tensor x, y;
    float *host; /* size * size */
    size_t size;
};

/* Small integers: sums of products are exact. */
static float gemm_rate_value(size_t row, size_t col, size_t salt)
{
    return (float)((row * 7 + col * 3 + salt * (row + 1) * (col + 5)) % 5) - 2.0f;
}

static void gemm_rate_fill(struct rate *r, size_t salt)
{
    for (size_t i = 0; i < r->size * r->size; ++i)
        r->host[i] = gemm_rate_value(i / r->size, i % r->size, salt);
}

static int open_rate(struct rate *r, const char *devices, struct dp_error *err)
{
    struct dp_param *weight;
    int status =
        dp_group_open(&(struct dp_group_config){.devices = devices, .bind = true}, &r->group, err);
    r->host = malloc(r->size * r->size * sizeof *r->host);
    if (status == 0 && !r->host)
        status = dp_fail(err, DP_ENOMEM, "no memory for %zu numbers", r->size * r->size);
    if (status == 0 && dp_group_size(r->group) != 1)
        status = dp_fail(err, DP_EINVAL, "'%.40s' is not one device", devices);
    if (status == 0)
        status = dp_linear(r->group, r->size, r->size, false, &r->linear, err);
    if (status)
        return status;
    dp_module_params(r->linear, &weight, 1);
    gemm_rate_fill(r, 1);
    status = dp_tensor_write(&weight->value, r->host, err);
    if (status == 0)
        status = dp_module_to(r->linear, dp_group_slot(r->group, 0), err);
    if (status == 0)
        status = dp_run_open(r->group, &r->run, err);
    if (status == 0)
        status = dp_tensor_alloc(dp_group_slot(r->group, 0), DP_F32, 2,
                                 (size_t[]){r->size, r->size}, &r->x, err);
    if (status)
        return status;
    gemm_rate_fill(r, 2);
    dp_run_grad_mode(r->run, false);
    return dp_tensor_write(&r->x, r->host, err);
}

static void close_rate(struct rate *r)
{
    dp_tensor_free(&r->x);
    dp_run_close(r->run);
    dp_module_close(r->linear);
    dp_group_close(r->group);
    free(r->host);
}

/* ns < 0: it failed. */
static int gemm_rate_product(struct rate *r, long long *ns, struct dp_error *err)
{
    struct timespec begin, end;
    struct dp_tensor out[DP_MAX_IO];
    int n = 0;
    dp_run_reset(r->run);
    int status = dp_group_wait(r->group, err);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (status == 0)
        status = dp_forward(r->linear, r->run, &r->x, 1, out, &n, err);
    if (status == 0)
        status = dp_group_wait(r->group, err);
    clock_gettime(CLOCK_MONOTONIC, &end);
    *ns = (end.tv_sec - begin.tv_sec) * 1000000000LL + (end.tv_nsec - begin.tv_nsec);
    r->y = out[0];
    return status;
}

static int gemm_rate_check(struct rate *r, struct dp_error *err)
{
    const int status = dp_tensor_read(r->host, &r->y, err);
    for (size_t k = 0; status == 0 && k < SAMPLES; ++k) {
        const size_t row = k * 7919 % r->size, col = k * 104729 % r->size;
        double sum = 0.0;
        for (size_t i = 0; i < r->size; ++i)
            sum += (double)gemm_rate_value(row, i, 2) * (double)gemm_rate_value(col, i, 1);
        const float got = r->host[row * r->size + col];
        if (!((double)got == sum))
            return dp_fail(err, DP_EFAULT, "row %zu, column %zu of the product is %g, not %g", row,
                           col, (double)got, sum);
    }
    return status;
}

static int gemm_rate_number(const char *text, long most)
{
    char *end;
    const long found = strtol(text, &end, 10);
    return *text != '\0' && *end == '\0' && found > 0 && found <= most ? (int)found : 0;
}

int main(int argc, char **argv)
{
    struct rate r = {.size = argc == 4 ? (size_t)gemm_rate_number(argv[2], SIZE_MAX_HERE) : 0};
    const int rounds = argc == 4 ? gemm_rate_number(argv[3], ROUNDS_MAX) : 0;
    struct dp_error err = {0};
    struct dp_slot_info info;
    if (r.size == 0 || rounds == 0) {
        fprintf(stderr, "usage: lockstep-gemm-rate DEVICES SIZE ROUNDS\n");
        return 2;
    }
    int status = open_rate(&r, argv[1], &err);
    if (status == 0) {
        dp_slot_describe(dp_group_slot(r.group, 0), &info);
        puts(strncmp(info.model, "Fake GPU", 8) == 0 ? "simulated" : "measured");
    }
    for (int i = 0; status == 0 && i < WARMUP + rounds; ++i) {
        long long ns;
        status = gemm_rate_product(&r, &ns, &err);
        if (status == 0 && i >= WARMUP)
            printf("%lld\n", ns);
    }
    if (status == 0)
        status = gemm_rate_check(&r, &err);
    close_rate(&r);
    if (status)
        fprintf(stderr, "lockstep-gemm-rate: %s\n", err.text);
    return status ? 1 : 0;
}
