/* support.c: see fuzz.h. */
#include "fuzz.h"

#include "text/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

void fuzz_must_be_line(const char *text)
{
    fuzz_must(text[0] != '\0', "refused without a reason");
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; ++c)
        fuzz_must(*c >= 0x20 && *c != 0x7f, "a reason has a control character");
}

void fuzz_must_show(const char *text)
{
    char *shown = fuzz_text((const uint8_t *)text, strlen(text));

    text_clean(shown, '?');
    fuzz_must_be_line(shown);
    free(shown);
}

char *fuzz_text(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);

    fuzz_must(text != NULL, "no memory for the input");
    if (bytes > 0)
        memcpy(text, data, bytes);
    text[bytes] = '\0';
    return text;
}

/* The file is in memory, without a name in any folder. */
static int support_open_file(char *path, size_t bytes)
{
    char name[40];
    int fd;

    snprintf(name, sizeof name, "/lockstep-fuzz-%ld", (long)getpid());
    fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    fuzz_must(fd >= 0 && shm_unlink(name) == 0, "no shared memory for a file");
    snprintf(path, bytes, "/proc/self/fd/%d", fd);
    return fd;
}

const char *fuzz_file(const uint8_t *data, size_t bytes)
{
    static char path[40];
    static int fd = -1;

    if (fd < 0)
        fd = support_open_file(path, sizeof path);
    fuzz_must(ftruncate(fd, 0) == 0 && pwrite(fd, data, bytes, 0) == (ssize_t)bytes,
              "cannot write the input");
    return path;
}
