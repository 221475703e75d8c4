/* ddp_types.c: cases of area DDP: parameters and buffers of other types than float32, and without
 * dimensions. Each `grad` layer of the model gives its weight a gradient by rank. */
#include "ddp.h"

#include <math.h>

enum { TYPES_MOST = 6 };

/* A row for each variant. A letter is a weight: d float64, h float16, s float32 without dimensions,
 * f float32. In front stands the type that must not be that of all. */
static const struct types {
    const char *weights, *field; /* field: of the weights that are not f, and of the counter */
    char counter;                /* its type */
    double count;
} types[] = {
    {"fdfdd", "double", 'd', 1099511627777}, /* 2^40 + 1 */
    {"hffhf", "half", 'h', 1025},
    {"fsssf", "scalar", 's', 1048577},
};

/* Returns the gradient that a rank gives weight i. Means of two and of four of them are exact in
 * the type: whole numbers of 41 or 21 bits; in float16 40000, 41024, .., which must be divided
 * before they are added, because their sum is infinite. The next weight has half of it. */
static double gradient_of(char type, int i, int rank)
{
    const double value = type == 'd'   ? 1099511627776.0 + 1 + 3 * rank
                         : type == 'h' ? 40000.0 + 1024 * rank
                                       : 1048576.0 + 1 + 3 * rank;
    return ldexp(value, -i);
}

/* Weight i begins with this, in the model of a rank. */
static double weight_of(char type, int i, int rank)
{
    return (type == 'd' ? 1099511627776.0 : type == 'h' ? 1024.0 : 1048576.0) + 1 + i + 16 * rank;
}

static const char *types_model(struct check *c, const struct types *t, int ranks, int rank)
{
    const char *text = "{\"device\":-1,\"layers\":[";

    for (int i = 0; t->weights[i] != '\0'; ++i) {
        text = check_text(c, "%s{\"kind\":\"grad\",\"values\":[", text);
        for (int r = 0; r < ranks; ++r)
            text = check_text(c, "%s%s%.17g", text, r > 0 ? "," : "",
                              gradient_of(t->weights[i], i, r));
        text = check_text(c, "%s],\"weight\":[%.17g]", text, weight_of(t->weights[i], i, rank));
        text = check_text(c, t->weights[i] == 'f' ? "%s}," : "%s,\"%s\":true},", text, t->field);
    }
    return check_text(c, "%s{\"kind\":\"counter\",\"%s\":true,\"count\":[%.17g]}]}", text, t->field,
                      t->count + 16 * rank);
}

static void values_are(struct check *c, struct impl_model *model, int ranks, enum impl_what what,
                       int i, char type, double want)
{
    for (int r = 0; r < ranks; ++r) {
        const struct impl_array *got = check_get_rank(c, model, r, what, i);
        const char *name = check_text(c, "rank %d of %d: %s of parameter %d", r, ranks,
                                      what == IMPL_GRAD ? "gradient" : "value", i);

        check_values(c, name, got, 1, &want);
        check_int(c, check_text(c, "%s: type", name), got->dtype,
                  type == 'd' ? IMPL_F64 : IMPL_F32);
        check_int(c, check_text(c, "%s: dimensions", name), got->ndim, type == 's' ? 0 : 1);
    }
}

/* Those of a type that keeps the step, after it. */
static void stepped_are(struct check *c, struct impl_model *model, const char *kinds, int ranks,
                        int n)
{
    for (int i = 0; i < n; ++i) {
        const double mean = (gradient_of(kinds[i], i, 0) + gradient_of(kinds[i], i, ranks - 1)) / 2;

        if (kinds[i] == 'd')
            values_are(c, model, ranks, IMPL_VALUE, i, 'd', weight_of('d', i, 0) - 0.125 * mean);
    }
}

/* If ranks can be built one by one, each begins with other values. Step 2 is without sync. */
static void ddp_types(struct check *c, int ranks)
{
    const struct types *t = &types[check_variant(c)];
    const enum impl_dtype wide = t->weights[1] == 'd' ? IMPL_F64 : IMPL_F32;
    const double x = wide == IMPL_F64 ? 1099511627779 : 3, g = wide == IMPL_F64 ? x + 2 : 5;
    const bool unlike = check_has(c, IMPL_CAP_UNLIKE_RANKS);
    const char *text = types_model(c, t, ranks, 0);
    const size_t one = 1;
    struct impl_model *model;
    int n = 0;

    for (int r = 1; r < (unlike ? ranks : 1); ++r)
        text = check_text(c, "%s,%s", text, types_model(c, t, ranks, r));
    model = check_ddp_model(c, ranks, unlike ? check_text(c, "[%s]", text) : text);
    for (; t->weights[n] != '\0'; ++n)
        values_are(c, model, ranks, IMPL_VALUE, n, t->weights[n], weight_of(t->weights[n], n, 0));
    for (int turn = 0; turn < 4; ++turn) {
        struct ddp_call call = {.ranks = ranks, .n_in = 1, .n_out = 1, .no_sync = turn == 2};

        check_note(c, "R=%d, step %d: ", ranks, turn);
        for (int r = 0; r < ranks; ++r) {
            call.in[r][0] = check_needs_grad(check_typed(c, wide, 1, &one, &x));
            call.g[r][0] = check_typed(c, wide, 1, &one, &g);
            if (r > 0)
                ddp_set(c, model, r, IMPL_VALUE, n, (const double[]){t->count + 100 * r});
        }
        ddp_fresh_pass(c, model, &call);
        for (int r = 0; r < ranks; ++r) {
            check_values(c, check_text(c, "output of rank %d", r), call.out[r][0], 1, &x);
            check_values(c, check_text(c, "input gradient of rank %d", r), call.grad_in[r][0], 1,
                         &g);
            check_int(c, "type of the output", call.out[r][0]->dtype, wide);
        }
        for (int i = 0; i < n; ++i) {
            const double first = gradient_of(t->weights[i], i, 0);
            const double last = gradient_of(t->weights[i], i, ranks - 1);

            if (call.no_sync)
                ddp_rank_is(c, model, ranks - 1, IMPL_GRAD, i, last);
            else
                values_are(c, model, ranks, IMPL_GRAD, i, t->weights[i], (first + last) / 2);
        }
        /* Step 3 is after one without sync: it sends no buffers. */
        if (turn < 3)
            values_are(c, model, ranks, IMPL_VALUE, n, t->counter, t->count + turn + 1);
    }
    check_step(c, model, 0.125F, 0);
    stepped_are(c, model, t->weights, ranks, n);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct check_case cases[] = {
    {"DDP-33.double", "DDP-33", MAY, OBSERVED, DDP, IMPL_CAP_DDP | IMPL_CAP_DOUBLE, 0,
     .ranks = ddp_types},
    {"DDP-33.half", "DDP-33", MAY, OBSERVED, DDP, IMPL_CAP_DDP | IMPL_CAP_HALF, 0,
     .ranks = ddp_types, .variant = 1},
    {"DDP-33.scalars", "DDP-33", MAY, OBSERVED, DDP, IMPL_CAP_DDP | IMPL_CAP_SCALARS, 0,
     .ranks = ddp_types, .variant = 2},
};
const struct check_table ddp_types_table = CHECK_TABLE(cases);
