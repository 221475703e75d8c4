/* sweep/progress.c: prints the progress line. Failures always get a line that stays. */
#include "sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command/command.h"
#include "launch/watch.h"
#include "record/record.h"
#include "text/quantity.h"

/* REST_MOST: what follows the setting of a verified launch, "verified  123 ms oversubscribed". */
enum { NAME_MIN = 8, REST_MOST = 31 };

static size_t columns(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Copies at most room bytes of name; "..." marks that it was cut. */
static void cut_name(const char *name, size_t room, char *text, size_t bytes)
{
    if (strlen(name) <= room)
        snprintf(text, bytes, "%s", name);
    else
        snprintf(text, bytes, "%.*s...", room > 3 ? (int)room - 3 : 0, name);
}

/* Cuts the name of a workload in its middle, or before its number in the plan. */
static void cut_workload(const struct progress *p, size_t workload, char text[128])
{
    const char *name = p->plan->workload[workload].name;
    const size_t length = strlen(name), kept = p->name_width > 3 ? p->name_width - 3 : 0;
    char end[64] = "";

    if (p->numbered)
        snprintf(end, sizeof end, "%zu", workload + 1);
    else
        snprintf(end, sizeof end, "%s", name + (length > kept / 2 ? length - kept / 2 : 0));
    if (length <= p->name_width)
        snprintf(text, 128, "%s", name);
    else
        snprintf(text, 128, "%.*s...%s", (int)(kept - strlen(end)), name, end);
}

static int digits(size_t number)
{
    return snprintf(NULL, 0, "%zu", number);
}

/* Writes "[ 3/48] launch 1/3"; without the word if there is little space. */
static void head_text(const struct progress *p, size_t number, const struct record_key *key,
                      const char *word, char *text, size_t bytes)
{
    snprintf(text, bytes, "[%*zu/%zu]", digits(p->total), number, p->total);
    if (p->plan->launches > 1)
        text_add(text, bytes, " %s%*d/%zu", word, digits(p->plan->launches), key->launch + 1,
                 p->plan->launches);
}

/* Writes the values of the axes: "256Ki" for a bucket; nothing for PyTorch's bucket size, and for
 * any axis at its default. A value is a name if the sweep has several. */
static void axes_text(const struct progress *p, const struct record_key *key, char *text,
                      size_t room)
{
    text[0] = '\0';
    for (size_t i = 0; i < PLAN_OPTIONS; ++i) {
        const struct plan_option *option = &plan_option_table[i];
        const struct plan_axis *axis = &option->axis;
        const size_t number = axis->modes > 0 ? plan_axis_number(axis, key, axis->in_key) : 0;
        char value[48] = "";

        if (number > 0)
            units_binary(number, value);
        else if (axis->bytes > 0 && plan_axis_count(option, p->plan, CELL_DP) > 1)
            plan_axis_text(axis, key, axis->in_key, value, sizeof value);
        if (value[0] != '\0')
            text_add(text, room, "%s%s %s", axis->nameless ? "" : " ",
                     axis->nameless ? "" : option->name, value);
    }
}

/* Writes the setting: "plain batch   30", " 2 dp  batch   30", " 2 ddp 256Ki batch   30", or with
 * weak scaling " 2 dp  x   15 rows". The axes are cut by excess bytes. */
static void setting_text(const struct progress *p, const struct record_key *key, size_t excess,
                         char *text, size_t bytes)
{
    const size_t share = key->n_devices > 0 ? key->global_batch / (size_t)key->n_devices : 0;
    char mode[80], whole[48], axes[48];

    axes_text(p, key, whole, sizeof whole);
    cut_name(whole, strlen(whole) > excess ? strlen(whole) - excess : 0, axes, sizeof axes);
    if (strcmp(key->mode, "plain") == 0)
        snprintf(mode, sizeof mode, "plain%s ", axes);
    else
        snprintf(mode, sizeof mode, "%2d %-3s%s", key->n_devices, key->mode, axes);
    if (p->plan->weak)
        snprintf(text, bytes, "%s x %4zu rows", mode, share);
    else if (record_is_collective(key))
        snprintf(text, bytes, "%2d dev%s", key->n_devices, axes);
    else
        snprintf(text, bytes, "%s batch %4zu", mode, key->global_batch);
}

void progress_open(struct progress *progress, const struct plan_options *plan,
                   const struct cell_config cell[], size_t done)
{
    size_t width = 0, others = 0;
    struct progress *p = progress;

    *p = (struct progress){.terminal = isatty(STDERR_FILENO),
                           .plan = plan,
                           .done = done,
                           .total = plan_cells(plan),
                           .started = watch_now()};
    for (size_t i = 0; i < plan->n_workloads; ++i)
        width = strlen(plan->workload[i].name) > width ? strlen(plan->workload[i].name) : width;
    for (size_t i = 0; i < plan->n_collectives; ++i)
        width = strlen(plan->collective[i]) > width ? strlen(plan->collective[i]) : width;
    /* The longest line decides, so that a workload has one name in all lines. */
    for (size_t i = 0; i < p->total; ++i) {
        struct record_cell planned;
        char head[128], setting[128];

        cell_identify(&cell[i], &planned);
        head_text(p, i + 1, &planned.key, "launch ", head, sizeof head);
        setting_text(p, &planned.key, 0, setting, sizeof setting);
        if (strlen(head) + strlen(setting) > others)
            others = strlen(head) + strlen(setting);
    }
    others += REST_MOST + 4; /* three spaces, and the last column */
    p->name_width = columns() > others + NAME_MIN ? columns() - others : NAME_MIN;
    p->name_width = p->name_width < width ? p->name_width : width;
    for (size_t i = 0; i < plan->n_workloads; ++i)
        for (size_t k = 0; k < i && !p->numbered; ++k) {
            char name[128], other[128];

            cut_workload(p, i, name);
            cut_workload(p, k, other);
            p->numbered = strcmp(name, other) == 0;
        }
}

/* Prints "[ 3/16] mlp:16,8 2 dp  batch   30" and rest, within the width of the terminal, without
 * newline. If that is too long the axes are cut, and rest last. The last column stays free: some
 * terminals go on to the next line after it. */
static void print_progress(const struct progress *p, size_t number, const struct record_key *key,
                           const char *rest)
{
    const size_t room = columns() - 1;
    char head[128], name[128], setting[128], tail[288], line[600], shown[600];
    size_t own = 0;

    setting_text(p, key, 0, setting, sizeof setting);
    snprintf(tail, sizeof tail, "%s %s", setting, rest);
    head_text(p, number, key, "launch ", head, sizeof head);
    if (strlen(head) + strlen(tail) + 2 + p->name_width > room)
        head_text(p, number, key, "", head, sizeof head);

    const size_t length = strlen(head) + strlen(tail) + 2 + p->name_width;

    if (length > room) {
        setting_text(p, key, length - room, setting, sizeof setting);
        snprintf(tail, sizeof tail, "%s %s", setting, rest);
    }
    while (own < p->plan->n_workloads && strcmp(p->plan->workload[own].name, key->workload) != 0)
        ++own;
    if (own < p->plan->n_workloads)
        cut_workload(p, own, name);
    else /* a collective: these have short names */
        cut_name(key->workload, p->name_width, name, sizeof name);
    if (snprintf(line, sizeof line, "%s %-*s %s", head, (int)p->name_width, name, tail) < 0)
        return;
    cut_name(line, room, shown, sizeof shown);
    fputs(shown, stderr);
}

/* "? left" until the first launch is finished. */
static const char *left_text(const struct progress *p, char text[48])
{
    const double each = (watch_now() - p->started) / (double)p->finished_here;
    const unsigned long seconds =
        p->finished_here > 0 ? (unsigned long)(each * (double)(p->total - p->done) + 0.5) : 0;

    if (p->finished_here == 0)
        return "? left";
    if (seconds < 60)
        snprintf(text, 48, "%lus left", seconds);
    else if (seconds < 3600)
        snprintf(text, 48, "%lum%02lus left", seconds / 60, seconds % 60);
    else
        snprintf(text, 48, "%luh%02lum left", seconds / 3600, seconds / 60 % 60);
    return text;
}

void progress_begin(struct progress *progress, const struct cell_config *config)
{
    const struct progress *p = progress;
    struct record_cell cell;
    char left[48];

    if (!p->terminal)
        return;
    cell_identify(config, &cell);
    fputs("\r\033[K", stderr);
    print_progress(p, p->done + 1, &cell.key, left_text(p, left));
    fflush(stderr);
}

void progress_cell(struct progress *progress, const struct record_cell *cell)
{
    const struct report_row row = {.cell = cell, .verified = cell->status == RECORD_OK};
    char time[UNITS_BYTES], left[48], rest[128];

    ++progress->done;
    ++progress->finished_here;
    progress->disturbed += report_disturbed(&row);
    /* Once: at the end it would be too late. */
    if (progress->disturbed == 1 && report_disturbed(&row)) {
        fputs(progress->terminal ? "\r\033[K" : "", stderr);
        command_say(stderr, 2,
                    "[busy] In a launch, %.0f %% of the time of its cores went to other programs, "
                    "%.0f %% to other machines. The sweep goes on, and may end not certain. Close "
                    "other programs, or press Ctrl-C: --resume goes on later.",
                    100 * fmax(cell->foreign_frac, 0), 100 * fmax(cell->steal_frac, 0));
    }
    if (progress->finished_here == plan_block(progress->plan) &&
        progress->disturbed == progress->finished_here && progress->done < progress->total) {
        fputs(progress->terminal ? "\r\033[K" : "", stderr);
        command_say(stderr, 2,
                    "[busy] Each of the first %zu launches was disturbed. No cell becomes certain "
                    "this way.",
                    progress->finished_here);
    }
    if (progress->terminal && cell->status == RECORD_OK)
        return;
    if (progress->terminal)
        fputs("\r\033[K", stderr);
    if (cell->status != RECORD_OK)
        snprintf(rest, sizeof rest, "%s:", record_status_names[cell->status]);
    else
        snprintf(rest, sizeof rest, "verified %7s %s", units_time(cell->median_ns, time),
                 cell->oversubscribed ? "oversubscribed" : left_text(progress, left));
    print_progress(progress, progress->done, &cell->key, rest);
    fputc('\n', stderr);
    if (cell->status == RECORD_OK)
        return;
    fputs("    ", stderr);
    command_wrap(stderr, cell->reason, 4, 4, columns());
}

void progress_close(struct progress *progress)
{
    if (progress->terminal)
        fputs("\r\033[K", stderr);
}
