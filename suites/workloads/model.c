/* model.c: names of workloads, and their sizes.
 *
 * Adding a workload: a line in list.cmake, a descriptor (descriptor.h says what it has), and a
 * reference in harness/verify. */
#include "descriptor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload_list.h"

static int parse_sizes(const char *text, struct workload *workload, char *why, size_t bytes)
{
    const char *at = strchr(text, ':') + 1;

    while (workload->n_sizes < WORKLOAD_MAX_SIZES) {
        size_t length = strspn(at, "0123456789");
        unsigned long size = length >= 1 && length <= 5 ? strtoul(at, NULL, 10) : 0;

        if (size < 1 || size > WORKLOAD_MAX_WIDTH || (at[length] != ',' && at[length] != '\0')) {
            snprintf(why, bytes, "'%.64s': sizes must be 1 to %d, separated by commas", text,
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
    snprintf(why, bytes, "'%.64s': 2 to %d sizes are allowed", text, WORKLOAD_MAX_SIZES);
    return -1;
}

static int check_sizes(const struct workload *workload, char *why, size_t bytes)
{
    const struct workload_sized *sized = workload->is->sized;

    if (!sized)
        return 0;
    if (workload->n_sizes == sized->n_sizes)
        return sized->check(workload, why, bytes);
    snprintf(why, bytes, "'%.64s': %zu sizes, must be %zu", workload->name, workload->n_sizes,
             sized->n_sizes);
    return -1;
}

static void workload_named(const struct workload_descriptor *is, struct workload *workload)
{
    *workload = (struct workload){.is = is, .n_sizes = is->n_sizes};
    snprintf(workload->name, sizeof workload->name, "%s", is->name);
    memcpy(workload->size, is->size, sizeof workload->size);
}

#define DECLARE(name) extern const struct workload_descriptor workload_##name;
WORKLOADS(DECLARE)

#define ROW(name) &workload_##name,
static const struct workload_descriptor *const list[] = {WORKLOADS(ROW)};

/* Sizes that have a name. */
static bool parse_known(const struct workload_descriptor *is, const char *text,
                        struct workload *workload)
{
    const struct workload_known *known = is->sized ? is->sized->known : NULL;

    while (known && known->name && strcmp(known->name, text) != 0)
        ++known;
    if (!known || !known->name)
        return false;
    *workload = (struct workload){.is = is, .n_sizes = is->sized->n_sizes};
    snprintf(workload->name, sizeof workload->name, "%s", text);
    memcpy(workload->size, known->size, sizeof workload->size);
    return true;
}

int workload_parse(const char *text, struct workload *workload, char *why, size_t bytes)
{
    const size_t length = strcspn(text, ":");

    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        const bool sized = list[i]->n_sizes == 0;

        if (parse_known(list[i], text, workload))
            return 0;
        if (strncmp(text, list[i]->name, length) != 0 || list[i]->name[length] != '\0' ||
            sized != (text[length] == ':'))
            continue;
        if (sized) {
            const struct workload_descriptor *is = list[i];
            struct workload parsed = {.is = is};
            size_t used = (size_t)snprintf(parsed.name, sizeof parsed.name, "%s", is->name);

            if (parse_sizes(text, &parsed, why, bytes))
                return -1;
            /* The name is written anew, so that mlp:08,4 and mlp:8,4 are one workload. */
            for (size_t j = 0; j < parsed.n_sizes && used < sizeof parsed.name; ++j) {
                int n = snprintf(parsed.name + used, sizeof parsed.name - used, "%c%zu",
                                 j == 0 ? ':' : ',', parsed.size[j]);

                used += (size_t)n;
            }
            if (used >= sizeof parsed.name) {
                snprintf(why, bytes, "%.64s...: the name is longer than %zu characters", text,
                         sizeof parsed.name - 1);
                return -1;
            }
            if (check_sizes(&parsed, why, bytes))
                return -1;
            *workload = parsed;
            return 0;
        }
        workload_named(list[i], workload);
        return 0;
    }
    snprintf(why, bytes, "unknown workload '%.60s'; known are " WORKLOADS_AND, text);
    return -1;
}

void workload_list_peers(FILE *out)
{
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i)
        if (list[i]->peer) {
            const struct workload_descriptor *is = list[i];
            const struct workload_known *known = is->sized ? is->sized->known : NULL;

            for (; known && known->name; ++known)
                if (known->peer)
                    fprintf(out, "%s\n", known->name);
            fprintf(out, "%s%s\n", list[i]->name, list[i]->n_sizes == 0 ? ":SIZES" : "");
        }
}

void workload_names(bool (*keep)(const struct workload *workload), char *text, size_t bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < sizeof list / sizeof list[0] && used < bytes; ++i) {
        struct workload workload;

        workload_named(list[i], &workload);
        if (keep(&workload))
            used += (size_t)snprintf(text + used, bytes - used, "%s%s%s", used > 0 ? ", " : "",
                                     list[i]->name, list[i]->n_sizes == 0 ? ":SIZES" : "");
    }
}

size_t workload_layers(const struct workload *workload)
{
    return workload->n_sizes - 1;
}

size_t workload_params(const struct workload *workload)
{
    size_t sum = 0;

    for (size_t p = 0; p < workload_n_params(workload); ++p)
        sum += workload_param_count(workload, p);
    return sum;
}

void workload_param_name(const struct workload *workload, size_t p, char *text, size_t bytes)
{
    text[0] = '\0';
    if (workload->is->sized)
        workload->is->sized->param_name(workload, p, text, bytes);
}

double workload_flops(const struct workload *workload, size_t rows)
{
    double flops = 0;

    if (workload->is->sized)
        return 2 * (double)rows * workload->is->sized->products(workload);
    if (!workload_is_chain(workload))
        return 2 * (double)rows * workload->is->products;
    for (size_t l = 0; l < workload_layers(workload); ++l) {
        const double product =
            2.0 * (double)rows * (double)workload->size[l] * (double)workload->size[l + 1];

        flops += product * (l == 0 ? 2 : 3); /* forward, weight gradient, input gradient */
    }
    return flops;
}

size_t workload_tokens(const struct workload *workload)
{
    return workload->is->tokens ? workload->size[GPT_CONTEXT] : 0;
}

double workload_token_flops(const struct workload *workload)
{
    return workload->is->tokens ? workload->is->sized->token_flops(workload) : (double)NAN;
}
