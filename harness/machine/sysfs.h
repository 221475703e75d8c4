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

/* Adds the GPUs on the PCI bus that the node does not have yet, from vendors that make GPUs for
 * computing: address, NUMA node and PCI link. absent: why the rest is not known. Returns how many
 * GPUs are on the bus; -1: it cannot be read. */
int sysfs_gpus(struct sysfs *sys, struct record_node *node, const char *absent);
/* The next GPU of the node, of which nothing is known yet; NULL: there is no room. */
struct record_gpu *sysfs_next_gpu(struct record_node *node);

/* Finds the first most ports: those of InfiniBand and RoCE cards, then interfaces of PCI cards.
 * Returns their number. */
int sysfs_nics(struct sysfs *sys, struct record_nic nic[], int most);

#endif
