/* command/device_list.h: what a device list says, without looking for the devices. */
#ifndef HARNESS_DEVICE_LIST_H
#define HARNESS_DEVICE_LIST_H

#include <stddef.h>

/* Devices of "cuda:0-3,5": 5; of "virt:4+lag": 4; of "virt:x": 0. -1 when it is of no known kind,
 * or one that only the machine can count, like "cuda:all". */
int device_list_count(const char *list);

/* The first n of them: of "cuda:0-5" and 4 "cuda:0-3", of "virt:8+lag" "virt:4+lag". "cuda:all"
 * begins with GPU 0. 0, or -1 when it has fewer, or the text is too short. */
int device_list_first(const char *list, size_t n, char *text, size_t bytes);

#endif
