/* nest.h: the cases of nest_mixed.c, for the table in nest.c. */
#ifndef CASES_NEST_H
#define CASES_NEST_H

#include "check.h"

void nest_inside_refused(struct check *c);
void nest_inside_accepted(struct check *c);
void nest_host_head(struct check *c);
void nest_host_tail(struct check *c);
void nest_host_inside_refused(struct check *c);
void nest_same_text(struct check *c);

#endif
