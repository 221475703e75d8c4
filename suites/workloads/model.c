/* model.c: names of workloads, and the modules they stand for.
 *
 * Adding a workload: give it a name here and its widths; data, measuring and verifying follow. */
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
            snprintf(why, bytes, "mlp:%.60s: sizes must be 1 to %d, separated by commas", text,
                     WORKLOAD_MAX_WIDTH);
            return -1;
        }
        workload->size[workload->n_sizes++] = (size_t)size;
        at += length;
        if (*at == '\0' && workload->n_sizes >= 2)
            return 0;
        if (*at == '\0')
            break;
        at++;
    }
    snprintf(why, bytes, "mlp:%.60s: 2 to %d sizes are allowed", text, WORKLOAD_MAX_SIZES);
    return -1;
}

int workload_parse(const char *text, struct workload *workload, char *why, size_t bytes)
{
    struct workload parsed = {.n_sizes = 0};
    size_t used = 0;

    if (strcmp(text, "tutorial") == 0) {
        *workload = (struct workload){.name = "tutorial", .n_sizes = 2, .size = {5, 2}};
        return 0;
    }
    if (strncmp(text, "mlp:", 4) != 0) {
        snprintf(why, bytes, "unknown workload '%.60s'; known are tutorial and mlp:SIZES", text);
        return -1;
    }
    if (parse_sizes(text + 4, &parsed, why, bytes))
        return -1;
    /* The name is written anew, so that mlp:08,4 and mlp:8,4 are one workload. */
    for (size_t i = 0; i < parsed.n_sizes && used < sizeof parsed.name; i++) {
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
    size_t count = 0;

    for (size_t l = 0; l < workload_layers(workload); l++)
        count += (workload->size[l] + 1) * workload->size[l + 1];
    return count;
}

double workload_flops(const struct workload *workload, size_t rows)
{
    double flops = 0;

    for (size_t l = 0; l < workload_layers(workload); l++) {
        const double product =
            2.0 * (double)rows * (double)workload->size[l] * (double)workload->size[l + 1];

        flops += product * (l == 0 ? 2 : 3); /* forward, weight gradient, input gradient */
    }
    return flops;
}

int workload_open(const struct workload *workload, struct dp_group *group, struct dp_module **model,
                  struct dp_error *err)
{
    struct dp_module *child[2 * WORKLOAD_MAX_SIZES] = {NULL};
    const size_t layers = workload_layers(workload);
    int n = 0, rc = 0;

    for (size_t l = 0; l < layers && rc == 0; l++) {
        rc = dp_linear(group, workload->size[l], workload->size[l + 1], true, &child[n], err);
        if (rc == 0)
            n++;
        if (rc == 0 && l + 1 < layers) {
            rc = dp_relu(group, &child[n], err);
            if (rc == 0)
                n++;
        }
    }
    if (rc == 0)
        rc = dp_sequential(group, child, n, model, err);
    while (n > 0)
        dp_module_close(child[--n]);
    return rc;
}
