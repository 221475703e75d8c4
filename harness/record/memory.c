/* record/memory.c: jansson's memory, and a note that there was too little of it. */
#include "record/memory.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>

/* jansson passes its allocator nothing by which it could find an object of its caller. */
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
