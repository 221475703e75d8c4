/* gpt.c: area GPT: runs a model of gpt.h on devices and on ranks. */
#include "gpt.h"
#include "ddp.h"
#include "golden.h"

#include <math.h>

enum { MOST_RANKS = 3 };

double *gpt_zeros(struct check *c, size_t n)
{
    return check_memory(c, (n + 1) * sizeof(double));
}

const char *gpt_list(struct check *c, size_t n, const double values[])
{
    const char *text = "";

    for (size_t i = 0; i < n; ++i)
        text = check_text(c, "%s%s%.9g", text, i > 0 ? "," : "", values[i]);
    return check_text(c, "[%s]", text);
}

void gpt_output_shape(struct gpt_pass *pass, size_t width)
{
    pass->ndim = 3;
    pass->dim[0] = pass->rows;
    pass->dim[1] = GPT_STEPS;
    pass->dim[2] = width;
}

void gpt_take_input(struct check *c, struct gpt_pass *pass, size_t width, const double values[])
{
    const size_t dim[] = {pass->rows, GPT_STEPS, width};

    pass->in[0] = check_needs_grad(check_array(c, 3, dim, values));
    pass->dx_size = pass->rows * GPT_STEPS * width;
    pass->dx = gpt_zeros(c, pass->dx_size);
}

static struct gpt_pass gpt_make(struct check *c, const struct gpt_subject *subject, size_t rows,
                                uint64_t seed)
{
    struct gpt_pass pass = {.rows = rows};

    for (int p = 0; p < subject->n_params; ++p)
        pass.grad[p] = gpt_zeros(c, subject->size[p]);
    subject->make(c, &pass, seed);
    return pass;
}

static size_t outputs_of(const struct gpt_pass *pass)
{
    size_t n = 1;

    for (int d = 0; d < pass->ndim; ++d)
        n *= pass->dim[d];
    return n;
}

static const double *gpt_scaled(struct check *c, const double values[], size_t n, double factor)
{
    double *result = gpt_zeros(c, n);

    for (size_t i = 0; i < n; ++i)
        result[i] = factor * values[i];
    return result;
}

/* Compares n numbers. An exponential that should be 0 may be a very small number instead, so
 * numbers below 2^-60 count as 0. All others are above 2^-20. A number within off of the expected
 * one is equal to it. */
static void are(struct check *c, const char *what, const struct impl_array *got, size_t n,
                const double want[], double off)
{
    struct impl_array settled = *got;
    float *values = check_memory(c, (check_elements(got) + 1) * sizeof *values);

    for (size_t i = 0; got->dtype == IMPL_F32 && i < check_elements(got); ++i) {
        const double value = fabs(check_element(got, i)) < 0x1p-60 ? 0 : check_element(got, i);

        values[i] = (float)(i < n && fabs(value - want[i]) <= off ? want[i] : value);
    }
    if (got->dtype == IMPL_F32)
        settled.data = values;
    check_values(c, what, &settled, n, want);
}

/* ---- devices --------------------------------------------------------------------------------- */

/* The number of each replica is the sum of the shares of its rows. */
static int shares(struct check *c, const struct gpt_pass *pass, int k, const double **want)
{
    size_t size[IMPL_MAX_DEVICES], row = 0;
    const int m = check_shards(pass->rows, k, size);
    double *sums = gpt_zeros(c, (size_t)m);

    for (int i = 0; i < m; ++i)
        for (size_t r = 0; r < size[i]; ++r)
            sums[i] += pass->y[row++];
    *want = sums;
    return m;
}

void gpt_replicas(struct check *c, const struct gpt_subject *subject)
{
    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i) {
        struct impl_model *model = golden_parallel(c, k, "", subject->layers(c));

        check_int(c, "parameters", check_params(c, model), subject->n_params);
        for (int turn = 0; turn < 2; ++turn) {
            const size_t rows = turn == 0 ? 2 * (size_t)k + 1 : 3 * (size_t)k - 1;
            const struct gpt_pass pass =
                gpt_make(c, subject, rows, 100 * (uint64_t)k + (uint64_t)turn);

            check_note(c, "K=%d, %zu rows: ", k, rows);
            check_zero_grad(c, model);
            struct golden_call call = {.in = {pass.in[0], pass.in[1]}, .n_in = subject->n_in};
            const double *want = pass.y;
            size_t n = outputs_of(&pass);
            const struct impl_array *up, *dx;

            golden_forward(c, model, &call);
            check_int(c, "outputs", call.n_out, 1);
            if (subject->scalar)
                n = (size_t)shares(c, &pass, k, &want);
            are(c, "output", &call.out[0], n, want, subject->off);
            if (!subject->scalar)
                check_shape(c, "output", &call.out[0], pass.ndim, pass.dim);
            up = check_typed(c, IMPL_F32, call.out[0].ndim, call.out[0].dim, pass.up);
            dx = golden_backward(c, model, &call, &up);
            if (pass.dx)
                are(c, "input gradient", dx, pass.dx_size, pass.dx, subject->off);
            for (int p = 0; p < subject->n_params; ++p)
                are(c, check_text(c, "gradient of parameter %d", p),
                    check_get(c, model, IMPL_GRAD, p), subject->size[p], pass.grad[p],
                    subject->off);
        }
        check_model_close(c, model);
    }
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* The gradients of outputs are multiplied by the number of ranks, so that the mean over ranks is
 * the sum. */
static void ranks_turn(struct check *c, struct impl_model *model, const struct gpt_subject *subject,
                       int ranks)
{
    struct ddp_call call = {.ranks = ranks, .n_in = subject->n_in, .n_out = 1, .room = 1024};
    struct gpt_pass pass[MOST_RANKS];
    double *total[GPT_PARAMS];

    for (int p = 0; p < subject->n_params; ++p)
        total[p] = gpt_zeros(c, subject->size[p]);
    for (int r = 0; r < ranks; ++r) {
        pass[r] = gpt_make(c, subject, (size_t)r + 1, 10 * (uint64_t)ranks + (uint64_t)r);
        for (int k = 0; k < subject->n_in; ++k)
            call.in[r][k] = pass[r].in[k];
        call.g[r][0] = check_typed(c, IMPL_F32, subject->scalar ? 0 : pass[r].ndim, pass[r].dim,
                                   gpt_scaled(c, pass[r].up, outputs_of(&pass[r]), ranks));
        for (int p = 0; p < subject->n_params; ++p)
            for (size_t e = 0; e < subject->size[p]; ++e)
                total[p][e] += pass[r].grad[p][e];
    }
    ddp_pass_counted(c, model, &call);
    for (int r = 0; r < ranks; ++r) {
        double sum = 0;

        for (size_t i = 0; i < pass[r].rows; ++i)
            sum += pass[r].y[i];

        are(c, check_text(c, "output of rank %d", r), call.out[r][0],
            subject->scalar ? 1 : outputs_of(&pass[r]), subject->scalar ? &sum : pass[r].y,
            subject->off);
        if (pass[r].dx)
            are(c, check_text(c, "input gradient of rank %d", r), call.grad_in[r][0],
                pass[r].dx_size, gpt_scaled(c, pass[r].dx, pass[r].dx_size, ranks), subject->off);
    }
    for (int p = 0; p < subject->n_params; ++p) {
        for (int r = 0; r < ranks; ++r)
            are(c, check_text(c, "rank %d: gradient of parameter %d", r, p),
                check_get_rank(c, model, r, IMPL_GRAD, p), subject->size[p], total[p],
                subject->off);
    }
}

void gpt_ranks(struct check *c, const struct gpt_subject *subject)
{
    for (int ranks = 2; ranks <= MOST_RANKS; ++ranks) {
        struct impl_model *model =
            check_ddp_model(c, ranks, check_text(c, DDP_MODEL("%s"), subject->layers(c)));

        check_note(c, "R=%d: ", ranks);
        check_int(c, "parameters", check_params(c, model), subject->n_params);
        ranks_turn(c, model, subject, ranks);
        check_model_close(c, model);
    }
}
