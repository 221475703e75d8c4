/* description.c: statuses and errors, questions about a layer, and the release of a model.
 * description_read.c makes models. */
#include "description.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
