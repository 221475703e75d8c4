/* start.h: the beginning and the end of a program of several processes. */
#ifndef LOCKSTEP_MPI_START_H
#define LOCKSTEP_MPI_START_H

#include "../must.h"
#include "dp_mpi.h"

static inline struct dp_mpi *start_mpi(const char *module)
{
    const struct dp_mpi_config config = {.module = module, .deadline_ms = 20000};
    struct dp_mpi *mpi = NULL;
    must(dp_mpi_open(&config, &mpi, &must_err));
    return mpi;
}

static inline void end_mpi(struct dp_mpi *mpi)
{
    fflush(stdout);
    must(dp_mpi_close(mpi, &must_err));
}

#endif
