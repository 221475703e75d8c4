/* record/document.h: makes the values of JSON documents that are written, and prints a document. */
#ifndef HARNESS_RECORD_DOCUMENT_H
#define HARNESS_RECORD_DOCUMENT_H

#include <stddef.h>
#include <stdio.h>

struct json_t;
struct record_key;

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

/* Prints the document and a newline, and releases it. Returns 0, or -1 if root is NULL: it has a
 * value that JSON has no form for. */
int document_print(FILE *stream, struct json_t *root);
/* Returns json_dumps of the document, and releases it; NULL likewise. The caller frees the text. */
char *document_text(struct json_t *root, size_t flags);

#endif
