/* machine/places.h: the processes that a launcher has started, where they are and on what. */
#ifndef HARNESS_RECORD_PLACES_H
#define HARNESS_RECORD_PLACES_H

#include "record/record.h"
#include "record/roles.h"

/* One process: what it said of itself (files/launcher_messages.h), and the header that its records
 * would have.
 */
struct record_place {
    char host[64], library[96];
    long pid;
    struct record_run run;
};

/* Fills host, pid and library from "HOST PID LIBRARY". */
void record_place_begun(struct record_place *place, const char *begun);

/* Fields that say what a process runs on: of build, system and machine. Those that differ between
 * the processes, one after the other; NULL: there are no more. `after` is NULL at first.
 */
const struct record_field *record_places_differ(const struct record_place place[], int n,
                                                const struct record_field *after);
/* Its value in the run of a process; of a digest the first 12 digits. */
void record_place_show(const struct record_field *field, const struct record_place *place,
                       char *text, size_t bytes);
/* Whether the libraries of MPI are other ones. */
bool record_places_libraries(const struct record_place place[], int n);

/* lockstep/places/1.0: all of it. NULL: memory is short. Caller frees. */
char *record_places_text(const char *launcher, const struct record_place place[], int n);

#endif
