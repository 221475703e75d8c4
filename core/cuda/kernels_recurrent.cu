/* kernels_recurrent.cu: the kernels of a step of an LSTM on a GPU. The thread of a row and unit has
 * all four of its gates. */
#include "kernel.cuh"

/* Neither branch overflows. */
static __device__ float sigmoid(float x)
{
    const float e = exp_of(-fabsf(x));
    return x >= 0.0f ? 1.0f / (1.0f + e) : e / (1.0f + e);
}

static __global__ void lstm(dp_lstm_args g)
{
    const size_t width = g.hidden;
    for (size_t at = first_element(); at < g.rows * width; at += stride()) {
        const size_t u = at % width;
        float *gate = g.gates + at / width * 4 * width + u;
        float value[4];
        for (size_t k = 0; k < 4; ++k) {
            const float sum = gate[k * width] + g.bias_x[k * width + u] + g.bias_h[k * width + u];
            value[k] = k == 2 ? tanh_of(sum) : sigmoid(sum);
            gate[k * width] = value[k];
        }
        const float kept = g.c_before ? value[1] * g.c_before[at] : 0.0f;
        const float c = kept + value[0] * value[2];
        g.c[at] = c;
        g.h[at] = value[3] * tanh_of(c);
    }
}

static __global__ void lstm_grad(dp_lstm_args g)
{
    const size_t width = g.hidden;
    for (size_t at = first_element(); at < g.rows * width; at += stride()) {
        float *gate = g.gates + at / width * 4 * width + at % width;
        const float i = gate[0], f = gate[width], n = gate[2 * width], o = gate[3 * width];
        const float before = g.c_before ? g.c_before[at] : 0.0f, t = tanh_of(g.c[at]);
        const float later = g.last ? 0.0f : g.dc[at];
        const float dc = later + g.dh[at] * o * (1.0f - t * t);
        gate[0] = dc * n * i * (1.0f - i);
        gate[width] = dc * before * f * (1.0f - f);
        gate[2 * width] = dc * i * (1.0f - n * n);
        gate[3 * width] = g.dh[at] * t * o * (1.0f - o);
        g.dc[at] = dc * f;
    }
}

int dp_cuda_launch_lstm(const void *args, cudaStream_t stream)
{
    const struct dp_lstm_args *g = static_cast<const struct dp_lstm_args *>(args);
    return start(lstm, args, g->rows * g->hidden, stream);
}

int dp_cuda_launch_lstm_grad(const void *args, cudaStream_t stream)
{
    const struct dp_lstm_args *g = static_cast<const struct dp_lstm_args *>(args);
    return start(lstm_grad, args, g->rows * g->hidden, stream);
}
