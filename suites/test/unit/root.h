/* root.h: a folder of a test, in the place of the root of the file system. */
#ifndef UNIT_ROOT_H
#define UNIT_ROOT_H

extern char root[]; /* its path, from root_make on */

void root_make(void);
void root_remove(void);

/* Returns the path of a file under it, whose name begins with a slash; valid until the next call.
 */
const char *root_path(const char *name);

/* Writes a file under it, and makes the folders that it is in. */
void root_put(const char *name, const char *text);

#endif
