/* analysis/analysis.h: records as numbers: launches in order, cells summed up over their launches,
 * and what follows from them. report, compare, validate, forecast and sweep depend on it.
 *
 * The way of the data: analysis/make.c makes rows of the cells of files, analysis/rows.c orders
 * them, analysis/points.c sums them up. Text from records is cleaned when it is read (text_clean)
 * and escaped when it is written (text_print). Numbers as words are in analysis/words.h. */
#ifndef HARNESS_ANALYSIS_H
#define HARNESS_ANALYSIS_H

#include "export/export.h"
#include "numbers/stats.h"
#include "record/record.h"

#define REPORT_CELL_TEXT 640 /* longest text of a table cell */

/* The state of a launch whose results are right and whose times nobody may believe. */
#define REPORT_INVALID "INVALID"

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

/* What is said of a point: rows of the catalogue (analysis/metrics.c), in the order of their
 * columns.
 */
enum report_metric_id {
    REPORT_STEP,       /* per launch the median step */
    REPORT_THROUGHPUT, /* rows over the median step */
    REPORT_TOKENS,     /* of a language model: their tokens */
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
    REPORT_IN_PARTS,    /* of the fastest device, in products of `sweep --parts` */
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

/* The most operations of matrix products that a device reached per second. */
struct report_rate {
    double most;   /* NaN: not known */
    bool in_parts; /* not in steps of its group, whose time in products is not known, but in the
                      products of `sweep --parts` on such devices in the same math */
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
    /* Of its group; and the stated peak of a device, NaN: none. */
    struct report_rate product_rate;
    double stated_peak;
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
 * a cell can tell from 1. NaN: no cell has enough launches. open: cells without a narrow interval
 * of their step; widest: of all, over the median. */
struct report_noise {
    double spread, least, widest;
    size_t cells, open;
};

struct check_record;
struct peer_record;
struct report_fit;
struct copies_set;
struct nccl_tests;
struct nvbandwidth;
struct roof;

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
    const struct roof *roof;                /* NULL: none */
    struct nccl_tests **external;           /* files of --beside */
    size_t n_external;
    struct nvbandwidth *nvbandwidth; /* one file of nvbandwidth, or NULL: report/external.h */
    struct report_run *run;
    size_t n_runs;
    struct report_counts counts; /* of all runs */
    /* Rows, points and groups of collectives, which are in no other table and one figure of their
     * own; never NULL, and without collectives of its own. */
    struct report *collectives;
    struct report_fit *fit; /* of collectives */
    size_t n_fits;
    struct copies_set *copies; /* of --parts */
    size_t n_copies;
    struct report_noise noise;
    double peak; /* operations per second of one device, as somebody states it; 0: nobody does */
};

/* Whether numbers of both may stand side by side. */
bool report_same_machine(const struct record_run *a, const struct record_run *b);
/* Fills everything behind file and n_files. 0, or EXIT_MISUSE after the complaint: a launch is
 * there twice, or memory is short. */
int report_rows_make(const char *command, struct report *report);
void report_rows_free(struct report *report);

/* Puts rows in the order of points, and numbers their work; and whether two of them are of one
 * group, of one point. */
void report_rows_sort(struct report *report);
int report_runs_order(bool in_key, const struct record_run *a, const struct record_run *b);
int report_launch_order(const struct report_row *a, const struct report_row *b); /* in a point */
bool report_same_group(const struct report_row *a, const struct report_row *b);
bool report_same_point(const struct report_row *a, const struct report_row *b);
/* Points and groups from sorted rows; point and group have room for n_rows. 0, or -1 when memory
 * is short. */
int report_points_make(struct report *report);
/* Fills settling of all points. 0, or -1: memory is short. */
int report_settling_make(struct report *report);
/* Fills slowest of all points. analysis/slowest.c */
void report_slowest_make(struct report *report);
/* Fills product_rate and stated_peak of all points. analysis/rates.c */
void report_rates_make(struct report *report);
/* The drift of each run, after the points. 0, or -1 when memory is short. analysis/drift.c */
int report_drift_make(struct report *report);
/* Fills noise, after all points. 0, or -1 when memory is short. analysis/noise.c */
int report_noise_make(struct report *report);
/* Launches that the median of a cell takes, so that it says something of each of them. */
enum { REPORT_LEAST_OF_CELL = 3 };
/* Share of the median step: a wider interval shows no small change. */
#define REPORT_WIDE 0.20
/* Nothing is known. */
extern const struct report_value report_unknown;
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

bool report_is_mode(const struct report_point *point, const char *mode);
bool report_is_plain(const struct report_point *point);
bool report_is_cores(const struct report_point *point); /* plain-mt: the BLAS on several cores */
bool report_is_ddp(const struct report_point *point);   /* DistributedDataParallel */
/* Whether cells have, or were to have, more than one launch: what is counted are launches then. */
bool report_repeated(const struct report *report);
bool report_oversubscribed(const struct report_point *point);
bool report_simulated(const struct report_row *row);
/* On the host's cores, as far as is known. */
bool report_works_on_cores(const struct report_row *row);
/* Why it is oversubscribed: "more devices than cores", "several slots on one GPU or core". */
const char *report_crowding(const struct report_row *row);

/* Where else the time of a launch's cores went while its steps were measured, and above which share
 * it is said. The share is NaN where it is not known. */
enum { REPORT_STEAL_SOURCES = 2 };
struct report_steal_source {
    size_t field; /* of a cell: the share */
    double limit;
    const char *to;
};
extern const struct report_steal_source report_steal_sources[REPORT_STEAL_SOURCES];
double report_share_of(const struct record_cell *cell, const struct report_steal_source *to);
/* "FAILED (crashed): why" of a launch that is not verified. */
void report_failure_words(const struct report_row *row, char text[REPORT_CELL_TEXT]);

/* ---- metrics ------------------------------------------------------------------------------ */

enum report_direction { REPORT_NEITHER, REPORT_LOWER, REPORT_HIGHER };
/* A column of the table of cells: not there, there where a point has something to say, there. */
enum report_shown { REPORT_NEVER, REPORT_WHERE_KNOWN, REPORT_ALWAYS };
typedef const char *report_number_fn(double value, char text[32]);

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
};
/* All phases are one row. */
extern const struct report_metric report_metrics[REPORT_PHASE + 1];
const struct report_metric *report_metric_of(int metric);
/* Whether it is a ratio of a point and its base, and not a number of each launch. */
bool report_is_ratio(int metric);
/* Of a launch; NaN: not known. */
double report_number_of(const struct report_row *row, int metric);
/* Efficiency over bound. */
double report_of_bound(const struct report_point *point);
/* Whether a is better than b, by the direction. */
bool report_metric_better(int metric, double a, double b);
/* Whether the interval of a share tells anything: it has one that is narrower than half of whole.
 */
bool report_resolved(const struct report_value *value, double whole);

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
enum report_loss report_largest_loss(const struct report_limit *limit);
/* Nearer to its bound than this, a point has nothing to explain. */
#define REPORT_AT_BOUND 0.98

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

/* ---- lines of collectives: analysis/fits.c ------------------------------------------------ */

/* Whether there are numbers, or why not. */
enum report_fit_state {
    REPORT_FIT_HOLDS,
    REPORT_FIT_FEW,    /* sizes */
    REPORT_FIT_MANY,   /* more than a plan can have */
    REPORT_FIT_APART,  /* no launch is verified at all sizes */
    REPORT_FIT_NO_LINE /* it is too far from a size */
};

/* time = alpha + beta x bytes: one collective on so many devices, through its sizes. */
struct report_fit {
    const struct report_point *point; /* of its largest size: what all have in common */
    size_t sizes, used;               /* that are verified; of those the largest ones */
    size_t from;                      /* bytes of the smallest used */
    struct report_value alpha, beta;  /* ns; ns per byte; only where the line holds */
    double off;                       /* of the median time of a size, where it is farthest */
    size_t off_at;                    /* bytes there */
    enum report_fit_state state;
};

/* Fills fit, and alpha and beta of the points on each line, after the points. 0, or -1: memory is
 * short. */
int report_fits_make(struct report *collectives);
/* Whether the time grows with the bytes, beyond what differs by launch: else there is no 1/beta. */
bool report_fit_grows(const struct report_fit *fit);
/* A line takes so many sizes, and more than half of those that there are. */
enum { REPORT_FIT_LEAST = 3 };
/* It holds where it is no farther than this part from the median time of each of them. */
#define REPORT_FIT_LIMIT 0.1

/* ---- copies: analysis/copies.c ------------------------------------------------------------ */

/* What --parts measured of copies: from the host to each device, back, within each device's memory,
 * and from device to device. It is one matrix for all launches on the same devices. Cells on these
 * devices say the same of the machine whatever their model is, so their launches are put together.
 */

/* An end of a copy; device d is COPIES_DEVICE + d. */
enum copies_end { COPIES_HOST, COPIES_DEVICE };

struct copies_set {
    const struct report_row *row; /* the first launch: what all of them share */
    int devices;
    size_t launches; /* verified ones */
    /* [from * ends + to], ends being devices + COPIES_DEVICE: bytes copied per second, of each
     * launch its median, and of these the median. NaN: not measured. */
    double *rate;
};

double copies_rate(const struct copies_set *set, int from, int to);

/* Fills report->copies, those on most devices first. 0, or -1 when memory is short. */
int report_copies_make(struct report *report);
void report_copies_free(struct report *report);

/* ---- rates and shares: analysis/rates.c --------------------------------------------------- */

/* Of all devices of the run; NULL: they are not of one model. */
const char *report_device_model(const struct record_run *run);
/* Whether both are on devices of one model, in the same math. */
bool report_same_devices(const struct report_row *a, const struct report_row *b);
/* The most that such a device reached in products of `sweep --parts`; NaN: none measured. */
double report_rate_in_parts(const struct report *report, const struct report_row *like);
/* Operations that the tokens of a language model need, per second and device. */
double report_tokens_work(const struct report_point *point);
/* The same over the product rate of its devices, and over their stated peak; NaN: not known. */
double report_tokens_share(const struct report_point *point);
double report_peak_share(const struct report_point *point);

/* ---- for other programs: analysis/export.c ------------------------------------------------ */

/* The parts of a record_key. */
extern const struct export_parts export_record_parts;
/* One more cell: "mlp:8,4/dp/virt:2/batch 64/..." of its key, which stays the caller's. */
struct export_cell *export_add_record(struct export_set *set, const struct record_key *key);

/* The cells of records. One has numbers if all its planned launches are verified: medians over
 * launches, and their intervals. Any other is FAILED. As export_open. */
int export_report(const struct report *report, struct export_set *set);

/* What report and sweep print of records by --format: those sets, and the summary of a job. */
enum { REPORT_SUMMARY = EXPORT_FORMATS, REPORT_FORMATS };
#define REPORT_FORMAT_NAMES "csv|bmf|github|openmetrics|annotations|junit|md"
const char *report_format_name(size_t format);

#endif
