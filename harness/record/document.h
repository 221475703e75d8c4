/* record/document.h: what JSON documents that are written are made of, and the way to print one.
 *
 * What jansson cannot add for want of memory shows at the end (record/memory.h). */
#ifndef HARNESS_RECORD_DOCUMENT_H
#define HARNESS_RECORD_DOCUMENT_H

#include <stddef.h>
#include <stdio.h>

struct json_t;
struct record_key;

/* "?" where the text is not UTF-8: texts of files were cleaned, and so were arguments. */
struct json_t *value_text(const char *text);
/* '?' for each byte that is not UTF-8: names of files, and what others wrote. null without one. */
struct json_t *value_cleaned(const char *text);
/* null where the number is not finite. */
struct json_t *value_real(double number);
struct json_t *value_count(size_t n);
/* An object: the members of a key that identify a cell. */
struct json_t *value_key(const struct record_key *key);

/* Prints it, with a newline, and releases it. 0, or -1 when memory is short. */
int document_print(FILE *stream, struct json_t *root);

#endif
