/* wrong_batch.c: is preloaded into one of several processes, and changes one row of a batch on its
 * way to the devices: row number WRONG_BATCH, counted from 1, of the rows of 64 numbers of the
 * digits. Its memcpy comes before that of the library; without "restrict" no compiler turns the
 * memmove into a memcpy again. */
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
