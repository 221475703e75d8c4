/* ids.h: device lists in mixed order, so that the use of an index as a device shows. */
#ifndef CASES_IDS_H
#define CASES_IDS_H

/* Returns k devices 0 .. k-1 in a mixed order, for the counts of check_count: 2,0,3,1 for 4. */
const int *mixed_ids(int k);

#endif
