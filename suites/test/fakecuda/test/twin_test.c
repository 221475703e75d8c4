/* twin_test.c: each launch of core/cuda/launch.h, on memory of a device, computes the results of
 * the portable kernel, or is near them where launch.h does not promise the bits, and declares all
 * memory that it reads and writes. */
#include "../../../../core/cuda/launch.h"
#include "tools.h"

#include <math.h>
#include <string.h>

#define ROWS 3
#define COLS 4
#define N    (ROWS * COLS)

extern dp_kernel_fn *const dp_kernels_ref[DP_KERNELS];

/* Arrays of N floats, on the host and on the device, with the same contents. */
struct place {
    cudaStream_t stream;
    float host[4][N], *device[4];
    int32_t classes_host[ROWS];
    void *classes;
};

static struct place open_place(void)
{
    struct place p;
    test_start(1);
    p.stream = tool_stream(0);
    for (int a = 0; a < 4; ++a) {
        p.device[a] = tool_floats(0, N);
        for (int i = 0; i < N; ++i)
            p.host[a][i] = (float)((i * 7 + a * 5) % 9 - 4) * 0.37f;
        tool_put(p.device[a], p.host[a], N, p.stream);
    }
    for (int i = 0; i < ROWS; ++i)
        p.classes_host[i] = (i * 3) % COLS;
    WELL(cudaMalloc(&p.classes, sizeof p.classes_host));
    WELL(cudaMemcpyAsync(p.classes, p.classes_host, sizeof p.classes_host, cudaMemcpyDefault,
                         p.stream));
    return p;
}

static void close_place(struct place *p, const char *sentence)
{
    WELL(cudaStreamSynchronize(p->stream));
    for (int a = 0; a < 4; ++a)
        WELL(cudaFree(p->device[a]));
    WELL(cudaFree(p->classes));
    WELL(cudaStreamDestroy(p->stream));
    test_end(sentence);
}

static bool same_bits(const float *a, const float *b)
{
    uint32_t one[N], two[N];
    memcpy(one, a, sizeof one);
    memcpy(two, b, sizeof two);
    return memcmp(one, two, sizeof one) == 0;
}

/* Runs the kernel on the arrays of the host; then all arrays must equal those of the device, bit
 * for bit. */
static void compare(struct place *p, int error, enum dp_kernel kernel, const void *host_args)
{
    float back[N];
    CHECK(error == 0);
    dp_kernels_ref[kernel](host_args);
    for (int a = 0; a < 4; ++a) {
        tool_get(back, p->device[a], N, p->stream);
        CHECK(same_bits(back, p->host[a]));
    }
}

/* An ulp of numbers below 8: of a function, or of sums in double that are rounded once. */
#define ULP 0x1p-21
/* Four terms, whose sizes add up to at most 10.4: four ulps of that. */
#define NEAR_SUM 5e-6

/* Compares within a bound; then the host goes on with the values of the device. */
static void compare_near(struct place *p, int error, enum dp_kernel kernel, const void *host_args,
                         double near)
{
    float back[N];
    CHECK(error == 0);
    dp_kernels_ref[kernel](host_args);
    for (int a = 0; a < 4; ++a) {
        tool_get(back, p->device[a], N, p->stream);
        for (int i = 0; i < N; ++i)
            CHECK(fabs((double)back[i] - (double)p->host[a][i]) <= near);
        memcpy(p->host[a], back, sizeof back);
    }
}

static void test_bias_and_rows(void)
{
    struct place p = open_place();
    const struct dp_add_bias bias = {p.device[0], p.device[1], ROWS, COLS};
    const struct dp_add_bias bias_host = {p.host[0], p.host[1], ROWS, COLS};
    compare(&p, dp_cuda_launch_add_bias(&bias, p.stream), DP_KERNEL_ADD_BIAS, &bias_host);
    for (int accumulate = 0; accumulate < 2; ++accumulate) {
        const struct dp_sum_rows rows = {p.device[2], p.device[0], ROWS, COLS, accumulate};
        const struct dp_sum_rows host = {p.host[2], p.host[0], ROWS, COLS, accumulate};
        compare_near(&p, dp_cuda_launch_sum_rows(&rows, p.stream), DP_KERNEL_SUM_ROWS, &host,
                     NEAR_SUM);
    }
    const struct dp_fill fill = {p.device[3], 2.5f, N - 1}, fill_host = {p.host[3], 2.5f, N - 1};
    compare(&p, dp_cuda_launch_fill(&fill, p.stream), DP_KERNEL_FILL, &fill_host);
    close_place(&p, NULL);
}

static void test_activations(void)
{
    struct place p = open_place();
    const struct dp_activation on = {p.device[0], p.device[1], N}, off = {p.host[0], p.host[1], N};
    const struct dp_activation_grad grad = {p.device[2], p.device[3], p.device[0], N};
    const struct dp_activation_grad grad_off = {p.host[2], p.host[3], p.host[0], N};
    compare(&p, dp_cuda_launch_relu(&on, p.stream), DP_KERNEL_RELU, &off);
    compare(&p, dp_cuda_launch_relu_grad(&grad, p.stream), DP_KERNEL_RELU_GRAD, &grad_off);
    compare_near(&p, dp_cuda_launch_tanh(&on, p.stream), DP_KERNEL_TANH, &off, ULP);
    compare(&p, dp_cuda_launch_tanh_grad(&grad, p.stream), DP_KERNEL_TANH_GRAD, &grad_off);
    close_place(&p, NULL);
}

static void test_losses(void)
{
    struct place p = open_place();
    void *parts;
    WELL(cudaMalloc(&parts, DP_CUDA_LOSS_PARTS * sizeof(double)));
    for (int kind = DP_LOSS_SUM; kind <= DP_LOSS_XENT; ++kind) {
        const bool classes = kind == DP_LOSS_XENT;
        struct dp_loss_args on = {.kind = (enum dp_loss_kind)kind,
                                  .scale = 0.25,
                                  .rows = ROWS,
                                  .cols = COLS,
                                  .y = p.device[0],
                                  .target = classes ? p.classes : p.device[1],
                                  .out = p.device[2]};
        struct dp_loss_args off = on;
        off.y = p.host[0];
        off.target = classes ? (const void *)p.classes_host : p.host[1];
        off.out = p.host[2];
        compare_near(&p, dp_cuda_launch_loss(&on, parts, p.stream), DP_KERNEL_LOSS, &off, ULP);
        compare_near(&p, dp_cuda_launch_loss_grad(&on, p.stream), DP_KERNEL_LOSS_GRAD, &off, ULP);
        on.upstream = p.device[3] + 1;
        off.upstream = p.host[3] + 1;
        compare_near(&p, dp_cuda_launch_loss_grad(&on, p.stream), DP_KERNEL_LOSS_GRAD, &off, ULP);
    }
    WELL(cudaStreamSynchronize(p.stream));
    WELL(cudaFree(parts));
    close_place(&p, NULL);
}

static void test_sgd_and_reduce(void)
{
    struct place p = open_place();
    for (int first = 1; first >= 0; --first) {
        const struct dp_sgd_args on = {p.device[0], p.device[1], p.device[2], p.device[3],
                                       0.9f,        0.01f,       first,       N};
        const struct dp_sgd_args off = {p.host[0], p.host[1], p.host[2], p.host[3],
                                        0.9f,      0.01f,     first,     N};
        compare(&p, dp_cuda_launch_sgd(&on, p.stream), DP_KERNEL_SGD, &off);
    }
    for (int accumulate = 0; accumulate < 2; ++accumulate) {
        struct dp_reduce_args on = {DP_F32, 3, accumulate, N, p.device[3], {0}}, off = on;
        off.dst = p.host[3];
        for (int a = 0; a < 3; ++a) {
            on.src[a] = p.device[a];
            off.src[a] = p.host[a];
        }
        compare(&p, dp_cuda_launch_reduce(&on, p.stream), DP_KERNEL_REDUCE, &off);
    }
    struct dp_mean_args on = {3, 0.3f, N, p.device[1], {p.device[0], p.device[1], p.device[2]}};
    struct dp_mean_args off = {3, 0.3f, N, p.host[1], {p.host[0], p.host[1], p.host[2]}};
    compare(&p, dp_cuda_launch_mean(&on, p.stream), DP_KERNEL_MEAN, &off);
    close_place(&p, NULL);
}

static void test_adamw(void)
{
    struct place p = open_place();
    for (int first = 1; first >= 0; --first) {
        struct dp_adamw_args on = {p.device[0],     p.device[1], p.device[2], p.device[3],
                                   p.device[3] + 2, 0.9f,        0.1f,        0.75f,
                                   0.25f,           0.01f,       first,       N};
        struct dp_adamw_args off = on;
        off.value = p.host[0];
        off.m = p.host[1];
        off.s = p.host[2];
        off.grad = p.host[3];
        off.rates = p.host[3] + 2;
        compare(&p, dp_cuda_launch_adamw(&on, p.stream), DP_KERNEL_ADAMW, &off);
    }
    close_place(&p, NULL);
}

/* Sums, norm and factor are adjacent in the second array. */
static void test_clipping(void)
{
    struct place p = open_place();
    double *const device = (double *)(void *)p.device[1], *const host = (double *)(void *)p.host[1];
    const struct dp_squares_args sums = {device, p.device[0], N}, sums_host = {host, p.host[0], N};
    compare(&p, dp_cuda_launch_squares(&sums, p.stream), DP_KERNEL_SQUARES, &sums_host);
    const struct dp_clip_args clip = {device, 1, 0.5, device + 1, p.device[1] + 4};
    const struct dp_clip_args clip_host = {host, 1, 0.5, host + 1, p.host[1] + 4};
    compare(&p, dp_cuda_launch_clip(&clip, p.stream), DP_KERNEL_CLIP, &clip_host);
    CHECK(p.host[1][4] > 0.0f && p.host[1][4] < 1.0f);
    const struct dp_scale_args scale = {p.device[2], p.device[1] + 4, N - 1};
    const struct dp_scale_args scale_host = {p.host[2], p.host[1] + 4, N - 1};
    compare(&p, dp_cuda_launch_scale(&scale, p.stream), DP_KERNEL_SCALE, &scale_host);
    close_place(&p, NULL);
}

/* One word was never written: a launch that reads it differs from one that only overwrites it. */
static void test_never_written(void)
{
    struct place p = open_place();
    float *fresh = tool_floats(0, N);
    const struct dp_sum_rows write = {fresh, p.device[0], ROWS, COLS, false};
    CHECK(dp_cuda_launch_sum_rows(&write, p.stream) == 0);
    WELL(cudaStreamSynchronize(p.stream));
    CHECK(fakecuda_verdict() == 0);
    const struct dp_activation read = {p.device[0], fresh, COLS + 1};
    CHECK(dp_cuda_launch_relu(&read, p.stream) == 0);
    WELL(cudaStreamSynchronize(p.stream));
    WELL(cudaFree(fresh));
    close_place(&p, "dp_cuda_launch_relu (device 0, stream 0) reads 20 bytes");
}

static const struct test tests[] = {
    {"twin/bias-and-rows", test_bias_and_rows},
    {"twin/activations", test_activations},
    {"twin/losses", test_losses},
    {"twin/sgd-and-reduce", test_sgd_and_reduce},
    {"twin/adamw", test_adamw},
    {"twin/clipping", test_clipping},
    {"twin/never-written", test_never_written},
};
const struct test_table twin_tests = {tests, sizeof tests / sizeof *tests};
