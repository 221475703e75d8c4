/* record/plan_collective.c: a sweep of collectives: what it has that one of models has not. */
#include "record/plan.h"

#include "verify/collective.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int refuse(struct text_error *why, const char *option, const char *because)
{
    snprintf(why->text, sizeof why->text, "--%s is of models, and --mode collective has none: %s",
             option, because);
    return -1;
}

/* Nothing that was asked for may be without effect. */
static int check_models(const struct plan_options *options, struct text_error *why)
{
    const struct {
        const char *name, *because;
        bool given;
    } rows[] = {
        {"workload", "name it by --collective", options->n_workloads > 0},
        {"batch", "use --sizes", options->n_batches > 0},
        {"scaling", "sizes are of each device", options->weak},
        {"math", "use --type", options->math != DP_MATH_F32},
        {"parts", "leave it out", options->parts > 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        if (rows[i].given)
            return refuse(why, rows[i].name, rows[i].because);
    for (int mode = 0; mode < CELL_MODES; ++mode)
        if (options->mode[mode] && mode != CELL_COLLECTIVE) {
            snprintf(why->text, sizeof why->text,
                     "--mode collective is measured in a sweep of its own: leave out %s",
                     cell_mode_names[mode]);
            return -1;
        }
    return 0;
}

static void default_sizes(struct plan_options *options)
{
    for (size_t size = 8; size <= (size_t)16 << 20; size *= 8)
        options->size[options->n_sizes++] = size;
}

static void default_names(struct plan_options *options)
{
    for (int i = 0; i < COLLECTIVES; ++i)
        snprintf(options->collective[options->n_collectives++], sizeof options->collective[0], "%s",
                 collectives[i].name);
}

/* A record may have any. */
static int check_names(const struct plan_options *options, struct text_error *why)
{
    char names[COLLECTIVE_NAMES];

    for (size_t i = 0; i < options->n_collectives; ++i)
        if (!collective_find(options->collective[i])) {
            collective_names(names);
            snprintf(why->text, sizeof why->text, "unknown collective \"%.31s\"; known: %s",
                     options->collective[i], names);
            return -1;
        }
    if (collective_type_find(options->type[0]))
        return 0;
    snprintf(why->text, sizeof why->text, "unknown type \"%.7s\"", options->type[0]);
    return -1;
}

static int check_sizes(const struct plan_options *options, struct text_error *why)
{
    const struct collective_type *type = collective_type_find(options->type[0]);

    for (size_t i = 0; i < options->n_sizes; ++i)
        if (options->size[i] % type->bytes != 0) {
            snprintf(why->text, sizeof why->text,
                     "--sizes has %zu, which is no multiple of the %zu bytes of %s",
                     options->size[i], type->bytes, type->name);
            return -1;
        }
    return 0;
}

static int check_devices(const struct plan_options *options, int n_devices, struct text_error *why)
{
    if (n_devices >= 2 && (options->n_counts == 0 || options->count[0] >= 2))
        return 0;
    if (n_devices < 2)
        snprintf(why->text, sizeof why->text, "--devices %s has one device, a collective needs two",
                 options->devices);
    else
        snprintf(why->text, sizeof why->text, "--counts has 1, a collective needs two devices");
    return -1;
}

int plan_defaults_collectives(struct plan_options *options, int n_devices, struct text_error *why)
{
    if (check_models(options, why))
        return -1;
    if (options->n_collectives == 0)
        default_names(options);
    if (options->n_types == 0)
        snprintf(options->type[options->n_types++], sizeof options->type[0], "%s",
                 collective_types[0].name);
    if (options->n_sizes == 0)
        default_sizes(options);
    return check_names(options, why) || check_sizes(options, why) ||
                   check_devices(options, n_devices, why)
               ? -1
               : 0;
}

/* Devices on the host's cores have their memory from the host's; beside it there are the numbers
 * that are brought, and those that are expected. */
int plan_check_memory(const struct plan_options *options, uint64_t mem_bytes,
                      struct text_error *why)
{
    struct dp_kind_row kind;
    const bool cores = dp_kind_of(options->devices, &kind) && kind.flags & DP_KIND_CORES;

    if (!options->mode[CELL_COLLECTIVE] || mem_bytes == 0)
        return 0;

    const size_t devices = options->count[options->n_counts - 1];
    const size_t size = options->size[options->n_sizes - 1], times = (cores ? devices : 0) + 2;

    if (size <= mem_bytes / times)
        return 0;
    snprintf(why->text, sizeof why->text,
             "--sizes has %zu: on %zu devices that takes %zu bytes of memory, this machine has "
             "%" PRIu64,
             size, devices, size * times, mem_bytes);
    return -1;
}
