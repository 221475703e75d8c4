/* graph.c: launches of a compute queue on hold are recorded in a list. The list is then issued one
 * by one, captured, or launched as the graph of an earlier capture. See graph.h.
 *
 * A list is issued one by one at first, because cuBLAS and the runtime initialise with the first
 * use of a kernel. The second time it is captured. The thread does nothing else during a capture,
 * and other threads are not affected (thread-local mode). */
#include "graph.h"

#include <string.h>

#define NOBODY ((pthread_t)0)

/* A graph needs two launches or more. */
#define LEAST 2

static struct dp_cuda_graphs *graphs_of(const struct dp_queue *queue)
{
    const struct dp_cuda_slot *s = queue->slot->native;
    return queue == &queue->slot->compute ? s->graphs : NULL;
}

void dp_cuda_hold(struct dp_queue *queue, bool on)
{
    struct dp_cuda_graphs *graphs = graphs_of(queue);
    if (graphs)
        graphs->holds += on ? 1 : -1;
}

int dp_cuda_launch_ahead(struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                         struct dp_error *err)
{
    /* These depend only on the stream; see device.c. */
    const bool by_stream = kernel == DP_KERNEL_COPY || kernel == DP_KERNEL_PEER_COPY;
    int status = by_stream ? 0 : dp_cuda_enter(queue->slot, err);
    if (status == 0)
        status = dp_cuda_issue(queue, kernel, args, err);
    if (status == 0 && queue == &queue->slot->compute)
        ++queue->slot->launches.single;
    return status;
}

int dp_cuda_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args, size_t bytes,
                   struct dp_error *err)
{
    struct dp_cuda_graphs *graphs = graphs_of(queue);
    /* Copies may use memory of the host, which the caller can use again afterwards, so they cannot
     * be held. */
    if (graphs && graphs->holds > 0 && kernel != DP_KERNEL_COPY && kernel != DP_KERNEL_REDUCE) {
        atomic_store_explicit(&graphs->owner, pthread_self(), memory_order_relaxed);
        return dp_cuda_list_append(queue->slot, &graphs->held, kernel, args, bytes, err);
    }
    const int status = dp_cuda_flush(queue, err);
    return status ? status : dp_cuda_launch_ahead(queue, kernel, args, err);
}

static int issue_list(struct dp_queue *queue, const struct dp_cuda_list *list, struct dp_error *err)
{
    int status = 0;
    for (size_t at = 0; status == 0 && at < list->bytes;) {
        struct dp_cuda_item item;
        memcpy(&item, list->items + at, sizeof item);
        at += sizeof item;
        status = dp_cuda_issue(queue, (enum dp_kernel)item.kernel, list->items + at, err);
        at += item.bytes;
    }
    return status;
}

static int issue_one_by_one(struct dp_queue *queue, const struct dp_cuda_list *list,
                            struct dp_error *err)
{
    const int status = issue_list(queue, list, err);
    if (status == 0)
        queue->slot->launches.single += list->launches;
    return status;
}

/* Errors which say that an operation is not allowed in a capture. */
static bool is_refusal(cudaError_t error)
{
    return error >= cudaErrorStreamCaptureUnsupported && error <= cudaErrorStreamCaptureWrongThread;
}

/* Makes a graph of the list; *refused: CUDA cannot capture it. The capture has ended in any case.
 */
static int capture(struct dp_queue *queue, const struct dp_cuda_list *list, cudaGraph_t *graph,
                   bool *refused, struct dp_error *err)
{
    const struct dp_cuda_queue *q = queue->native;
    struct dp_error why = {0};
    cudaError_t error = cudaStreamBeginCapture(q->stream, cudaStreamCaptureModeThreadLocal);
    *refused = is_refusal(error);
    if (error)
        return *refused ? 0 : dp_cuda_fail(queue->slot, "cudaStreamBeginCapture", error, err);
    const int status = issue_list(queue, list, &why);
    error = cudaStreamEndCapture(q->stream, graph);
    *refused = is_refusal(error);
    if (*refused)
        return 0;
    if (status)
        return dp_fail(err, status, "%s", why.text);
    return error ? dp_cuda_fail(queue->slot, "cudaStreamEndCapture", error, err) : 0;
}

/* exec stays NULL for a list that is refused. */
static int make_graph(struct dp_queue *queue, const struct dp_cuda_list *list,
                      cudaGraphExec_t *exec, struct dp_error *err)
{
    cudaGraph_t graph = NULL;
    bool refused;
    int status = capture(queue, list, &graph, &refused, err);
    if (status == 0 && !refused) {
        const cudaError_t error = cudaGraphInstantiate(exec, graph, 0);
        if (error)
            status = dp_cuda_fail(queue->slot, "cudaGraphInstantiate", error, err);
    }
    if ((graph && cudaGraphDestroy(graph)) || refused)
        cudaGetLastError();
    return status;
}

static int launch_graph(struct dp_queue *queue, const struct dp_cuda_graph *graph,
                        struct dp_error *err)
{
    const struct dp_cuda_queue *q = queue->native;
    struct dp_launches *launches = &queue->slot->launches;
    if (!graph->exec)
        return issue_one_by_one(queue, &graph->list, err);
    const cudaError_t error = cudaGraphLaunch(graph->exec, q->stream);
    if (error)
        return dp_cuda_fail(queue->slot, "cudaGraphLaunch", error, err);
    ++launches->graphs;
    launches->in_graphs += graph->list.launches;
    return 0;
}

static int capture_and_launch(struct dp_queue *queue, const struct dp_cuda_list *list,
                              struct dp_error *err)
{
    struct dp_launches *launches = &queue->slot->launches;
    struct dp_cuda_graph *graph;
    cudaGraphExec_t exec = NULL;
    int status = make_graph(queue, list, &exec, err);
    if (status)
        return status;
    status = dp_cuda_graph_add(queue->slot, list, &graph, err);
    if (status) {
        if (exec && cudaGraphExecDestroy(exec))
            cudaGetLastError();
        return status;
    }
    graph->exec = exec;
    ++*(exec ? &launches->captured : &launches->refused);
    return launch_graph(queue, graph, err);
}

static int issue_held(struct dp_queue *queue, struct dp_cuda_graphs *graphs, struct dp_error *err)
{
    const struct dp_cuda_list *list = &graphs->held;
    const int status = dp_cuda_enter(queue->slot, err);
    if (status)
        return status;
    if (list->launches < LEAST)
        return issue_one_by_one(queue, list, err);
    const struct dp_cuda_graph *graph = dp_cuda_graph_find(graphs, list);
    if (graph)
        return launch_graph(queue, graph, err);
    if (dp_cuda_graph_seen(graphs, list) && dp_cuda_graph_has_place(graphs))
        return capture_and_launch(queue, list, err);
    /* Outside of a capture it can initialise what it failed to initialise before. */
    const int issued = issue_one_by_one(queue, list, err);
    if (issued)
        dp_cuda_graph_forget(graphs, list->hash);
    return issued;
}

/* Other threads wait for issued work; what a thread holds back concerns only itself. */
int dp_cuda_flush(struct dp_queue *queue, struct dp_error *err)
{
    struct dp_cuda_graphs *graphs = graphs_of(queue);
    if (!graphs || atomic_load_explicit(&graphs->owner, memory_order_relaxed) != pthread_self())
        return 0;
    struct dp_error why = {0};
    const int status = issue_held(queue, graphs, &why);
    struct dp_cuda_list *held = &graphs->held;
    *held = (struct dp_cuda_list){.items = held->items, .capacity = held->capacity};
    atomic_store_explicit(&graphs->owner, NOBODY, memory_order_relaxed);
    if (status == 0)
        return 0;
    dp_fail(&graphs->failed, status, "%s", why.text);
    return dp_fail(err, status, "%s", why.text);
}

int dp_cuda_flush_all(struct dp_queue *queue, struct dp_error *err)
{
    struct dp_cuda_graphs *graphs = graphs_of(queue);
    int status = dp_cuda_flush(queue, err);
    if (graphs && graphs->failed.status) {
        status = dp_fail(err, graphs->failed.status, "%s", graphs->failed.text);
        graphs->failed = (struct dp_error){0};
    }
    return status;
}
