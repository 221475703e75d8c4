/* record/json.h: internal to this room: records as JSON, read and written.
 *
 * One table per object (record/roles.h) drives both, so that they cannot disagree. */
#ifndef HARNESS_RECORD_JSON_H
#define HARNESS_RECORD_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "record/record.h"
#include "record/roles.h"

/* "run" of "lockstep/run/1.2". */
enum record_type { RECORD_IS_RUN, RECORD_IS_CELL, RECORD_IS_END, RECORD_TYPES };
extern const char *const record_type_names[RECORD_TYPES];

/* Fills err with one printable line and returns -1. */
int record_fail(struct text_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The arrays of whole numbers in the "raw" of a line, each of them from 0 to RECORD_EXACT_MAX. In
 * the JSON of the line an integer in their place is an index of array. Fill with 0, then use for
 * any number of lines. */
struct record_array {
    size_t first, n; /* its elements are number[first .. first+n-1] */
};
struct record_raw {
    char *line; /* with the integers */
    size_t length, line_capacity;
    uint64_t *number;
    size_t n_numbers, number_capacity;
    struct record_array *array;
    size_t n_arrays, array_capacity;
};
/* False: not one array was taken out, the line has to be read as it is. */
bool record_raw_cut(const char *line, size_t bytes, struct record_raw *raw);
void record_raw_free(struct record_raw *raw);

/* Of a JSON text, and of a regular file of at most most bytes. NULL and why: it is no JSON, has a
 * member twice, is sealed and was changed, or so many values that they would need more than
 * RECORD_JSON_BYTES of memory. */
#define RECORD_JSON_BYTES ((size_t)128 << 20)
json_t *record_json_text(const char *text, size_t bytes, json_error_t *why);
json_t *record_json_file(const char *path, size_t most, struct text_error *err);

/* NULL: not JSON, or no object; err says where. Caller: json_decref. */
json_t *record_json_load(const char *line, size_t bytes, struct record_raw *raw,
                         struct text_error *err);

/* Whether it is "lockstep/NAME/1.x", x a number. */
bool record_json_is_schema(const char *schema, const char *name);
/* 0: that is the object's schema. */
int record_json_schema(const json_t *root, const char *name, struct text_error *err);
/* The type that the schema names; -1 for other schemas and other majors. */
int record_json_type(const json_t *root, struct text_error *err);

/* Members of an object; the name is for the message. NULL: missing, or no object. */
const json_t *record_json_object(const json_t *object, const char *name, struct text_error *err);
int record_json_integer(const json_t *value, const char *name, json_int_t min, json_int_t max,
                        json_int_t *number, struct text_error *err);
int record_json_real(const json_t *value, const char *name, double *number, struct text_error *err);
int record_json_fields(const json_t *object, const struct record_field *field, void *to,
                       struct text_error *err);
/* Whether a value that was read can be one of its field: record/ranges.c. */
int record_check_value(const struct record_field *field, const void *object,
                       struct text_error *err);
/* Whether numbers are in their bounds; NaN is not. */
struct record_bound {
    const char *name;
    double is, least, most;
};
int record_check_bounds(const struct record_bound *bound, size_t n, struct text_error *err);
/* An integer that was found in its range, into the member of its field. */
void record_json_store(const struct record_field *field, json_int_t number, void *member);

/* An object of all fields that are not nested; NULL: no memory, or a number without a form. */
json_t *record_json_of(const struct record_field *fields, const void *from);
int record_series_from_json(const json_t *value, const char *name, struct record_series *series,
                            struct text_error *err);

/* record/node_json.c: members of a run, and of a cell. 0, or -1: memory is short, a number is
 * wrong. */
int record_node_to_json(json_t *root, const struct record_node *node);
int record_node_from_json(const json_t *root, struct record_node *node, struct text_error *err);
int record_watched_to_json(json_t *root, const struct record_cell *cell);
int record_watched_from_json(const json_t *root, struct record_cell *cell, struct text_error *err);

int record_run_from_json(const json_t *root, struct record_run *run, struct text_error *err);
/* raw: of the line that root was loaded from. */
int record_cell_from_json(const json_t *root, const struct record_raw *raw,
                          struct record_cell *cell, struct text_error *err);
/* Its part: "raw" of root, for cell->n_samples samples and cell->n_ranks ranks. */
int record_samples_from_json(const json_t *root, const struct record_raw *raw,
                             struct record_cell *cell, struct text_error *err);
/* Whether its devices are cores of the host. */
bool record_on_cores(const struct record_cell *cell);
/* What a cell says of itself, once it was read. */
int record_cell_check(const struct record_cell *cell, struct text_error *err);

/* A cell of a line as this program writes it, without JSON, unchecked; chain: its "chain", or "".
 * False: it is written otherwise, or something is wrong in it, and JSON has to say what; nothing
 * is there to free then. */
bool record_cell_direct(const char *line, size_t bytes, struct record_cell *cell,
                        char chain[DIGEST_HEX]);
int record_end_from_json(const json_t *root, struct record_end *end, struct text_error *err);

/* The chain of a file, from its first line on. Begin with zeros. */
struct record_chain {
    bool sealed;
    size_t lines;
    char last[DIGEST_HEX]; /* of the line before, if sealed */
};
/* What a line has of it; NULL where it is missing or no string. */
struct record_link {
    bool here; /* there is a "chain" */
    const char *chain, *seal;
    const char *digest; /* SHA-256 of the whole line; NULL or "": not computed */
};
struct record_link record_link_of(const json_t *root);
/* Whether the next line, which has that link, is what was written there. closes: it has to have a
 * seal. */
int record_chain_check(const struct record_link *link, const char *line, size_t bytes, bool closes,
                       struct record_chain *chain, struct text_error *err);

#endif
