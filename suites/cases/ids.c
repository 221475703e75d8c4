/* ids.c: device lists in mixed order, so that the use of an index as a device shows. */
#include "ids.h"

#include <stddef.h>

enum { MOST = 12 };

const int *mixed_ids(int k)
{
    static const int lists[][MOST] = {{0},
                                      {1, 0},
                                      {2, 0, 1},
                                      {2, 0, 3, 1},
                                      {3, 0, 4, 2, 1},
                                      {4, 1, 5, 0, 3, 2},
                                      {3, 6, 1, 4, 0, 5, 2},
                                      {5, 2, 7, 0, 3, 6, 1, 4},
                                      {6, 2, 8, 0, 4, 7, 1, 5, 3},
                                      {7, 3, 9, 0, 5, 8, 1, 6, 4, 2},
                                      {8, 3, 10, 1, 6, 0, 9, 4, 7, 2, 5},
                                      {9, 4, 11, 2, 7, 0, 10, 5, 8, 3, 1, 6}};

    return k >= 1 && k <= MOST ? lists[k - 1] : NULL;
}
