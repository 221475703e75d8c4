/* identity.c: one process is not as the others say they are.
 *
 *   lockstep-mpi-identity MODULE OTHER WHO HOW
 *
 * HOW process WHO differs: build, plan, processes (it was told of another number), module (it has
 * the module OTHER); or missing: no process says who it is. Each prints the error. */
#include "dp_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the number of this process from the launcher, before MPI can tell it. */
static int number_of_process(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    const char *text = NULL;
    for (size_t i = 0; !text && i < sizeof names / sizeof *names; ++i)
        text = getenv(names[i]);
    return text ? (int)strtol(text, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
    struct dp_mpi *mpi = NULL;
    struct dp_error err = {0};
    if (argc != 5)
        return 2;
    const char *how = argv[4];
    const bool other = number_of_process() == (int)strtol(argv[3], NULL, 10);
    struct dp_mpi_config config = {.module = argv[1],
                                   .deadline_ms = 2000,
                                   .processes = 2,
                                   .build = "0.1.0 (abc)",
                                   .plan = "seed 7, model mlp"};
    if (other && strcmp(how, "build") == 0)
        config.build = "0.1.0 (def)";
    if (other && strcmp(how, "plan") == 0)
        config.plan = "seed 8, model mlp";
    if (other && strcmp(how, "processes") == 0)
        config.processes = 3;
    if (other && strcmp(how, "module") == 0)
        config.module = argv[2];
    const int status = dp_mpi_open(&config, &mpi, &err);
    if (status == 0) {
        printf("process %d of %d on %s: open, %s\n", dp_mpi_rank(mpi), dp_mpi_size(mpi),
               dp_mpi_host(mpi, 0), dp_mpi_library(mpi));
        fflush(stdout);
        return dp_mpi_close(mpi, &err) == 0 ? 0 : 1;
    }
    printf("line %s: %s\n", dp_status_name(status), err.text);
    fflush(stdout);
    _exit(3);
}
