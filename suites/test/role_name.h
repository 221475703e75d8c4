/* role_name.h: the name of the role of a field, like "identity", as results/README.md has it. */
#ifndef TEST_ROLE_NAME_H
#define TEST_ROLE_NAME_H

#include "schema/fields.h"

static inline const char *role_name(enum record_role role)
{
    static const char *const names[] = {"identity", "build",     "system", "machine",
                                        "host",     "condition", "result"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if ((unsigned)role == 1u << i)
            return names[i];
    return "unknown";
}

#endif
