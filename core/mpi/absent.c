/* absent.c: a build without MPI, because it was not found or not wanted. */
#include "../backend.h"
#include "../dp_mpi.h"

const struct dp_comm_ops dp_comm_mpi = {.name = "mpi",
                                        .can = DP_COMM_PARALLEL | DP_COMM_RANKS | DP_COMM_OVERLAP |
                                               DP_COMM_WORLD | DP_COMM_TOGETHER,
                                        .needs = DP_KIND_CORES};

int dp_mpi_open(const struct dp_mpi_config *config, struct dp_mpi **mpi, struct dp_error *err)
{
    (void)config, (void)mpi;
    return dp_fail(err, DP_ENOTSUP, "this build has no MPI");
}

/* In this build no program has one. */
int dp_mpi_close(struct dp_mpi *mpi, struct dp_error *err)
{
    (void)mpi, (void)err;
    return 0;
}

const struct dp_world *dp_mpi_world(const struct dp_mpi *mpi)
{
    (void)mpi;
    return NULL;
}

int dp_mpi_size(const struct dp_mpi *mpi)
{
    (void)mpi;
    return 0;
}

int dp_mpi_rank(const struct dp_mpi *mpi)
{
    (void)mpi;
    return 0;
}

const char *dp_mpi_library(const struct dp_mpi *mpi)
{
    (void)mpi;
    return "";
}

const char *dp_mpi_host(const struct dp_mpi *mpi, int process)
{
    (void)mpi, (void)process;
    return "";
}

bool dp_mpi_shares_cores(const struct dp_mpi *mpi, int process)
{
    (void)mpi, (void)process;
    return false;
}

long dp_mpi_pid(const struct dp_mpi *mpi, int process)
{
    (void)mpi, (void)process;
    return 0;
}

int dp_mpi_exchange(struct dp_mpi *mpi, const void *mine, size_t bytes, void *all,
                    struct dp_error *err)
{
    (void)mpi, (void)mine, (void)bytes, (void)all;
    return dp_fail(err, DP_ENOTSUP, "this build has no MPI");
}

void dp_mpi_abort(struct dp_mpi *mpi)
{
    (void)mpi;
}
