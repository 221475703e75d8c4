/* proxy.h: declarations that the parts of the test of implementations in another process share. */
#ifndef HOSTILE_PROXY_H
#define HOSTILE_PROXY_H

#include "load.h"

#include <stdio.h>

struct proxy_paths {
    const char *serve, *echo; /* the program, the shared object */
};

struct proxy_tally {
    int held, failed;
};

/* Counts an expectation, and complains if it does not hold. */
void proxy_expect(struct proxy_tally *tally, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Opens a source and a session; returns NULL after a complaint. */
struct impl_session *proxy_open(struct proxy_tally *tally, const char *spec, const char *options,
                                struct impl_source *source, struct impl_about *about);

/* proxy_echo.c: data that go through the pipe come out the same. */
void proxy_echo(struct proxy_tally *tally, const struct proxy_paths *paths);
/* proxy_bad.c: the errors for a bad process. */
void proxy_bad(struct proxy_tally *tally, const struct proxy_paths *paths);
/* proxy_life.c: processes end when they must. */
void proxy_life(struct proxy_tally *tally, const struct proxy_paths *paths);
/* proxy_load.c: names of implementations. */
void proxy_load(struct proxy_tally *tally, const struct proxy_paths *paths);

#endif
