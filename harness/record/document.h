/* record/document.h: makes the values of JSON documents that are written, and prints a document.
 *
 * If jansson cannot add a value because memory is short, that shows at the end (record/memory.h).
 */
#ifndef HARNESS_RECORD_DOCUMENT_H
#define HARNESS_RECORD_DOCUMENT_H

#include <stddef.h>
#include <stdio.h>

struct json_t;
struct record_key;

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

/* Prints the document and a newline, and releases it. Returns 0, or -1 if memory is short. */
int document_print(FILE *stream, struct json_t *root);

#endif
