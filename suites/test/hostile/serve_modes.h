/* serve_modes.h: ways in which an implementation in another process can be bad. */
#ifndef EXEC_SERVE_MODES_H
#define EXEC_SERVE_MODES_H

#include <jansson.h>
#include <stdio.h>

struct serve_mode {
    const char *name;
    void (*misbehave)(json_t *answer); /* called instead of writing the answer, which is right */
};

const struct serve_mode *serve_mode_of(const char *name); /* NULL: there is none */
void serve_list_modes(FILE *stream);

#endif
