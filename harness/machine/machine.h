/* machine/machine.h: names for kinds of machines, and for one machine between two boots; and what
 * the kernel knows of devices. */
#ifndef HARNESS_MACHINE_H
#define HARNESS_MACHINE_H

#include <stdio.h>

#include "dp.h"
#include "record/record.h"

/* Status of all of these functions. 0: anything that the system does not have is "". -1: the system
 * has it, but it could not be read, for example for lack of memory or of file descriptors. Then no
 * record may be begun, because its machine would look like another one. */

/* Computes the SHA-256 of everything that a time depends on: the processor with its flags, caches,
 * the numbers of packages, cores and processing units, the kernel set of the BLAS, GPUs, and memory
 * to 1 GiB. The name of the host is not part of it. root is "", or a folder with /proc of another
 * machine. */
int machine_class(const char *root, const struct dp_machine *machine, char hex[DIGEST_HEX]);

/* Computes the SHA-256 of the id of the machine and the id of its boot. */
int machine_instance(const char *root, char hex[DIGEST_HEX]);

/* Writes environment variables that change a result, "NAME=VALUE NAME=VALUE", sorted by name. A
 * text that is too long is cut, and ends with the SHA-256 of all of it. */
int machine_environment(char *const variables[], char *text, size_t bytes);

/* Opens a file of the system to read it. If it returns NULL, *status is set as above; otherwise it
 * is unchanged. */
FILE *machine_open(const char *path, int *status);
/* Reads the first line of such a file, with its newline. Returns whether there is one. */
bool machine_line(const char *root, const char *name, char *line, size_t bytes, int *status);

/* Reads what the host allows its processes, and what its kernel does in the background, into fields
 * of the run; NaN: the system does not tell. */
int host_read(const char *root, struct record_run *run);

/* ---- files of the kernel about PCI devices and network ports: machine/sysfs.c ---------------- */

/* They are data: names and numbers are cut to their capacity and cleaned, and a value that cannot
 * be read is NaN or "". */
struct sysfs {
    const char *root; /* "", or a folder with /sys of another machine */
    int status;       /* 0; -1: something exists, but could not be read, as above */
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

/* ---- the header of a sweep: what ran, where, and how it was built: machine/provenance.c ------ */

/* Fills everything except seed, devices, command and planned, which belong to the plan. Slots and
 * backend are those of group. machine must be read before a group binds this thread. Returns 0, or
 * -1 if the machine could not be read, as above. */
int provenance_read(struct dp_group *group, const struct dp_machine *machine,
                    struct record_run *run);

/* Fills the time, and the part that is the same in all processes of this program. */
void provenance_build(struct record_run *run);

/* Computes the SHA-256 of that part: two programs with the same one have the same source and build.
 * Returns 0, or -1. */
int provenance_program(const struct record_run *run, char hex[DIGEST_HEX]);

/* Writes why times of such a run cannot be judged; each reason follows "it is of". Returns their
 * number; 0: they can be judged. dirty says whether a changed source tree is refused, refused
 * unless the user asks for it, or accepted. */
enum { PROVENANCE_DOUBTS = 5, PROVENANCE_DOUBT = 128 };
enum provenance_dirty { PROVENANCE_REFUSED, PROVENANCE_ASKED, PROVENANCE_TAKEN };
size_t provenance_doubts(const struct record_run *run, enum provenance_dirty dirty,
                         char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT]);
/* Writes a table of the fields of a run that doubts depend on. */
enum { PROVENANCE_FACTS = 6 };
void provenance_facts(struct record_field facts[PROVENANCE_FACTS + 1]);

/* Whether both were built from one source: the same commit, changed or not, and the same digest.
 * Two unknown commits are not taken for the same; then only the digest can show it. */
bool provenance_same_source(const struct record_run *a, const struct record_run *b);

/* Returns 0 if both records are of the same program on the same machine in one boot, as all fields
 * of the roles identity, build, system, machine and host say; else -1 and what differs. */
int provenance_compare(const struct record_run *here, const struct record_run *there, char *why,
                       size_t bytes);

#endif
