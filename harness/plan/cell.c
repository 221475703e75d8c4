/* plan/cell.c: values that follow from one cell. */
#include "plan/cell.h"

#include <stdio.h>

const char *const cell_mode_names[CELL_MODES] = {"plain", "dp", "ddp", "plain-mt", "collective"};

bool cell_is_alone(enum cell_mode mode)
{
    return mode == CELL_PLAIN || mode == CELL_PLAIN_MT;
}

int cell_replicas(const struct cell_config *config)
{
    return cell_is_alone(config->mode) ? 1 : config->n_devices;
}

int cell_processes(const struct cell_config *config)
{
    return config->per_process > 0 ? config->n_devices / (int)config->per_process : 0;
}

void cell_warmup_rule(const struct cell_limits *limits, char rule[CELL_RULE_BYTES])
{
    snprintf(rule, CELL_RULE_BYTES, CELL_WARMUP_FORMAT, limits->warmup_steps,
             limits->warmup_seconds, (size_t)CELL_WARMUP_MAX);
}

struct cell_limits cell_samples(const struct cell_config *config)
{
    struct cell_limits limits = config->limits;
    const size_t chain = config->chain;

    if (chain == 0)
        return limits;
    limits.min_steps = limits.min_steps / chain + (limits.min_steps % chain != 0);
    limits.min_steps = limits.min_steps > WORKLOAD_SETS ? limits.min_steps : WORKLOAD_SETS;
    limits.max_steps = limits.max_steps / chain + (limits.max_steps % chain != 0);
    limits.max_steps = limits.max_steps > limits.min_steps ? limits.max_steps : limits.min_steps;
    return limits;
}
