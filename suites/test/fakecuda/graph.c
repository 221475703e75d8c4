/* graph.c: captured work, run again as often as it is launched, with the memory and the arguments
 * of the capture. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

struct CUgraphExec_st {
    struct CUgraphExec_st *next;
    bool live, launched;
    struct fake_node *node;
    int nodes, branches, device[FAKE_BRANCHES];
    struct CUstream_st *branch[FAKE_BRANCHES]; /* all but the first, which is the launch stream */
    struct fake_token last;                    /* launches of one graph follow each other */
};

static struct CUgraphExec_st *instantiate(const struct CUgraph_st *graph)
{
    struct CUgraphExec_st *exec = fake_memory(sizeof *exec);
    exec->live = true;
    exec->nodes = graph->nodes;
    exec->branches = graph->branches;
    memcpy(exec->device, graph->device, sizeof exec->device);
    exec->node = fake_memory((size_t)graph->nodes * sizeof *exec->node);
    for (int i = 0; i < graph->nodes; ++i) {
        exec->node[i] = graph->node[i];
        if (exec->node[i].work)
            ++exec->node[i].work->users;
    }
    exec->next = fake.execs;
    return fake.execs = exec;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    struct fake_call call = {.name = "cudaGraphInstantiate"};
    if (fake_enter(&call)) {
        if (exec && graph && graph->live && flags == 0) {
            *exec = instantiate(graph);
        } else {
            fake_violation("%s: there is no such graph", call.name);
            fake_result(&call, cudaErrorInvalidValue);
        }
    }
    return fake_leave(&call);
}

/* The stream of a branch in this launch. */
static struct CUstream_st *branch_stream(struct CUgraphExec_st *exec, int branch,
                                         struct CUstream_st *launch)
{
    if (branch == 0)
        return launch;
    if (!exec->branch[branch]) {
        exec->branch[branch] = fake_stream_new(exec->device[branch]);
        if (exec->branch[branch])
            exec->branch[branch]->internal = true;
    }
    return exec->branch[branch];
}

static cudaError_t replay(struct CUgraphExec_st *exec, struct CUstream_st *launch,
                          struct fake_token *done)
{
    const struct fake_token begin = fake_token_of(launch);
    for (int i = 0; i < exec->nodes; ++i) {
        const struct fake_node *node = &exec->node[i];
        struct CUstream_st *stream = branch_stream(exec, node->branch, launch);
        cudaError_t error = stream ? cudaSuccess : cudaErrorMemoryAllocation;
        if (!error && !node->work) {
            fake_put_wait(stream, node->after < 0 ? &begin : &done[node->after]);
        } else if (!error) {
            ++node->work->users;
            error = fake_issue_now(stream, node->work);
        }
        if (error)
            return error;
        done[i] = fake_token_of(stream);
    }
    return cudaSuccess;
}

static cudaError_t graph_launch(struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
    if (stream->capture) {
        fake_violation("cudaGraphLaunch: a graph within a capture is not known here");
        return cudaErrorStreamCaptureUnsupported;
    }
    if (stream->device != exec->device[0]) {
        fake_violation("cudaGraphLaunch: a graph of device %d is launched in stream %d of device "
                       "%d",
                       exec->device[0], stream->id, stream->device);
        return cudaErrorInvalidResourceHandle;
    }
    if (exec->launched)
        fake_put_wait(stream, &exec->last);
    struct fake_token *done = fake_memory((size_t)exec->nodes * sizeof *done);
    const cudaError_t error = replay(exec, stream, done);
    free(done);
    exec->last = fake_token_of(stream);
    exec->launched = true;
    return error;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    struct fake_call call = {.name = "cudaGraphLaunch", .rules = FAKE_LAUNCHES};
    if (fake_enter(&call)) {
        if (!exec || !exec->live) {
            fake_violation("%s: the graph was destroyed", call.name);
            fake_result(&call, cudaErrorInvalidValue);
        } else if (!fake_stream_is(stream, call.name)) {
            fake_result(&call, cudaErrorInvalidResourceHandle);
        } else {
            fake_result(&call, graph_launch(exec, stream));
        }
    }
    return fake_leave(&call);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    struct fake_call call = {.name = "cudaGraphExecDestroy", .rules = FAKE_ALWAYS};
    if (fake_enter(&call)) {
        if (!exec || !exec->live) {
            fake_violation("%s: it was destroyed before", call.name);
            fake_result(&call, cudaErrorInvalidValue);
        } else {
            exec->live = false;
            fake_nodes_drop(exec->node, exec->nodes);
            exec->node = NULL;
            exec->nodes = 0;
            for (int i = 1; i < exec->branches; ++i)
                if (exec->branch[i])
                    fake_stream_drop(exec->branch[i]);
        }
    }
    return fake_leave(&call);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    struct fake_call call = {.name = "cudaGraphDestroy", .rules = FAKE_ALWAYS};
    if (fake_enter(&call)) {
        if (!graph || !graph->live) {
            fake_violation("%s: it was destroyed before", call.name);
            fake_result(&call, cudaErrorInvalidValue);
        } else {
            graph->live = false;
            fake_nodes_drop(graph->node, graph->nodes);
            graph->node = NULL;
            graph->nodes = 0;
        }
    }
    return fake_leave(&call);
}

void fake_graphs_close(void)
{
    long graphs = 0, execs = 0;
    while (fake.graphs) {
        struct CUgraph_st *graph = fake.graphs;
        fake.graphs = graph->next;
        graphs += graph->live;
        fake_nodes_drop(graph->node, graph->nodes);
        free(graph);
    }
    while (fake.execs) {
        struct CUgraphExec_st *exec = fake.execs;
        fake.execs = exec->next;
        execs += exec->live;
        fake_nodes_drop(exec->node, exec->nodes);
        free(exec);
    }
    if (graphs || execs)
        fake_violation("leak: %ld graphs, %ld executable graphs", graphs, execs);
}
