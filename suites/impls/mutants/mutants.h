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
int mutant_find(const char *name); /* mutant_n: there is none */

/* From now on sessions that this process opens set asked[i] whenever they test whether bug i is
 * switched on; NULL: no longer. If a session without a bug never tested for bug i, a session with
 * it does exactly the same. */
void mutants_note(atomic_uchar asked[]);

#endif
