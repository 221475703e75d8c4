/* files/memory_file.c: what is written to a stream, in one piece of memory that grows. */
#include "files/files.h"

#include <string.h>
#include <sys/types.h>

#include "text/alloc.h"

enum { LEAST_BYTES = 4096 };

static void memory_file_reserve(struct memory_file *file, size_t bytes)
{
    size_t capacity = file->capacity > 0 ? file->capacity : LEAST_BYTES;

    while (capacity - 1 < bytes)
        capacity *= 2;
    if (capacity != file->capacity)
        file->text = cli_resize(file->text, capacity, 1);
    file->capacity = capacity;
}

static ssize_t append(void *cookie, const char *from, size_t bytes)
{
    struct memory_file *file = cookie;

    memory_file_reserve(file, file->bytes + bytes);
    memcpy(file->text + file->bytes, from, bytes);
    file->bytes += bytes;
    file->text[file->bytes] = '\0';
    return (ssize_t)bytes;
}

void memory_file_open(struct memory_file *file)
{
    *file = (struct memory_file){.to = NULL};
    memory_file_reserve(file, 0);
    file->text[0] = '\0';
    file->to = cli_memory(fopencookie(file, "w", (cookie_io_functions_t){.write = append}));
}

char *memory_file_close(struct memory_file *file)
{
    if (file->to && fclose(file->to) != 0)
        cli_no_memory();
    file->to = NULL;
    return file->text;
}
