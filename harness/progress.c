/* progress.c: the progress line. Failures always get a line that stays. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static void print_name(const struct progress *p, size_t number, const char *workload, int n_devices,
                       size_t rows)
{
    const int width = p->total < 10 ? 1 : p->total < 100 ? 2 : p->total < 1000 ? 3 : 4;

    fprintf(stderr, "[%*zu/%zu] %-*.40s  %2d device%s  batch %4zu", width, number, p->total,
            p->name_width, workload, n_devices, n_devices == 1 ? " " : "s", rows);
}

void progress_begin(struct progress *progress, const struct cell_config *config)
{
    char left[32];

    if (!progress->terminal)
        return;
    fputs("\r\033[K", stderr);
    print_name(progress, progress->done + 1, config->workload.name, config->n_devices,
               config->rows);
    fprintf(stderr, "  %s left", left_text(progress, left, sizeof left));
    fflush(stderr);
}

void progress_cell(struct progress *progress, const struct record_cell *cell)
{
    char time[32], rate[32];

    progress->done++;
    progress->finished_here++;
    if (progress->terminal && cell->status == RECORD_OK)
        return;
    if (progress->terminal)
        fputs("\r\033[K", stderr);
    print_name(progress, progress->done, cell->key.workload, cell->key.n_devices,
               cell->key.global_batch);
    if (cell->status == RECORD_OK)
        fprintf(stderr, "  verified  %7s  %6s rows/s\n",
                time_text(cell->median_ns, time, sizeof time),
                rate_text(cell->throughput_samples_per_s, rate, sizeof rate));
    else
        fprintf(stderr, "  %s: %s\n", record_status_names[cell->status], cell->reason);
}

void progress_close(struct progress *progress)
{
    if (progress->terminal)
        fputs("\r\033[K", stderr);
}
