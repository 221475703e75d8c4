/* machine/node.h: reads the node on which the devices of a run are. */
#ifndef HARNESS_NODE_NODE_H
#define HARNESS_NODE_NODE_H

#include "record/record.h"

/* NUMA nodes by core, and with gpus what NVML and the PCI bus say of GPUs, and the network ports.
 * Fills node, gpu_facts and gpus_on_bus of the run. What is absent is said; -1: something is there
 * and could not be read, for want of memory or of file descriptors. Without gpus nothing wakes
 * NVIDIA's driver. root: as in machine/sysfs.h; nvml: as in machine/nvml.h. */
int node_read(const char *root, const char *nvml, bool gpus, struct record_run *run);

/* Whether a list of devices has GPUs, by its kind: "cuda:0-3". */
bool node_has_gpus(const char *devices);

/* Notes about the node, a line each: what is down, lost, slowed or otherwise not as it should be.
 * Writes the note after *at, which begins at 0; false: there are no more. */
bool node_note(const struct record_run *run, int *at, char note[RECORD_NODE_TEXT]);

#endif
