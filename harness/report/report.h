/* report/report.h: `lockstep report`, from record files to a page, a figure and a table.
 *
 * The main program needs report_main only; the rest is shared by the files of this room. The way of
 * the data: report/main.c reads the files, report/rows.c sorts cells into rows, report/points.c
 * sums them up, report/table.c words them, report/html.c and plot/plot.c write them. Text from
 * records is cleaned when it is read (text_clean) and escaped when it is written (text_print). */
#ifndef HARNESS_REPORT_H
#define HARNESS_REPORT_H

#include "files/text_out.h"
#include "numbers/stats.h"
#include "plot/plot.h"
#include "record/record.h"
#include "report/figure_list.h"

#include <stdio.h>

#define REPORT_CELL_TEXT 640 /* longest text of a table cell */

/* The state of a launch whose results are right and whose times nobody may believe. */
#define REPORT_INVALID "INVALID"

/* The subcommand; argv[0] is "lockstep report". Returns the exit status, see --help. */
int report_main(int argc, char **argv);

/* ---- rows and points ---------------------------------------------------------------------- */

/* One launch of one cell. */
struct report_row {
    const struct record_run *run;
    const struct record_cell *cell;
    size_t file;       /* index of the file it is from */
    int variant;       /* rows of different variants were not built or run alike */
    int work;          /* verified rows of one key that say different things of their work differ */
    char kind[64];     /* kind of devices, "virt" of "virt:2" */
    bool verified;     /* only these are plotted and compared */
    const char *state; /* "verified", or how it failed */
};

/* What lo and hi of a value are. */
enum report_range {
    REPORT_NONE,     /* nothing: both NaN */
    REPORT_STEPS,    /* 5th and 95th percentile of the n steps of the only launch */
    REPORT_LAUNCHES, /* smallest and largest of n launches, too few for an interval */
    REPORT_INTERVAL  /* of the median over n launches, 95 % or more by order statistics */
};

/* A number over the launches of a point: their median. */
struct report_value {
    double middle; /* NaN: unknown */
    double lo, hi;
    enum report_range range;
    size_t n;        /* launches, steps with REPORT_STEPS; of a ratio: pairs, 0: not paired */
    double coverage; /* of the interval, NaN without one */
};

/* What is said of a point: rows of the catalogue (report/metrics.c), in the order of their columns.
 */
enum report_metric_id {
    REPORT_STEP,       /* per launch the median step */
    REPORT_THROUGHPUT, /* rows over the median step */
    REPORT_SPEEDUP,    /* against base */
    REPORT_EFFICIENCY, /* the same per device */
    REPORT_OUTSIDE,    /* of a step, outside matrix products */
    REPORT_MOVED,      /* per step, between devices */
    REPORT_PEAK,       /* of the device that held most */
    /* Mode ddp: a step without its reduction, that alone, and whole, in turns; what is hidden. */
    REPORT_COMPUTE,
    REPORT_COMM,
    REPORT_WHOLE,
    REPORT_HIDDEN,
    REPORT_HIDDEN_TIME, /* of the reduction: computation and reduction less the whole step */
    REPORT_FLOPS,       /* operations of matrix products, per second and device */
    REPORT_PRODUCTS,    /* the same while a device is in them */
    REPORT_ALGBW,       /* of a collective: its size over its time */
    REPORT_BUSBW,       /* times its factor, as nccl-tests defines it */
    REPORT_ALPHA,       /* of the line through the sizes of a collective: what no byte takes, */
    REPORT_BETA,        /* and one byte over what it takes */
    REPORT_PHASE,       /* and the enum record_phase: the slowest replica of a step */
    REPORT_METRICS = REPORT_PHASE + RECORD_PHASES
};

/* All launches of one cell. The ratios are made launch by launch, with the same launch of the same
 * run and sitting in the base; if no launch is in both, they are ratios of the medians and have no
 * range. */
/* The rank that was slowest in most launches: in lost of those that have one, of so many ranks with
 * the most rows. more: its own work over that of the others, less 1; steps: the share of these
 * launches' steps. p: that any rank loses as many by chance; NaN: of one launch. */
struct report_slowest {
    int rank, ranks; /* rank -1: no one */
    size_t lost, launches;
    double steps, more, p;
};

struct report_point {
    size_t first, n;                 /* its rows, ordered by launch */
    size_t verified;                 /* launches; only these are in the numbers */
    const struct report_row *row;    /* the first row: what all of them share */
    const struct report_row *middle; /* launch of the (lower) median step, NULL: none verified */
    struct report_value value[REPORT_METRICS];
    size_t bucket; /* mode ddp: index of its bucket in report->bucket */
    /* Verified base cases, NULL: none. rank: of mode ddp only, DDP on one rank. */
    const struct report_point *plain, *single, *rank;
    const struct report_point *base; /* plain, else single, else rank, else NULL */
    double part[RECORD_PHASES + 1];  /* against base, see report_limit_parts */
    const struct report_point *peer; /* mode ddp: the same of DataParallel, or NULL */
    /* On several devices: the plain program on as many cores with the same base, or NULL. */
    const struct report_point *cores;
    struct report_value beside;    /* its step over peer's */
    struct report_slowest slowest; /* mode ddp: which of its ranks */
    double bound; /* of efficiency: min(N / ceil(N/K), cores) / K, without cores on GPUs */
    /* How much faster its steps got while they were measured, as a logarithm: the mean over its
     * launches, and the interval of that. */
    double settled_by;
    struct stats_interval settling;
};
/* Steps that get faster by less are not spoken of. */
#define REPORT_SETTLED 0.02
/* Whether they got faster by more than that, beyond what differs by chance. */
bool report_settles(const struct report_point *point);
/* The median over the launches; NaN: unknown. */
double report_middle(const struct report_point *point, int metric);

/* Points first..first+n: one workload in one setting, ordered by mode (plain, dp, others), devices,
 * bucket and batch. Behind them n_cores of mode plain-mt: a reference, which is never a base, and
 * in no figure. */
struct report_group {
    size_t first, n, n_cores;
    size_t n_plain;          /* base cases: points first.. */
    size_t single, n_single; /* and points single.. */
    size_t rank, n_rank;     /* and points rank.. */
    const char *scaling;     /* "strong": batch is that of all devices; "weak": rows per device */
};

/* Launches of cells: planned are those with a row and those missing. */
struct report_counts {
    size_t planned, measured, verified, failed, skipped, missing;
};

/* What the launches of a run say of each other, each compared with the median of its cell. NaN: too
 * few, or their times are not known. p: of such a number, or one farther from 0, by chance. */
struct report_drift {
    size_t launches, blocks;
    double change,
        change_p;        /* of the steps, from the first block to the last: 0.31 is 31 % longer */
    double lag1, lag1_p; /* autocorrelation of launches that follow each other */
};

/* One run, which may be in several files. */
struct report_run {
    const struct record_run *run;
    struct report_counts counts;
    bool sealed, planned; /* all of its files are */
    bool ended;           /* one of them has an end line that says: not interrupted */
    struct report_drift drift;
    double seconds; /* of its sittings; NaN: not known, or the run is in several files */
    struct record_timed timed;
    struct record_costs costs;
    double writing; /* seconds, as above */
};

/* How far launches lie from the median of their cell, all cells together, as the logarithm of a
 * ratio: about a standard deviation. least: the ratio less 1 that two files of as many launches of
 * a cell can tell from 1. NaN: no cell has enough launches. */
struct report_noise {
    double spread, least;
};

struct check_record;
struct peer_record;
struct report_fit;
struct copies_set;
struct beside;
struct nvbandwidth;

struct report {
    struct record_file *file;
    size_t n_files;
    struct report_row *row;
    size_t n_rows, n_all; /* of training; with those of collectives, which come last */
    struct report_point *point;
    size_t n_points;
    struct report_group *group;
    size_t n_groups;
    size_t *bucket; /* bytes, all that there are, ascending, with 0 */
    size_t n_buckets;
    bool many_runs;                         /* more than one run id */
    bool many_variants;                     /* and they cannot all be put together */
    const struct check_record *conformance; /* NULL: none */
    const struct peer_record *peer;         /* NULL: none */
    struct beside **beside;                 /* files of nccl-tests: report/beside.h */
    size_t n_beside;
    struct nvbandwidth *nvbandwidth; /* one file of nvbandwidth, or NULL: report/nvbandwidth.h */
    struct report_run *run;
    size_t n_runs;
    struct report_counts counts; /* of all runs */
    /* Rows, points and groups of collectives, which are in no other table and one figure of their
     * own; never NULL, and without collectives of its own. */
    struct report *collectives;
    struct report_fit *fit; /* of collectives: report/fits.h */
    size_t n_fits;
    struct copies_set *copies; /* report/copies.h */
    size_t n_copies;
    struct report_noise noise;
};

/* Whether numbers of both may stand side by side. */
bool report_same_machine(const struct record_run *a, const struct record_run *b);
/* Fills everything behind file and n_files. 0, or -1 when memory is short. */
int report_rows_make(struct report *report);
void report_rows_free(struct report *report);

/* Puts rows in the order of points, and numbers their work; and whether two of them are of one
 * group, of one point. */
void report_rows_sort(struct report *report);
int report_launch_order(const struct report_row *a, const struct report_row *b); /* in a point */
bool report_same_group(const struct report_row *a, const struct report_row *b);
bool report_same_point(const struct report_row *a, const struct report_row *b);
/* Points and groups from sorted rows; point and group have room for n_rows. 0, or -1 when memory
 * is short. */
int report_points_make(struct report *report);
/* Fills settling of all points. 0, or -1: memory is short. */
int report_settling_make(struct report *report);
/* Fills slowest of all points. report/slowest.c */
void report_slowest_make(struct report *report);
enum { REPORT_SLOWEST_COLUMNS = 6 };
extern const char *const report_slowest_names[REPORT_SLOWEST_COLUMNS];
void report_slowest_words(const struct report_point *point, int column,
                          char text[REPORT_CELL_TEXT]);
/* The drift of each run, after the points. 0, or -1 when memory is short. report/drift.c */
int report_drift_make(struct report *report);
/* Fills noise, after the points. 0, or -1 when memory is short. report/strip.c */
int report_noise_make(struct report *report);
/* Median and range of n values of as many launches, which it sorts. */
struct report_value report_value_of(double values[], size_t n);
/* over / value: so a ratio and its inverse, or a time and a rate, say the same. */
struct report_value report_inverse(const struct report_value *value, double over);

/* Launches of two points that are compared: the same launch of the same run, both verified. */
struct report_pair {
    const struct report_row *row, *base;
};
/* By launch; *at begins at 0. False after the last. */
bool report_pair_next(const struct report_point *point, const struct report_point *base,
                      size_t at[2], struct report_pair *pair);

bool report_is_plain(const struct report_point *point);
bool report_is_cores(const struct report_point *point); /* plain-mt: the BLAS on several cores */
bool report_is_ddp(const struct report_point *point);   /* DistributedDataParallel */
/* Whether cells have, or were to have, more than one launch: what is counted are launches then. */
bool report_repeated(const struct report *report);
bool report_oversubscribed(const struct report_point *point);
bool report_simulated(const struct report_row *row);
/* On the host's cores, as far as is known. */
bool report_works_on_cores(const struct report_row *row);
/* What being oversubscribed means there: "more devices than cores", "several slots on one GPU". */
const char *report_crowding(const struct report_row *row);

/* Where else the time of a launch's cores went while its steps were measured, and above which share
 * it is said. The share is NaN where it is not known. */
enum { REPORT_ELSEWHERE = 2 };
struct report_elsewhere {
    size_t field; /* of a cell: the share */
    double limit;
    const char *to;
};
extern const struct report_elsewhere report_elsewhere[REPORT_ELSEWHERE];
double report_share_of(const struct record_cell *cell, const struct report_elsewhere *to);

/* ---- limits ------------------------------------------------------------------------------- */

struct report_part {
    int phase;    /* RECORD_PHASES: between the phases */
    double share; /* of the step; negative: faster than its share */
};

/* Why a point is not at its bound. The parts, largest first, add up to what is missing. */
struct report_limit {
    double of_bound; /* efficiency over bound; above 1 where several devices do more than that */
    double missing;  /* of the step: 1 - of_bound */
    struct report_part part[RECORD_PHASES + 1];
    size_t n_parts;
};

/* Its sum over what several devices do to a step. */
enum report_loss {
    REPORT_LOSS_COMPUTE, /* forward, backward */
    REPORT_LOSS_MOVES,   /* scatter, replicate, gather, reduce */
    REPORT_LOSS_ALONE,   /* loss, update: one device's work */
    REPORT_LOSS_BETWEEN, /* the phases */
    REPORT_LOSSES
};
double report_loss_of(const struct report_limit *limit, enum report_loss loss);

/* False when the parts are not known: the point has no base, nothing is known about its phases, or
 * the medians of the parts are too far from adding up. What is missing is known without them. */
bool report_limit_of(const struct report_point *point, struct report_limit *limit);
/* Fills point->part: per pair of launches of point and base what each phase takes above its share,
 * and last what no phase accounts for, over the step; then the median over the pairs. scratch has
 * room for a number per launch. */
void report_limit_parts(struct report_point *point, double scratch[]);
/* The point that tells most about scaling: on the most devices with cores of their own, at the
 * largest batch that has a base. NULL: none on several devices. */
const struct report_point *report_group_best(const struct report *report,
                                             const struct report_group *group);
/* Batch of its base case; 0 without one. */
size_t report_base_batch(const struct report_point *point);

/* The base cases of a group at one batch, verified or not; NULL: not planned. rank is by itself: it
 * is one only where the others are not verified. */
struct report_base {
    const struct report_point *plain, *single, *rank;
};
/* By batch, ranks last; *at begins at 0. False after the last. */
bool report_base_next(const struct report *report, const struct report_group *group, size_t at[3],
                      struct report_base *base);
size_t report_count_bases(const struct report *report);

/* ---- figures ------------------------------------------------------------------------------ */

#define REPORT_FIGURE_ENUM(id, name, write, title) REPORT_FIGURE_##id,
enum report_figure { REPORT_FIGURE_LIST(REPORT_FIGURE_ENUM) REPORT_FIGURES };
/* "batch": NAME.svg, NAME.png, NAME.gp and its data. */
extern const char *const report_figure_names[REPORT_FIGURES];
extern const char *const report_figure_titles[REPORT_FIGURES];

/* Each is OK, NONE or FAILED, and but for OK says why. */
struct report_figures {
    enum plot_status status[REPORT_FIGURES];
    char why[REPORT_FIGURES][192];
};

/* Draws all figures. WRITE: err says what; FAILED: one figure at least has failed, and err is the
 * first reason; NONE: no verified point; OK: all that the data have. Removes what an earlier report
 * left of figures that are not made. */
enum plot_status report_plot(const char *directory, const struct report *report,
                             struct report_figures *made, struct text_error *err);

/* ---- words -------------------------------------------------------------------------------- */

enum report_direction { REPORT_NEITHER, REPORT_LOWER, REPORT_HIGHER };
/* A column of the table of cells: not there, there where a point has something to say, there. */
enum report_shown { REPORT_NEVER, REPORT_WHERE_KNOWN, REPORT_ALWAYS };
typedef void report_number_fn(double value, char text[32]);

/* A row of the catalogue. Columns, facts, limits and figures take all that they say of a metric
 * from it: a new one is a name above and a row there. */
struct report_metric {
    const char *name;    /* "step time": in sentences and on axes */
    const char *unit;    /* of the value: "ns"; "": none */
    const char *heading; /* of a column: "Median step" */
    const char *brief;   /* of columns of several programs: "Step" */
    enum report_direction better;
    enum report_shown column, range; /* range: a column beside it */
    report_number_fn *number;
    /* Of a launch; NaN: unknown. NULL: it is a ratio of a point and its base. */
    double (*of)(const struct report_row *row, int phase);
    /* NULL: the number. */
    void (*words)(const struct report_point *point, char text[REPORT_CELL_TEXT]);
};
/* All phases are one row. */
extern const struct report_metric report_metrics[REPORT_PHASE + 1];
const struct report_metric *report_metric_of(int metric);
/* Whether a is better than b, by the direction. */
bool report_metric_better(int metric, double a, double b);
/* Whether the interval of a share tells anything: it has one that is narrower than half of whole.
 */
bool report_resolved(const struct report_value *value, double whole);
/* The middle in words, and the range. */
void report_add_metric(char text[REPORT_CELL_TEXT], const struct report_point *point, int metric);
void report_add_metric_range(char text[REPORT_CELL_TEXT], const struct report_point *point,
                             int metric);

/* Columns of the table of cells: what a point is, each metric and its range, and the rest. */
enum {
    REPORT_DEVICES_COLUMN,
    REPORT_BUCKET_COLUMN,
    REPORT_BATCH_COLUMN,
    REPORT_SHARDS_COLUMN,
    REPORT_LAUNCHES_COLUMN,
    REPORT_METRIC_COLUMNS,
    REPORT_PHASES_COLUMN = REPORT_METRIC_COLUMNS + 2 * REPORT_PHASE,
    REPORT_STATUS_COLUMN,
    REPORT_COLUMNS
};
int report_metric_column(enum report_metric_id metric, bool range);
/* Heading; what a range is depends on the launches. */
const char *report_column_name(const struct report *report, int column);
/* Whether it is shown: whether any point has something to say there. */
bool report_column_used(const struct report *report, int column);
/* "number range", for the page; a text is aligned to the left. */
const char *report_column_class(int column);
bool report_column_is_text(int column);

enum report_base_column {
    REPORT_BASE_BATCH,
    REPORT_BASE_PLAIN,
    REPORT_BASE_PLAIN_RANGE,
    REPORT_BASE_SINGLE,
    REPORT_BASE_SINGLE_RANGE,
    REPORT_BASE_WRAPPER,
    REPORT_BASE_WRAPPER_RANGE,
    REPORT_BASE_RANK,
    REPORT_BASE_RANK_RANGE,
    REPORT_BASE_COLUMNS
};
/* Whether any base case has something to say there. */
bool report_base_column_used(const struct report *report, enum report_base_column column);
const char *report_base_column_name(const struct report *report, enum report_base_column column);

/* Tables about ranks: DataParallel next to them, how much of their reduction overlaps backward, and
 * which of them is the slowest.
 * A row is a point of DistributedDataParallel. report/ranks.c */
enum report_ranks {
    REPORT_RANKS_BESIDE,
    REPORT_RANKS_OVERLAP,
    REPORT_RANKS_SLOWEST,
    REPORT_RANKS_TABLES
};
struct report_ranks_table {
    const char *id, *title, *rows, *note; /* rows: what they are */
    int n;                                /* columns */
    const struct report_ranks_column *column;
};
extern const struct report_ranks_table report_ranks_tables[REPORT_RANKS_TABLES];
void report_ranks_name(enum report_ranks table, int column, char text[REPORT_CELL_TEXT]);
bool report_ranks_has(enum report_ranks table, const struct report_point *point);
size_t report_ranks_count(const struct report *report, enum report_ranks table);
void report_ranks_words(enum report_ranks table, const struct report_point *point, int column,
                        char text[REPORT_CELL_TEXT]);
/* The table of collectives, a row each. report/collectives.c */
enum { REPORT_COLLECTIVES_COLUMNS = 11 };
extern const char *const report_collectives_names[REPORT_COLLECTIVES_COLUMNS];
void report_collectives_words(const struct report_point *point, int column,
                              char text[REPORT_CELL_TEXT]);
/* All of them as the table of nccl-tests; how many have a line there. report/nccl_tests.c */
size_t report_nccl_tests(FILE *to, const struct report *report);
/* Whether one is verified. */
bool report_collectives_any(const struct report *report);
/* "256Ki"; of 0, PyTorch's, "1Mi, 25Mi". */
void report_bucket_name(size_t bytes, char text[32]);

/* Appends to text of that capacity; what does not fit is cut, and never inside a character. */
void report_add(char text[REPORT_CELL_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends "1.86", with two digits at least: a speed-up of 0.004 is not none. "-" when not finite.
 */
void report_add_ratio(char text[REPORT_CELL_TEXT], double ratio);
/* Appends "93 %", "<1 %"; "-" when not finite. */
void report_add_share(char text[REPORT_CELL_TEXT], double share);
/* Appends "[1.21, 1.25] ms", an interval, or "1.21..1.25 ms", a range; "-" without either. */
void report_add_range(char text[REPORT_CELL_TEXT], const struct report_value *value,
                      report_number_fn *number);

void report_point_words(const struct report *report, const struct report_point *point, int column,
                        char text[REPORT_CELL_TEXT]);
void report_base_words(const struct report_base *base, enum report_base_column column,
                       char text[REPORT_CELL_TEXT]);
/* Whether a launch failed; a skipped one did not. */
bool report_point_failed(const struct report_point *point);
/* What the GPUs of launches, and of the nodes, said about themselves. report/gpus.c */
void report_gpu_cautions(struct text_out *out, const struct report *report, const char *before,
                         const char *after);
/* The picture of the node, as preformatted text of the page. */
void report_node(struct text_out *out, const struct record_run *run);
/* "mlp:8,8", and the communicator where the report has several: "mlp:8,8, staged". */
void report_workload_words(const struct report *report, const struct report_row *row,
                           char text[REPORT_CELL_TEXT]);
void report_group_words(const struct report *report, const struct report_group *group,
                        char text[REPORT_CELL_TEXT]);
/* Appends what these say behind the workload: "strong scaling, f32, cpu/threads on virt". */
void report_setting_words(const struct report *report, const struct report_group *group,
                          char text[REPORT_CELL_TEXT]);
/* "FAILED (crashed): why" of a launch that is not verified. */
void report_failure_words(const struct report_row *row, char text[REPORT_CELL_TEXT]);
/* What was verified; then in a sentence how it scales and what limits it. */
void report_verdict(struct text_out *out, const struct report *report);
void report_lead(struct text_out *out, const struct report *report);
/* "2 devices (oversubscribed)"; "1.86x [1.84, 1.88]"; "93 % of the bound 2.00"; "2048 rows". */
void report_add_devices(char text[REPORT_CELL_TEXT], const struct report_point *point);
void report_add_speedup(char text[REPORT_CELL_TEXT], const struct report_point *point);
void report_add_bound(char text[REPORT_CELL_TEXT], const struct report_point *point);
void report_add_batch(char text[REPORT_CELL_TEXT], const struct report_point *point);
const char *report_base_name(const struct report_point *base);

/* The numbers of a group: base, speed-ups, losses; each fact has a name. */
struct report_fact_style {
    const char *before, *between, *after;
};
void report_facts(struct text_out *out, const struct report_fact_style *style,
                  const struct report *report, const struct report_group *group);
/* What to keep in mind with these numbers; each caution is put between before and after. */
void report_cautions(struct text_out *out, const struct report *report, const char *before,
                     const char *after);
/* In the same way: the share of each run's time that was timed. The page has it in a table. */
void report_shares(struct text_out *out, const struct report *report, const char *before,
                   const char *after);
/* What is drawn, and what points, bars and n are. */
void report_caption(struct text_out *out, const struct report *report, enum report_figure figure);
/* The short report of a job. figures: to be shown beside it; NULL: none are there, and no page. 0,
 * or -1: memory is short. */
int report_summary(struct text_out *out, const struct report *report,
                   const struct report_figures *figures);
/* Says that so many of all lines are in the page only; nothing where all are shown. */
void report_left(struct text_out *out, size_t all, size_t shown, const char *what);
/* The same as summary.md. */
int report_markdown(const char *directory, const struct report *report,
                    const struct report_figures *figures, struct text_error *err);

/* ---- page --------------------------------------------------------------------------------- */

/* Puts the figures that were made inside. */
int report_page(const char *directory, const struct report *report,
                const struct report_figures *figures, struct text_error *err);

/* The top of the page. report/strip.c */
void report_strip(struct text_out *out, const struct report *report);
/* The table of answers; nothing where no cell has a base. 0, or -1: memory was short.
 * report/answers.c */
int report_answers(struct text_out *out, const struct report *report);
/* The most operations of a device of this group per second while it is in matrix products; NaN:
 * not measured. */
double report_product_rate(const struct report *report, const struct report_group *group);

/* Counts, base cases, failed launches and all points, as HTML. 0, or -1: memory was short. */
int report_tables(struct text_out *out, const struct report *report);

/* Which batch would fill the machine, as HTML; nothing where that is not known. report/memory.c */
int report_memory(struct text_out *out, const struct report *report);
bool report_has_memory(const struct report *report);

/* What pages begin with, up to <main>. */
void report_head(struct text_out *out, const char *title);
/* One figure, or why there is none. */
int report_figure(struct text_out *out, const char *directory, const struct report *report,
                  const struct report_figures *figures, enum report_figure which,
                  struct text_error *err);
/* The page of a result of `lockstep check`; index: there is a page of measurements to link to. */
#define REPORT_CONFORMANCE "conformance.html"
int report_conformance(const char *directory, const struct check_record *record, bool index,
                       struct text_error *err);

/* ---- text --------------------------------------------------------------------------------- */

/* "12.3 ms", "845 us": three digits. "-" when not finite. */
void report_time(double ns, char text[32]);
/* "1.23 M", "845": three digits. */
void report_rate(double per_second, char text[32]);
/* "74.7 GFLOP/s". */
void report_flops(double per_second, char text[32]);
/* "1.23 GB/s". */
void report_speed(double per_second, char text[32]);
/* "1.23 MiB", "845 B": three digits. */
void report_bytes(double bytes, char text[32]);
/* "1.86": two digits at least. */
void report_ratio(double ratio, char text[32]);
/* "93 %", "<1 %"; and "0 %" of what is known to be none. */
void report_share(double share, char text[32]);
void report_percent(double share, char text[32]);

/* Embedded by plots/Embed.cmake; zero-terminated. */
extern const unsigned char report_asset_css[], report_asset_reading[];

#endif
