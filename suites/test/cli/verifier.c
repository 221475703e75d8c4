/* verifier.c: the verifier must let a right step pass, and find every wrong value, wherever it is.
 *
 * One real step per set is read back; then every value of it is changed by the smallest amount, one
 * at a time, and the verifier and the digest must both notice. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/session.h"

enum { ROWS = 10, DEVICES = 3 };

struct fixture {
    struct cell_config config;
    enum dp_math math;
    struct session session;
    struct verify *verify;
    struct verify_step step;
    size_t shard[DP_MAX_SLOTS];
    uint64_t digest;
    size_t values, wrong, missed;
};

static int verifier_fail(const char *what, const char *why)
{
    fprintf(stderr, "FAILED: %s: %s\n", what, why);
    return 1;
}

static int verifier_check(struct fixture *f)
{
    struct text_error why = {""};
    size_t values;

    f->step.loss = f->session.loss_value;
    return verify_check(f->verify, &f->step, &values, &why);
}

/* Expects that a change of *place to value is noticed; the change is undone. */
static void expect_noticed(struct fixture *f, float *place, float value, const char *what, size_t i)
{
    const float right = *place;

    *place = value;
    ++f->wrong;
    if (verifier_check(f) != 1 || session_digest(&f->session) == f->digest) {
        fprintf(stderr, "missed: %s %zu, %.9g for %.9g\n", what, i, (double)value, (double)right);
        ++f->missed;
    }
    *place = right;
}

static void spoil(struct fixture *f, float values[], size_t n, const char *what)
{
    for (size_t i = 0; i < n; ++i) {
        expect_noticed(f, &values[i], nextafterf(values[i], INFINITY), what, i);
        expect_noticed(f, &values[i], NAN, what, i);
    }
    f->values += n;
}

static void spoil_shards(struct fixture *f)
{
    for (size_t i = 0; i < f->step.n_shards; ++i) {
        ++f->shard[i];
        f->missed += verifier_check(f) != 1;
        --f->shard[i];
    }
    --f->step.n_shards;
    f->missed += verifier_check(f) != 1;
    ++f->step.n_shards;
}

/* Computes step k of the set, and its reference, which must agree. */
static int right_step(struct fixture *f, const struct workload_set *set, int k, size_t *values)
{
    struct session_times times;
    struct dp_error err = {0};
    struct text_error why = {""};

    if (session_prepare(&f->session, k, &err) || session_step(&f->session, k, &times, &err) ||
        session_read(&f->session, &err))
        return verifier_fail("step", err.text);
    if (verify_open(&f->config.workload, set, ROWS, DEVICES, f->math, &f->verify, &why))
        return verifier_fail("verify_open", why.text);
    f->step = session_result(&f->session, f->shard);
    f->digest = session_digest(&f->session);
    return verify_check(f->verify, &f->step, values, &why) ? verifier_fail("a right step", why.text)
                                                           : 0;
}

/* Runs the real step k, then all wrong ones. */
static int try_set(struct fixture *f, int k, uint64_t seed)
{
    const struct workload_set set = workload_batch(&f->config.workload, ROWS, DP_MATH_F32, seed, k);
    size_t values = 0;

    if (right_step(f, &set, k, &values))
        return 1;
    f->values = 0;
    spoil(f, f->session.outputs, ROWS * workload_width(&f->config.workload), "output");
    spoil(f, &f->session.loss_value, 1, "loss");
    for (int p = 0; p < f->session.n_params; ++p) {
        const size_t n = dp_tensor_count(&f->session.param[p]->value);

        spoil(f, f->session.gradient[p], n, "gradient");
        spoil(f, f->session.updated[p], n, "updated parameter");
    }
    spoil_shards(f);
    verify_close(f->verify);
    /* It also compares the number of shards and the size of each. */
    if (values != f->values + 1 + f->step.n_shards)
        return verifier_fail("count", "values_checked is not the number of values");
    return 0;
}

/* words: the reason why there must be no reference; NULL: there must be one. */
static int expect_open(const char *name, size_t rows, enum dp_math math, const char *words)
{
    struct workload workload;
    struct verify *verify = NULL;
    struct text_error why = {""};
    char text[200];
    bool opened;

    if (workload_parse(name, &workload, text, sizeof text))
        return verifier_fail("workload", text);
    const struct workload_set set = workload_batch(&workload, rows, math, 1, 0);

    opened = verify_open(&workload, &set, rows, 2, math, &verify, &why) == 0;
    if (opened)
        verify_close(verify);
    if (opened && words)
        return verifier_fail(name, "there is a reference");
    return opened || (words && strstr(why.text, words)) ? 0 : verifier_fail(name, why.text);
}

/* Some workloads are refused: if sums could exceed the integers of float; if a math would round
 * gradients, but only for that math (many outputs add up in a few columns); if rounding fills the
 * bounds. */
static int try_limits(void)
{
    static const char rounds[] = "would round them", fewer[] = "fewer rows can be verified";
    static const struct {
        const char *workload;
        size_t rows;
        enum dp_math math;
        const char *words;
    } table[] = {
        {"mlp:8,8,8", 4000000, DP_MATH_F32, "not below 16777216"},
        {"mlp:4,2,64", 127, DP_MATH_BF16, NULL},
        {"mlp:4,2,4096", 127, DP_MATH_BF16, rounds},
        {"mlp:4,2,4096", 127, DP_MATH_TF32, NULL},
        {"mlp:4,3,65536", 127, DP_MATH_TF32, rounds},
        {"mlp:4,3,65536", 127, DP_MATH_BF16, rounds},
        {"mlp:4,3,65536", 127, DP_MATH_F32, NULL},
        {"cnn", 127, DP_MATH_BF16, NULL},
        {"mixed", 127, DP_MATH_BF16, NULL},
        {"capsnet", 2048, DP_MATH_F32, NULL},
        {"capsnet", 16384, DP_MATH_F32, fewer},
        {"capsnet", 64, DP_MATH_BF16, "math f32 only"},
        {"resnet", 2048, DP_MATH_F32, NULL},
        {"resnet", 65536, DP_MATH_F32, fewer},
        {"resnet", 64, DP_MATH_TF32, "math f32 only"},
        {"gpt-tiny", 256, DP_MATH_F32, NULL},
        {"gpt-tiny", 65536, DP_MATH_F32, fewer},
        {"gpt-tiny", 256, DP_MATH_TF32, NULL},
        {"gpt-tiny", 256, DP_MATH_BF16, NULL},
        {"gpt-tiny", 65536, DP_MATH_BF16, fewer},
        {"gpt:16,16,4,256,1000", 1, DP_MATH_F32, NULL},
        {"gpt:16,8,1,256,64", 1, DP_MATH_F32, "of parameter 38), more than an eighth: it cannot"},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i)
        if (expect_open(table[i].workload, table[i].rows, table[i].math, table[i].words))
            return 1;
    return 0;
}

/* Changes some values of every array of a larger model, each by a part of the array's largest
 * number, which is far less than the effect of a lost row. part 0 is for an exact model: the change
 * is the smallest there is. */
static size_t sample(struct fixture *f, float values[], size_t n, float part, float largest)
{
    size_t missed = 0;

    for (size_t i = 0; i < n; ++i)
        largest = fmaxf(largest, fabsf(values[i]));
    for (size_t i = 0; i < n; i += n / 3 + 1) {
        const float right = values[i];

        values[i] = part > 0 ? right + part * largest : nextafterf(right, INFINITY);
        size_t bad = verifier_check(f) != 1;
        values[i] = NAN;
        bad += verifier_check(f) != 1;
        values[i] = right;
        if (bad > 0)
            fprintf(stderr, "missed: %s, element %zu of %zu, %.9g of at most %.9g\n",
                    f->config.workload.name, i, n, (double)right, (double)largest);
        missed += bad;
        f->wrong += 2;
    }
    return missed;
}

/* If gradients are clipped, this is the only number that says how large they were. */
static size_t spoil_norm(struct fixture *f, float part)
{
    const double norm = f->step.norm;
    size_t missed = 0;

    if (!workload_end(&f->config.workload)->adamw)
        return 0;
    f->step.norm = norm * (1 + (double)part);
    missed += verifier_check(f) != 1;
    f->step.norm = (double)NAN;
    missed += verifier_check(f) != 1;
    f->step.norm = norm;
    f->wrong += 2;
    return missed;
}

static int sample_set(struct fixture *f, int k, float part)
{
    const struct workload_set set = workload_batch(&f->config.workload, ROWS, f->math, 5, k);
    const size_t outputs = ROWS * workload_width(&f->config.workload);
    size_t values = 0, missed;
    float terms = 0;

    if (right_step(f, &set, k, &values))
        return 1;
    /* The loss is a sum of terms larger than itself. */
    for (size_t i = 0; i < outputs; ++i)
        terms += fabsf(f->session.outputs[i]);
    missed = sample(f, f->session.outputs, outputs, part, 0);
    missed += sample(f, &f->session.loss_value, 1, part, terms);
    missed += spoil_norm(f, part);
    for (int p = 0; p < f->session.n_params; ++p) {
        const size_t n = dp_tensor_count(&f->session.param[p]->value);

        missed += sample(f, f->session.gradient[p], n, part, 0);
        missed += sample(f, f->session.updated[p], n, part, 0);
    }
    verify_close(f->verify);
    f->missed += missed;
    return missed == 0 ? 0 : verifier_fail(f->config.workload.name, "wrong values were missed");
}

/* Tries all sets of a model, each changed everywhere if `all` is set, else in a sample of places.
 * part: 0 for an exact model, see sample. */
static int try_model(const char *name, const char *backend, enum dp_math math, bool all, float part)
{
    const struct dp_group_config config = {.devices = "virt:3", .backend = backend, .math = math};
    static struct fixture f;
    struct dp_group *group = NULL;
    struct dp_error err = {0};
    char why[200];
    int status = 0;

    memset(&f, 0, sizeof f);
    f.math = math;
    f.config = (struct cell_config){.seed = 5, .rows = ROWS, .mode = CELL_DP};
    if (workload_parse(name, &f.config.workload, why, sizeof why))
        return verifier_fail("workload", why);
    if (dp_group_open(&config, &group, &err) ||
        session_open(&f.session, group, &f.config, NULL, &err) ||
        session_open_sets(&f.session, &f.config, &err))
        status = verifier_fail("session", err.text);
    for (int k = 0; k < WORKLOAD_SETS && status == 0; ++k)
        status = all ? try_set(&f, k, 5) : sample_set(&f, k, part);
    session_close(&f.session);
    dp_group_close(group);
    printf("%s, %s: %zu wrong values, %zu missed\n", name, dp_math_name(math), f.wrong, f.missed);
    return status != 0 || f.missed != 0 || f.wrong == 0;
}

static int try_models(void)
{
    static const struct {
        const char *name;
        enum dp_math math;
        float part;
    } row[] = {{"blocks", DP_MATH_F32, 0},
               {"mixed", DP_MATH_F32, 0},
               {"cnn", DP_MATH_F32, 0},
               {"rnn", DP_MATH_F32, 0x1p-7f},
               {"lstm", DP_MATH_F32, 0x1p-7f},
               {"capsnet", DP_MATH_F32, 0x1p-7f},
               {"resnet", DP_MATH_F32, 0x1p-7f},
               {"gpt:2,16,2,8,32", DP_MATH_F32, 0x1p-7f},
               {"gpt:2,16,2,8,32", DP_MATH_BF16, 0x1p-3f}};

    for (size_t i = 0; i < sizeof row / sizeof row[0]; ++i)
        if (try_model(row[i].name, NULL, row[i].math, false, row[i].part))
            return 1;
    return 0;
}

int main(void)
{
    return try_model("mlp:4,6,3", "cpu-ref", DP_MATH_F32, true, 0) || try_limits() || try_models();
}
