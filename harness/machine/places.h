/* machine/places.h: the processes that a launcher has started, and where they run. */
#ifndef HARNESS_RECORD_PLACES_H
#define HARNESS_RECORD_PLACES_H

#include "record/record.h"

/* One process: what it said about itself (launch/launcher_messages.h), and the header that its
 * records would have. */
struct record_place {
    char host[64], library[96];
    long pid;
    struct record_run run;
};

/* Fills host, pid and library from "HOST PID LIBRARY". */
void record_place_begun(struct record_place *place, const char *begun);

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
