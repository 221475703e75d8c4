/* machine/watch.h: watches the GPUs of a cell before, during and after its measured steps.
 *
 * All fields are read before the first measured step and after the last one. In between, a separate
 * thread reads four numbers of each GPU, NODE_WATCH_RATE times per second, and measures how long
 * that takes. No step waits for it. The thread is created before workers are bound, so that it may
 * run on any core. */
#ifndef HARNESS_NODE_WATCH_H
#define HARNESS_NODE_WATCH_H

#include "record/record.h"

enum { NODE_WATCH_RATE = 4 };

struct node_watch;
struct dp_group;

/* Returns NULL if there is nothing to watch: no GPUs in the list, no NVML, or no memory. nvml is as
 * in machine/nvml.h. */
struct node_watch *node_watch_open(const char *devices, const char *nvml);
/* Chooses the GPUs of these slots. A GPU that NVML does not show is not watched. */
void node_watch_choose(struct node_watch *watch, struct dp_group *group);
/* Call these before and after the measured steps. All of these functions accept NULL. */
void node_watch_begin(struct node_watch *watch);
void node_watch_end(struct node_watch *watch);
/* Writes the readings to the cell. */
void node_watch_note(struct node_watch *watch, struct record_cell *cell);
void node_watch_close(struct node_watch *watch);

#endif
