/* files/weights.c: writing weights. */
#include "files/weights.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/whole.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the file is little-endian, and numbers are written as they are in memory"
#endif

uint64_t weights_checksum(const unsigned char *bytes, size_t n)
{
    uint64_t sum = 0xcbf29ce484222325U;

    for (size_t i = 0; i < n; ++i)
        sum = (sum ^ bytes[i]) * 0x100000001b3U;
    return sum;
}

int weights_name(struct dp_module *module, const struct workload *workload, int p, char *text,
                 size_t bytes)
{
    static const char level[] = "module.";
    const size_t length = sizeof level - 1;
    const int status = dp_module_param_name(module, p, text, bytes);
    char own[128] = "";
    size_t used = 0;

    if (status == 0 && workload)
        workload_param_name(workload, (size_t)p, own, sizeof own);
    while (own[0] != '\0' && strncmp(text + used, level, length) == 0)
        used += length;
    if (own[0] != '\0')
        snprintf(text + used, bytes - used, "%s", own);
    return status;
}

int weights_list_open(struct dp_module *module, const struct workload *workload,
                      struct weights_list *list, struct dp_error *err)
{
    const int n = dp_module_params(module, NULL, 0);
    int status = 0;

    *list = (struct weights_list){.n = 0};
    if (n < 0)
        return dp_fail(err, n, "no memory for a list of the model's parameters");
    list->param = calloc((size_t)n + 1, sizeof *list->param);
    list->name = calloc((size_t)n + 1, sizeof *list->name);
    if (!list->param || !list->name || dp_module_params(module, list->param, n) != n)
        return dp_fail(err, DP_ENOMEM, "no memory for a list of %d parameters", n);
    list->n = n;
    for (int i = 0; i < n && status == 0; ++i)
        if ((status = weights_name(module, workload, i, list->name[i], sizeof list->name[i])))
            dp_fail(err, status, "no %s of parameter %d",
                    status == DP_ENOMEM ? "memory for the name" : "name", i);
    return status;
}

void weights_list_close(struct weights_list *list)
{
    free(list->param);
    free(list->name);
    *list = (struct weights_list){.n = 0};
}

static size_t entry_bytes(const struct weights_list *list, int i)
{
    const struct dp_tensor *value = &list->param[i]->value;

    return 2 + strlen(list->name[i]) + 2 + 8 * (size_t)value->ndim + dp_tensor_bytes(value);
}

static unsigned char *put(unsigned char *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

static unsigned char *put_head(unsigned char *to, uint32_t tensors, uint64_t bytes)
{
    const uint32_t version = WEIGHTS_VERSION;

    to = put(to, WEIGHTS_MAGIC, WEIGHTS_MAGIC_BYTES);
    to = put(to, &version, sizeof version);
    to = put(to, &tensors, sizeof tensors);
    return put(to, &bytes, sizeof bytes);
}

/* The whole file in memory. */
static int write_image(const struct weights_list *list, unsigned char *image, size_t bytes,
                       struct dp_error *err)
{
    unsigned char *to = put_head(image, (uint32_t)list->n, bytes);
    int status;

    for (int i = 0; i < list->n; ++i) {
        const struct dp_tensor *value = &list->param[i]->value;
        const uint16_t length = (uint16_t)strlen(list->name[i]);
        const unsigned char kind[2] = {(unsigned char)value->dtype, (unsigned char)value->ndim};

        to = put(to, &length, sizeof length);
        to = put(to, list->name[i], length);
        to = put(to, kind, sizeof kind);
        for (int d = 0; d < value->ndim; ++d)
            to = put(to, &(uint64_t){value->dim[d]}, 8);
        if ((status = dp_tensor_read(to, value, err)))
            return status;
        to += dp_tensor_bytes(value);
    }
    put(to, &(uint64_t){weights_checksum(image, (size_t)(to - image))}, WEIGHTS_SUM_BYTES);
    return 0;
}

static int refused(const char *path, const char *why, struct dp_error *err)
{
    return dp_fail(err, DP_EINVAL, "cannot write %.120s: %s", path, why);
}

/* A rename would put a file in the place of a device. */
static int check_place(const char *path, struct dp_error *err)
{
    struct stat there;
    const int failed = stat(path, &there) == 0 ? 0 : errno;

    if (failed != ENOENT && (failed != 0 || !S_ISREG(there.st_mode)))
        return refused(path, failed != 0 ? strerror(failed) : "it is not a regular file", err);
    return 0;
}

int weights_check(const char *path, struct dp_error *err)
{
    struct whole_file file;
    int status = check_place(path, err), failed = 0;

    if (status)
        return status;
    failed = whole_open(&file, path);
    if (failed)
        return refused(path, strerror(failed), err);
    whole_discard(&file);
    return 0;
}

static int write_file(const char *path, const unsigned char *image, size_t bytes,
                      struct dp_error *err)
{
    int status = check_place(path, err), failed = 0;

    if (status)
        return status;
    failed = whole_put(path, image, bytes, NULL);
    return failed ? refused(path, strerror(failed), err) : 0;
}

int weights_save(struct dp_module *module, const struct workload *workload, const char *path,
                 struct dp_error *err)
{
    struct weights_list list;
    size_t bytes = WEIGHTS_HEAD_BYTES + WEIGHTS_SUM_BYTES;
    int status = weights_list_open(module, workload, &list, err);

    if (status == 0) {
        for (int i = 0; i < list.n; ++i)
            bytes += entry_bytes(&list, i);
        unsigned char *image = malloc(bytes);

        if (!image)
            status = dp_fail(err, DP_ENOMEM, "no memory for weights of %zu bytes", bytes);
        else if ((status = write_image(&list, image, bytes, err)) == 0 &&
                 (status = weights_readable(&list, path, image, bytes, err)) == 0)
            status = write_file(path, image, bytes, err);
        free(image);
    }
    weights_list_close(&list);
    return status;
}
