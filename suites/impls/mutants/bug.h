/* bug.h: the numbers of mutant_list. To switch a bug on, the code compares its number at the place
 * of the mistake. */
#ifndef MUTANTS_BUG_H
#define MUTANTS_BUG_H

enum bug {
#define BUG(number, name, rule, what) number,
#include "bug_list.h"
#undef BUG
    BUG_NONE /* the number of bugs */
};

#endif
