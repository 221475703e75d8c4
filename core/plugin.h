/* plugin.h: loads plug-ins: shared objects that link libraries which a program may not need. */
#ifndef DP_PLUGIN_H
#define DP_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

/* Loads the plug-in `name` by dlopen with those flags, from the folder of the program (a build
 * tree), or from ../folder (an installation). It stays loaded. On failure it returns NULL, and why
 * has the reason; *missing (unless NULL) says whether the plug-in or one of its libraries does not
 * exist here. */
void *dp_plugin_open(const char *name, const char *folder, int flags, bool *missing, char *why,
                     size_t bytes);
/* Loads the plug-in at a path in the same way. */
void *dp_plugin_open_path(const char *path, int flags, char *why, size_t bytes);

#endif
