/* progress.c: the progress line. Failures always get a line that stays. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void progress_open(struct progress *progress, size_t done, size_t total, int name_width)
{
    *progress = (struct progress){.terminal = isatty(STDERR_FILENO),
                                  .name_width = name_width,
                                  .done = done,
                                  .total = total,
                                  .started = now()};
}

static const char *time_text(double ns, char *text, size_t bytes)
{
    if (ns < 1e3)
        snprintf(text, bytes, "%.3g ns", ns);
    else if (ns < 1e6)
        snprintf(text, bytes, "%.3g us", ns / 1e3);
    else if (ns < 1e9)
        snprintf(text, bytes, "%.3g ms", ns / 1e6);
    else
        snprintf(text, bytes, "%.3g s", ns / 1e9);
    return text;
}

static const char *rate_text(double rate, char *text, size_t bytes)
{
    if (rate < 1e3)
        snprintf(text, bytes, "%.3g", rate);
    else if (rate < 1e6)
        snprintf(text, bytes, "%.3gk", rate / 1e3);
    else
        snprintf(text, bytes, "%.3gM", rate / 1e6);
    return text;
}

/* "1m20s", "45s"; "?" before the first cell is finished. */
static const char *left_text(const struct progress *p, char *text, size_t bytes)
{
    if (p->finished_here == 0) {
        snprintf(text, bytes, "?");
        return text;
    }
    const double each = (now() - p->started) / (double)p->finished_here;
    const unsigned long seconds = (unsigned long)(each * (double)(p->total - p->done) + 0.5);

    if (seconds < 60)
        snprintf(text, bytes, "%lus", seconds);
    else
        snprintf(text, bytes, "%lum%02lus", seconds / 60, seconds % 60);
    return text;
}

static size_t columns(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* At most room bytes of name; "..." says that it goes on. */
static void cut_name(const char *name, size_t room, char *text, size_t bytes)
{
    if (strlen(name) <= room)
        snprintf(text, bytes, "%s", name);
    else
        snprintf(text, bytes, "%.*s...", room > 3 ? (int)room - 3 : 0, name);
}

/* "[ 3/16] mlp:16,8 2 dev batch   30" and rest, within the width of the terminal, without newline.
 * Its last column stays free: some terminals go on to the next line after it. */
static void print_line(const struct progress *p, size_t number, const char *workload, int n_devices,
                       size_t rows, const char *rest)
{
    enum { NAME_MIN = 10 };
    const int width = p->total < 10 ? 1 : p->total < 100 ? 2 : p->total < 1000 ? 3 : 4;
    const size_t room = columns() - 1;
    char head[64], name[128], tail[192], line[400], shown[400];

    snprintf(head, sizeof head, "[%*zu/%zu]", width, number, p->total);
    snprintf(tail, sizeof tail, "%2d dev batch %4zu %s", n_devices, rows, rest);

    const size_t others = strlen(head) + strlen(tail) + 2;
    const size_t left = room > others + NAME_MIN ? room - others : NAME_MIN;
    const size_t name_width = (size_t)p->name_width;

    cut_name(workload, left < name_width ? left : name_width, name, sizeof name);
    snprintf(line, sizeof line, "%s %-*s %s", head, (int)(left < name_width ? left : name_width),
             name, tail);
    cut_name(line, room, shown, sizeof shown);
    fputs(shown, stderr);
}

void progress_begin(struct progress *progress, const struct cell_config *config)
{
    char left[32], rest[48];

    if (!progress->terminal)
        return;
    snprintf(rest, sizeof rest, "%s left", left_text(progress, left, sizeof left));
    fputs("\r\033[K", stderr);
    print_line(progress, progress->done + 1, config->workload.name, config->n_devices, config->rows,
               rest);
    fflush(stderr);
}

void progress_cell(struct progress *progress, const struct record_cell *cell)
{
    char time[32], rate[32], rest[128], reason[sizeof cell->reason];

    progress->done++;
    progress->finished_here++;
    if (progress->terminal && cell->status == RECORD_OK)
        return;
    if (progress->terminal)
        fputs("\r\033[K", stderr);
    if (cell->status == RECORD_OK)
        snprintf(rest, sizeof rest, "verified %7s %5s rows/s",
                 time_text(cell->median_ns, time, sizeof time),
                 rate_text(cell->throughput_samples_per_s, rate, sizeof rate));
    else
        snprintf(rest, sizeof rest, "%s:", record_status_names[cell->status]);
    print_line(progress, progress->done, cell->key.workload, cell->key.n_devices,
               cell->key.global_batch, rest);
    fputc('\n', stderr);
    if (cell->status == RECORD_OK)
        return;
    memcpy(reason, cell->reason, sizeof reason);
    command_clean(reason);
    fputs("    ", stderr);
    command_wrap(stderr, reason, 4, 4, columns());
}

void progress_close(struct progress *progress)
{
    if (progress->terminal)
        fputs("\r\033[K", stderr);
}
