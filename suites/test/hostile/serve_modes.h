/* serve_modes.h: ways in which an implementation in another process can be bad. */
#ifndef EXEC_SERVE_MODES_H
#define EXEC_SERVE_MODES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct serve_mode {
    const char *name;
    /* One of these takes the place of the answer, which is right. */
    const char *line;                  /* a whole line */
    const char *rest;                  /* what follows the id */
    const char *array;                 /* members that the first array of the answer gets */
    void (*misbehave)(json_t *answer); /* writes something itself */
    bool dies;                         /* the process ends after it */
    bool stays;                        /* the process says nothing more after it */
};

const struct serve_mode *serve_mode_of(const char *name); /* NULL: there is none */
void serve_misbehave(const struct serve_mode *mode, json_t *answer);
void serve_list_modes(FILE *stream);

#endif
