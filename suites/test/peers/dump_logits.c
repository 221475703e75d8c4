/* dump_logits.c: what a language model of given weights makes of tokens, for weights_test.py.
 * usage: dump_logits WORKLOAD WEIGHTS ROWS DEVICES: the tokens [ROWS, context] as 32-bit integers,
 * the logits [ROWS, context, vocabulary] as floats. */
#include <stdio.h>
#include <stdlib.h>

#include "files/weights.h"
#include "workload.h"

enum { SEED = 3 };

struct dump {
    struct workload workload;
    struct dp_group *group;
    struct dp_module *model;
    struct dp_run *run;
    struct dp_tensor tokens;
    int32_t *token;
    float *logit;
};

static int dump_logits_open_all(struct dump *d, const char *devices, size_t rows,
                                struct dp_error *err)
{
    const struct dp_group_config config = {.devices = devices};
    const size_t context = d->workload.size[GPT_CONTEXT], tokens = rows * context;
    int status;

    d->token = calloc(tokens, sizeof *d->token);
    d->logit = calloc(tokens * d->workload.size[GPT_VOCABULARY], sizeof *d->logit);
    if (!d->token || !d->logit)
        return dp_fail(err, DP_ENOMEM, "no memory for %zu rows", rows);
    if ((status = dp_group_open(&config, &d->group, err)) ||
        (status = workload_open_parallel(&d->workload, d->group, NULL, &d->model, err)) ||
        (status = dp_run_open(d->group, &d->run, err)))
        return status;
    return dp_tensor_alloc(dp_group_slot(d->group, 0), DP_I32, 2, (size_t[]){rows, context},
                           &d->tokens, err);
}

static int dump_logits_run(struct dump *d, const char *weights, size_t rows, struct dp_error *err)
{
    const struct workload_set set = workload_set(SEED, 0);
    struct dp_tensor out[DP_MAX_IO];
    int n = 0, status;

    workload_fill_side(&d->workload, &set, WORKLOAD_INPUT, rows, d->token);
    dp_run_train_mode(d->run, false);
    dp_run_grad_mode(d->run, false);
    if ((status = weights_load(d->model, &d->workload, weights, err)) ||
        (status = dp_tensor_write(&d->tokens, d->token, err)) ||
        (status = dp_forward(d->model, d->run, &d->tokens, 1, out, &n, err)))
        return status;
    return dp_tensor_read(d->logit, &out[0], err);
}

static int dump_logits_write_all(const struct dump *d, size_t rows)
{
    const size_t tokens = rows * d->workload.size[GPT_CONTEXT];
    const size_t logits = tokens * d->workload.size[GPT_VOCABULARY];

    return fwrite(d->token, sizeof *d->token, tokens, stdout) == tokens &&
                   fwrite(d->logit, sizeof *d->logit, logits, stdout) == logits &&
                   fflush(stdout) == 0
               ? 0
               : 1;
}

static void dump_logits_close_all(struct dump *d)
{
    dp_run_close(d->run);
    if (d->tokens.slot)
        dp_tensor_free(&d->tokens);
    dp_module_close(d->model);
    dp_group_close(d->group);
    free(d->token);
    free(d->logit);
}

int main(int argc, char **argv)
{
    const size_t rows = argc == 5 ? strtoull(argv[3], NULL, 10) : 0;
    struct dump d = {.group = NULL};
    struct dp_error err = {0};
    char why[200];
    int status;

    if (rows == 0 || workload_parse(argv[1], &d.workload, why, sizeof why))
        return 2;
    status =
        dump_logits_open_all(&d, argv[4], rows, &err) || dump_logits_run(&d, argv[2], rows, &err);
    if (status != 0)
        fprintf(stderr, "dump_logits: %s\n", err.text);
    else
        status = dump_logits_write_all(&d, rows);
    dump_logits_close_all(&d);
    return status == 0 ? 0 : 1;
}
