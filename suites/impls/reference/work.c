/* work.c: one operation, from its beginning to its end. */
#include "reference.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct memory {
    struct memory *next;
    max_align_t data[];
};

void work_begin(struct work *work, struct impl_session *session)
{
    memset(work, 0, sizeof *work);
    work->session = session;
    dp_run_reset(session->run);
}

void *work_memory(struct work *work, size_t count, size_t bytes)
{
    struct memory *piece = NULL;

    if (count < 0xffffff && bytes < 0xffffff)
        piece = calloc(1, sizeof *piece + (count + 1) * bytes);
    if (!piece) {
        dp_fail(&work->error, DP_ENOMEM, "no memory for %zu entries", count);
        return NULL;
    }
    piece->next = work->memory;
    work->memory = piece;
    return piece->data;
}

int work_end(struct work *work, int status, struct impl_error *err)
{
    struct dp_group *group = work->session->group;

    if (dp_group_wait(group, &work->error) != 0 && status == 0)
        status = work->error.status;
    tensors_free(&work->made);
    while (work->memory) {
        struct memory *next = work->memory->next;
        free(work->memory);
        work->memory = next;
    }
    return error_of(group, status, &work->error, err);
}

int work_put(struct work *work, const struct impl_array *array, struct dp_tensor *tensor)
{
    return tensor_put(work->session->group, array, &work->made, tensor, &work->error);
}

int work_put_all(struct work *work, const struct impl_array arrays[], int n,
                 struct dp_tensor tensors[])
{
    int status = 0;

    for (int i = 0; status == 0 && i < n; ++i)
        status = work_put(work, &arrays[i], &tensors[i]);
    return status;
}

int work_slots(struct work *work, const int devices[], int n, struct dp_slot *slots[])
{
    for (int i = 0; i < n; ++i) {
        slots[i] = slot_of(work->session->group, devices[i], &work->error);
        if (!slots[i])
            return work->error.status;
    }
    return 0;
}

/* ---- traces ---------------------------------------------------------------------------------- */

uint64_t thread_number(void)
{
    return (uint64_t)pthread_self();
}

void trace_begin(struct impl_session *session, struct impl_trace *trace)
{
    if (!trace)
        return;
    memset(trace, 0, sizeof *trace);
    memset(&session->trace, 0, sizeof session->trace);
    trace->caller = thread_number();
    dp_group_trace(session->group, &session->trace);
}

/* A replica that ran has left the number of its thread. */
void trace_end(struct impl_session *session, struct impl_trace *trace)
{
    dp_group_trace(session->group, NULL);
    for (int i = 0; trace && i < IMPL_MAX_DEVICES; ++i) {
        trace->replica[i].bytes_to = session->trace.replica[i].bytes[DP_PHASE_REPLICATE];
        trace->replica[i].bytes_from = session->trace.replica[i].bytes[DP_PHASE_REDUCE];
        if (trace->replica[i].thread != 0)
            trace->replicas = i + 1;
    }
}
