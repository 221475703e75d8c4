/* serve_values.c: memory that lasts until an answer is written, and parts of answers. */
#include "serve.h"

#include <stddef.h>
#include <stdlib.h>

struct serve_piece {
    struct serve_piece *next;
    max_align_t data[];
};

void *serve_memory(struct serve *s, size_t bytes)
{
    struct serve_piece *piece = calloc(1, sizeof *piece + bytes + 1);

    if (!piece)
        abort();
    piece->next = s->pieces;
    s->pieces = piece;
    return piece->data;
}

void serve_forget(struct serve *s)
{
    while (s->pieces) {
        struct serve_piece *next = s->pieces->next;
        free(s->pieces);
        s->pieces = next;
    }
}

json_t *serve_about(const struct impl_about *about)
{
    json_t *devices = json_array(), *capabilities = json_array(), *dialects = json_object();

    for (int i = 0; i < about->devices; ++i)
        json_array_append_new(devices, json_string(about->device_name[i]));
    for (int i = 0; i < IMPL_CAPABILITIES; ++i)
        if ((about->capabilities >> i & 1) != 0)
            json_array_append_new(capabilities,
                                  json_string(impl_capability_word((uint64_t)1 << i)));
    for (int i = 0; i < IMPL_DIALECTS; ++i)
        if (about->dialect[i] != IMPL_UNDECLARED)
            json_object_set_new(dialects, impl_dialect_word((enum impl_dialect)i),
                                json_string(impl_choice_word(about->dialect[i])));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:s}", "name", about->name, "version",
                     about->version, "devices", devices, "capabilities", capabilities, "dialects",
                     dialects, "blas", about->blas, "gpu_software", about->gpu_software);
}

json_t *serve_param(const struct impl_param *p)
{
    return json_pack("{s:s, s:s, s:o, s:i, s:b, s:b}", "name", p->name, "dtype",
                     impl_dtype_word(p->dtype), "dims", json_sizes(p->dim, (size_t)p->ndim),
                     "device", p->device, "buffer", p->buffer, "frozen", p->frozen);
}
