/* model.c: names of workloads, and their sizes.
 *
 * Adding a workload: give it a name here and its widths; open.c makes its modules, data.c its
 * numbers. */
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_sizes(const char *text, struct workload *workload, char *why, size_t bytes)
{
    const char *at = text;

    while (workload->n_sizes < WORKLOAD_MAX_SIZES) {
        size_t length = strspn(at, "0123456789");
        unsigned long size = length >= 1 && length <= 5 ? strtoul(at, NULL, 10) : 0;

        if (size < 1 || size > WORKLOAD_MAX_WIDTH || (at[length] != ',' && at[length] != '\0')) {
            snprintf(why, bytes, "'mlp:%.60s': sizes must be 1 to %d, separated by commas", text,
                     WORKLOAD_MAX_WIDTH);
            return -1;
        }
        workload->size[workload->n_sizes++] = (size_t)size;
        at += length;
        if (*at == '\0' && workload->n_sizes >= 2)
            return 0;
        if (*at == '\0')
            break;
        ++at;
    }
    snprintf(why, bytes, "'mlp:%.60s': 2 to %d sizes are allowed", text, WORKLOAD_MAX_SIZES);
    return -1;
}

static const struct workload named[] = {
    {.name = "tutorial", .kind = WORKLOAD_MLP, .n_sizes = 2, .size = {5, 2}},
    {.name = "blocks", .kind = WORKLOAD_BLOCKS, .n_sizes = 4, .size = {10, 20, 20, 20}},
    {.name = "mixed", .kind = WORKLOAD_MIXED, .n_sizes = 2, .size = {1, 10}},
    {.name = "cnn", .kind = WORKLOAD_CNN, .n_sizes = 2, .size = {64, 10}},
    {.name = "rnn", .kind = WORKLOAD_RNN, .n_sizes = 2, .size = {64, 10}},
    {.name = "lstm", .kind = WORKLOAD_LSTM, .n_sizes = 2, .size = {64, 10}},
    {.name = "capsnet", .kind = WORKLOAD_CAPSNET, .n_sizes = 2, .size = {64, 10}},
};

int workload_parse(const char *text, struct workload *workload, char *why, size_t bytes)
{
    struct workload parsed = {.n_sizes = 0};
    size_t used = 0;

    for (size_t i = 0; i < sizeof named / sizeof named[0]; ++i) {
        if (strcmp(text, named[i].name) == 0) {
            *workload = named[i];
            return 0;
        }
    }
    if (strncmp(text, "mlp:", 4) != 0) {
        snprintf(
            why, bytes,
            "unknown workload '%.60s'; known are tutorial, mlp:SIZES, blocks, mixed, cnn, rnn, "
            "lstm and capsnet",
            text);
        return -1;
    }
    if (parse_sizes(text + 4, &parsed, why, bytes))
        return -1;
    /* The name is written anew, so that mlp:08,4 and mlp:8,4 are one workload. */
    for (size_t i = 0; i < parsed.n_sizes && used < sizeof parsed.name; ++i) {
        int n = snprintf(parsed.name + used, sizeof parsed.name - used, "%s%zu",
                         i == 0 ? "mlp:" : ",", parsed.size[i]);

        used += (size_t)n;
    }
    if (used >= sizeof parsed.name) {
        snprintf(why, bytes, "mlp:%.60s...: the name is longer than %zu characters", text + 4,
                 sizeof parsed.name - 1);
        return -1;
    }
    *workload = parsed;
    return 0;
}

size_t workload_layers(const struct workload *workload)
{
    return workload->n_sizes - 1;
}

size_t workload_params(const struct workload *workload)
{
    static const size_t count[] = {
        [WORKLOAD_BLOCKS] = 10 * 20 + 20 + 2 * (20 * 20 + 20),
        [WORKLOAD_MIXED] = 1000 * 10 + 10 * 10 + 10,
        [WORKLOAD_CNN] = 32 * 9 + 32 + 64 * 288 + 64 + 1024 * 10 + 10,
        [WORKLOAD_RNN] = 128 * (8 + 128 + 2) + 1290,
        [WORKLOAD_LSTM] = 512 * (8 + 128 + 2) + 1290,
        [WORKLOAD_CAPSNET] = 32 * 9 + 32 + 64 * 288 + 64 + 32 * 10 * 16 * 8 + 160 * 10 + 10,
    };
    size_t sum = 0;

    if (workload->kind != WORKLOAD_MLP)
        return count[workload->kind];
    for (size_t l = 0; l < workload_layers(workload); ++l)
        sum += (workload->size[l] + 1) * workload->size[l + 1];
    return sum;
}

/* Multiplications of a row in the products of a step: forward, weight gradient, and, but for what
 * reads the input alone, input gradient. */
static double row_products(enum workload_kind kind)
{
    static const double conv1 = 64 * 9 * 32, conv2 = 64 * 288 * 64, out = 1024 * 10;
    static const double step = 128 * 128, first = 8 * 128, last = 128 * 10;
    static const double caps1 = 36 * 9 * 32, caps2 = 4 * 288 * 64, votes = 32 * 10 * 16 * 8;

    switch (kind) {
    case WORKLOAD_BLOCKS:
        return 2 * 200 + 3 * 800;
    case WORKLOAD_MIXED:
        return 3 * 100;
    case WORKLOAD_CNN:
        return 2 * conv1 + 3 * (conv2 + out);
    case WORKLOAD_RNN:
        return 2 * 8 * first + 3 * (7 * step + last);
    case WORKLOAD_LSTM:
        return 4 * (2 * 8 * first + 3 * 7 * step) + 3 * last;
    case WORKLOAD_CAPSNET:
        return 2 * caps1 + 3 * (caps2 + votes + 1600);
    default:
        return 0;
    }
}

double workload_flops(const struct workload *workload, size_t rows)
{
    double flops = 0;

    if (workload->kind != WORKLOAD_MLP)
        return 2 * (double)rows * row_products(workload->kind);
    for (size_t l = 0; l < workload_layers(workload); ++l) {
        const double product =
            2.0 * (double)rows * (double)workload->size[l] * (double)workload->size[l + 1];

        flops += product * (l == 0 ? 2 : 3); /* forward, weight gradient, input gradient */
    }
    return flops;
}
