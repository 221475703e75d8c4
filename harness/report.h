/* report.h: `lockstep report`, from record files to a page, a figure and a table.
 *
 * The main program needs report_main only; the rest is shared by the report*.c files. The way of
 * the data: report.c reads the files, report_rows.c sorts cells into rows and groups,
 * report_table.c words them, report_html.c and report_plot.c write them. Text from records is
 * cleaned when it is read (report_clean) and escaped when it is written (report_print). */
#ifndef HARNESS_REPORT_H
#define HARNESS_REPORT_H

#include "record.h"

#include <stdio.h>

#define REPORT_CELL_TEXT 640 /* longest text of a table cell */

/* The subcommand; argv[0] is "lockstep report". Returns the exit status, see --help. */
int report_main(int argc, char **argv);

/* ---- rows --------------------------------------------------------------------------------- */

/* One launch of one cell. */
struct report_row {
    const struct record_run *run;
    const struct record_cell *cell;
    int variant;                   /* rows of different variants were not built or run alike */
    char kind[64];                 /* kind of devices, "virt" of "virt:2" */
    bool verified;                 /* only these are plotted and compared */
    const char *state;             /* "verified", or how it failed */
    const struct report_row *base; /* one device, same batch; NULL: no verified one */
    double speedup, efficiency;    /* NaN without a base */
    double bound;                  /* N / (K ceil(N/K)): what unequal shards leave of efficiency */
};

/* Rows first..first+n: one workload in one setting, ordered by devices, batch, launch. */
struct report_group {
    size_t first, n;
};

struct check_record;

struct report {
    struct record_file *file;
    size_t n_files;
    struct report_row *row;
    size_t n_rows;
    struct report_group *group;
    size_t n_groups;
    bool many_runs;                         /* more than one run id */
    bool many_variants;                     /* and they cannot all be put together */
    const struct check_record *conformance; /* NULL: none */
    size_t planned, measured, verified, failed, skipped, missing;
};

/* Launches of the same cell, summed up: the launch of the (lower) median throughput, and the range
 * of the steps of all of them. */
struct report_point {
    const struct report_row *middle; /* NULL: no verified launch */
    size_t launches;
    double lo, hi; /* rows / p95 and rows / p05 of step time: samples per second */
};

/* Fills everything behind file and n_files. 0, or -1 when memory is short. */
int report_rows_make(struct report *report);
void report_rows_free(struct report *report);

/* The point at row first, which ends before row end; *n rows belong to it. */
struct report_point report_point_at(const struct report *report, size_t first, size_t end,
                                    size_t *n);
bool report_oversubscribed(const struct report_row *row);
bool report_simulated(const struct report_row *row);

/* ---- words -------------------------------------------------------------------------------- */

enum report_column {
    REPORT_DEVICES,
    REPORT_BATCH,
    REPORT_SHARDS,
    REPORT_STATUS,
    REPORT_MEDIAN,
    REPORT_SPREAD,
    REPORT_STEPS,
    REPORT_THROUGHPUT,
    REPORT_BASE,
    REPORT_SPEEDUP,
    REPORT_EFFICIENCY,
    REPORT_PHASES,
    REPORT_COLUMNS
};
extern const char *const report_column_names[REPORT_COLUMNS];

struct report_out;

void report_cell_words(const struct report *report, const struct report_row *row,
                       enum report_column column, char text[REPORT_CELL_TEXT]);
void report_group_words(const struct report *report, const struct report_group *group,
                        char text[REPORT_CELL_TEXT]);
void report_verdict(struct report_out *out, const struct report *report);
/* One sentence: the best throughput of a group, and how it scales at its largest batch. */
void report_scaling(struct report_out *out, const struct report *report,
                    const struct report_group *group);
void report_caption(struct report_out *out, const struct report *report);
int report_markdown(const char *directory, const struct report *report, bool figure,
                    struct record_error *err);

/* ---- page and figure ---------------------------------------------------------------------- */

/* svg: file name in directory of the figure to put inside, NULL: none, and why says so. */
int report_page(const char *directory, const struct report *report, const char *svg,
                const char *why, struct record_error *err);

/* What pages begin with, up to <main>. */
void report_head(struct report_out *out, const char *title);
/* The page of a result of `lockstep check`; index: there is a page of measurements to link to. */
#define REPORT_CONFORMANCE "conformance.html"
int report_conformance(const char *directory, const struct check_record *record, bool index,
                       struct record_error *err);

enum report_plot_status {
    REPORT_PLOT_OK,
    REPORT_PLOT_NONE,   /* no verified cell */
    REPORT_PLOT_FAILED, /* gnuplot is missing or failed */
    REPORT_PLOT_WRITE   /* a file could not be written */
};
#define REPORT_MAX_PANELS 16
#define REPORT_MAX_SERIES 6 /* lines in a panel: more cannot be told apart in grey */
size_t report_panels(const struct report *report);
enum report_plot_status report_plot(const char *directory, const struct report *report,
                                    struct record_error *err);

/* Runs gnuplot in directory on one of our scripts, `variables` in front, for so many seconds at
 * most. 0, or -1. */
int report_gnuplot(const char *directory, const char *variables, const char *script,
                   unsigned seconds, struct record_error *err);
/* Both pictures, from the script and the data in directory. 0, or -1. */
int report_draw(const char *directory, const char *variables, struct record_error *err);
/* What an earlier report left must not stand beside a new one. */
void report_remove(const char *directory, const char *name);

/* ---- text --------------------------------------------------------------------------------- */

typedef void report_escape_fn(FILE *file, const char *text);
void report_escape_none(FILE *file, const char *text);
void report_escape_html(FILE *file, const char *text);
void report_escape_markdown(FILE *file, const char *text);

/* A file that gets its name only when it is complete. */
struct report_out {
    FILE *file;
    report_escape_fn *escape;
    char path[1024], temporary[1040];
};

/* Makes text valid UTF-8 without control, direction or non-characters; never longer. */
void report_clean(char *text);

int report_open(struct report_out *out, const char *directory, const char *name,
                report_escape_fn *escape, struct record_error *err);
/* Completes the file, or removes it. */
int report_close(struct report_out *out, struct record_error *err);
/* Gives it up. */
void report_discard(struct report_out *out);

/* printf with %s, %d, %zu and %% only; what %s prints is escaped, the format is not. */
void report_print(struct report_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "12.3 ms", "845 us": three digits. "-" when not finite. */
void report_time(double ns, char text[32]);
/* "1.23 M", "845": three digits. */
void report_rate(double per_second, char text[32]);

/* Embedded by plots/Embed.cmake; zero-terminated. */
extern const unsigned char report_asset_css[], report_asset_reading[], report_asset_gnuplot[];

#endif
