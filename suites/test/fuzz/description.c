/* description.c: a model's description (LAYERS.md), of one rank and of two. */
#include "fuzz.h"

#include "description.h"

#include <stdlib.h>
#include <string.h>

enum { DEVICES = 3 };

static void check_layer(const struct layer *layer, int depth)
{
    fuzz_must((unsigned)layer->kind < LAYER_KINDS && depth <= 64, "no such layer");
    fuzz_must(layer->device >= IMPL_HOST && layer->device < DEVICES,
              "on a device that is not there");
    fuzz_must(layer->n_params >= 0 && layer->n_params <= LAYER_MAX_PARAMS, "too many parameters");
    for (int i = 0; i < layer->n_children; ++i)
        check_layer(&layer->child[i], depth + 1);
}

static void try_model(const char *text)
{
    struct impl_error err = {.status = IMPL_OK};
    struct layer *model = description_read(text, DEVICES, &err);

    fuzz_must((model == NULL) == (err.status != IMPL_OK), "a model with an error, or neither");
    if (!model)
        fuzz_must_show(err.text);
    else
        check_layer(model, 0);
    description_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = fuzz_text(data, bytes);

    try_model(text);
    for (int rank = 0; rank < 2; ++rank) {
        struct impl_error err = {.status = IMPL_OK};
        char *own = description_of_rank(text, rank, 2, &err);

        fuzz_must((own == NULL) == (err.status != IMPL_OK), "a text with an error, or neither");
        if (own && strcmp(own, text) != 0)
            try_model(own);
        free(own);
    }
    free(text);
    return 0;
}
