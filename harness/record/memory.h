/* record/memory.h: whether memory was short in jansson.
 *
 * If jansson cannot add a value, it leaves the value out, and the document is valid JSON with a
 * hole in it. So code that writes or reads a document asks here once, when the document is done. */
#ifndef HARNESS_RECORD_MEMORY_H
#define HARNESS_RECORD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct json_t;

/* Call this before the first document. */
void record_memory_watch(void);
/* Whether an allocation in jansson has failed since then. If so, no document that was made or read
 * can be trusted. */
bool record_memory_failed(void);
/* Returns json_dumps of a document if it is complete, else NULL. It releases root; the caller frees
 * the text. */
char *record_memory_text(struct json_t *root, size_t flags);

#endif
