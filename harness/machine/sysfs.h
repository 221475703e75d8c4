/* machine/sysfs.h: what the kernel's files say of PCI devices and network ports. They are data:
 * names and numbers are cut to their room and cleaned; what cannot be read is NaN or "". What is
 * there, and could not be read for want of memory or of file descriptors, is a failure. */
#ifndef HARNESS_NODE_SYSFS_H
#define HARNESS_NODE_SYSFS_H

#include <stdbool.h>

#include "record/node.h"

struct sysfs {
    const char *root; /* "", or a folder with another machine's /sys */
    int status;       /* 0; -1: something is there and could not be read, as in machine/machine.h */
};

/* The NUMA node nearest to a PCI device; NaN: unknown. */
double sysfs_numa(struct sysfs *sys, const char *bus);

/* A GPU on the PCI bus, of a vendor that makes some for computing. */
struct sysfs_gpu {
    char bus[16], id[16]; /* "0000:19:00.0", "10de:2330" */
};
/* The first most of them by address; their number, -1: the bus cannot be read. */
int sysfs_gpus(struct sysfs *sys, struct sysfs_gpu gpu[], int most);
/* Address, NUMA node and PCI link of a GPU that only the bus knows. */
void sysfs_gpu_read(struct sysfs *sys, const struct sysfs_gpu *from, struct record_gpu *gpu);

/* The first most ports of InfiniBand and RoCE cards, then interfaces of PCI cards; their number. */
int sysfs_nics(struct sysfs *sys, struct record_nic nic[], int most);

#endif
