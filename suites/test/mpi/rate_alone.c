/* rate_alone.c: as rate.c, by MPI_Allreduce alone.
 *
 *   lockstep-mpi-rate-alone BYTES TIMES */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WARMUP = 5, MOST = 1000 };

static int rate_alone_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    const int times = argc == 3 ? atoi(argv[2]) : 0;
    const size_t n = argc == 3 ? (size_t)strtoull(argv[1], NULL, 10) / sizeof(float) : 0;
    double ms[MOST];
    int rank = 0;
    if (times < 1 || times > MOST || n == 0)
        return 2;
    float *numbers = calloc(n, sizeof *numbers);
    if (!numbers || MPI_Init(NULL, NULL) || MPI_Comm_rank(MPI_COMM_WORLD, &rank))
        return 1;
    for (int i = 0; i < WARMUP + times; ++i) {
        const double begin = MPI_Wtime();
        if (MPI_Allreduce(MPI_IN_PLACE, numbers, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD))
            return 1;
        ms[i < WARMUP ? 0 : i - WARMUP] = 1e3 * (MPI_Wtime() - begin);
    }
    qsort(ms, (size_t)times, sizeof *ms, rate_alone_compare);
    if (rank == 0)
        printf("%.3f\n", ms[times / 2]);
    free(numbers);
    return MPI_Finalize();
}
