/* size_three.c: a case of area SIZE: three buckets, of which one is full. The model has the layers
 * of DDP-11, with weights that are mostly zeros: all sums are small, and no gradient is zero. */
#include "ddp.h"
#include "size.h"
#include "sized.h"

/* The weights have 10240, 26214400, 614400, 600000 and 200000 bytes. From the end, the last three
 * exceed 1 MiB, the large one has exactly 25 MiB, and the first one is left. */
enum { LAYERS = 5, RANKS = 2 };
static const size_t width[LAYERS + 1] = {1, 2560, 2560, 60, 2500, 20};

struct net {
    float *weight[LAYERS];
    float *value[RANKS][LAYERS + 1], *up[RANKS][LAYERS + 1]; /* at the layers' borders, one row */
};

/* Whether output o of the layer depends on its input i. */
static bool three_joined(size_t layer, size_t o, size_t i)
{
    const size_t in = width[layer], out = width[layer + 1];

    return o % (in < out ? in : out) == i % (in < out ? in : out);
}

static void run_net(struct check *c, struct net *net, int rank)
{
    float *const *value = net->value[rank], *const *up = net->up[rank];

    for (size_t l = 0; l <= LAYERS; ++l) {
        net->value[rank][l] = check_memory(c, width[l] * sizeof(float));
        net->up[rank][l] = check_memory(c, width[l] * sizeof(float));
    }
    value[0][0] = (float)(3 - 5 * rank);
    for (size_t o = 0; o < width[LAYERS]; ++o)
        up[LAYERS][o] = (float)(1 + (o + 3 * (size_t)rank) % 8);
    for (size_t l = 0; l < LAYERS; ++l)
        sized_linear(value[l + 1], net->weight[l], NULL, value[l], 1, width[l], width[l + 1]);
    for (size_t l = LAYERS; l-- > 0;)
        sized_back(up[l], net->weight[l], up[l + 1], 1, width[l], width[l + 1]);
}

/* In the first turn all parameters are in one bucket, which SIZE-05.buckets checks. */
static void size_ranks_three(struct check *c)
{
    struct impl_model *model = check_ddp_model(
        c, RANKS,
        DDP_MODEL("{\"kind\":\"linear\",\"in\":1,\"out\":2560,\"with_bias\":false},"
                  "{\"kind\":\"linear\",\"in\":2560,\"out\":2560,\"with_bias\":false},"
                  "{\"kind\":\"linear\",\"in\":2560,\"out\":60,\"with_bias\":false},"
                  "{\"kind\":\"linear\",\"in\":60,\"out\":2500,\"with_bias\":false},"
                  "{\"kind\":\"linear\",\"in\":2500,\"out\":20,\"with_bias\":false}"));
    struct net net;

    for (size_t l = 0; l < LAYERS; ++l) {
        float *w = net.weight[l] = check_memory(c, width[l] * width[l + 1] * sizeof *w);

        for (size_t o = 0; o < width[l + 1]; ++o)
            for (size_t i = 0; i < width[l]; ++i)
                w[o * width[l] + i] = !three_joined(l, o, i) ? 0 : l == 0 ? sized_number(5, o) : 1;
    }
    for (int r = 0; r < RANKS; ++r) {
        run_net(c, &net, r);
        for (int l = 0; l < LAYERS; ++l)
            sized_put(c, model, r, IMPL_VALUE, l, net.weight[l]);
    }
    for (int number = 0; number < 2; ++number) {
        const size_t in[] = {1, width[0]}, out[] = {1, width[LAYERS]};
        struct ddp_call call = {.ranks = RANKS, .n_in = 1, .n_out = 1};

        check_note(c, "step %d: ", number);
        for (int r = 0; r < RANKS; ++r) {
            call.in[r][0] = sized_array(c, 2, in, net.value[r][0]);
            call.g[r][0] = sized_array(c, 2, out, net.up[r][LAYERS]);
        }
        check_zero_grad(c, model);
        ddp_pass_counted(c, model, &call);
        for (int r = 0; r < RANKS; ++r)
            sized_same(c, check_text(c, "output of rank %d", r), call.out[r][0], width[LAYERS],
                       net.value[r][LAYERS]);
    }
    for (size_t l = 0; l < LAYERS; ++l) {
        const size_t n = width[l], cells = n * width[l + 1];
        float *want = check_memory(c, cells * sizeof *want);

        for (int r = 0; r < RANKS; ++r)
            sized_products(want, NULL, net.value[r][l], net.up[r][l + 1], 1, n, width[l + 1]);
        for (size_t e = 0; e < cells; ++e)
            want[e] /= RANKS;
        for (int r = 0; r < RANKS; ++r)
            sized_is(c, model, r, IMPL_GRAD, (int)l, cells, want);
    }
}

static const struct check_case cases[] = {
    {"SIZE-05.three", "SIZE-05", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, size_ranks_three, 60000},
};
const struct check_table size_three_table = CHECK_TABLE(cases);
