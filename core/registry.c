/* registry.c: what this build has. The one place that lists device kinds and backends. */
#include "backend.h"

#include <stdlib.h>
#include <string.h>

static const struct dp_backend backends[] = {
    {"cpu", "virt", dp_kernels_blas, &dp_comm_threads},
    {"cpu-ref", "virt", dp_kernels_ref, &dp_comm_staged},
};
enum { BACKENDS = sizeof backends / sizeof *backends };

static const struct dp_backend *backend_at(int i)
{
    if (i < BACKENDS)
        return &backends[i];
    return i - BACKENDS < dp_cuda_backend_count ? &dp_cuda_backends[i - BACKENDS] : NULL;
}

/* "cpu, cpu-ref": those of the kind; of any when it is NULL. */
static void list_names(const char *kind, char text[160])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; backend_at(i); ++i) {
        const struct dp_backend *b = backend_at(i);
        if (kind && strcmp(b->kind, kind) != 0)
            continue;
        if (used + strlen(b->name) + 3 > 160)
            return;
        memcpy(text + used, ", ", used > 0 ? 2 : 0);
        used += used > 0 ? 2 : 0;
        memcpy(text + used, b->name, strlen(b->name) + 1);
        used += strlen(b->name);
    }
}

const struct dp_backend *dp_backend_find(const char *name, const char *kind, struct dp_error *err)
{
    char known[160];
    bool exists = false;
    for (int i = 0; backend_at(i); ++i) {
        const struct dp_backend *b = backend_at(i);
        const bool named = !name || strcmp(b->name, name) == 0;
        if (named && strcmp(b->kind, kind) == 0)
            return b;
        exists = exists || (name && named);
    }
    list_names(exists ? kind : NULL, known);
    if (exists)
        dp_fail(err, DP_EINVAL, "backend '%.64s' is not for %s: %s", name,
                strcmp(kind, "cuda") == 0 ? "GPUs" : "the host and virtual devices", known);
    else
        dp_fail(err, DP_EINVAL, "unknown backend '%.64s': %s", name ? name : "", known);
    return NULL;
}

static int parse_count(const char *text, const char *list, int *count, struct dp_error *err)
{
    const size_t digits = strspn(text, "0123456789");
    if (*text == '\0' || *text == '+')
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': a number of virtual devices is missing, like virt:4",
                       list);
    if (digits == 0)
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': '%.64s' is not a number of virtual devices, like virt:4",
                       list, text);
    if (text[digits] != '\0')
        return dp_fail(
            err, DP_EINVAL,
            "devices '%.64s': '%.64s' after the number: only +lag, or a delay of +1us to "
            "+1000000us, may follow it",
            list, text + digits);
    const long value = strtol(text, NULL, 10);
    if (value < 1 || value > DP_MAX_SLOTS)
        return dp_fail(err, DP_EINVAL, "devices '%.64s': 1 to %d virtual devices", list,
                       DP_MAX_SLOTS);
    *count = (int)value;
    return 0;
}

/* "+500us", at most a second. */
static bool parse_delay(const char *text, uint64_t *delay_ns)
{
    const size_t digits = strspn(text + 1, "0123456789");
    if (digits < 1 || digits > 7 || strcmp(text + 1 + digits, "us") != 0)
        return false;
    const long us = strtol(text + 1, NULL, 10);
    if (us < 1 || us > 1000000)
        return false;
    *delay_ns = (uint64_t)us * 1000;
    return true;
}

static int parse_virtual(const char *text, struct dp_device_list *list, struct dp_error *err)
{
    char count[64];
    const size_t length = strlen(text);
    if (strncmp(text, "virt:", 5) != 0 || length >= sizeof count)
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': host, virt:COUNT, virt:COUNT+lag, virt:COUNT+500us or "
                       "cuda:LIST",
                       text);
    memcpy(count, text, length + 1);
    char *plus = strchr(count, '+');
    if (plus && strcmp(plus, "+lag") == 0)
        list->ops = &dp_device_lag;
    if (plus && (list->ops == &dp_device_lag || parse_delay(plus, &list->delay_ns)))
        *plus = '\0';
    const int status = parse_count(count + 5, text, &list->n, err);
    for (int i = 0; status == 0 && i < list->n; ++i)
        list->device[i] = i;
    return status;
}

int dp_devices_parse(const char *text, struct dp_device_list *list, struct dp_error *err)
{
    *list = (struct dp_device_list){.ops = &dp_device_cpu, .kind = "virt"};
    if (strcmp(text, "host") == 0)
        return 0;
    return strncmp(text, "cuda:", 5) == 0 ? dp_cuda_list(text, list, err)
                                          : parse_virtual(text, list, err);
}
