/* ids.h: device lists in which no position can be mistaken for a device. */
#ifndef CASES_IDS_H
#define CASES_IDS_H

/* k devices 0 .. k-1 in a mixed order, for the counts of check_count: 2,0,3,1 for 4. */
const int *mixed_ids(int k);

#endif
