/* graph.h: CUDA graphs as a cache of lists of launches.
 *
 * While the compute queue of a slot is on hold, launches are recorded as kernel and arguments, and
 * their code on the host runs as always. A list that was launched before with the same bytes is
 * launched as a graph. Any pointer, size or number that differs makes another list. So an edit of a
 * module cannot make a graph stale. Only released memory drops graphs, because its addresses may be
 * used again for other memory. */
#ifndef DP_CUDA_GRAPH_H
#define DP_CUDA_GRAPH_H

#include "cuda.h"

#include <pthread.h>

#define DP_CUDA_GRAPHS 256  /* of a slot */
#define DP_CUDA_SEEN   1024 /* lists that a slot remembers as launched once */
#define DP_CUDA_UNUSED 1024 /* after so many other lists a newer graph may replace this one \ */

/* Launches in order: a struct dp_cuda_item each, followed by its arguments. */
struct dp_cuda_list {
    unsigned char *items;
    size_t bytes, capacity;
    uint64_t launches, hash;
};

struct dp_cuda_item {
    uint32_t kernel, bytes; /* bytes of its arguments, a multiple of 8 */
};

struct dp_cuda_graph {
    struct dp_cuda_list list;
    cudaGraphExec_t exec; /* NULL: CUDA cannot capture it */
    uint64_t used;        /* its last use, counted in lists */
};

struct dp_cuda_graphs {
    int holds;
    struct dp_cuda_list held;
    _Atomic pthread_t owner; /* of what is held back */
    struct dp_error failed;  /* of a flush whose caller may not have reported it */
    uint64_t seen[DP_CUDA_SEEN], n_seen, clock;
    struct dp_cuda_graph graph[DP_CUDA_GRAPHS];
    int n;
};

int dp_cuda_graphs_open(struct dp_slot *slot, struct dp_error *err);
void dp_cuda_graphs_close(struct dp_slot *slot);
/* Forgets all lists, after their graphs have ended. */
void dp_cuda_graphs_drop(struct dp_slot *slot);

/* graph_cache.c. Returns the graph of a list; NULL: none. */
struct dp_cuda_graph *dp_cuda_graph_find(struct dp_cuda_graphs *graphs,
                                         const struct dp_cuda_list *list);
/* Returns true if the list was launched before; from now on it was. */
bool dp_cuda_graph_seen(struct dp_cuda_graphs *graphs, const struct dp_cuda_list *list);
/* Forgets that a list with that hash was launched. */
void dp_cuda_graph_forget(struct dp_cuda_graphs *graphs, uint64_t hash);
/* Returns true if there is a place for another graph, or one that was unused for long. If more
 * lists alternate than there are places, the first ones keep theirs: each new one would replace
 * another that is needed again soon. */
bool dp_cuda_graph_has_place(const struct dp_cuda_graphs *graphs);
/* Makes a place for the graph of the list, with exec NULL. If all are used, it takes the one unused
 * for longest, whose graph may still be running. */
int dp_cuda_graph_add(struct dp_slot *slot, const struct dp_cuda_list *list,
                      struct dp_cuda_graph **graph, struct dp_error *err);
int dp_cuda_list_append(struct dp_slot *slot, struct dp_cuda_list *list, enum dp_kernel kernel,
                        const void *args, size_t bytes, struct dp_error *err);

#endif
