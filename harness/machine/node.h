/* machine/node.h: the node that the devices of a run are in: reads it, watches its GPUs, and shows
 * it in words, as a picture and as JSON. */
#ifndef HARNESS_NODE_NODE_H
#define HARNESS_NODE_NODE_H

#include <stdio.h>

#include "dp.h"
#include "record/record.h"

/* Reads the NUMA nodes through core, and with gpus also the GPUs (through NVML and the PCI bus) and
 * the network ports. It fills node, gpu_facts and gpus_on_bus of the run. Absent facts are named
 * there. Returns 0, or -1: something exists, but could not be read for lack of memory or of file
 * descriptors. Without gpus it does not start the driver of NVIDIA. root is as in
 * machine/machine.h, nvml as in machine/nvml.h. */
int node_read(const char *root, const char *nvml, bool gpus, struct record_run *run);

/* Whether a device list has GPUs, judged by its kind: "cuda:0-3". */
bool node_has_gpus(const char *devices);

/* Writes notes about the node, one line each: what is down, lost, slowed, or otherwise not as it
 * should be. It writes the note after *at, which begins at 0. False: there are no more notes. */
bool node_note(const struct record_run *run, int *at, char note[RECORD_NODE_TEXT]);

/* ---- watching its GPUs ---------------------------------------------------------------------- */

/* Watches the GPUs of a cell before, during and after its measured steps.
 *
 * All fields are read before the first measured step and after the last one. In between, a separate
 * thread reads four numbers of each GPU, NODE_WATCH_RATE times per second, and measures how long
 * that takes. No step waits for it. The thread is created before workers are bound, so that it may
 * run on any core. */
enum { NODE_WATCH_RATE = 4 };
struct node_watch;

/* Returns NULL if there is nothing to watch: no GPUs in the list, or no NVML. nvml is as
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

/* ---- words ---------------------------------------------------------------------------------- */

/* Words are at most 80 columns wide. Texts from the system are escaped for the form. */
enum { NODE_COLUMNS = 80 };

/* Prints, as a picture, packages and NUMA nodes with their cores and memory, and the GPUs and
 * network ports near each. */
void node_tree(FILE *to, enum text_form form, const struct record_run *run);

/* Prints a line. If it is too wide, it continues below its text. */
void node_line(FILE *to, enum text_form form, const char *first, const char *others,
               const char *text);

/* Writes the NVLinks of a reading: "18 of 18 NVLinks up: 9 to 0000:05:00.0, 9 to 0000:06:00.0". "":
 * the GPU has none. */
enum { NODE_WORDS = 640 };
void node_link_words(const struct record_reading *reading, char text[NODE_WORDS]);
/* Writes "PCIe 5 x16"; if the current link differs from the best one, "PCIe 1 x16 of 5 x16". */
void node_pcie_words(const struct record_gpu *gpu, char text[NODE_WORDS]);
/* Prints the current state of the GPUs, a few lines each, and notes about it. */
void node_print(FILE *to, const struct record_run *run);

/* ---- JSON ----------------------------------------------------------------------------------- */

struct record_devices {
    const char *devices, *backend, *communicator;
    bool oversubscribed;
    const struct dp_machine *machine;
    struct dp_group *group;
    int n_slots;
    const struct record_run *run; /* for its node, and the source of the facts of its GPUs */
};

/* Returns an object of schema lockstep/devices/1.0; NULL if memory is short. The caller frees it.
 */
char *record_devices_text(const struct record_devices *devices);

/* ---- processes that a launcher has started, and where they run: places.c --------------------- */

/* One process: what it said about itself (launch/launcher.h), and the header that its
 * records would have. */
struct record_place {
    char host[64], library[96];
    long pid;
    struct record_run run;
};

/* Walks over the fields of roles build, system and machine, which say what a process runs on, and
 * returns the next one that differs between the processes; NULL: there are no more. after is the
 * previous one, or NULL for the first. */
const struct record_field *record_places_differ(const struct record_place place[], int n,
                                                const struct record_field *after);
/* Writes its value in the run of a process; for a digest, the first 12 digits. */
void record_place_show(const struct record_field *field, const struct record_place *place,
                       char *text, size_t bytes);
/* Whether the processes use different MPI libraries. */
bool record_places_libraries(const struct record_place place[], int n);

/* Returns all of it as lockstep/places/1.0; NULL if memory is short. The caller frees it. */
char *record_places_text(const char *launcher, const struct record_place place[], int n);

#endif
