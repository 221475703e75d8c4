/* record/document.h: makes the values of JSON documents that are written, prints a document, and
 * says whether memory was short in jansson. */
#ifndef HARNESS_RECORD_DOCUMENT_H
#define HARNESS_RECORD_DOCUMENT_H

#include <stdbool.h>
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

/* ---- memory ---------------------------------------------------------------------------------- */

/* If jansson cannot add a value, it leaves the value out, and the document is valid JSON with a
 * hole in it. So code that writes or reads a document asks here once, when the document is done. */

/* Call this before the first document. */
void record_memory_watch(void);
/* Whether an allocation in jansson has failed since then. If so, no document that was made or read
 * can be trusted. */
bool record_memory_failed(void);
/* Returns json_dumps of a document if it is complete, else NULL. It releases root; the caller frees
 * the text. */
char *record_memory_text(struct json_t *root, size_t flags);

#endif
