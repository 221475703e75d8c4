/* mutants.h: the deliberate bugs that options of mutant_impl() can switch on, one at a time. */
#ifndef IMPLS_MUTANTS_H
#define IMPLS_MUTANTS_H

#include <stdatomic.h>

struct mutant {
    const char *name; /* the option: "M01-floor-split" */
    const char *rule; /* the rule whose cases should catch it */
    const char *what; /* what it does, and what shows it */
};
extern const struct mutant mutant_list[];
extern const int mutant_n;

/* Sessions that this process opens from now on set asked[i] whenever they look whether bug i is
 * switched on; NULL: no longer. Where a session without a bug never looked, one with bug i does the
 * same, step by step. */
void mutants_note(atomic_uchar asked[]);

#endif
