/* graph_cache.c: records, compares, remembers and drops lists of launches. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

int dp_cuda_list_append(struct dp_slot *slot, struct dp_cuda_list *list, enum dp_kernel kernel,
                        const void *args, size_t bytes, struct dp_error *err)
{
    const struct dp_cuda_item item = {(uint32_t)kernel, (uint32_t)bytes};
    const size_t need = list->bytes + sizeof item + bytes;
    if (bytes % sizeof(uint64_t) != 0)
        return dp_fail(err, DP_EINVAL, "%s: arguments of %zu bytes", slot->info.name, bytes);
    if (need > list->capacity) {
        unsigned char *grown = realloc(list->items, 2 * need);
        if (!grown)
            return dp_fail(err, DP_ENOMEM, "%s: no memory for a list of launches", slot->info.name);
        list->items = grown;
        list->capacity = 2 * need;
    }
    unsigned char *at = list->items + list->bytes;
    memcpy(at, &item, sizeof item);
    memcpy(at + sizeof item, args, bytes);
    dp_kernel_clear_padding(kernel, at + sizeof item);
    for (size_t i = 0; i < sizeof item + bytes; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at + i, sizeof word);
        const uint64_t hash = (list->hash ^ word) * 0x9e3779b97f4a7c15u;
        list->hash = hash ^ hash >> 29;
    }
    list->bytes = need;
    ++list->launches;
    return 0;
}

struct dp_cuda_graph *dp_cuda_graph_find(struct dp_cuda_graphs *graphs,
                                         const struct dp_cuda_list *list)
{
    ++graphs->clock;
    for (int i = 0; i < graphs->n; ++i) {
        struct dp_cuda_graph *graph = &graphs->graph[i];
        if (graph->list.hash != list->hash || graph->list.bytes != list->bytes ||
            memcmp(graph->list.items, list->items, list->bytes) != 0)
            continue;
        graph->used = graphs->clock;
        return graph;
    }
    return NULL;
}

/* Only the hash is compared. If two lists have one hash, one of them is captured a launch too
 * early. */
bool dp_cuda_graph_seen(struct dp_cuda_graphs *graphs, const struct dp_cuda_list *list)
{
    const uint64_t kept = graphs->n_seen < DP_CUDA_SEEN ? graphs->n_seen : DP_CUDA_SEEN;
    for (uint64_t i = 0; i < kept; ++i) {
        if (graphs->seen[i] == list->hash)
            return true;
    }
    graphs->seen[graphs->n_seen++ % DP_CUDA_SEEN] = list->hash;
    return false;
}

/* A graph that cannot be destroyed is not used again. The error is cleared, or a later call would
 * report it. */
static void graph_drop(struct dp_cuda_graph *graph)
{
    if (graph->exec && cudaGraphExecDestroy(graph->exec))
        cudaGetLastError();
    free(graph->list.items);
    *graph = (struct dp_cuda_graph){0};
}

void dp_cuda_graph_forget(struct dp_cuda_graphs *graphs, uint64_t hash)
{
    for (int i = 0; i < DP_CUDA_SEEN; ++i) {
        if (graphs->seen[i] == hash)
            graphs->seen[i] = 0;
    }
}

static int oldest_of(const struct dp_cuda_graphs *graphs)
{
    int oldest = 0;
    for (int i = 1; i < graphs->n; ++i) {
        if (graphs->graph[i].used < graphs->graph[oldest].used)
            oldest = i;
    }
    return oldest;
}

bool dp_cuda_graph_has_place(const struct dp_cuda_graphs *graphs)
{
    return graphs->n < DP_CUDA_GRAPHS ||
           graphs->clock - graphs->graph[oldest_of(graphs)].used > DP_CUDA_UNUSED;
}

/* CUDA frees a graph that is destroyed while it runs when it has ended, so nothing waits for it
 * here. */
static struct dp_cuda_graph *find_place(struct dp_slot *slot, struct dp_cuda_graphs *graphs)
{
    if (graphs->n < DP_CUDA_GRAPHS)
        return &graphs->graph[graphs->n++];
    struct dp_cuda_graph *oldest = &graphs->graph[oldest_of(graphs)];
    dp_cuda_graph_forget(graphs, oldest->list.hash); /* it has to be seen twice more to come back */
    graph_drop(oldest);
    ++slot->launches.evicted;
    return oldest;
}

int dp_cuda_graph_add(struct dp_slot *slot, const struct dp_cuda_list *list,
                      struct dp_cuda_graph **graph, struct dp_error *err)
{
    const struct dp_cuda_slot *s = slot->native;
    unsigned char *items = malloc(list->bytes);
    if (!items)
        return dp_fail(err, DP_ENOMEM, "%s: no memory for a list of launches", slot->info.name);
    memcpy(items, list->items, list->bytes);
    *graph = find_place(slot, s->graphs);
    **graph = (struct dp_cuda_graph){.list = *list, .used = s->graphs->clock};
    (*graph)->list.items = items;
    (*graph)->list.capacity = list->bytes;
    return 0;
}

int dp_cuda_graphs_open(struct dp_slot *slot, struct dp_error *err)
{
    struct dp_cuda_slot *s = slot->native;
    s->graphs = calloc(1, sizeof *s->graphs);
    return s->graphs ? 0 : dp_fail(err, DP_ENOMEM, "%s: no memory for its graphs", slot->info.name);
}

void dp_cuda_graphs_drop(struct dp_slot *slot)
{
    const struct dp_cuda_slot *s = slot->native;
    struct dp_cuda_graphs *graphs = s->graphs;
    if (!graphs)
        return;
    if (graphs->n > 0 && cudaStreamSynchronize(s->compute.stream))
        cudaGetLastError();
    for (int i = 0; i < graphs->n; ++i)
        graph_drop(&graphs->graph[i]);
    graphs->n = 0;
    graphs->n_seen = 0;
}

void dp_cuda_graphs_close(struct dp_slot *slot)
{
    struct dp_cuda_slot *s = slot->native;
    dp_cuda_graphs_drop(slot);
    if (s->graphs)
        free(s->graphs->held.items);
    free(s->graphs);
    s->graphs = NULL;
}
