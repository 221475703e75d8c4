/* record/memory.c: the allocator of jansson, which notes that memory was short. */
#include "record/memory.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>

/* It is global: jansson gives its allocator no argument through which it could find an object of
 * the caller. */
static atomic_bool failed;

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);

    if (!memory)
        failed = true;
    return memory;
}

void record_memory_watch(void)
{
    json_set_alloc_funcs(allocate, free);
}

bool record_memory_failed(void)
{
    return failed;
}

char *record_memory_text(struct json_t *root, size_t flags)
{
    char *text = !root ? NULL : json_dumps(root, flags | JSON_ENSURE_ASCII);

    json_decref(root);
    if (failed) {
        free(text);
        return NULL;
    }
    return text;
}
