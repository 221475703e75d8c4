/* machine/sysfs.h: reads files of the kernel about PCI devices and network ports. They are data:
 * names and numbers are cut to their capacity and cleaned, and a value that cannot be read is NaN
 * or "". A file that exists, but cannot be read for lack of memory or of file descriptors, is a
 * failure. */
#ifndef HARNESS_NODE_SYSFS_H
#define HARNESS_NODE_SYSFS_H

#include <stdbool.h>

#include "record/record.h"

struct sysfs {
    const char *root; /* "", or a folder with /sys of another machine */
    int status;       /* 0; -1: something exists, but could not be read, as in machine/machine.h */
};

/* The NUMA node nearest to a PCI device; NaN: unknown. */
double sysfs_numa(struct sysfs *sys, const char *bus);

/* A GPU on the PCI bus, from a vendor that makes GPUs for computing. */
struct sysfs_gpu {
    char bus[16], id[16]; /* "0000:19:00.0", "10de:2330" */
};
/* Finds the first most GPUs, sorted by address. Returns their number; -1: the bus cannot be read.
 */
int sysfs_gpus(struct sysfs *sys, struct sysfs_gpu gpu[], int most);
/* Reads address, NUMA node and PCI link of a GPU that only the bus knows. */
void sysfs_gpu_read(struct sysfs *sys, const struct sysfs_gpu *from, struct record_gpu *gpu);

/* Finds the first most ports: those of InfiniBand and RoCE cards, then interfaces of PCI cards.
 * Returns their number. */
int sysfs_nics(struct sysfs *sys, struct record_nic nic[], int most);

#endif
