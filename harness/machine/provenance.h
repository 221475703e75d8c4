/* machine/provenance.h: the header record of a sweep: what ran, where, and how it was built. */
#ifndef HARNESS_PROVENANCE_H
#define HARNESS_PROVENANCE_H

#include "dp.h"
#include "record/roles.h"

/* Fills everything but seed, devices, command and planned, which are the plan's. Slots and
 * backend are those of group; machine must be read before a group binds this thread. 0, or -1 when
 * the machine could not be read (machine/machine.h). */
int provenance_read(struct dp_group *group, const struct dp_machine *machine,
                    struct record_run *run);

/* The part of it that is the same in all processes of this program. */
void provenance_build(struct record_run *run);

/* SHA-256 of what that is: two programs with the same one are of one source and one build. 0, or
 * -1.
 */
int provenance_program(const struct record_run *run, char hex[DIGEST_HEX]);

/* Why no judgement may rest on times of such a run, each to follow "it is of". Their number; 0: it
 * may. A changed tree is refused, refused unless the user asks for it, or taken. */
enum { PROVENANCE_DOUBTS = 5, PROVENANCE_DOUBT = 128 };
enum provenance_dirty { PROVENANCE_REFUSED, PROVENANCE_ASKED, PROVENANCE_TAKEN };
size_t provenance_doubts(const struct record_run *run, enum provenance_dirty dirty,
                         char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT]);
/* The fields of a run that doubts are made of, as a table. */
enum { PROVENANCE_FACTS = 6 };
void provenance_facts(struct record_field facts[PROVENANCE_FACTS + 1]);

/* Whether a slot of the group is on a fake GPU of the tests: what is measured there is no result.
 */
bool provenance_simulated(struct dp_group *group);

/* Whether both were built from one source: the same commit, changed or not, and the same digest. An
 * unknown commit is not the same as an unknown one: then only the digest shows it. */
bool provenance_same_source(const struct record_run *a, const struct record_run *b);

/* 0 when both records are of the same program on the same machine, started once, as all fields of
 * the roles identity, build, system, machine and host say; else -1 and what differs. */
int provenance_compare(const struct record_run *here, const struct record_run *there, char *why,
                       size_t bytes);

#endif
