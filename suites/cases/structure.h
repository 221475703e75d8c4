/* structure.h: the cases of area STRUCT that are not in structure.c. */
#ifndef CASES_STRUCTURE_H
#define CASES_STRUCTURE_H

struct check;

/* structure_lists.c: lists of three */
void structure_four(struct check *c);

#endif
