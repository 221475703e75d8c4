/* command/device_list.h: what a list of GPUs says, without looking for them. */
#ifndef HARNESS_DEVICE_LIST_H
#define HARNESS_DEVICE_LIST_H

#include <stddef.h>

/* Entries of "cuda:0-3,5": 5. -1 when it is no such list, or one that only the machine can count,
 * like "cuda:all". */
int device_list_count(const char *list);

/* The first n of its entries, "cuda:0-3" for 4. "cuda:all" begins with GPU 0. 0, or -1 when it is
 * no such list, has fewer, or the text is too short. */
int device_list_first(const char *list, size_t n, char *text, size_t bytes);

#endif
