/* command/device_list.h: what a list of devices says, without looking for them: "virt:4",
 * "cuda:0-3,5", and suffixes after either, like "+lag" and "+500us". What core refuses is not
 * refused here. */
#ifndef HARNESS_DEVICE_LIST_H
#define HARNESS_DEVICE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Entries of "cuda:0-3,5": 5; of "virt:4+lag": 4, of a number that is none: 0. -1 when it is a list
 * of no known kind, or one that only the machine can count, like "cuda:all". */
int device_list_count(const char *list);

/* The first n of its entries with its suffixes: "cuda:0-3" for 4, "virt:3+lag" for 3. "cuda:all"
 * begins with GPU 0. 0, or -1 when it is no such list, has fewer, or the text is too short. */
int device_list_first(const char *list, size_t n, char *text, size_t bytes);

/* Whether it names all devices of a kind: "cuda:all". */
bool device_list_all(const char *list);

/* The kind of its devices with its suffixes: "virt+lag" of "virt:4+lag", "cuda" of "cuda:0". */
void device_list_kind(const char *list, char *text, size_t bytes);

/* Whether a list, or what device_list_kind makes of it, has slow transfers on purpose: "+500us". */
bool device_list_slowed(const char *list);

/* Whether one of its operations fails on purpose: "+fault:launch@3". */
bool device_list_faulty(const char *list);
/* Whether that only makes a device or a link slow, and changes no result: "+fault:slow@1/1". */
bool device_list_fault_slows(const char *list);

#endif
