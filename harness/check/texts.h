/* check/texts.h: texts that processes give each other. */
#ifndef HARNESS_CHECK_TEXTS_H
#define HARNESS_CHECK_TEXTS_H

#include <stddef.h>

struct dp_error;
struct dp_mpi;

/* One of each process; texts_free in any case. */
struct texts {
    char *bytes;
    size_t stride;
};

/* Everyone's text to all. A call of all processes. 0, or a status of dp.h and *err. */
int texts_exchange(struct dp_mpi *mpi, const char *mine, struct texts *all, struct dp_error *err);
const char *texts_of(const struct texts *all, int process);
void texts_free(struct texts *all);

#endif
