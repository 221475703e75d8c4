/* wrong_batch.c: preloaded into one of several processes, it changes a row of a batch on its way to
 * the devices: that of the number in WRONG_BATCH, counted from 1, of those of the 64 numbers of the
 * digits. Its memcpy comes before the library's; without "restrict" no compiler makes the memmove
 * one again. */
#include <stdlib.h>
#include <string.h>

enum { ROW_BYTES = 64 * sizeof(float) };

void *memcpy(void *to, const void *from, size_t n)
{
    static long rows; /* the thread that deals them is the only one to copy so many bytes */
    unsigned char *bytes = memmove(to, from, n);

    if (n == ROW_BYTES) {
        const char *number = getenv("WRONG_BATCH");

        if (number && ++rows == strtol(number, NULL, 10))
            bytes[ROW_BYTES - 2] ^= 0x40;
    }
    return bytes;
}
