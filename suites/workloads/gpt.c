/* gpt.c: a GPT-2: a table of tokens and one of positions, layers of x + attention(norm(x)) and x +
 * mlp(norm(x)), a last norm, and the table of tokens once more as the output. Its sizes follow the
 * name.
 *
 * A branch adds little to what it is added to, the less the more layers there are, and a weight's
 * row has few numbers that are not 0: bounds stay narrow over many layers, and the reference need
 * not multiply by zeros. */
#include "descriptor.h"

#include <stdio.h>

enum { MOST_LAYERS = 48, LEAST_WIDTH = 8, MOST_WIDTH = 8192, MOST_CONTEXT = 8192 };

/* A parameter: its sizes in widths of the model, and its laws. */
struct param {
    const char *name;   /* nanoGPT's */
    size_t out, in;     /* in 0: a vector */
    unsigned entries;   /* of a row of a matrix, on average; of others all are not 0 */
    double unit, probe; /* of +-1..4 times unit, and of the probe */
    bool positive;      /* of the probe */
    bool ends;          /* a branch: its result is added to what the branch began with */
};

/* The parameters after the two tables, for each layer. */
static const struct param layer[] = {
    {"ln_1.weight", 1, 0, 0, 0x1p-2, 1, false, false},
    {"ln_1.bias", 1, 0, 0, 0x1p-4, 0x1p-2, false, false},
    {"attn.c_attn.weight", 3, 1, 3, 0x1p-5, 0x1p-3, false, false},
    {"attn.c_attn.bias", 3, 0, 0, 0x1p-6, 0x1p-4, false, false},
    {"attn.c_proj.weight", 1, 1, 2, 0x1p-5, 0x1p-3, false, true},
    {"attn.c_proj.bias", 1, 0, 0, 0x1p-5, 0x1p-3, false, true},
    {"ln_2.weight", 1, 0, 0, 0x1p-2, 1, false, false},
    {"ln_2.bias", 1, 0, 0, 0x1p-4, 0x1p-2, false, false},
    {"mlp.c_fc.weight", 4, 1, 3, 0x1p-3, 0x1p-1, false, false},
    {"mlp.c_fc.bias", 4, 0, 0, 0x1p-4, 0x1p-2, false, false},
    {"mlp.c_proj.weight", 1, 4, 2, 0x1p-5, 0x1p-3, false, true},
    {"mlp.c_proj.bias", 1, 0, 0, 0x1p-5, 0x1p-3, false, true},
};
enum { OF_LAYER = sizeof layer / sizeof layer[0] };

/* Outputs of the probe are positive: so are the last norm's bias and the table. */
static const struct param first[] = {
    {"wte.weight", 0, 1, 4, 0x1p-2, 1, true, false},
    {"wpe.weight", 0, 1, 0, 0x1p-1, 2, false, false},
};
static const struct param last[] = {
    {"ln_f.weight", 1, 0, 0, 0x1p-2, 0x1p-3, false, false},
    {"ln_f.bias", 1, 0, 0, 0x1p-4, 2, true, false},
};

static void gpt_add(struct workload_parts *parts, const struct workload *workload)
{
    const size_t *size = workload->size;

    workload_add_table(parts, size[GPT_VOCABULARY], size[GPT_WIDTH]);
    workload_add_positions(parts, size[GPT_CONTEXT], size[GPT_WIDTH]);
    for (size_t l = 0; l < size[GPT_LAYERS]; ++l) {
        workload_add_layer_norm(parts, size[GPT_WIDTH]);
        workload_add_linear(parts, size[GPT_WIDTH], 3 * size[GPT_WIDTH]);
        workload_add_attention(parts, size[GPT_HEADS]);
        workload_add_linear(parts, size[GPT_WIDTH], size[GPT_WIDTH]);
        workload_skip_last(parts, 4);
        workload_add_layer_norm(parts, size[GPT_WIDTH]);
        workload_add_linear(parts, size[GPT_WIDTH], 4 * size[GPT_WIDTH]);
        workload_add_gelu(parts);
        workload_add_linear(parts, 4 * size[GPT_WIDTH], size[GPT_WIDTH]);
        workload_skip_last(parts, 4);
    }
    workload_add_layer_norm(parts, size[GPT_WIDTH]);
    workload_add_tied(parts);
}

/* Which parameter p is; NULL: there is none. */
static const struct param *param_of(const struct workload *workload, size_t p)
{
    const size_t end = 2 + OF_LAYER * workload->size[GPT_LAYERS];

    if (p < 2)
        return &first[p];
    if (p < end)
        return &layer[(p - 2) % OF_LAYER];
    return p < end + 2 ? &last[p - end] : NULL;
}

/* GPT-2 makes the weights that end a branch smaller by the root of how many there are, because
 * random numbers grow so when they are added up. Bounds grow as their number does. So from 5 layers
 * on all branches together add no more than those of 4. */
static double part_of_branch(size_t layers)
{
    double part = 1;

    while (part * (double)layers > 4)
        part /= 2;
    return part;
}

static struct workload_law law(const struct workload *workload, size_t p, bool probe)
{
    const struct param *param = param_of(workload, p);
    const size_t *size = workload->size, width = size[GPT_WIDTH];

    if (!param)
        return (struct workload_law){.count = 0};

    const size_t in = param->in * width;
    const double part = param->ends ? part_of_branch(size[GPT_LAYERS]) : 1;
    const size_t rows = p < 2 ? size[p == 0 ? GPT_VOCABULARY : GPT_CONTEXT] : param->out * width;

    return (struct workload_law){.count = rows * (in > 0 ? in : 1),
                                 .every = param->entries > 0 ? (unsigned)(in / param->entries) : 1,
                                 .most = 4,
                                 .unit = part * (probe ? param->probe : param->unit),
                                 .either = !param->positive};
}

static void param_name(const struct workload *workload, size_t p, char *text, size_t bytes)
{
    const struct param *param = param_of(workload, p);
    const size_t l = (p - 2) / OF_LAYER;

    text[0] = '\0';
    if (param && p >= 2 && l < workload->size[GPT_LAYERS])
        snprintf(text, bytes, "transformer.h.%zu.%s", l, param->name);
    else if (param)
        snprintf(text, bytes, "transformer.%s", param->name);
}

/* Weights that a token is multiplied by: of the layers, and the table as the output. */
static double weights(const struct workload *workload)
{
    const size_t *size = workload->size;
    const double width = (double)size[GPT_WIDTH];

    return (double)size[GPT_LAYERS] * 12 * width * width + (double)size[GPT_VOCABULARY] * width;
}

/* Each weight of a product is used once for a token: forward, weight gradient, input gradient.
 * Attention has two products of context x context forward, all of them, and four backward. */
static double products(const struct workload *workload)
{
    const size_t *size = workload->size;
    const double context = (double)size[GPT_CONTEXT];

    return 3 * context * weights(workload) +
           6 * (double)size[GPT_LAYERS] * context * context * (double)size[GPT_WIDTH];
}

/* Token t sees t tokens, on average half of context + 1: two products of 2 t width forward, twice
 * as much backward. */
static double token_flops(const struct workload *workload)
{
    const size_t *size = workload->size;

    return 6 * weights(workload) +
           6 * (double)(size[GPT_LAYERS] * size[GPT_WIDTH]) * (double)(size[GPT_CONTEXT] + 1);
}

/* In forward a layer keeps two norms, q, k and v, probabilities, the result of attention, its
 * projection, two sums, and four widths before GELU and after it; in backward as much, but not what
 * norms keep. Outside of layers there are tokens and positions, the last norm, outputs, and their
 * gradients. */
static struct workload_kept kept(const struct workload *workload)
{
    enum { OF_LAYER_TENSORS = 26, OTHER_TENSORS = 16, LINEARS = 4, OPERANDS = 3 };
    const size_t *size = workload->size;
    const double width = (double)size[GPT_WIDTH], layers = (double)size[GPT_LAYERS];
    const double attention = 2 * (double)size[GPT_HEADS] * (double)size[GPT_CONTEXT];
    const double outputs = (double)size[GPT_VOCABULARY];

    return (struct workload_kept){.numbers = layers * (36 * width + attention + 4) + 5 * width + 2 +
                                             2 * outputs,
                                  .outputs = outputs,
                                  .tensors = size[GPT_LAYERS] * OF_LAYER_TENSORS + OTHER_TENSORS,
                                  .operands = layers * 16 * width + width + outputs,
                                  .weights = weights(workload),
                                  .rounded = OPERANDS * (size[GPT_LAYERS] * LINEARS + 1)};
}

static int gpt_check(const struct workload *workload, char *why, size_t bytes)
{
    static const struct {
        const char *name;
        size_t least, most;
    } range[GPT_SIZES] = {[GPT_LAYERS] = {"layers", 1, MOST_LAYERS},
                          [GPT_WIDTH] = {"the width", LEAST_WIDTH, MOST_WIDTH},
                          [GPT_HEADS] = {"the heads", 1, MOST_WIDTH},
                          [GPT_CONTEXT] = {"the context", 1, MOST_CONTEXT},
                          [GPT_VOCABULARY] = {"the vocabulary", 2, WORKLOAD_MAX_WIDTH}};
    const size_t *size = workload->size;

    for (int i = 0; i < GPT_SIZES; ++i)
        if (size[i] < range[i].least || size[i] > range[i].most) {
            snprintf(why, bytes, "'%s': %s must be %zu to %zu, not %zu", workload->name,
                     range[i].name, range[i].least, range[i].most, size[i]);
            return -1;
        }
    if (size[GPT_WIDTH] % size[GPT_HEADS] == 0)
        return 0;
    snprintf(why, bytes, "'%s': a width of %zu is no multiple of %zu heads", workload->name,
             size[GPT_WIDTH], size[GPT_HEADS]);
    return -1;
}

/* A norm that gradients are above, so that clipping shows. With this eps an update is a smooth
 * function of a clipped gradient. */
static const struct workload_end end = {
    .loss = DP_LOSS_XENT,
    .adamw = true,
    .max_norm = 0x1p-4,
    .config = {.lr = 0x1p-6, .beta1 = 0.9, .beta2 = 0.95, .eps = 0x1p-12, .decay = 0x1p-3}};

static const struct workload_known known[] = {
    {.name = "gpt-tiny", .size = {2, 64, 2, 32, 256}, .peer = true},
    {.name = "gpt-small", .size = {4, 256, 4, 128, 256}, .peer = true},
    {.name = "gpt2", .size = {12, 768, 12, 1024, 50257}},
    {.name = NULL}};

static const struct workload_sized sized = {.known = known,
                                            .n_sizes = GPT_SIZES,
                                            .check = gpt_check,
                                            .law = law,
                                            .param_name = param_name,
                                            .products = products,
                                            .token_flops = token_flops,
                                            .kept = kept};

const struct workload_descriptor workload_gpt = {.name = "gpt",
                                                 .add = gpt_add,
                                                 .sized = &sized,
                                                 .tokens = true,
                                                 .peer = true,
                                                 .end = &end,
                                                 .maths = true,
                                                 .period = {3, 2, 2},
                                                 .lr = 1e-3};
