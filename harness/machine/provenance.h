/* machine/provenance.h: fills the header record of a sweep: what ran, where, and how it was built.
 */
#ifndef HARNESS_PROVENANCE_H
#define HARNESS_PROVENANCE_H

#include "dp.h"
#include "record/record.h"

/* Fills everything except seed, devices, command and planned, which belong to the plan. Slots and
 * backend are those of group. machine must be read before a group binds this thread. Returns 0, or
 * -1 if the machine could not be read (machine/machine.h). */
int provenance_read(struct dp_group *group, const struct dp_machine *machine,
                    struct record_run *run);

/* Fills the part that is the same in all processes of this program. */
void provenance_build(struct record_run *run);

/* Computes the SHA-256 of that part: two programs with the same one have the same source and build.
 * Returns 0, or -1. */
int provenance_program(const struct record_run *run, char hex[DIGEST_HEX]);

/* Writes why times of such a run cannot be judged; each reason follows "it is of". Returns their
 * number; 0: they can be judged. dirty says whether a changed source tree is refused, refused
 * unless the user asks for it, or accepted. */
enum { PROVENANCE_DOUBTS = 5, PROVENANCE_DOUBT = 128 };
enum provenance_dirty { PROVENANCE_REFUSED, PROVENANCE_ASKED, PROVENANCE_TAKEN };
size_t provenance_doubts(const struct record_run *run, enum provenance_dirty dirty,
                         char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT]);
/* Writes a table of the fields of a run that doubts depend on. */
enum { PROVENANCE_FACTS = 6 };
void provenance_facts(struct record_field facts[PROVENANCE_FACTS + 1]);

/* Whether both were built from one source: the same commit, changed or not, and the same digest.
 * Two unknown commits are not taken for the same; then only the digest can show it. */
bool provenance_same_source(const struct record_run *a, const struct record_run *b);

/* Returns 0 if both records are of the same program on the same machine in one boot, as all fields
 * of the roles identity, build, system, machine and host say; else -1 and what differs. */
int provenance_compare(const struct record_run *here, const struct record_run *there, char *why,
                       size_t bytes);

#endif
