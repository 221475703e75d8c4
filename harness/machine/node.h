/* machine/node.h: reads the node that the devices of a run are in. */
#ifndef HARNESS_NODE_NODE_H
#define HARNESS_NODE_NODE_H

#include "record/record.h"

/* Reads the NUMA nodes through core, and with gpus also the GPUs (through NVML and the PCI bus) and
 * the network ports. It fills node, gpu_facts and gpus_on_bus of the run. Absent facts are named
 * there. Returns 0, or -1: something exists, but could not be read for lack of memory or of file
 * descriptors. Without gpus it does not start the driver of NVIDIA. root is as in machine/sysfs.h,
 * nvml as in machine/nvml.h. */
int node_read(const char *root, const char *nvml, bool gpus, struct record_run *run);

/* Whether a device list has GPUs, judged by its kind: "cuda:0-3". */
bool node_has_gpus(const char *devices);

/* Writes notes about the node, one line each: what is down, lost, slowed, or otherwise not as it
 * should be. It writes the note after *at, which begins at 0. False: there are no more notes. */
bool node_note(const struct record_run *run, int *at, char note[RECORD_NODE_TEXT]);

#endif
