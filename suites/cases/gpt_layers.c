/* gpt_layers.c: cases of area GPT about layers: a table that is used twice, positions, layer norm,
 * cross entropy. The arguments of exponentials are so far apart that all but one are 0 and the rest
 * is exact. */
#include "gpt.h"

/* Makes [rows, GPT_STEPS] of 0..below-1. */
static int *make_tokens(struct check *c, size_t rows, int below, uint64_t seed, double **values)
{
    const double *integers = check_integers(c, rows * GPT_STEPS, seed);
    int *tokens = check_memory(c, (rows * GPT_STEPS + 1) * sizeof *tokens);

    *values = gpt_zeros(c, rows * GPT_STEPS);
    for (size_t i = 0; i < rows * GPT_STEPS; ++i) {
        tokens[i] = ((int)integers[i] + 8) % below;
        (*values)[i] = tokens[i];
    }
    return tokens;
}

static struct impl_array *token_array(struct check *c, size_t rows, const double values[])
{
    const size_t dim[] = {rows, GPT_STEPS};

    return check_typed(c, IMPL_I32, 2, dim, values);
}

/* ---- GPT-01: the table of an embedding is the output, too ------------------------------------ */

enum { WORDS = 5, WIDTH = 3, TABLE_SEED = 11 };

static const char *table_layers(struct check *c)
{
    return check_text(c,
                      "{\"kind\":\"embedding\",\"name\":\"table\",\"rows\":%d,\"columns\":%d,"
                      "\"weight\":%s},{\"kind\":\"output\",\"of\":\"table\"}",
                      WORDS, WIDTH,
                      gpt_list(c, WORDS * WIDTH, check_integers(c, WORDS * WIDTH, TABLE_SEED)));
}

static void table_make(struct check *c, struct gpt_pass *pass, uint64_t seed)
{
    const double *table = check_integers(c, WORDS * WIDTH, TABLE_SEED);
    const size_t n = pass->rows * GPT_STEPS;
    double *values;
    const int *token = make_tokens(c, pass->rows, WORDS, seed, &values);
    const double *up = check_integers(c, n * WORDS, seed + 1);

    pass->in[0] = token_array(c, pass->rows, values);
    gpt_output_shape(pass, WORDS);
    pass->up = up;
    pass->y = gpt_zeros(c, n * WORDS);
    for (size_t i = 0; i < n; ++i)
        for (size_t w = 0; w < WORDS; ++w)
            for (size_t k = 0; k < WIDTH; ++k) {
                const size_t own = (size_t)token[i] * WIDTH + k, other = w * WIDTH + k;

                pass->y[i * WORDS + w] += table[own] * table[other];
                pass->grad[0][other] += up[i * WORDS + w] * table[own];
                pass->grad[0][own] += up[i * WORDS + w] * table[other];
            }
}

static const struct gpt_subject table = {table_layers, 1, 1, {WORDS * WIDTH}, false, 0, table_make};

/* ---- GPT-02: positions ----------------------------------------------------------------------- */

enum { PLACES = GPT_STEPS + 2 }; /* two that no token uses */

static const char *positions_layers(struct check *c)
{
    return check_text(c, "{\"kind\":\"positions\",\"rows\":%d,\"columns\":2,\"weight\":%s}", PLACES,
                      gpt_list(c, PLACES * 2, check_sequence(c, PLACES * 2, 100, 100)));
}

static void positions_make(struct check *c, struct gpt_pass *pass, uint64_t seed)
{
    const size_t n = pass->rows * GPT_STEPS * 2;
    const double *x = check_integers(c, n, seed), *up = check_integers(c, n, seed + 1);

    gpt_take_input(c, pass, 2, x);
    gpt_output_shape(pass, 2);
    pass->up = up;
    pass->y = gpt_zeros(c, n);
    for (size_t i = 0; i < n; ++i) {
        const size_t place = i % (GPT_STEPS * 2);

        pass->y[i] = x[i] + 100 + 100 * (double)place;
        pass->dx[i] = up[i];
        pass->grad[0][place] += up[i];
    }
}

static const struct gpt_subject positions = {positions_layers, 1, 1, {PLACES * 2}, false, 0,
                                             positions_make};

/* ---- GPT-04: layer norm, a linear layer on tokens, gelu -------------------------------------- */

/* A token is its mean plus or minus 64 or 128, so normalised it consists of ones. The output of the
 * linear layer is 32 plus a multiple of 64, where gelu is the same as relu. */
enum { FEATURES = 4, OUT = 3, NORM_SEED = 21 };

static const char *norm_layers(struct check *c, const char *form)
{
    const double *w = check_integers(c, FEATURES, NORM_SEED);
    const double *b = check_integers(c, FEATURES, NORM_SEED + 1);
    const double *linear = check_integers(c, OUT * FEATURES, NORM_SEED + 2);
    double *large = gpt_zeros(c, OUT * FEATURES);

    for (int i = 0; i < OUT * FEATURES; ++i)
        large[i] = 64 * linear[i];
    return check_text(c,
                      "{\"kind\":\"layer_norm\",\"features\":%d,\"eps\":1e-24,\"weight\":%s,"
                      "\"bias\":%s},{\"kind\":\"linear\",\"in\":%d,\"out\":%d,\"weight\":%s,"
                      "\"bias\":[32,32,32]},{\"kind\":\"gelu\",\"form\":\"%s\"}",
                      FEATURES, gpt_list(c, FEATURES, w), gpt_list(c, FEATURES, b), FEATURES, OUT,
                      gpt_list(c, OUT * FEATURES, large), form);
}

static const char *norm_erf(struct check *c)
{
    return norm_layers(c, "erf");
}

static const char *norm_tanh(struct check *c)
{
    return norm_layers(c, "tanh");
}

struct norm {
    const double *w, *b, *linear; /* linear: 1/64 of the weight of the linear layer */
};

/* Computes one token of ones, and its deviation. */
static void norm_token(struct gpt_pass *pass, const struct norm *l, size_t token,
                       const double ones[FEATURES], double deviation)
{
    double down[FEATURES] = {0}, mean = 0, product = 0;

    for (size_t o = 0; o < OUT; ++o) {
        const size_t at = token * OUT + o;
        double sum = 32, up;

        for (size_t k = 0; k < FEATURES; ++k)
            sum += 64 * l->linear[o * FEATURES + k] * (l->w[k] * ones[k] + l->b[k]);
        pass->y[at] = sum > 0 ? sum : 0;
        up = sum > 0 ? pass->up[at] : 0;
        pass->grad[3][o] += up;
        for (size_t k = 0; k < FEATURES; ++k) {
            pass->grad[2][o * FEATURES + k] += up * (l->w[k] * ones[k] + l->b[k]);
            down[k] += up * 64 * l->linear[o * FEATURES + k];
        }
    }
    for (size_t k = 0; k < FEATURES; ++k) {
        pass->grad[0][k] += down[k] * ones[k];
        pass->grad[1][k] += down[k];
        mean += down[k] * l->w[k] / FEATURES;
        product += down[k] * l->w[k] * ones[k] / FEATURES;
    }
    for (size_t k = 0; k < FEATURES; ++k)
        pass->dx[token * FEATURES + k] = (down[k] * l->w[k] - mean - ones[k] * product) / deviation;
}

static void norm_make(struct check *c, struct gpt_pass *pass, uint64_t seed)
{
    static const double ones[][FEATURES] = {{1, -1, -1, 1}, {-1, -1, 1, 1}, {1, -1, 1, -1}};
    const struct norm l = {check_integers(c, FEATURES, NORM_SEED),
                           check_integers(c, FEATURES, NORM_SEED + 1),
                           check_integers(c, OUT * FEATURES, NORM_SEED + 2)};
    const size_t n = pass->rows * GPT_STEPS;
    const double *mean = check_integers(c, n, seed), deviation[] = {64, 128};
    double *x = gpt_zeros(c, n * FEATURES);

    for (size_t i = 0; i < n * FEATURES; ++i)
        x[i] =
            mean[i / FEATURES] + deviation[i / FEATURES % 2] * ones[i / FEATURES % 3][i % FEATURES];
    gpt_take_input(c, pass, FEATURES, x);
    gpt_output_shape(pass, OUT);
    pass->up = check_integers(c, n * OUT, seed + 1);
    pass->y = gpt_zeros(c, n * OUT);
    for (size_t i = 0; i < n; ++i)
        norm_token(pass, &l, i, ones[i % 3], deviation[i % 2]);
}

static const struct gpt_subject norms[] = {
    {norm_erf, 1, 4, {FEATURES, FEATURES, OUT *FEATURES, OUT}, false, 0, norm_make},
    {norm_tanh, 1, 4, {FEATURES, FEATURES, OUT *FEATURES, OUT}, false, 0, norm_make},
};

/* ---- GPT-05: cross entropy over a vocabulary ------------------------------------------------- */

/* The table is 32 times the identity, and positions are small: the logit of the token itself is 800
 * above the others. */
enum { VOCABULARY = 4 };

static double gpt_place_of(size_t step, size_t k)
{
    return (double)((step + k) % 5) - 2;
}

static const char *entropy_layers(struct check *c)
{
    double *identity = gpt_zeros(c, VOCABULARY * VOCABULARY);
    double *place = gpt_zeros(c, GPT_STEPS * VOCABULARY);

    for (size_t i = 0; i < VOCABULARY; ++i)
        identity[i * VOCABULARY + i] = 32;
    for (size_t i = 0; i < GPT_STEPS * VOCABULARY; ++i)
        place[i] = gpt_place_of(i / VOCABULARY, i % VOCABULARY);
    return check_text(c,
                      "{\"kind\":\"first\",\"layers\":[{\"kind\":\"embedding\",\"name\":\"table\","
                      "\"rows\":%d,\"columns\":%d,\"weight\":%s},{\"kind\":\"positions\","
                      "\"rows\":%d,\"columns\":%d,\"weight\":%s},{\"kind\":\"output\",\"of\":"
                      "\"table\"}]},{\"kind\":\"cross_entropy\"}",
                      VOCABULARY, VOCABULARY, gpt_list(c, VOCABULARY * VOCABULARY, identity),
                      GPT_STEPS, VOCABULARY, gpt_list(c, GPT_STEPS * VOCABULARY, place));
}

static void entropy_make(struct check *c, struct gpt_pass *pass, uint64_t seed)
{
    double *values, *classes;
    const int *token = make_tokens(c, pass->rows, VOCABULARY, seed, &values);
    const int *right = make_tokens(c, pass->rows, VOCABULARY, seed + 1, &classes);

    pass->in[0] = token_array(c, pass->rows, values);
    pass->in[1] = token_array(c, pass->rows, classes);
    pass->ndim = 1;
    pass->dim[0] = pass->rows;
    pass->up = check_sequence(c, pass->rows, 1, 0);
    pass->y = gpt_zeros(c, pass->rows);
    for (size_t i = 0; i < pass->rows * GPT_STEPS; ++i) {
        const size_t t = (size_t)token[i], r = (size_t)right[i], step = i % GPT_STEPS;

        if (t == r)
            continue;
        pass->y[i / GPT_STEPS] += 32 * (32 + gpt_place_of(step, t) - gpt_place_of(step, r));
        for (size_t k = 0; k < VOCABULARY; ++k) {
            const double h = (k == t ? 32 : 0) + gpt_place_of(step, k);
            const double down = k == t ? 32 : k == r ? -32 : 0;

            pass->grad[0][t * VOCABULARY + k] += h + down;
            pass->grad[0][r * VOCABULARY + k] -= h;
            pass->grad[1][step * VOCABULARY + k] += down;
        }
    }
}

static const struct gpt_subject entropy = {
    entropy_layers, 2, 2, {VOCABULARY * VOCABULARY, GPT_STEPS *VOCABULARY}, true, 0, entropy_make};

/* ---- the table ------------------------------------------------------------------------------- */

static void table_replicas(struct check *c)
{
    gpt_replicas(c, &table);
}

static void table_ranks(struct check *c)
{
    gpt_ranks(c, &table);
}

static void positions_replicas(struct check *c)
{
    gpt_replicas(c, &positions);
}

static void positions_ranks(struct check *c)
{
    gpt_ranks(c, &positions);
}

static void norm_replicas(struct check *c)
{
    gpt_replicas(c, &norms[0]);
    gpt_replicas(c, &norms[1]);
}

static void norm_ranks(struct check *c)
{
    gpt_ranks(c, &norms[0]);
    gpt_ranks(c, &norms[1]);
}

static void entropy_replicas(struct check *c)
{
    gpt_replicas(c, &entropy);
}

static void entropy_ranks(struct check *c)
{
    gpt_ranks(c, &entropy);
}

enum { REPLICAS = PARALLEL | IMPL_CAP_TRANSFORMER, RANKS = IMPL_CAP_DDP | IMPL_CAP_TRANSFORMER };

static const struct check_case cases[] = {
    {"GPT-01.replicas", "GPT-01", MAY, OBSERVED, DP, REPLICAS, 1, table_replicas},
    {"GPT-01.ranks", "GPT-01", MAY, OBSERVED, DDP, RANKS, 0, table_ranks},
    {"GPT-02.replicas", "GPT-02", MAY, OBSERVED, DP, REPLICAS, 1, positions_replicas},
    {"GPT-02.ranks", "GPT-02", MAY, OBSERVED, DDP, RANKS, 0, positions_ranks},
    {"GPT-04.replicas", "GPT-04", MAY, OBSERVED, DP, REPLICAS, 1, norm_replicas},
    {"GPT-04.ranks", "GPT-04", MAY, OBSERVED, DDP, RANKS, 0, norm_ranks},
    {"GPT-05.replicas", "GPT-05", MAY, OBSERVED, DP, REPLICAS, 1, entropy_replicas},
    {"GPT-05.ranks", "GPT-05", MAY, OBSERVED, DDP, RANKS, 0, entropy_ranks},
};
const struct check_table gpt_layers_table = CHECK_TABLE(cases);
