/* graph.h: CUDA graphs as a cache of lists of launches.
 *
 * While a slot's compute queue is on hold, launches are written down, kernel and arguments, and
 * their code on the host runs as always. A list that was launched before in the very same bytes is
 * launched as a graph instead; any pointer, size or number that differs makes it another list.
 * So nothing can go stale by an edit of a module, and only released memory takes graphs with it:
 * its addresses may come back with other memory behind them. */
#ifndef DP_CUDA_GRAPH_H
#define DP_CUDA_GRAPH_H

#include "cuda.h"

#include <pthread.h>

#define DP_CUDA_GRAPHS 256  /* of a slot */
#define DP_CUDA_SEEN   1024 /* lists that a slot remembers to have launched once */
#define DP_CUDA_UNUSED                                                                             \
    1024 /* after so many other lists a graph may be given up for a newer one                      \
          */

/* Launches in order: a struct dp_cuda_item each, and behind it its arguments. */
struct dp_cuda_list {
    unsigned char *items;
    size_t bytes, room;
    uint64_t launches, hash;
};

struct dp_cuda_item {
    uint32_t kernel, bytes; /* of its arguments, a multiple of 8 */
};

struct dp_cuda_graph {
    struct dp_cuda_list list;
    cudaGraphExec_t exec; /* NULL: CUDA does not capture it */
    uint64_t used;        /* when it was used last, in lists */
};

struct dp_cuda_graphs {
    int holds;
    struct dp_cuda_list held;
    _Atomic pthread_t owner; /* of what is held */
    struct dp_error failed;  /* of a flush that nobody may have heard of */
    uint64_t seen[DP_CUDA_SEEN], n_seen, clock;
    struct dp_cuda_graph graph[DP_CUDA_GRAPHS];
    int n;
};

int dp_cuda_graphs_open(struct dp_slot *slot, struct dp_error *err);
void dp_cuda_graphs_close(struct dp_slot *slot);
/* Forgets all lists, after their graphs have ended. */
void dp_cuda_graphs_drop(struct dp_slot *slot);

/* graph_cache.c. The graph of a list, NULL: none. */
struct dp_cuda_graph *dp_cuda_graph_find(struct dp_cuda_graphs *graphs,
                                         const struct dp_cuda_list *list);
/* Whether the list was launched before; from now on it was. */
bool dp_cuda_graph_seen(struct dp_cuda_graphs *graphs, const struct dp_cuda_list *list);
/* As if a list of that hash had never been launched. */
void dp_cuda_graph_forget(struct dp_cuda_graphs *graphs, uint64_t hash);
/* Whether there is a place for another graph, or one that was not used for long. Where more lists
 * take turns than there are places, the first keep theirs: each new one would push out another that
 * is needed again soon. */
bool dp_cuda_graph_room(const struct dp_cuda_graphs *graphs);
/* A place for the list's graph, exec NULL; if there is none left, that of the one not used for
 * longest, which may still be at work. */
int dp_cuda_graph_add(struct dp_slot *slot, const struct dp_cuda_list *list,
                      struct dp_cuda_graph **graph, struct dp_error *err);
int dp_cuda_list_append(struct dp_slot *slot, struct dp_cuda_list *list, enum dp_kernel kernel,
                        const void *args, size_t bytes, struct dp_error *err);

#endif
