/* golden_net.c: a network of two linear layers, and its results in double. All numbers are small
 * integers, so every order of every sum gives the same float. */
#include "golden.h"

const size_t golden_net_size[NET_PARAMS] = {(size_t)NET_MID * NET_IN, NET_MID,
                                            (size_t)NET_OUT *NET_MID, NET_OUT};

static const char *net_numbers(struct check *c, const double values[], size_t n)
{
    int *whole = check_memory(c, n * sizeof *whole);

    for (size_t i = 0; i < n; ++i)
        whole[i] = (int)values[i];
    return check_list(c, whole, (int)n);
}

/* Computes y[o] = bias[o] + sum of weight[o][i] * x[i]. */
static void net_linear(const double *weight, const double *bias, const double *x, int in, int out,
                       double *y)
{
    for (int o = 0; o < out; ++o) {
        y[o] = bias[o];
        for (int i = 0; i < in; ++i)
            y[o] += weight[o * in + i] * x[i];
    }
}

/* Adds to the gradients, and computes dx[i] = sum of g[o] * weight[o][i]. */
static void linear_back(const double *weight, const double *x, const double *g, int in, int out,
                        double *dweight, double *dbias, double *dx)
{
    for (int i = 0; i < in; ++i)
        dx[i] = 0;
    for (int o = 0; o < out; ++o) {
        dbias[o] += g[o];
        for (int i = 0; i < in; ++i) {
            dweight[o * in + i] += g[o] * x[i];
            dx[i] += g[o] * weight[o * in + i];
        }
    }
}

void golden_net_batch(struct check *c, struct golden_net *net, size_t n, uint64_t weights,
                      uint64_t seed)
{
    net->n = n;
    for (int i = 0; i < NET_PARAMS; ++i) {
        net->weight[i] = check_integers(c, golden_net_size[i], weights * 8 + (uint64_t)i);
        net->grad[i] = check_memory(c, golden_net_size[i] * sizeof(double));
    }
    net->x = check_integers(c, n * NET_IN, seed * 8 + 6);
    net->g = check_integers(c, n * NET_OUT, seed * 8 + 7);
    net->y = check_memory(c, n * NET_OUT * sizeof(double));
    net->dx = check_memory(c, n * NET_IN * sizeof(double));
    for (size_t row = 0; row < n; ++row) {
        const double *x = net->x + row * NET_IN, *g = net->g + row * NET_OUT;
        double mid[NET_MID], high[NET_MID], dhigh[NET_MID];

        net_linear(net->weight[0], net->weight[1], x, NET_IN, NET_MID, mid);
        for (int i = 0; i < NET_MID; ++i)
            high[i] = mid[i] > 0 ? mid[i] : 0;
        net_linear(net->weight[2], net->weight[3], high, NET_MID, NET_OUT, net->y + row * NET_OUT);
        linear_back(net->weight[2], high, g, NET_MID, NET_OUT, net->grad[2], net->grad[3], dhigh);
        for (int i = 0; i < NET_MID; ++i)
            dhigh[i] = mid[i] > 0 ? dhigh[i] : 0;
        linear_back(net->weight[0], x, dhigh, NET_IN, NET_MID, net->grad[0], net->grad[1],
                    net->dx + row * NET_IN);
    }
}

const char *golden_net_layers(struct check *c, const struct golden_net *net)
{
    const char *list[NET_PARAMS];

    for (int i = 0; i < NET_PARAMS; ++i)
        list[i] = net_numbers(c, net->weight[i], golden_net_size[i]);
    return check_text(c,
                      "{\"kind\":\"sequence\",\"layers\":[{\"kind\":\"sequence\",\"layers\":["
                      "{\"kind\":\"linear\",\"in\":3,\"out\":4,\"weight\":%s,\"bias\":%s}]},"
                      "{\"kind\":\"relu\"}]},"
                      "{\"kind\":\"sequence\",\"layers\":[{\"kind\":\"identity\"},"
                      "{\"kind\":\"linear\",\"in\":4,\"out\":2,\"weight\":%s,\"bias\":%s}]}",
                      list[0], list[1], list[2], list[3]);
}

void golden_net_run(struct check *c, struct impl_model *model, const struct golden_net *net)
{
    const size_t in[] = {net->n, NET_IN}, out[] = {net->n, NET_OUT};
    const struct impl_array *x = check_needs_grad(check_array(c, 2, in, net->x));

    golden_is(c, "output", check_forward(c, model, x), 2, out, net->y);
    golden_is(c, "input gradient", check_backward(c, model, check_array(c, 2, out, net->g)), 2, in,
              net->dx);
}

void golden_net_grads(struct check *c, struct impl_model *model, const struct golden_net *net,
                      double times)
{
    static const size_t shape[NET_PARAMS][2] = {
        {NET_MID, NET_IN}, {NET_MID, 0}, {NET_OUT, NET_MID}, {NET_OUT, 0}};

    for (int i = 0; i < NET_PARAMS; ++i) {
        double *want = check_memory(c, golden_net_size[i] * sizeof *want);

        for (size_t j = 0; j < golden_net_size[i]; ++j)
            want[j] = times * net->grad[i][j];
        golden_is(c, check_text(c, "gradient of parameter %d", i),
                  check_get(c, model, IMPL_GRAD, i), i % 2 == 0 ? 2 : 1, shape[i], want);
    }
}
