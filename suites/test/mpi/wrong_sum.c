/* wrong_sum.c: is preloaded into one of several processes. Its numbers of an all-reduce are zeros
 * on their way to the others, and the digests that follow are those of zeros. So all processes get
 * the same sums, and only their values are wrong. Its MPI_Isend comes before that of the library,
 * which it calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../../../core/mpi/inside.h"

enum { PEERS = 64 };

typedef int isend_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* For each receiving process: the number of the call, how many messages of numbers it has had, and
 * by how much its digests differ. */
struct told {
    uint32_t kind;
    size_t messages;
    uint64_t more;
};

static void change_head(struct told *told, void *bytes)
{
    struct mpi_head head;

    memcpy(&head, bytes, sizeof head);
    told->kind = head.kind;
    told->messages = 0;
    head.digest += told->more;
    memcpy(bytes, &head, sizeof head);
}

static void change_numbers(struct told *told, void *bytes, size_t n)
{
    const uint64_t place = dp_mpi_place(WIRE_TAG_NUMBERS, told->messages++);

    if (told->kind != CALL_ALLREDUCE)
        return;
    told->more -= dp_mpi_digest(place, bytes, n);
    memset(bytes, 0, n);
    told->more += dp_mpi_digest(place, bytes, n);
}

int MPI_Isend(const void *bytes, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    static struct told told[PEERS]; /* one thread makes all calls */
    void *found = dlsym(RTLD_DEFAULT, "PMPI_Isend");
    unsigned char *changed = malloc((size_t)n + 1); /* stays: MPI may read it later */
    isend_fn *next = NULL;

    if (!found || !changed || to < 0 || to >= PEERS)
        abort();
    memcpy(&next, &found, sizeof next);
    memcpy(changed, bytes, (size_t)n);
    if (tag == WIRE_TAG_HEAD)
        change_head(&told[to], changed);
    else if (tag == WIRE_TAG_NUMBERS)
        change_numbers(&told[to], changed, (size_t)n);
    return next(changed, n, type, to, tag, comm, request);
}
