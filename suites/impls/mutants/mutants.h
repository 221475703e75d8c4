/* mutants.h: the deliberate bugs that options of mutant_impl() can switch on, one at a time. */
#ifndef IMPLS_MUTANTS_H
#define IMPLS_MUTANTS_H

struct mutant {
    const char *name; /* the option: "M01-floor-split" */
    const char *rule; /* the rule whose cases should catch it */
    const char *what; /* what it does, and what shows it */
};
extern const struct mutant mutant_list[];
extern const int mutant_n;

#endif
