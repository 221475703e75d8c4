/* record/node.h: the node behind the devices of a run: NUMA nodes, GPUs and network ports, and what
 * the GPUs of a cell were like about its measured steps.
 *
 * NaN: nobody could read it; an empty text likewise. What has no comment is a row of
 * schema/node_fields.h. harness/machine reads them. */
#ifndef HARNESS_RECORD_NODE_H
#define HARNESS_RECORD_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/structs.h"

/* Bits of throttle, by NVML's documentation. */
enum {
    RECORD_THROTTLE_IDLE = 0x1,
    RECORD_THROTTLE_SET = 0x2,
    RECORD_THROTTLE_POWER_CAP = 0x4,
    RECORD_THROTTLE_HARDWARE = 0x8,
    RECORD_THROTTLE_SYNC_BOOST = 0x10,
    RECORD_THROTTLE_SOFTWARE_HEAT = 0x20,
    RECORD_THROTTLE_HARDWARE_HEAT = 0x40,
    RECORD_THROTTLE_POWER_BRAKE = 0x80,
    RECORD_THROTTLE_DISPLAY = 0x100
};
/* "power cap, software thermal slowdown"; "none"; "unknown" of NaN; other bits by their number. */
enum { RECORD_NODE_TEXT = 240 };
void record_throttle_words(double throttle, char text[RECORD_NODE_TEXT]);

void record_watched_free(struct record_watched *watched, int n);

struct record_cell;
/* Whether what the GPUs of the cell said lets nobody believe its times, and why: slowed down by
 * heat, or by the hardware for its power supply, or uncorrected errors of memory. What is not known
 * is no doubt. */
bool record_gpu_doubt(const struct record_cell *cell, char why[RECORD_NODE_TEXT]);
/* What else is worth saying of them, and lets them be believed. */
enum record_gpu_note {
    RECORD_NOTE_POWER_CAP, /* at its power limit, as a healthy GPU is under load */
    RECORD_NOTE_CORRECTED, /* errors of memory that were corrected */
    RECORD_NOTE_LINKS,     /* errors of NVLinks, or one that is down */
    RECORD_NOTE_FOREIGN,   /* processes of others */
    RECORD_NOTES
};
/* About the first GPU of the cell that has it; false: none has. */
bool record_gpu_note(const struct record_cell *cell, enum record_gpu_note which,
                     char note[RECORD_NODE_TEXT]);

#endif
