/* machine/devices.h: writes the device list and the machine as one JSON object. */
#ifndef HARNESS_RECORD_DEVICES_H
#define HARNESS_RECORD_DEVICES_H

#include "dp.h"
#include "record/record.h"

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

#endif
