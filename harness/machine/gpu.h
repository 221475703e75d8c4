/* machine/gpu.h: reads a GPU through NVML into the fields of a record. A field without an answer is
 * NaN or an empty text, never 0; `absent` says why. */
#ifndef HARNESS_NODE_GPU_H
#define HARNESS_NODE_GPU_H

#include "machine/nvml.h"
#include "record/node.h"

/* Reads all fields except the NUMA node. */
void node_gpu_read(const struct node_nvml *nvml, node_device device, struct record_gpu *gpu);

/* Reads what changes from moment to moment: throttle reasons, clocks, temperature, power. The rest
 * of the reading does not change. */
void node_reading_quick(const struct node_nvml *nvml, node_device device,
                        struct record_reading *reading);
/* Reads the rest: errors, links, processes. */
void node_reading_rest(const struct node_nvml *nvml, node_device device,
                       struct record_reading *reading);

#endif
