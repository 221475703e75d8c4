/* files/shipped.h: files that are installed with this program, by their names. */
#ifndef HARNESS_SHIPPED_H
#define HARNESS_SHIPPED_H

#include <stddef.h>

/* A kind of them: share/lockstep/FOLDER next to the folder that the program is in, or FOLDER of the
 * tree that it was built in. */
struct shipped {
    const char *folder, *ending; /* "profiles", ".yaml" */
};

enum { SHIPPED_WORDS = 1280 };
/* "a100-sxm-x8, b200-x8 in FOLDER", or "none in" those where there could be some. */
void shipped_words(const struct shipped *kind, char text[], size_t bytes);
/* Where the one of this name is; of any other name, and of a file that is here, the name itself. 0,
 * or -1: there is no such file either. */
int shipped_find(const struct shipped *kind, const char *name, char path[], size_t bytes);

#endif
