/* wrong_message.c: is preloaded into one of several processes, and changes a bit of a message on
 * its way to another one: message number WRONG_MESSAGE, counted from 1, of those that have more
 * than a head and at least WRONG_BYTES bytes. Its MPI_Isend comes before that of the library, which
 * it calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 64, FIRST_TAG = 13 };

typedef int isend_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static long wrong_message_number_of(const char *name)
{
    const char *text = getenv(name);

    return text ? strtol(text, NULL, 10) : 0;
}

int MPI_Isend(const void *bytes, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    static long calls; /* one thread makes them all */
    void *found = dlsym(RTLD_DEFAULT, "PMPI_Isend");
    unsigned char *changed = malloc((size_t)n + 1); /* stays: MPI may read it later */
    isend_fn *next = NULL;

    if (!found || !changed)
        abort();
    memcpy(&next, &found, sizeof next);
    calls += tag >= FIRST_TAG && n > HEAD_BYTES && n >= wrong_message_number_of("WRONG_BYTES");
    if (calls != wrong_message_number_of("WRONG_MESSAGE") || tag < FIRST_TAG || n <= HEAD_BYTES) {
        free(changed);
        return next(bytes, n, type, to, tag, comm, request);
    }
    ++calls;
    memcpy(changed, bytes, (size_t)n);
    changed[n - 2] ^= 0x40;
    return next(changed, n, type, to, tag, comm, request);
}
