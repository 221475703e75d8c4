/* count.h: the cases of area COUNT that are not in count.c: numbers of ranks. Each is a case of its
 * own, so that one which lacks devices is skipped. */
#ifndef CASES_COUNT_H
#define CASES_COUNT_H

#include "check.h"

void count_ranks_two(struct check *c);
void count_ranks_three(struct check *c);
void count_ranks_four(struct check *c);
void count_ranks_five(struct check *c);
void count_ranks_six(struct check *c);
void count_ranks_seven(struct check *c);
void count_ranks_eight(struct check *c);
void count_ranks_nine(struct check *c);
void count_ranks_more(struct check *c); /* 10, 11 or 12 */

#endif
