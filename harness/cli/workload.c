/* cli/workload.c: what a workload is, for programs in other languages that make the same: its
 * numbers and its modules, in words (workload_describe). Without a name: those that PyTorch is
 * compared on. Python reads it (suites/peers/pytorch), so that a workload is described in one
 * place. */
#include <stdio.h>

#include "command/command.h"
#include "workload.h"

static error_t parse_workload_option(int key, char *arg, struct argp_state *state)
{
    struct workload *workload = state->input;
    char why[200];

    if (key != 'w')
        return command_key(key, arg, state);
    if (workload_parse(arg, workload, why, sizeof why))
        return command_bad_option(state, "%s", why);
    return 0;
}

int workload_main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {.name = "workload", .key = 'w', .arg = "W", .doc = "the one to describe"}, {0}};
    const struct argp argp = {.options = table,
                              .parser = parse_workload_option,
                              .doc = "Says what a workload is made of."};
    struct workload workload = {.is = NULL};
    const int status = command_parse(&argp, argc, argv, &workload);

    if (status)
        return status;
    if (!workload.is)
        workload_list_peers(stdout);
    else if (workload_describe(&workload, stdout))
        return EXIT_FAILED;
    return EXIT_PASSED;
}
