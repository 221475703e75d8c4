/* compare/pairs_options.c: the plans of pairs, from their options and those of a sweep, which both
 * arms get.
 *
 * An arm is a program and options: both arms have the same options, or the same program. Their
 * plans must have the same cells at the same places, except for differences that the options of an
 * arm make. */
#include "compare/pairs.h"

#include "command/command.h"
#include "numbers/rank.h"
#include "text/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char NAME[] = "lockstep compare";

enum { MORE_ARGUMENTS = 64 };

/* Reads the sweep of an arm: the arguments of both, and those of the arm, word by word. */
static int parse_arm(const struct compare_options *options, struct pairs_arm *arm)
{
    const struct sweep_options *sweep = &arm->sweep;
    char *words = cli_copy_text(arm->options ? arm->options : ""), *rest = words, *word;
    char **argument = cli_alloc((size_t)options->n_sweep + MORE_ARGUMENTS + 1, sizeof argument[0]);
    int n = options->n_sweep;

    for (int i = 0; i < n; ++i)
        argument[i] = options->sweep[i];
    while ((word = strtok_r(NULL, " ", &rest)) && n < options->n_sweep + MORE_ARGUMENTS)
        argument[n++] = word;
    const int status =
        word ? command_refuse_call(NAME, "more than 64 words in '%.100s'", arm->options)
             : sweep_parse(n, argument, &arm->sweep);

    free(argument);
    free(words);
    if (status != 0)
        return status;
    if (sweep->resume)
        return command_refuse_call(NAME,
                                   "--resume is of a sweep: pairs are measured in one session");
    if (sweep->format < REPORT_FORMATS)
        return command_refuse_call(
            NAME, "--format is of a sweep here: write it whole, and not among the options of "
                  "--a or --b");
    if (sweep->plan.launches > 0)
        return command_refuse_call(NAME, "--launches is of a sweep: say --pairs N");
    return sweep_devices(NAME, sweep, &arm->run);
}

/* Plans the cells of the arm, and its command, with the number of pairs as launches. */
static int plan_arm(struct pairs *pairs, struct pairs_arm *arm)
{
    const size_t asked = pairs->options.pairs;
    struct plan_options *plan = &arm->sweep.plan;
    struct text_error why = {""};
    struct timespec now;

    plan->launches = 1;
    if (plan->n_per_process > 0)
        return command_refuse(NAME, "--per-process is of `lockstep sweep --launcher` only");
    if (plan_defaults(plan, arm->run.n_slots, &why) != 0)
        return command_refuse(NAME, "%s", why.text);
    if (arm == &pairs->arm[PAIRS_OLD]) {
        pairs->cells = plan_block(plan);
        clock_gettime(CLOCK_REALTIME, &now);
        pairs->seed =
            plan->has_seed
                ? plan->seed
                : ((uint64_t)now.tv_nsec / 1000 + (uint64_t)now.tv_sec * 1000003U) % 1000000000U;
        const size_t least = pairs_least(pairs->cells, pairs->looks);
        const size_t most = RANK_MOST / pairs->looks;

        pairs->per_look = asked > 0 ? asked : least > PAIRS_DEFAULT ? least : PAIRS_DEFAULT;
        if (pairs->per_look > most)
            return command_refuse_call(
                NAME,
                "--pairs %zu: with --looks %zu there are at most %zu to each interim analysis",
                pairs->per_look, pairs->looks, most);
        if (pairs->per_look < least)
            return command_refuse_call(
                NAME, "--pairs %zu: to show anything in one of %zu %s it takes at least %zu pairs",
                pairs->per_look, pairs->cells, pairs->cells == 1 ? "cell" : "cells", least);
    }
    plan->launches = pairs->per_look * pairs->looks;
    plan->seed = pairs->seed;
    if (plan_defaults(plan, arm->run.n_slots, &why) != 0 ||
        plan_command(plan, arm->run.command, sizeof arm->run.command, &why) != 0)
        return command_refuse(NAME, "%s", why.text);
    arm->plan = plan_make(plan, arm->run.communicator, pairs->arm[PAIRS_OLD].run.run_id);
    return 0;
}

int pairs_options(const struct compare_options *options, struct pairs *pairs)
{
    int status = 0;

    pairs->options = *options;
    pairs->looks = options->looks > 0 ? options->looks : 1;
    pairs->arm[PAIRS_OLD].program = options->aa ? options->aa : options->ab;
    pairs->arm[PAIRS_NEW].program = options->aa ? options->aa : options->path[0];
    for (int arm = 0; arm < PAIRS_ARMS && status == 0; ++arm) {
        pairs->arm[arm].options = options->arm[arm];
        status = parse_arm(options, &pairs->arm[arm]);
        if (status == 0)
            status = plan_arm(pairs, &pairs->arm[arm]);
    }
    if (status != 0)
        return status;
    /* A ratio of times is only valid for the same work. */
    const struct pairs_arm *b = &pairs->arm[PAIRS_NEW];
    const size_t cells = plan_block(&b->sweep.plan);

    if (cells != pairs->cells)
        return command_refuse(NAME, "--a has %zu cells and --b %zu: both need the same ones",
                              pairs->cells, cells);
    for (size_t i = 0; i < cells * pairs->per_look * pairs->looks; ++i) {
        const struct cell_config *old = &pairs->arm[PAIRS_OLD].plan[i], *fresh = &b->plan[i];

        if (strcmp(old->workload.name, fresh->workload.name) != 0 || old->rows != fresh->rows)
            return command_refuse(NAME,
                                  "--a has %s with %zu row%s where --b has %s with %zu: both need "
                                  "the same workloads and batches",
                                  old->workload.name, old->rows, text_s(old->rows),
                                  fresh->workload.name, fresh->rows);
    }
    return 0;
}
