/* description.c: statuses and errors, questions about a layer, and the release of a model.
 * description_read.c makes models. */
#include "description.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const status_words[] = {
    [IMPL_OK] = "ok",          [IMPL_EINVAL] = "inval", [IMPL_ESHAPE] = "shape",
    [IMPL_EDEVICE] = "device", [IMPL_EFAULT] = "fault", [IMPL_ENODEV] = "nodev",
    [IMPL_ENOTSUP] = "notsup", [IMPL_EROOM] = "room",   [IMPL_EBROKEN] = "broken",
};

enum { STATUSES = sizeof status_words / sizeof status_words[0] };

int impl_status_of(const char *word)
{
    for (int i = 0; i < STATUSES; ++i)
        if (strcmp(status_words[i], word) == 0)
            return i;
    return -1;
}

const char *impl_status_word(int status)
{
    return status >= 0 && status < STATUSES ? status_words[status] : "unknown";
}

int impl_fail(struct impl_error *err, int status, const char *format, ...)
{
    va_list args;

    if (!err || err->status != IMPL_OK)
        return status;
    err->status = status;
    err->replica = -1;
    err->device = err->device_also = IMPL_NOWHERE;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}

double layer_number(const double numbers[], int n, int replica)
{
    if (n == 0)
        return 0;
    return numbers[replica < n ? replica : n - 1];
}

bool layer_listed(const struct layer *layer, int replica)
{
    for (int i = 0; i < layer->n_numbers; ++i)
        if (layer->number[i] == replica)
            return true;
    return false;
}

static void free_inside(struct layer *layer)
{
    for (int i = 0; i < layer->n_children; ++i)
        free_inside(&layer->child[i]);
    for (int i = 0; i < layer->n_params; ++i)
        free(layer->param[i].initial);
    free(layer->child);
    free(layer->number);
    free(layer->second);
}

void description_free(struct layer *model)
{
    if (model)
        free_inside(model);
    free(model);
}
