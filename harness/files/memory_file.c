/* files/memory_file.c: what is written to a stream, in one piece of memory that grows. */
#include "files/memory_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { ROOM = 4096 };

static bool make_room(struct memory_file *file, size_t bytes)
{
    size_t room = file->room > 0 ? file->room : ROOM;
    char *text;

    while (room - 1 < bytes && room <= SIZE_MAX / 2)
        room *= 2;
    if (room == file->room)
        return true;
    text = room - 1 < bytes ? NULL : realloc(file->text, room);
    if (!text)
        return false;
    file->text = text;
    file->room = room;
    return true;
}

/* 0 is an error to a stream. */
static ssize_t append(void *cookie, const char *from, size_t bytes)
{
    struct memory_file *file = cookie;

    if (file->failed || bytes > SIZE_MAX / 4 - file->bytes ||
        !make_room(file, file->bytes + bytes)) {
        file->failed = true;
        return 0;
    }
    memcpy(file->text + file->bytes, from, bytes);
    file->bytes += bytes;
    file->text[file->bytes] = '\0';
    return (ssize_t)bytes;
}

int memory_file_open(struct memory_file *file)
{
    *file = (struct memory_file){.to = NULL};
    if (make_room(file, 0)) {
        file->text[0] = '\0';
        file->to = fopencookie(file, "w", (cookie_io_functions_t){.write = append});
    }
    if (file->to)
        return 0;
    free(file->text);
    file->text = NULL;
    return -1;
}

int memory_file_close(struct memory_file *file)
{
    const bool open = file->to != NULL;

    if (open && fclose(file->to) != 0)
        file->failed = true;
    file->to = NULL;
    if (open && !file->failed)
        return 0;
    free(file->text);
    file->text = NULL;
    return -1;
}
