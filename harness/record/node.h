/* record/node.h: the node that the devices of a run are in: NUMA nodes, GPUs and network ports. It
 * also has the state of the GPUs of a cell around its measured steps.
 *
 * NaN and an empty text mean that a value could not be read. Fields without a comment are rows of
 * schema/node_fields.h. harness/machine reads them. */
#ifndef HARNESS_RECORD_NODE_H
#define HARNESS_RECORD_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/structs.h"

/* Bits of throttle, as NVML documents them. */
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
/* Writes "power cap, software thermal slowdown", "none", or "unknown" for NaN; other bits as a
 * number. */
enum { RECORD_NODE_TEXT = 240 };
void record_throttle_words(double throttle, char text[RECORD_NODE_TEXT]);

void record_watched_free(struct record_watched *watched, int n);

struct record_cell;
/* Whether the reports of the GPUs of the cell mean that its times cannot be trusted, and why: a
 * slowdown by heat, or by the hardware because of its power supply, or uncorrected memory errors. A
 * value that is not known raises no doubt. */
bool record_gpu_doubt(const struct record_cell *cell, char why[RECORD_NODE_TEXT]);
/* Other reports that are mentioned, although the times can be trusted. */
enum record_gpu_note {
    RECORD_NOTE_POWER_CAP, /* at its power limit, as a healthy GPU is under load */
    RECORD_NOTE_CORRECTED, /* memory errors that were corrected */
    RECORD_NOTE_LINKS,     /* errors of NVLinks, or an NVLink that is down */
    RECORD_NOTE_FOREIGN,   /* processes of other users */
    RECORD_NOTES
};
/* Writes the note for the first GPU of the cell that has it. Returns false if none has it. */
bool record_gpu_note(const struct record_cell *cell, enum record_gpu_note which,
                     char note[RECORD_NODE_TEXT]);

#endif
