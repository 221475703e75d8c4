/* plan/plan_collective.c: sweeps of collectives, as far as they differ from sweeps of models. */
#include "plan/plan.h"

#include "verify/collective.h"

#include <inttypes.h>
#include <stdio.h>

/* Sets the default sizes, rounded up to a size that all collectives can have. */
static int default_sizes(struct plan_options *options, struct text_error *why)
{
    const struct collective_type *type = collective_type_find(options->type[0]);
    const size_t last = (size_t)16 << 20;
    size_t unit = type->bytes; /* the least common multiple, while it is not above last */

    for (size_t i = 0; i < options->n_collectives; ++i)
        for (size_t k = 0; k < options->n_counts && unit <= last; ++k) {
            const struct collective *collective = collective_find(options->collective[i]);
            const size_t own = collective_unit(collective, type, (int)options->count[k]);
            size_t divisor = unit, rest = own;

            while (rest != 0) {
                const size_t next = divisor % rest;

                divisor = rest;
                rest = next;
            }
            unit = unit / divisor * own;
        }
    for (size_t size = 8; unit <= last && size <= last; size *= 8) {
        const size_t rounded = (size + unit - 1) / unit * unit;

        if (options->n_sizes == 0 || options->size[options->n_sizes - 1] != rounded)
            options->size[options->n_sizes++] = rounded;
    }
    if (options->n_sizes > 0)
        return 0;
    return text_fail(
        why, "no size up to 16Mi has a block for each rank on all of --counts: give --sizes");
}

/* A user may ask only for known names; a record may have any. */
static int check_names(const struct plan_options *options, struct text_error *why)
{
    const struct collective_type *type = collective_type_find(options->type[0]);
    char names[COLLECTIVE_NAMES] = "";

    for (size_t i = 0; i < options->n_collectives; ++i)
        if (!collective_find(options->collective[i])) {
            collective_names(names);
            return text_fail(why, "unknown collective \"%.31s\"; known: %s", options->collective[i],
                             names);
        }
    if (!type)
        return text_fail(why, "unknown type \"%.7s\"", options->type[0]);
    for (size_t i = 0; i < options->n_collectives; ++i) {
        if (collective_takes(collective_find(options->collective[i]), type))
            continue;
        for (int k = 0; k < COLLECTIVE_TYPES; ++k)
            if (collective_types[k].adds)
                text_list(names, sizeof names, ", ", collective_types[k].name);
        return text_fail(why, "--type %s is only carried, and %s adds; types that are added: %s",
                         type->name, options->collective[i], names);
    }
    return 0;
}

/* Checks that every collective can have each size, on each number of devices. */
static int check_sizes(const struct plan_options *options, struct text_error *why)
{
    const struct collective_type *type = collective_type_find(options->type[0]);
    const size_t settings = options->n_collectives * options->n_counts;

    for (size_t i = 0; i < options->n_sizes * settings; ++i) {
        const size_t size = options->size[i / settings], setting = i % settings;
        const struct collective *collective =
            collective_find(options->collective[setting / options->n_counts]);
        const int ranks = (int)options->count[setting % options->n_counts];
        const size_t unit = collective_unit(collective, type, ranks);

        if (size % unit == 0)
            continue;
        if (!collective_has_blocks(collective))
            return text_fail(why, "--sizes has %zu, which is no multiple of the %zu bytes of %s",
                             size, type->bytes, type->name);
        return text_fail(why,
                         "--sizes has %zu, but %s on %d devices has a block for each: a multiple "
                         "of %zu bytes",
                         size, collective->name, ranks, unit);
    }
    return 0;
}

int plan_defaults_collectives(struct plan_options *options, int n_devices, struct text_error *why)
{
    const struct collective *only = NULL; /* one that can only be out of place */

    /* Every option that was given must have an effect. */
    const struct {
        const char *name, *because;
        bool given;
    } rows[] = {
        {"workload", "name it by --collective", options->n_workloads > 0},
        {"batch", "use --sizes", options->n_batches > 0},
        {"scaling", "sizes are of each device", options->weak},
        {"math", "use --type", options->math != DP_MATH_F32},
        {"phases", "leave it out", options->phases_apart},
        {"parts", "leave it out", options->parts > 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        if (rows[i].given)
            return text_fail(why, "--%s is of models, and --mode collective has none: %s",
                             rows[i].name, rows[i].because);
    for (int mode = 0; mode < CELL_MODES; ++mode)
        if (options->mode[mode] && mode != CELL_COLLECTIVE)
            return text_fail(why,
                             "--mode collective is measured in a sweep of its own: leave out %s",
                             cell_mode_names[mode]);
    if (options->n_collectives == 0)
        for (int i = 0; i < COLLECTIVES; ++i)
            snprintf(options->collective[options->n_collectives++], sizeof options->collective[0],
                     "%s", collectives[i].name);
    if (options->n_types == 0)
        snprintf(options->type[options->n_types++], sizeof options->type[0], "%s",
                 collective_types[0].name);
    if (check_names(options, why))
        return -1;
    if (n_devices < 2)
        return text_fail(why, "--devices %s has one device, a collective needs two",
                         options->devices);
    if (options->n_counts > 0 && options->count[0] < 2)
        return text_fail(why, "--counts has 1, a collective needs two devices");
    if (options->n_sizes == 0 && default_sizes(options, why))
        return -1;
    if (check_sizes(options, why))
        return -1;
    for (size_t i = 0; i < options->n_collectives; ++i) {
        const struct collective *collective = collective_find(options->collective[i]);

        only = collective->out_of_place ? collective : only;
    }
    /* Then out of place is the default. */
    if (only && options->n_places == 0)
        options->out_of_place[options->n_places++] = 1;
    if (!only || options->out_of_place[0] == 1)
        return 0;
    return text_fail(why, "--out-of-place has 0, but %s is never in place: leave it out, or use 1",
                     only->name);
}

/* Devices on cores of the host take their memory from the host. The numbers that are sent, and
 * those that are expected, are in the memory of the host, too. */
int plan_check_memory(const struct plan_options *options, uint64_t mem_bytes,
                      struct text_error *why)
{
    struct dp_kind_row kind;
    const bool cores = dp_kind_of(options->devices, &kind) && kind.flags & DP_KIND_CORES;

    if (!options->mode[CELL_COLLECTIVE] || mem_bytes == 0)
        return 0;

    const size_t devices = options->count[options->n_counts - 1];
    const bool apart = options->n_places > 0 && options->out_of_place[options->n_places - 1] == 1;
    const size_t size = options->size[options->n_sizes - 1];
    const size_t times = ((cores ? devices : 0) + 2) * (apart ? 2 : 1);

    if (size <= mem_bytes / times)
        return 0;
    return text_fail(
        why,
        "--sizes has %zu: on %zu devices that takes %zu bytes of memory, this machine has "
        "%" PRIu64,
        size, devices, size * times, mem_bytes);
}
