/* record/memory.h: whether jansson was short of memory.
 *
 * A value that jansson cannot add is left out, and what is written then is valid JSON with a hole
 * in it. So whoever writes or reads a document asks here once, when it is done. */
#ifndef HARNESS_RECORD_MEMORY_H
#define HARNESS_RECORD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct json_t;

/* Before the first document. */
void record_memory_watch(void);
/* An allocation of jansson's has failed since: no document that was made or read can be trusted. */
bool record_memory_failed(void);
/* json_dumps of a document that is complete, else NULL. Releases root; caller: free. */
char *record_memory_text(struct json_t *root, size_t flags);

#endif
