/* description_read.h: what the files of the parser share. */
#ifndef IMPLS_DESCRIPTION_READ_H
#define IMPLS_DESCRIPTION_READ_H

#include "description.h"

#include <jansson.h>

struct reader {
    int devices; /* of the session */
    struct impl_error *err;
};

/* The kind of a word, LAYER_KINDS if unknown. */
enum layer_kind kind_of(const char *word);
const char *kind_word(enum layer_kind kind);
/* Whether a layer of this kind has such a field, besides the common ones and its parameters. */
bool kind_has_field(enum layer_kind kind, const char *field);

/* Fills the fields of the layer's kind, then its parameters. 0 or a status with err filled. */
int read_fields(const struct reader *r, const json_t *object, struct layer *layer);
int read_params(const struct reader *r, const json_t *object, struct layer *layer);

/* Single fields. An absent one leaves *value as it is. */
int read_int(const struct reader *r, const json_t *object, const char *field, int *value);
int read_text(const struct reader *r, const json_t *object, const char *field, char *value,
              size_t bytes);
int read_bool(const struct reader *r, const json_t *object, const char *field, bool *value);
/* A device that the session has, or the host. */
int read_device(const struct reader *r, const json_t *object, const char *field, int *value);

#endif
