/* registry.c: what this build has. The one place that lists device kinds and backends. */
#include "backend.h"

#include <stdlib.h>
#include <string.h>

static const struct dp_backend backends[] = {
    {"cpu", dp_kernels_blas, &dp_comm_threads},
    {"cpu-ref", dp_kernels_ref, &dp_comm_staged},
};

const struct dp_backend *dp_backend_find(const char *name, struct dp_error *err)
{
    if (!name)
        return &backends[0];
    for (size_t i = 0; i < sizeof backends / sizeof *backends; ++i) {
        if (strcmp(backends[i].name, name) == 0)
            return &backends[i];
    }
    dp_fail(err, DP_EINVAL, "unknown backend '%.64s': cpu or cpu-ref", name);
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
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': '%.64s' after the number: only +lag may follow it", list,
                       text + digits);
    const long value = strtol(text, NULL, 10);
    if (value < 1 || value > DP_MAX_SLOTS)
        return dp_fail(err, DP_EINVAL, "devices '%.64s': 1 to %d virtual devices", list,
                       DP_MAX_SLOTS);
    *count = (int)value;
    return 0;
}

int dp_devices_parse(const char *text, const struct dp_device_ops **ops, int *count,
                     struct dp_error *err)
{
    char list[64];
    const size_t length = strlen(text);
    *ops = &dp_device_cpu;
    if (strcmp(text, "host") == 0) {
        *count = 0;
        return 0;
    }
    if (strncmp(text, "cuda:", 5) == 0)
        return dp_fail(err, DP_ENODEV, "devices '%.64s': this build has no CUDA part", text);
    if (strncmp(text, "virt:", 5) != 0 || length >= sizeof list)
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': host, virt:COUNT, virt:COUNT+lag or cuda:LIST", text);
    memcpy(list, text, length + 1);
    if (length > 4 && strcmp(list + length - 4, "+lag") == 0) {
        list[length - 4] = '\0';
        *ops = &dp_device_lag;
    }
    return parse_count(list + 5, text, count, err);
}
