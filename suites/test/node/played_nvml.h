/* played_nvml.h: what the test's NVML exports, as the program calls it. */
#ifndef TEST_NODE_PLAYED_NVML_H
#define TEST_NODE_PLAYED_NVML_H

#include "machine/nvml.h"
#include "played.h"

typedef unsigned long long wide;

/* Reads a number of the file in the form that a function of NVML returns. */
int played_small(const struct played_gpu *gpu, const char *name, unsigned *value);

#endif
