/* plan.c: from the options of a sweep to its list of cells.
 *
 * The order is a function of seed and grid only, so that a resumed sweep has the same one. */
#include "plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than the warm-up of a cell can have. */
enum { WARMUP_STEPS = 1000 };

static int default_counts(struct plan_options *options, int n_devices)
{
    const size_t all = (size_t)n_devices;

    for (size_t count = 1; count < all; count *= 2)
        options->count[options->n_counts++] = count;
    options->count[options->n_counts++] = all;
    return 0;
}

static void default_batches(struct plan_options *options)
{
    static const size_t batches[] = {10, 30, 32, 64, 128, 256, 512, 1024, 2048, 4096};

    memcpy(options->batch, batches, sizeof batches);
    options->n_batches = sizeof batches / sizeof batches[0];
}

static int default_workloads(struct plan_options *options)
{
    static const char *const names[] = {"tutorial", "mlp:1024,1024,1024,1024"};
    char why[200];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (workload_parse(names[i], &options->workload[options->n_workloads++], why, sizeof why))
            return -1;
    return 0;
}

/* The most steps whose record is surely short enough, on so many devices. Of a step it has two
 * times and a flag, and a time per phase and device; no time is longer than a day. */
static size_t steps_that_fit(size_t n_devices)
{
    const size_t number = sizeof "86400000000000," - 1, others = 64 * 1024;
    const size_t step = number * (3 + RECORD_PHASES * n_devices);

    return (RECORD_LINE_BYTES - others) / step - WARMUP_STEPS;
}

static int check_steps(const struct plan_options *options, struct plan_text *why)
{
    for (size_t i = 0; i < options->n_counts; i++) {
        const size_t most = steps_that_fit(options->count[i]);

        if (options->limits.max_steps > most) {
            snprintf(why->text, sizeof why->text,
                     "--steps %zu:%zu: the record of a cell with %zu device%s could be longer than "
                     "%zu MiB; at most %zu steps are allowed",
                     options->limits.min_steps, options->limits.max_steps, options->count[i],
                     options->count[i] == 1 ? "" : "s", RECORD_LINE_BYTES >> 20, most);
            return -1;
        }
    }
    return 0;
}

int plan_defaults(struct plan_options *options, int n_devices, struct plan_text *why)
{
    if (n_devices < 1) {
        snprintf(why->text, sizeof why->text,
                 "--devices %s has no devices to run on in parallel; use virt:N", options->devices);
        return -1;
    }
    if (options->n_workloads == 0)
        default_workloads(options);
    if (options->n_batches == 0)
        default_batches(options);
    if (options->n_counts == 0)
        default_counts(options, n_devices);
    for (size_t i = 0; i < options->n_counts; i++) {
        if (options->count[i] > (size_t)n_devices) {
            snprintf(why->text, sizeof why->text,
                     "--counts has %zu, but --devices %s has only %d device%s", options->count[i],
                     options->devices, n_devices, n_devices == 1 ? "" : "s");
            return -1;
        }
    }
    return check_steps(options, why);
}

size_t plan_cells(const struct plan_options *options)
{
    return options->n_workloads * options->n_counts * options->n_batches;
}

/* "virt:8+lag" and 3: "virt:3+lag", the first three of the list. */
static void first_devices(const char *list, size_t count, char *text, size_t bytes)
{
    const char *colon = strchr(list, ':'), *plus = strchr(list, '+');
    const int kind = colon != NULL ? (int)(colon - list) : 0;

    snprintf(text, bytes, "%.*s:%zu%s", kind, list, count, plus != NULL ? plus : "");
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15U;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static void shuffle(struct cell_config *cells, size_t n, uint64_t seed)
{
    for (size_t i = n; i > 1; i--) {
        const size_t j = (size_t)(next_random(&seed) % i);
        const struct cell_config last = cells[i - 1];

        cells[i - 1] = cells[j];
        cells[j] = last;
    }
}

struct cell_config *plan_make(const struct plan_options *options, const char *communicator,
                              const char *run_id)
{
    const size_t n = plan_cells(options);
    struct cell_config *cells = calloc(n, sizeof *cells);

    if (cells == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        struct cell_config *cell = &cells[i];
        const size_t count = i / options->n_batches % options->n_counts;

        cell->workload = options->workload[i / options->n_batches / options->n_counts];
        cell->rows = options->batch[i % options->n_batches];
        first_devices(options->devices, options->count[count], cell->devices, sizeof cell->devices);
        memcpy(cell->backend, options->backend, sizeof cell->backend);
        cell->n_devices = (int)options->count[count];
        snprintf(cell->communicator, sizeof cell->communicator, "%s", communicator);
        snprintf(cell->run_id, sizeof cell->run_id, "%s", run_id);
        cell->seed = options->seed;
        cell->bind = options->bind;
        cell->limits = options->limits;
    }
    shuffle(cells, n, options->seed);
    for (size_t i = 0; i < n; i++)
        cells[i].order_index = i;
    return cells;
}

/* A text that grows in a fixed buffer; full: something did not fit. */
struct line {
    char *text;
    size_t bytes, used;
    bool full;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct line *line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const int n = vsnprintf(line->text + line->used, line->bytes - line->used, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= line->bytes - line->used)
        line->full = true;
    else
        line->used += (size_t)n;
}

static void add_list(struct line *line, const char *name, const size_t list[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i == 0)
            add(line, " %s %zu", name, list[i]);
        else
            add(line, ",%zu", list[i]);
    }
}

int plan_command(const struct plan_options *options, char *text, size_t bytes,
                 struct plan_text *why)
{
    struct line line = {.text = text, .bytes = bytes};

    add(&line, "--devices %s --backend %s", options->devices, options->backend);
    add_list(&line, "--counts", options->count, options->n_counts);
    add_list(&line, "--batch", options->batch, options->n_batches);
    for (size_t i = 0; i < options->n_workloads; i++)
        add(&line, " --workload %s", options->workload[i].name);
    add(&line, " --seed %" PRIu64 " --seconds %g --steps %zu:%zu --bind %s", options->seed,
        options->limits.seconds, options->limits.min_steps, options->limits.max_steps,
        options->bind ? "cores" : "none");
    if (!line.full)
        return 0;
    snprintf(why->text, sizeof why->text,
             "the grid is too long to be recorded (%zu characters): use fewer values", bytes - 1);
    return -1;
}

/* Length of the "--name value" at the start of text, without the blank after it. */
static size_t option_length(const char *text)
{
    const char *next = strstr(text, " --");

    return next != NULL ? (size_t)(next - text) : strlen(text);
}

int plan_compare(const char *here, const char *there, struct plan_text *why)
{
    while (*here != '\0' || *there != '\0') {
        const size_t a = option_length(here), b = option_length(there);

        if (a != b || memcmp(here, there, a) != 0) {
            snprintf(why->text, sizeof why->text, "here it is \"%.*s\", in the file \"%.*s\"",
                     (int)(a < 100 ? a : 100), here, (int)(b < 100 ? b : 100), there);
            return -1;
        }
        here += a + (here[a] == ' ');
        there += b + (there[b] == ' ');
    }
    return 0;
}
