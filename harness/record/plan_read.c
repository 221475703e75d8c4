/* record/plan_read.c: the one-line text of a sweep's options, back to options.
 *
 * What is read is written again and must be the same text, so nothing here has to be strict: an
 * option that is unknown, missing, doubled, or in another place or form shows there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "record/plan.h"
#include "text/options.h"

static int read_devices(const char *value, struct plan_options *plan)
{
    return command_copy(plan->devices, sizeof plan->devices, value);
}

static int read_backend(const char *value, struct plan_options *plan)
{
    return command_copy(plan->backend, sizeof plan->backend, value);
}

static int read_math(const char *value, struct plan_options *plan)
{
    int math = 0;

    while (math < DP_MATHS && strcmp(value, dp_math_name((enum dp_math)math)) != 0)
        ++math;
    plan->math = (enum dp_math)math;
    return math < DP_MATHS ? 0 : -1;
}

static int read_mode(const char *value, struct plan_options *plan)
{
    plan->mode[CELL_PLAIN] = strstr(value, "plain") != NULL;
    plan->mode[CELL_DDP] = strstr(value, "ddp") != NULL;
    plan->mode[CELL_DP] =
        strcmp(value, "dp") == 0 || strncmp(value, "dp,", 3) == 0 || strstr(value, ",dp");
    return 0;
}

static int read_counts(const char *value, struct plan_options *plan)
{
    struct text_error why;

    return option_sizes(value, 1, PLAN_MAX_COUNTS, plan->count, PLAN_MAX_COUNTS, &plan->n_counts,
                        &why);
}

static int read_buckets(const char *value, struct plan_options *plan)
{
    struct text_error why;

    return option_sizes(value, 0, PLAN_MAX_BUCKET, plan->bucket, PLAN_MAX_BUCKETS, &plan->n_buckets,
                        &why);
}

static int read_scaling(const char *value, struct plan_options *plan)
{
    plan->weak = strcmp(value, "weak") == 0;
    return 0;
}

static int read_batches(const char *value, struct plan_options *plan)
{
    struct text_error why;

    return option_sizes(value, 1, PLAN_MAX_ROWS, plan->batch, PLAN_MAX_BATCHES, &plan->n_batches,
                        &why);
}

static int read_workload(const char *value, struct plan_options *plan)
{
    char why[200];

    return plan->n_workloads == PLAN_MAX_WORKLOADS
               ? -1
               : workload_parse(value, &plan->workload[plan->n_workloads++], why, sizeof why);
}

static int read_launches(const char *value, struct plan_options *plan)
{
    struct text_error why;

    return option_size(value, 1, PLAN_MAX_LAUNCHES, &plan->launches, &why);
}

static int read_seed(const char *value, struct plan_options *plan)
{
    plan->seed = strtoull(value, NULL, 10);
    plan->has_seed = true;
    return 0;
}

static int read_seconds(const char *value, struct plan_options *plan)
{
    plan->limits.seconds = strtod(value, NULL);
    return 0;
}

static int read_steps(const char *value, struct plan_options *plan)
{
    const char *colon = strchr(value, ':');

    plan->limits.min_steps = strtoull(value, NULL, 10);
    plan->limits.max_steps = colon ? strtoull(colon + 1, NULL, 10) : 0;
    return 0;
}

static int read_bind(const char *value, struct plan_options *plan)
{
    plan->bind = strcmp(value, "cores") == 0;
    return 0;
}

static int read_graphs(const char *value, struct plan_options *plan)
{
    plan->no_graphs = strcmp(value, "off") == 0;
    return 0;
}

static const struct {
    const char *name;
    int (*read)(const char *value, struct plan_options *plan);
} options[] = {
    {"--devices", read_devices},   {"--backend", read_backend}, {"--math", read_math},
    {"--mode", read_mode},         {"--counts", read_counts},   {"--bucket", read_buckets},
    {"--scaling", read_scaling},   {"--batch", read_batches},   {"--workload", read_workload},
    {"--launches", read_launches}, {"--seed", read_seed},       {"--seconds", read_seconds},
    {"--steps", read_steps},       {"--bind", read_bind},       {"--graphs", read_graphs},
};

static int read_option(const char *name, const char *value, struct plan_options *plan,
                       struct text_error *why)
{
    const size_t n = sizeof options / sizeof options[0];
    size_t i = 0;

    while (i < n && strcmp(name, options[i].name) != 0)
        ++i;
    if (i == n) {
        snprintf(why->text, sizeof why->text, "this version does not know its \"%.40s\"", name);
        return -1;
    }
    if (value && options[i].read(value, plan) == 0)
        return 0;
    snprintf(why->text, sizeof why->text, "its \"%s %.60s\" cannot be used", name,
             value != NULL ? value : "");
    return -1;
}

/* Where the first word begins that is not the same in both. */
static size_t same_start(const char *a, const char *b)
{
    size_t n = 0;

    while (a[n] != '\0' && a[n] == b[n])
        ++n;
    while (n > 0 && a[n - 1] != ' ')
        --n;
    return n;
}

int plan_read(const char *command, int n_devices, struct plan_options *plan, struct text_error *why)
{
    char copy[sizeof((struct record_run *)0)->command], again[sizeof copy], *rest = copy;
    int status = 0;

    *plan = (struct plan_options){.launches = 0};
    if (command_copy(copy, sizeof copy, command) != 0) {
        snprintf(why->text, sizeof why->text, "it is longer than %zu characters", sizeof copy - 1);
        return -1;
    }
    for (char *name; status == 0 && (name = strtok_r(NULL, " ", &rest));)
        status = read_option(name, strtok_r(NULL, " ", &rest), plan, why);
    if (status == 0)
        status = plan_defaults(plan, n_devices, why);
    if (status == 0)
        status = plan_command(plan, again, sizeof again, why);
    if (status != 0 || strcmp(command, again) == 0)
        return status;
    const size_t same = same_start(command, again);

    snprintf(why->text, sizeof why->text,
             "from character %zu on it is \"%.60s\", a sweep writes \"%.60s\" there", same + 1,
             command + same, again + same);
    return -1;
}
