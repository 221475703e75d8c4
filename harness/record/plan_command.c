/* record/plan_command.c: the options that define a sweep as one line, and what differs in two of
 * them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "record/plan.h"

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
    for (size_t i = 0; i < n; ++i) {
        if (i == 0)
            add(line, " %s %zu", name, list[i]);
        else
            add(line, ",%zu", list[i]);
    }
}

int plan_command(const struct plan_options *options, char *text, size_t bytes,
                 struct text_error *why)
{
    struct line line = {.text = text, .bytes = bytes};

    add(&line, "--devices %s --backend %s", options->devices, options->backend);
    if (options->math != DP_MATH_F32)
        add(&line, " --math %s", dp_math_name(options->math));
    for (int mode = 0, n = 0; mode < CELL_MODES; ++mode)
        if (options->mode[mode])
            add(&line, "%s%s", n++ == 0 ? " --mode " : ",", cell_mode_names[mode]);
    add_list(&line, "--counts", options->count, options->n_counts);
    add_list(&line, "--bucket", options->bucket, options->n_buckets);
    add(&line, " --scaling %s", options->weak ? "weak" : "strong");
    add_list(&line, "--batch", options->batch, options->n_batches);
    for (size_t i = 0; i < options->n_workloads; ++i)
        add(&line, " --workload %s", options->workload[i].name);
    add(&line, " --launches %zu --seed %" PRIu64 " --seconds %g --steps %zu:%zu --bind %s",
        options->launches, options->seed, options->limits.seconds, options->limits.min_steps,
        options->limits.max_steps, options->bind ? "cores" : "none");
    if (options->no_graphs)
        add(&line, " --graphs off");
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

    return next ? (size_t)(next - text) : strlen(text);
}

/* Whether text has an option of the name at the start of option. */
static bool has_name(const char *text, const char *option)
{
    const size_t name = strcspn(option, " ");

    while (*text != '\0') {
        if (strcspn(text, " ") == name && memcmp(text, option, name) == 0)
            return true;
        text += option_length(text);
        text += *text == ' ';
    }
    return false;
}

/* Both have options in the same order, but each may have some that the other does not know. */
static int describe_difference(const char *here, const char *there, struct text_error *why)
{
    const size_t a = option_length(here), b = option_length(there);
    const int shown_a = (int)(a < 100 ? a : 100), shown_b = (int)(b < 100 ? b : 100);

    if (!has_name(there, here) && a > 0)
        snprintf(why->text, sizeof why->text, "here it is \"%.*s\", the file has no such option",
                 shown_a, here);
    else if (!has_name(here, there))
        snprintf(why->text, sizeof why->text, "the file has \"%.*s\", here there is no such option",
                 shown_b, there);
    else
        snprintf(why->text, sizeof why->text, "here it is \"%.*s\", in the file \"%.*s\"", shown_a,
                 here, shown_b, there);
    return -1;
}

int plan_compare(const char *here, const char *there, struct text_error *why)
{
    while (*here != '\0' || *there != '\0') {
        const size_t a = option_length(here), b = option_length(there);

        if (a != b || memcmp(here, there, a) != 0)
            return describe_difference(here, there, why);
        here += a + (here[a] == ' ');
        there += b + (there[b] == ' ');
    }
    return 0;
}
