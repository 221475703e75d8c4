/* forecast/step_smpi.c: a step of DistributedDataParallel, replayed in SimGrid's SMPI.
 *
 * Nothing is computed: the computation of a rank waits for no other rank, so it is known before
 * when its buckets are ready. So a rank is its carrier. What the network simulates is each exchange
 * by itself, from a moment that all ranks share, and buckets follow each other as they are ready
 * and as the one before has ended. The last line that it prints is what counts: MPI_Abort ends with
 * status 0 here.
 *
 *   lockstep-smpi FORWARD_NS BACKWARD_NS UPDATE_NS BYTES FIRST_BUCKET_BYTES BUCKET_BYTES */
#include <math.h>
#include <mpi.h>
#include <simgrid/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FORWARD, BACKWARD, UPDATE, BYTES, FIRST, NEXT, NUMBERS };
/* A longer exchange is simulated in so many rounds, spread over all distances between ranks. */
enum { WHOLE_ROUNDS = 63, SOME_ROUNDS = 32, LEAST_ROUNDS = 4 };
static const double SECOND = 1e9;

/* Simulated time between two exchanges, in which ranks agree how long one took. */
static const double PAUSE_SECONDS = 100;

struct step {
    double number[NUMBERS];
    int rank, ranks, all, rounds; /* all: rounds of an exchange; rounds: those that are simulated */
    double start;                 /* of the next exchange, in simulated seconds */
    char *room;
};

/* Each rank sends to each other one, one after the other. Its time in ns, the same on all ranks. */
static double replay_exchange(struct step *step, int bytes)
{
    double end, latest;

    const double left = step->start - MPI_Wtime();
    const struct timespec time = {.tv_sec = (time_t)left,
                                  .tv_nsec = (long)(fmod(left, 1) * SECOND)};

    if (left > 0)
        nanosleep(&time, NULL);
    for (int i = 0; i < step->rounds; ++i) {
        const int distance = 1 + (int)((long)i * step->all / step->rounds);
        const int to = (step->rank + distance) % step->ranks;
        const int from = (step->rank - distance + step->ranks) % step->ranks;

        MPI_Sendrecv(step->room, bytes, MPI_BYTE, to, 0, step->room, bytes, MPI_BYTE, from, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    end = MPI_Wtime();
    MPI_Allreduce(&end, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);

    const double took = latest - step->start;

    step->start = latest + PAUSE_SECONDS;
    return took * SECOND * step->all / step->rounds;
}

static double rank_share(const struct step *step, double bytes)
{
    return ceil(bytes / step->ranks);
}

static void abort_step(const struct step *step, const char *why)
{
    if (step->rank == 0)
        printf("lockstep-smpi refuses: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    struct step step = {.room = NULL};
    int right; /* the arguments are numbers that a step can be made of */

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &step.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &step.ranks);
    right = argc == NUMBERS + 1;
    if (sg_host_count() < (size_t)step.ranks)
        abort_step(&step, "the platform has fewer hosts than ranks");
    for (int i = 0; i < NUMBERS && right; ++i) {
        char *end;

        step.number[i] = strtod(argv[i + 1], &end);
        right = *end == '\0' && step.number[i] >= 0 && step.number[i] < 1e15;
    }
    if (!right || step.number[FIRST] < 1 || step.number[NEXT] < 1 ||
        rank_share(&step, fmax(step.number[FIRST], step.number[NEXT])) >= 2e9)
        abort_step(&step, "its arguments are not those of a step");
    const double *const number = step.number, computed = number[FORWARD] + number[BACKWARD];
    double limit = number[FIRST], done = 0, clock = 0; /* clock: in ns */
    const double buckets = 1 + ceil((number[BYTES] - number[FIRST]) / number[NEXT]);
    const int some = (int)fmax(LEAST_ROUNDS, SOME_ROUNDS / fmax(buckets, 1));

    step.all = step.ranks - 1;
    step.rounds = step.all <= WHOLE_ROUNDS ? step.all : some;
    /* All ranks have the same memory, and nothing is copied. Its macro would put a path in here. */
    const double most = fmin(step.number[BYTES], fmax(step.number[FIRST], step.number[NEXT]));

    step.room = smpi_shared_malloc((size_t)rank_share(&step, most) + 1, "room", 1);
    if (!step.room)
        abort_step(&step, "no memory");
    step.start = MPI_Wtime() + PAUSE_SECONDS;
    while (step.all > 0 && done < number[BYTES]) {
        const double bytes = fmin(limit, number[BYTES] - done);
        const int share = (int)rank_share(&step, bytes);

        done += bytes;
        limit = number[NEXT];
        clock = fmax(clock, number[FORWARD] + number[BACKWARD] * done / number[BYTES]);
        clock += replay_exchange(&step, share); /* what they are to add, */
        clock += replay_exchange(&step, share); /* and then the sum */
    }
    SMPI_SHARED_FREE(step.room);
    MPI_Finalize();
    if (step.rank == 0)
        printf("lockstep-smpi: ranks=%d step_ns=%.3f rounds=%d of=%d.\n", step.ranks,
               fmax(clock, computed) + number[UPDATE], step.rounds, step.all);
    return 0;
}
