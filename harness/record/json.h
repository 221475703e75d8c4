/* record/json.h: reads and writes records as JSON, and makes other documents.
 *
 * One table per object (schema/fields.h) drives both, so that they cannot disagree. */
#ifndef HARNESS_RECORD_JSON_H
#define HARNESS_RECORD_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "record/record.h"

/* The type that a schema names: "run" in "lockstep/run/1.2". */
enum record_type { RECORD_IS_RUN, RECORD_IS_CELL, RECORD_IS_END, RECORD_TYPES };
extern const char *const record_type_names[RECORD_TYPES];

/* Writes one printable line to err, and returns -1. */
int record_fail(struct text_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Parses a JSON text, or a regular file of at most most bytes. Returns NULL and sets why if it is
 * no JSON, has a member twice, is sealed and was changed, or has so many values that they would
 * need more than RECORD_JSON_BYTES of memory; the longest line of a sweep needs fewer. */
#define RECORD_JSON_BYTES ((size_t)256 << 20)
json_t *record_json_text(const char *text, size_t bytes, json_error_t *why);
json_t *record_json_file(const char *path, size_t most, struct text_error *err);

/* Loads a line. NULL: it is not JSON, or no object; err says where. The caller calls json_decref.
 */
json_t *record_json_load(const char *line, size_t bytes, struct text_error *err);

/* Whether schema is "lockstep/NAME/1.x", where x is a number. */
bool record_json_is_schema(const char *schema, const char *name);
/* Returns 0 if the object has that schema. */
int record_json_schema(const json_t *root, const char *name, struct text_error *err);
/* Returns the type that the schema names; -1 for other schemas and other majors. */
int record_json_type(const json_t *root, struct text_error *err);

/* These read members of an object; name is for the message. record_json_fields reads all of a
 * table, with arrays and objects in it. */
int record_json_integer(const json_t *value, const char *name, json_int_t min, json_int_t max,
                        json_int_t *number, struct text_error *err);
int record_json_real(const json_t *value, const char *name, double *number, struct text_error *err);
int record_json_fields(const json_t *object, const struct record_field *field, void *to,
                       struct text_error *err);
/* Whether a value that was read is valid for its field: record/ranges.c. */
int record_check_value(const struct record_field *field, const void *object,
                       struct text_error *err);
/* Checks that numbers are within their bounds; NaN is not. */
struct record_bound {
    const char *name;
    double is, least, most;
};
int record_check_bounds(const struct record_bound *bound, size_t n, struct text_error *err);

/* Makes an object of all fields. NULL: a number has no form in JSON. */
json_t *record_json_of(const struct record_field *fields, const void *from);
/* Adds one of them to an object. Returns 0, or -1 likewise. */
int record_json_add(json_t *object, const struct record_field *field, const void *from);

int record_run_from_json(const json_t *root, struct record_run *run, struct text_error *err);
int record_cell_from_json(const json_t *root, struct record_cell *cell, struct text_error *err);
/* Whether the devices of the cell are cores of the host. */
bool record_on_cores(const struct record_cell *cell);
/* Checks what a cell says about itself, after it was read. */
int record_cell_check(const struct record_cell *cell, struct text_error *err);

int record_end_from_json(const json_t *root, struct record_end *end, struct text_error *err);

/* The chain of a file, from its first line on. It begins with zeros. */
struct record_chain {
    bool sealed;
    size_t lines;
    char last[DIGEST_HEX]; /* SHA-256 of the line before, if sealed */
};
/* The members of a line that belong to the chain; NULL if one is missing or no string. */
struct record_link {
    bool here; /* the line has a "chain" */
    const char *chain, *seal;
    const char *digest; /* SHA-256 of the whole line; NULL or "": not computed yet */
};
struct record_link record_link_of(const json_t *root);
/* Checks that the next line, which has that link, is the one that was written there. closes: the
 * line must have a seal. */
int record_chain_check(const struct record_link *link, const char *line, size_t bytes, bool closes,
                       struct record_chain *chain, struct text_error *err);

/* ---- values of JSON documents that are written: record/document.c ---- */

/* Call this before the first document: jansson allocates by text/alloc.h from then on. */
void document_use_memory(void);

/* Makes a string; "?" if the text is not UTF-8. Texts of files and arguments were cleaned before.
 */
struct json_t *value_text(const char *text);
/* Makes a string with '?' for each byte that is not UTF-8, for file names and texts of other
 * programs; null if text is NULL. */
struct json_t *value_cleaned(const char *text);
/* Makes a real; null if the number is not finite. */
struct json_t *value_real(double number);
struct json_t *value_count(size_t n);
/* Makes an object of the members of a key that identify a cell. */
struct json_t *value_key(const struct record_key *key);
/* Adds members to an object, as value_add(object, "name:t limits:{lo:r hi:r}", name, lo, hi). A
 * letter says of which type a value is, and how it is written: b bool; i int; n size_t; p size_t,
 * null if it is 0; r double, as value_real; s text, as json_string; t text, as value_text, null if
 * it is NULL; c text, as value_cleaned; k the same, also null if it is empty; o a JSON value, which
 * the object owns then. Returns the object; or NULL if a value is NULL, and then it is released. */
struct json_t *value_add(struct json_t *object, const char *members, ...);
#define value_object(...) value_add(json_object(), __VA_ARGS__)

/* Prints the document and a newline, and releases it. Returns 0, or -1 if root is NULL: it has a
 * value that JSON has no form for. */
int document_print(FILE *stream, struct json_t *root);
/* Returns json_dumps of the document, and releases it; NULL likewise. The caller frees the text. */
char *document_text(struct json_t *root, size_t flags);

#endif
