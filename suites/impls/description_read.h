/* description_read.h: the declarations that the files of the parser share. */
#ifndef IMPLS_DESCRIPTION_READ_H
#define IMPLS_DESCRIPTION_READ_H

#include "description.h"

#include <jansson.h>

struct reader {
    int devices; /* of the session */
    struct impl_error *err;
};

/* Returns the kind of a word; LAYER_KINDS if it is unknown. */
enum layer_kind kind_of(const char *word);
const char *kind_word(enum layer_kind kind);
/* Whether a layer of this kind has such a field, apart from the common ones and its parameters. */
bool kind_has_field(enum layer_kind kind, const char *field);

/* Fill the fields of the layer's kind, and its parameters. They return 0, or a status with err
 * filled. */
int read_fields(const struct reader *r, const json_t *object, struct layer *layer);
int read_params(const struct reader *r, const json_t *object, struct layer *layer);

/* These read single fields. If a field is absent, *value stays as it is. */
int read_int(const struct reader *r, const json_t *object, const char *field, int *value);
int read_text(const struct reader *r, const json_t *object, const char *field, char *value,
              size_t bytes);
int read_bool(const struct reader *r, const json_t *object, const char *field, bool *value);
/* Reads a device that the session has, or the host. */
int read_device(const struct reader *r, const json_t *object, const char *field, int *value);

#endif
