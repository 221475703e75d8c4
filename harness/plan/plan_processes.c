/* plan/plan_processes.c: what a plan can ask of processes that a launcher starts. */
#include <stdio.h>

#include "plan/plan.h"

/* What one process alone can do; and every process has as many devices. */
int plan_check_processes(const struct plan_options *options, struct text_error *why)
{
    size_t most = 0;

    for (size_t i = 0; i < options->n_per_process; ++i)
        most = options->per_process[i] > most ? options->per_process[i] : most;

    const struct {
        bool given;
        const char *option;
    } alone[] = {{options->n_communicators > 0, "--communicator, which is mpi between processes"},
                 {options->n_chains > 0, "--chain"},
                 {options->parts > 0, "--parts"}};

    for (size_t i = 0; most > 0 && i < sizeof alone / sizeof alone[0]; ++i)
        if (alone[i].given)
            return text_fail(why, "--per-process %zu does not go with %s", most, alone[i].option);
    for (size_t i = 0; i < options->n_per_process * options->n_counts; ++i) {
        const size_t each = options->per_process[i / options->n_counts];
        const size_t count = options->count[i % options->n_counts];

        if (each == 0 || count % each == 0)
            continue;
        return text_fail(
            why, "--counts has %zu, but with --per-process %zu it must be a multiple of %zu", count,
            each, each);
    }
    return 0;
}
