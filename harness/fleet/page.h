/* fleet/page.h: the tables of the page, for page.c. Each returns 0, or -1: memory is short. */
#ifndef HARNESS_FLEET_PAGE_H
#define HARNESS_FLEET_PAGE_H

#include "fleet/fleet.h"

struct text_out;

int fleet_page_statuses(struct text_out *out, const struct fleet *fleet);
int fleet_page_failing(struct text_out *out, const struct fleet *fleet);
/* Of each place in a node: how many numbers are outlying there, and whose. */
int fleet_page_positions(struct text_out *out, const struct fleet *fleet);
int fleet_page_outliers(struct text_out *out, const struct fleet *fleet);
int fleet_page_drift(struct text_out *out, const struct fleet *fleet);
/* All of them, folded up. */
int fleet_page_nodes(struct text_out *out, const struct fleet *fleet);

#endif
