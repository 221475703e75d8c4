/* wire.c: the plug-in lockstep-mpi.so, the only file that is compiled with MPI. */
#include "wire.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wire {
    MPI_Comm comm; /* of all processes, separate from all other messages */
};

_Static_assert(sizeof(MPI_Request) <= sizeof(uint64_t), "a request fits");

static int wire_fail(int code, const char *call, char *why)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS)
        return 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    snprintf(why, DP_WIRE_TEXT, "%s: %.120s", call, text);
    return 1;
}

static int wire_start(void **self, int *rank, int *size, char *library, char *host, char *why)
{
    int provided = 0;
    struct wire *wire = malloc(sizeof *wire);
    if (!wire) {
        snprintf(why, DP_WIRE_TEXT, "no memory for MPI");
        return 1;
    }
    int status = wire_fail(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided),
                           "MPI_Init_thread", why);
    if (status == 0)
        status = wire_fail(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
                           "MPI_Comm_set_errhandler", why);
    if (status == 0)
        status = wire_fail(MPI_Comm_dup(MPI_COMM_WORLD, &wire->comm), "MPI_Comm_dup", why);
    if (status == 0)
        status = wire_fail(MPI_Comm_set_errhandler(wire->comm, MPI_ERRORS_RETURN),
                           "MPI_Comm_set_errhandler", why);
    if (status == 0)
        status = wire_fail(MPI_Comm_rank(wire->comm, rank), "MPI_Comm_rank", why);
    if (status == 0)
        status = wire_fail(MPI_Comm_size(wire->comm, size), "MPI_Comm_size", why);
    if (status == 0) {
        char text[MPI_MAX_PROCESSOR_NAME + 1] = "";
        int length = 0;
        const int code = MPI_Get_processor_name(text, &length);
        snprintf(host, DP_WIRE_TEXT, "%.*s", DP_WIRE_TEXT - 1, text);
        status = wire_fail(code, "MPI_Get_processor_name", why);
    }
    if (status) {
        free(wire);
        return status;
    }
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        text[0] = '\0';
    /* It takes the text up to a comma from Open MPI, and the first lines, with tabs, from MPICH. */
    for (char *c = text; *c; ++c)
        *c = *c == '\t' || *c == '\n' ? ' ' : *c;
    char *end = strstr(text, "MPICH Release date");
    if (!end)
        end = strchr(text, ',');
    if (end)
        *end = '\0';
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; --n)
        text[n - 1] = '\0';
    snprintf(library, DP_WIRE_TEXT, "%.*s", DP_WIRE_TEXT - 1, text);
    *self = wire;
    return 0;
}

static void wire_keep(uint64_t *request, MPI_Request handle)
{
    *request = 0;
    memcpy(request, &handle, sizeof handle);
}

static MPI_Request handle_of(const uint64_t *request)
{
    MPI_Request handle;
    memcpy(&handle, request, sizeof handle);
    return handle;
}

static int send(void *self, const void *bytes, size_t n, int to, int tag, uint64_t *request,
                char *why)
{
    const struct wire *wire = self;
    MPI_Request handle = MPI_REQUEST_NULL;
    const int code = MPI_Isend(bytes, (int)n, MPI_BYTE, to, tag, wire->comm, &handle);
    wire_keep(request, handle);
    return wire_fail(code, "MPI_Isend", why);
}

static int receive(void *self, void *bytes, size_t n, int from, int tag, uint64_t *request,
                   char *why)
{
    const struct wire *wire = self;
    MPI_Request handle = MPI_REQUEST_NULL;
    const int code = MPI_Irecv(bytes, (int)n, MPI_BYTE, from < 0 ? MPI_ANY_SOURCE : from, tag,
                               wire->comm, &handle);
    wire_keep(request, handle);
    return wire_fail(code, "MPI_Irecv", why);
}

static int test(void *self, uint64_t *request, bool *done, int *from, size_t *bytes, char *why)
{
    MPI_Request handle = handle_of(request);
    MPI_Status status;
    int flag = 0, count = 0;
    (void)self;
    int failed = wire_fail(MPI_Test(&handle, &flag, &status), "MPI_Test", why);
    wire_keep(request, handle);
    if (failed == 0 && flag && bytes)
        failed = wire_fail(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count", why);
    if (failed == 0 && flag && from)
        *from = status.MPI_SOURCE;
    if (bytes)
        *bytes = (size_t)count;
    *done = flag != 0;
    return failed;
}

static int cancel(void *self, uint64_t *request, char *why)
{
    MPI_Request handle = handle_of(request);
    (void)self;
    int status = wire_fail(MPI_Cancel(&handle), "MPI_Cancel", why);
    if (status == 0)
        status = wire_fail(MPI_Wait(&handle, MPI_STATUS_IGNORE), "MPI_Wait", why);
    wire_keep(request, handle);
    return status;
}

static int wire_finish(void *self, char *why)
{
    struct wire *wire = self;
    int status = wire_fail(MPI_Comm_free(&wire->comm), "MPI_Comm_free", why);
    if (status == 0)
        status = wire_fail(MPI_Finalize(), "MPI_Finalize", why);
    free(wire);
    return status;
}

const struct dp_wire *dp_wire_table(void)
{
    static const struct dp_wire table = {DP_WIRE_VERSION, wire_start, send, receive, test,
                                         cancel,          wire_finish};
    return &table;
}
