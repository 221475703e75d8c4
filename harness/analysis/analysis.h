/* analysis/analysis.h: turns records into numbers. It orders launches, sums cells up over their
 * launches, and computes what follows from them. report, compare, validate, forecast and sweep
 * depend on it.
 *
 * The data take this way: analysis/make.c makes rows of the cells of files, analysis/rows.c orders
 * them, and analysis/points.c sums them up. Text from records is cleaned when it is read
 * (text_clean) and escaped when it is written (text_print). */
#ifndef HARNESS_ANALYSIS_H
#define HARNESS_ANALYSIS_H

#include "export/export.h"
#include "numbers/stats.h"
#include "record/record.h"

#define REPORT_CELL_TEXT 896 /* longest text of a table cell */

/* The state of a launch whose results are right, but whose times cannot be trusted. */
#define REPORT_INVALID "INVALID"

/* ---- rows and points ---------------------------------------------------------------------- */

/* One launch of one cell. */
struct report_row {
    const struct record_run *run;
    const struct record_cell *cell;
    size_t file; /* index of the file it is from */
    int variant; /* rows of different variants were built or run differently */
    int work;    /* differs between verified rows of one key that describe their work differently */
    char kind[64];     /* kind of devices, "virt" of "virt:2" */
    bool verified;     /* only these are plotted and compared */
    const char *state; /* "verified", or how it failed */
};

/* The meaning of lo and hi of a value. */
enum report_range {
    REPORT_NONE,     /* nothing: both NaN */
    REPORT_STEPS,    /* 5th and 95th percentile of the n steps of the only launch */
    REPORT_LAUNCHES, /* smallest and largest of n launches, too few for an interval */
    REPORT_INTERVAL  /* a confidence interval of the median over n launches, 95 % or more */
};

/* A number of a point: the median over its launches. */
struct report_value {
    double middle; /* NaN: unknown */
    double lo, hi;
    enum report_range range;
    size_t n; /* launches; with REPORT_STEPS steps; of a ratio pairs, or 0 if it is not paired */
    double coverage; /* confidence level of the interval; NaN without one */
};

/* The metrics of a point. Each is a row of the catalogue (analysis/metrics.c), in the order of its
 * columns. */
enum report_metric_id {
    REPORT_STEP,       /* the median step of each launch */
    REPORT_THROUGHPUT, /* rows of a step over the median step */
    REPORT_TOKENS,     /* the same in tokens; only for a language model */
    REPORT_SPEEDUP,    /* against base */
    REPORT_EFFICIENCY, /* speed-up per device */
    REPORT_OF_CORES,   /* speed-up against the plain program on as many cores */
    REPORT_BESIDE,     /* mode ddp: its step over that of peer */
    REPORT_OUTSIDE,    /* time of a step outside matrix products */
    REPORT_MOVED,      /* bytes per step between devices */
    REPORT_PEAK,       /* bytes of the device that held most */
    /* Mode ddp measures, in turns, a step without its reduction, the reduction alone, and the whole
     * step. The share of the reduction that is hidden follows from these three. */
    REPORT_COMPUTE,
    REPORT_COMM,
    REPORT_WHOLE,
    REPORT_HIDDEN,
    REPORT_HIDDEN_TIME, /* hidden time: computation plus reduction, less the whole step */
    REPORT_FLOPS,       /* operations of matrix products, per second and device */
    REPORT_PRODUCTS,    /* the same, but per second that a device spends in matrix products */
    REPORT_IN_PARTS,    /* rate of the fastest device in products of `sweep --parts` */
    REPORT_ALGBW,       /* algorithm bandwidth: size of a collective over its time */
    REPORT_BUSBW,       /* bus bandwidth: that times its factor, as in nccl-tests */
    REPORT_ALPHA,       /* latency: the line through the sizes of a collective, at 0 bytes */
    REPORT_BETA,        /* bandwidth: one over the time for each byte on that line */
    REPORT_PHASE,       /* plus an enum record_phase: time of the slowest replica in a step */
    REPORT_METRICS = REPORT_PHASE + RECORD_PHASES
};

/* The rank that was the slowest in most launches. It was the slowest in `lost` of the `launches`
 * that have a slowest rank, and it is one of `ranks` ranks that have the largest shard. more is its
 * own work over that of the others, less 1. steps is the share of steps of these launches in which
 * it was the slowest. p is the probability that any of the ranks loses as many launches by chance;
 * it is NaN if there is only one launch. */
struct report_slowest {
    int rank, ranks; /* rank is -1 if no rank was the slowest */
    size_t lost, launches;
    double steps, more, p;
};

/* The most operations of matrix products that a device reached per second. */
struct report_rate {
    double most; /* NaN: not known */
    /* Measured in the products of `sweep --parts` on such devices in the same math, because no
     * point of its group knows its time in products. */
    bool in_parts;
};

/* All launches of one cell. Ratios are computed launch by launch: each launch is paired with the
 * same launch of the same run and session of the base. If no launch is in both, the ratios are
 * those of the medians, and have no range. */
struct report_point {
    size_t n;                        /* its rows, ordered by launch */
    size_t verified;                 /* verified launches; only these are in the numbers */
    const struct report_row *row;    /* the first row, for the fields that all rows share */
    const struct record_key *key;    /* of the first row */
    const struct report_row *middle; /* launch of the (lower) median step, or NULL */
    struct report_value value[REPORT_METRICS];
    size_t bucket; /* mode ddp: index of its bucket in report->bucket */
    bool weak;     /* weak scaling: its batch is rows per device, and not those of all */
    size_t batch;
    /* The verified base cases, NULL: none. rank is DDP on one rank; only mode ddp has it. */
    const struct report_point *plain, *single, *rank;
    const struct report_point *base; /* plain, else single, else rank, else NULL */
    double part[RECORD_PHASES + 1];  /* lost against base, see report_limit_parts */
    const struct report_point *peer; /* mode ddp: the same cell in DataParallel, or NULL */
    /* On several devices: the plain program on as many cores, with the same base, or NULL. */
    const struct report_point *cores;
    struct report_slowest slowest; /* mode ddp: its slowest rank */
    /* The product rate of its group, and the stated peak of a device (NaN: none). */
    struct report_rate product_rate;
    double stated_peak;
    double bound; /* of the efficiency: min(N / ceil(N/K), cores) / K; GPUs: without cores */
    /* The logarithm of how much faster its steps became while they were measured: the mean over its
     * launches, and the confidence interval of that mean. */
    double settled_by;
    struct stats_interval settling;
    /* The autocorrelation of the launches of its run, if it is above 0 beyond chance; else 0. */
    double alike;
};
/* Effects that are significant at this level are mentioned, and count. */
#define REPORT_SHOWN 0.05
/* How many times as wide an interval may have to be if its launches are so alike. */
double report_widening(double alike);
/* The interval of a metric, so much wider. Whether a number is certain is judged by it. */
struct stats_interval report_widened(const struct report_point *point, int metric);
/* A smaller gain in speed than this share is not mentioned. */
#define REPORT_SETTLED 0.02
/* Whether the steps became faster by more than REPORT_SETTLED, beyond what differs by chance. */
bool report_settles(const struct report_point *point);
/* The median over the launches; NaN: unknown. */
double report_middle(const struct report_point *point, int metric);

/* Points on one device, or on one rank, that follow each other, ordered by bucket and batch. */
struct report_ones {
    const struct report_point *point;
    size_t n;
};

/* The points of one workload in one setting. They are ordered by mode (plain, dp, others), devices,
 * bucket and batch. After them come n_cores points of mode plain-mt: these are a reference, never a
 * base, and in no figure. */
struct report_group {
    struct report_point *point; /* the first of them, in the points of the report */
    size_t n, n_cores;
    struct report_ones plain, single, rank; /* base cases: of mode plain, dp and ddp */
};

/* Counts of launches. planned counts the launches with a row and the missing ones. */
struct report_counts {
    size_t planned, measured, verified, failed, skipped, missing;
};

/* How the times of a run changed while it went on. Each launch is compared with the median of its
 * cell. A number is NaN if there are too few launches, or their times are not known. Each p is the
 * probability of such a number, or of one farther from 0, by chance. */
struct report_drift {
    size_t launches, blocks;
    double change, change_p; /* of steps from the first block to the last: 0.31 is 31 % longer */
    double lag1, lag1_p;     /* autocorrelation of successive launches */
};

/* One run. Its records may be in several files. */
struct report_run {
    const struct record_run *run;
    struct report_counts counts;
    bool sealed, planned; /* whether this holds for all of its files */
    bool ended;           /* one of the files has an end line that says it was not interrupted */
    bool interrupted;     /* none has, and one has an end line that says it was interrupted */
    struct report_drift drift;
    double seconds; /* of its sessions; NaN: not known, or the run is in several files */
    struct record_timed timed;
    struct record_costs costs;
    double writing; /* seconds; NaN as above */
};

/* How far launches lie from the median of their cell, over all cells, as the logarithm of a ratio.
 * spread is about a standard deviation. least is the smallest change (a ratio less 1) that a
 * comparison of two files with as many launches of a cell can detect. NaN: no cell has enough
 * launches. open counts the cells, of those that have a verified launch, whose step is not certain;
 * open_ratios the speed-ups. */
struct report_noise {
    double spread, least;
    size_t cells, open;
    size_t ratios, open_ratios;
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
    size_t n_rows, n_all; /* rows of training; n_all: with those of collectives, which are last */
    struct report_point *point;
    size_t n_points;
    struct report_group *group;
    size_t n_groups;
    size_t *bucket; /* all bucket sizes in bytes, ascending, with 0 */
    size_t n_buckets;
    bool interrupted;                       /* a run, and launches of it are missing */
    bool many_runs;                         /* more than one run id */
    bool many_variants;                     /* several variants, which cannot all be put together */
    const struct check_record *conformance; /* NULL: none */
    const struct peer_record *peer;         /* NULL: none */
    const struct roof *roof;                /* NULL: none */
    struct nccl_tests **external;           /* results of nccl-tests, shown next to ours */
    size_t n_external;
    struct nvbandwidth *nvbandwidth; /* one file of nvbandwidth, or NULL: report/page.h */
    struct report_run *run;
    size_t n_runs;
    struct report_counts counts; /* of all runs */
    /* A separate report with the rows, points and groups of collectives, which are in no other
     * table, and in one separate figure. It is never NULL here, and NULL in the report of
     * collectives. */
    struct report *collectives;
    struct report_fit *fit; /* the lines of collectives */
    size_t n_fits;
    struct copies_set *copies; /* the copies that --parts measured */
    size_t n_copies;
    struct report_noise noise;
    double peak; /* operations per second of one device, as --peak states it; 0: not stated */
    bool slide;  /* a slide is wanted */
};

/* Whether numbers of both runs may be shown next to each other. */
bool report_same_machine(const struct record_run *a, const struct record_run *b);
/* Fills all fields that follow file and n_files. Returns 0, or EXIT_MISUSE after it has printed a
 * complaint: a launch is there twice. */
int report_rows_make(const char *command, struct report *report);
void report_rows_free(struct report *report);

/* These compare rows, and say whether two rows are of one group, or of one point. */
int report_runs_order(bool in_key, const struct record_run *a, const struct record_run *b);
int report_launch_order(const struct report_row *a, const struct report_row *b); /* of one point */
bool report_same_group(const struct report_row *a, const struct report_row *b);
bool report_same_point(const struct report_row *a, const struct report_row *b);
/* Sorts rows in the order of points, and numbers their work. */
void report_rows_sort(struct report *report);
/* These fill what follows from sorted rows, in this order. */
void report_points_make(struct report *report); /* point and group, with capacity for n_rows */
void report_slowest_make(struct report *report);
void report_rates_make(struct report *report); /* product_rate and stated_peak of all points */
void report_settling_make(struct report *report);
void report_drift_make(struct report *report); /* of each run */
void report_noise_make(struct report *report);
void report_copies_make(struct report *report); /* the sets on most devices come first */
/* Inserts a number into an ascending list of n, if it is not in it and there is capacity. Returns
 * the new n. */
size_t report_insert(size_t list[], size_t n, size_t capacity, size_t number);
/* The fewest launches whose median says something about each of them, and that have an interval. */
enum { REPORT_LEAST_OF_CELL = 3, REPORT_LEAST_OF_INTERVAL = 6 };
/* The value of which nothing is known. */
extern const struct report_value report_unknown;
/* The median and the range of n values, one per launch. It sorts values. */
struct report_value report_value_of(double values[], size_t n);
/* The same of a metric, over the verified launches of a point that know it. *scratch then begins
 * with their numbers, in order. */
struct report_value report_over_launches(const struct report_point *point, int metric,
                                         double scratch[]);
/* The value of over / value. It is consistent: a ratio and its inverse, or a time and a rate, have
 * the same interval. */
struct report_value report_inverse(const struct report_value *value, double over);

/* Two launches that are compared: the same launch of the same run in two points, both verified. */
struct report_pair {
    const struct report_row *row, *base;
};
/* Finds the next pair, in the order of launches; *at begins at 0. Returns false after the last. */
bool report_pair_next(const struct report_point *point, const struct report_point *base,
                      size_t at[2], struct report_pair *pair);

/* The speed-up of a step of ns over a step of the base, which has other rows with weak scaling: a
 * ratio of rows per time. */
double report_speedup(const struct record_cell *cell, double ns, const struct record_cell *base,
                      double base_ns);

bool report_is_mode(const struct report_point *point, const char *mode);
bool report_is_plain(const struct report_point *point);
bool report_is_cores(const struct report_point *point); /* plain-mt: the BLAS on several cores */
bool report_is_ddp(const struct report_point *point);   /* DistributedDataParallel */
bool report_oversubscribed(const struct report_point *point);
bool report_simulated(const struct report_row *row);
/* Whether the launch works on cores of the host, as far as is known. */
bool report_works_on_cores(const struct report_row *row);
/* Says why it is oversubscribed: "more devices than cores", "several slots on one GPU or core". */
const char *report_crowding(const struct report_row *row);

/* Other uses of the cores of a launch while its steps were measured, and the share of the time
 * above which a use is mentioned. The share is NaN if it is not known. */
enum { REPORT_STEAL_SOURCES = 2 };
struct report_steal_source {
    size_t field; /* offset of the share in a cell */
    double limit;
    const char *to;
};
extern const struct report_steal_source report_steal_sources[REPORT_STEAL_SOURCES];
double report_share_of(const struct record_cell *cell, const struct report_steal_source *to);
/* Whether a use took more than that of a verified launch. */
bool report_disturbed(const struct report_row *row);
/* Whether a launch of the point failed. A skipped launch did not fail. */
bool report_point_failed(const struct report_point *point);
/* "FAILED (crashed): why" for a launch that is not verified. */
const char *report_failure_words(const struct report_row *row, char text[REPORT_CELL_TEXT]);

/* ---- metrics ------------------------------------------------------------------------------ */

/* When the table of cells has this column: never, if some point has a value, or always. */
enum report_shown { REPORT_NEVER, REPORT_WHERE_KNOWN, REPORT_ALWAYS };
typedef const char *report_number_fn(double value, char text[32]);

/* A row of the catalogue. To add a metric, add a name above and a row there. */
struct report_metric {
    report_number_fn *number;
    const char *heading;             /* of a column: "Median step"; NULL: it never has one */
    enum report_shown column, range; /* range: whether a column with the range follows */
    size_t of_launch; /* where a cell has the number of a launch; 0: report_number_of computes it */
};
/* All phases share one row. */
extern const struct report_metric report_metrics[REPORT_PHASE + 1];
const struct report_metric *report_metric_of(int metric);
/* The ratio against the fastest single process: REPORT_OF_CORES where that is known and smaller,
 * else REPORT_SPEEDUP. */
int report_rival(const struct report_point *point);
/* Whether the metric is a ratio of two points, and not a number of each launch. */
bool report_is_ratio(int metric);
/* The metric of one launch; NaN: not known. */
double report_number_of(const struct report_row *row, int metric);
/* The efficiency over its bound. */
double report_of_bound(const struct report_point *point);

/* ---- limits ------------------------------------------------------------------------------- */

/* The parts of what is missing are summed up by kind of work. */
enum report_loss {
    REPORT_LOSS_COMPUTE, /* forward and backward */
    REPORT_LOSS_MOVES,   /* scatter, replicate, gather and reduce */
    REPORT_LOSS_ALONE,   /* loss and update, which one device computes alone */
    REPORT_LOSS_BETWEEN, /* time between the phases */
    REPORT_LOSSES
};

/* Why a point is below its bound. */
struct report_limit {
    /* Efficiency over bound; above 1 if several devices do more than the bound says. */
    double of_bound;
    double missing; /* missing share of the step: 1 - of_bound; the losses add up to it */
    double loss[REPORT_LOSSES]; /* negative: faster than at the bound */
    enum report_loss most;      /* the largest */
};
/* A point whose efficiency is at least this share of its bound needs no explanation. */
#define REPORT_AT_BOUND 0.98

/* Returns false if the parts are not known: the point has no base, nothing is known about its
 * phases, or the sum of the medians of the parts is too far from the missing share. The missing
 * share itself is known without the parts. */
bool report_limit_of(const struct report_point *point, struct report_limit *limit);
/* Fills point->part. For each pair of launches of point and base it computes what each phase takes
 * above its share, and last what no phase accounts for, over the step. Then it takes the median
 * over the pairs. scratch has capacity for one number per launch. */
void report_limit_parts(struct report_point *point, double scratch[]);
/* The point that tells most about scaling: the one on the most devices that had separate cores, at
 * the largest batch that has a base. NULL: no point is on several devices. */
const struct report_point *report_group_best(const struct report_group *group);

/* The base cases of a group at one batch, verified or not; NULL: not planned. rank stands apart: it
 * is a base only if the others are not verified. */
struct report_base {
    const struct report_point *plain, *single, *rank;
};
/* Finds the next base cases, by batch, and those with only a rank last; *at begins at 0. Returns
 * false after the last. */
bool report_base_next(const struct report_group *group, size_t at[3], struct report_base *base);

/* ---- doubt: analysis/doubt.c -------------------------------------------------------------- */

/* Why a number is not called certain, or 0: the first reason that holds. */
enum report_doubt {
    REPORT_CERTAIN,
    REPORT_DOUBT_FAILED,    /* a launch of the point failed; of a ratio, or of its base */
    REPORT_DOUBT_FEW,       /* too few launches for an interval */
    REPORT_DOUBT_BEYOND,    /* a speed-up that is not possible */
    REPORT_DOUBT_DISTURBED, /* too many of its launches, or pairs, were disturbed */
    REPORT_DOUBT_WIDE       /* its interval, report_widened, is too wide */
};
/* The limit of the share of launches, or pairs, that were disturbed. If up to a quarter of them are
 * pushed to one side, their median is still between the 33rd and the 67th percentile of the
 * others. */
#define REPORT_DISTURBED_MOST 0.25
enum report_doubt report_doubt_of(const struct report_point *point, int metric);
/* Whether a range is so wide that its middle says nothing: wider than the number itself, or from
 * below half to above twice. */
bool report_unmeasured(const struct report_value *value);
/* The middle of a ratio, or that it was not measured well enough. */
const char *report_ratio_words(const struct report_value *value, char text[32]);
/* "?" after a step, a rate or a speed-up that is not certain, else "". */
const char *report_doubt_mark(const struct report_point *point, int metric);
/* How many of its launches, or of its pairs, were disturbed. */
size_t report_count_disturbed(const struct report_point *point, int metric);
/* Whether its whole efficiency, or without an interval its middle, is so far above its bound that
 * the time of its base cannot be right. */
bool report_beyond(const struct report_point *point);

/* ---- the answer: analysis/answer.c -------------------------------------------------------- */

/* "8 of 12 step times and 3 of 8 speed-ups are not certain"; call it only if one is. */
const char *report_noise_words(const struct report *report, char text[REPORT_CELL_TEXT]);

/* How much faster several devices are than one. A setting is a point on several devices that has a
 * base; if any setting has separate cores or GPUs, only those with them are counted. */
struct report_answer {
    size_t settings, certain; /* certain: those whose speed-up is (report_doubt_of) */
    bool crowded;             /* no setting has separate cores or GPUs */
    /* The largest speed-up, and the smallest share of a bound, of the settings that are certain;
     * else of those not beyond their bound; else of all. NULL: there is no setting. */
    const struct report_point *best, *farthest;
    /* A setting with a larger speed-up that counts less; NULL: none. */
    const struct report_point *larger;
    /* It in sentences, for a reader who knows neither the tool nor the plan. The first says what is
     * how much faster and what is possible; the rest what was not verified, how certain the first
     * is, and what to do next. */
    char first[REPORT_CELL_TEXT], rest[REPORT_CELL_TEXT];
    char doubt[REPORT_CELL_TEXT]; /* the words of the rest that say what is not certain, or "" */
};
struct report_answer report_answer_of(const struct report *report);
/* Whether the point is one of its settings. */
bool report_is_setting(const struct report_answer *answer, const struct report_point *point);
/* Why the ratio to the fastest single process is not certain. Where one process on all cores was
 * slower than one device, how much slower does not matter. */
enum report_doubt report_rival_doubt(const struct report_point *point);
/* Whether a setting is faster than the fastest single process: 1, it is; -1, it is not; 0: that is
 * not certain, or one process on all cores was not measured. */
int report_pays(const struct report_point *point);
/* Whether its first sentence is certain, and the ratio to one process; without
 * models whether all times of collectives are. */
bool report_answer_is_certain(const struct report *report);
/* Writes its sentences. Returns text. */
const char *report_answer_words(const struct report *report, char text[REPORT_CELL_TEXT]);
/* "Keep in mind: ...", which a reader has to know of the sessions because intervals do not allow
 * for it; or "". brief: without the numbers that explain it. */
const char *report_state_words(const struct report *report, bool brief,
                               char text[REPORT_CELL_TEXT]);
/* How many letters of a workload name it: "mlp" of "mlp:8,8" where there is no other mlp. */
int report_name_length(const struct report *report, const char *workload);
/* Why nothing can be said about scaling. */
extern const char report_no_setting[];
/* Appends why a number is not certain, and how to measure it again: "Measured once, so not certain:
 * sweep again with --launches 6." */
void report_add_doubt(char text[REPORT_CELL_TEXT], const struct report_counts *counts,
                      const struct report_point *point, int metric);
/* "2 devices train mlp 1.91 times as fast as one (1.90 to 1.93; batch 64; at most 2.00 is
 * possible)"; other ends are "not distinguishable from the limit of 2.00)", "at the limit of 2.00)"
 * and "more than is possible, ...)". */
const char *report_training_words(const struct report *report, const struct report_point *point,
                                  char text[REPORT_CELL_TEXT]);
/* The axes that are not at their default, " (chain 3, host-inputs 1)", or "". */
const char *report_axes_words(const struct record_key *key, char text[REPORT_CELL_TEXT]);
/* "256Ki"; for 0, the buckets of PyTorch, "1Mi, 25Mi". */
const char *report_bucket_words(size_t bytes, char text[32]);
/* "2 devices", "1 device with DDP", "2 devices with DDP, buckets 256Ki", "one process, all 2
 * cores". */
const char *report_devices_words(const struct report_point *point, char text[REPORT_CELL_TEXT]);

/* ---- lines of collectives: analysis/fits.c ------------------------------------------------ */

/* Whether a fit has numbers, or why not. */
enum report_fit_state {
    REPORT_FIT_HOLDS,
    REPORT_FIT_FEW,    /* there are too few sizes */
    REPORT_FIT_MANY,   /* there are more sizes than a plan can have */
    REPORT_FIT_APART,  /* no launch is verified at all sizes */
    REPORT_FIT_NO_LINE /* the line is too far from the time of some size */
};

/* The line time = alpha + beta x bytes through the sizes of one collective on one number of
 * devices. */
struct report_fit {
    /* The point of its largest size, for the fields that all have in common. */
    const struct report_point *point;
    size_t sizes, used; /* sizes that are verified; how many of them, the largest, the line uses */
    size_t from;        /* bytes of the smallest size that is used */
    struct report_value alpha, beta; /* in ns, and ns per byte; only set if the line holds */
    double off;    /* largest distance from the median time of a size, as a share of it */
    size_t off_at; /* bytes of that size */
    enum report_fit_state state;
};

/* Fills fit, and sets alpha and beta of the points on each line; called after the points are made.
 */
void report_fits_make(struct report *collectives);
/* Whether the time grows with the bytes, beyond what differs between launches. Otherwise there is
 * no 1/beta. */
bool report_fit_grows(const struct report_fit *fit);
/* A line needs so many sizes, and more than half of those that there are. */
enum { REPORT_FIT_LEAST = 3 };
/* A line holds if it is no farther than this share from the median time of each size. */
#define REPORT_FIT_LIMIT 0.1

/* ---- copies: analysis/copies.c ------------------------------------------------------------ */

/* The copies that --parts measured: from the host to each device, back, within the memory of each
 * device, and from device to device. There is one matrix for all launches on the same devices.
 * Cells on the same devices say the same about the machine, whatever their model is, so their
 * launches are combined. */

/* One end of a copy; device d is COPIES_DEVICE + d. */
enum copies_end { COPIES_HOST, COPIES_DEVICE };

struct copies_set {
    const struct report_row *row; /* the first launch, for the fields that all share */
    int devices;
    size_t launches; /* verified launches */
    /* rate[from * ends + to], where ends is devices + COPIES_DEVICE: bytes copied per second. It is
     * the median over launches of the median of each launch. NaN: not measured. */
    double *rate;
};

double copies_rate(const struct copies_set *set, int from, int to);

/* ---- rates and shares: analysis/rates.c --------------------------------------------------- */

/* The model of all devices of the run; NULL: they are not of one model. */
const char *report_device_model(const struct record_run *run);
/* Whether both rows are on devices of one model, in the same math. */
bool report_same_devices(const struct report_row *a, const struct report_row *b);
/* The highest rate that such a device reached in the products of `sweep --parts`; NaN: not
 * measured. */
double report_rate_in_parts(const struct report *report, const struct report_row *like);
/* The operations that the tokens of a language model need, per second and device. */
double report_tokens_work(const struct report_point *point);
/* The same over the product rate of its devices, and over their stated peak; NaN: not known. */
double report_tokens_share(const struct report_point *point);
double report_peak_share(const struct report_point *point);

/* ---- members of JSON files that are no records: analysis/members.c ------------------------- */

struct json_t;

/* Sets err, unless it is set already. All that follow call it for a member that is missing or
 * wrong, and return 0, "" or NaN then. */
void member_fault(struct text_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void member_text(const struct json_t *object, const char *key, char *text, size_t bytes,
                 struct text_error *err);
/* Texts of one object, each with its place in the struct that they are read into. */
struct member_text {
    const char *key;
    size_t at, bytes;
    bool optional; /* missing or null, it leaves the place as it is */
};
#define MEMBER_PLACE(type, member) offsetof(struct type, member), sizeof((struct type *)0)->member
#define MEMBER_TEXT(key, type, member)                                                             \
    {                                                                                              \
        key, MEMBER_PLACE(type, member), false                                                     \
    }
#define MEMBER_TEXT_OR_NONE(key, type, member)                                                     \
    {                                                                                              \
        key, MEMBER_PLACE(type, member), true                                                      \
    }
void member_texts(const struct json_t *object, const struct member_text texts[], size_t n, void *to,
                  struct text_error *err);
#define MEMBER_TEXTS(object, texts, to, err)                                                       \
    member_texts(object, texts, sizeof(texts) / sizeof(texts)[0], to, err)
size_t member_count(const struct json_t *object, const char *key, long long min, long long max,
                    struct text_error *err);
/* value: the member itself. most: INFINITY, or the largest number that is allowed. */
double member_number(const struct json_t *value, const char *key, double least, double most,
                     struct text_error *err);
bool member_flag(const struct json_t *object, const char *key, struct text_error *err);
/* Returns the length of the list, which has min to max elements. */
size_t member_list(const struct json_t *object, const char *key, size_t min, size_t max,
                   const struct json_t **list, struct text_error *err);

/* ---- limits of the machine: analysis/roof.c ------------------------------------------------ */

/* How close the phases and the matrix products of a step are to the limits of the machine, by a
 * file of `lockstep sweep limits --format json`. Rates and shares are computed here from times,
 * operations and bytes; derived numbers in the file are not believed.
 *
 * Operations are those of matrix products, two for a multiply-add. The bytes of a computing phase
 * are the operands and results of its products, each counted once: this is what they must move if
 * no data stay in a cache between them. The bytes of an update are the value and the gradient,
 * read, and the value, written; with AdamW also two moments, read and written. The bytes of a phase
 * that copies are those that crossed devices. Other kernels count as time only. */

/* Rates of a core, per nanosecond: operations; bytes read; bytes copied (read and written). */
enum roof_rate { ROOF_FMA, ROOF_READ, ROOF_COPY, ROOF_RATES };
enum roof_way { ROOF_ALONE, ROOF_AT_ONCE, ROOF_WAYS };
/* The keys of a file. */
extern const char *const roof_rate_keys[ROOF_RATES], *const roof_way_keys[ROOF_WAYS];

struct roof_range {
    double middle, lo, hi;
};
struct roof_ceilings {
    int devices;
    /* Lo and hi are the smallest and the largest round. */
    struct roof_range rate[ROOF_RATES][ROOF_WAYS];
};

/* The kinds of work differ in the limit that they have. */
enum roof_kind {
    ROOF_COMPUTES, /* all devices at once: limited by the multiply-adds or the memory of a core */
    ROOF_UPDATES, /* the first device, while the others are idle: limited by the memory of a core */
    ROOF_CARRIES  /* limited by what all cores together can copy */
};
struct roof_work {
    enum roof_kind kind;
    double flops, bytes;  /* of a step on one device; of ROOF_CARRIES on all devices */
    struct roof_range ns; /* lo and hi are the 5th and the 95th percentile of its steps */
};
enum roof_bound { ROOF_UNKNOWN, ROOF_BY_FMA, ROOF_BY_MEMORY, ROOF_BY_COPIES, ROOF_BOUNDS };
extern const char *const roof_bound_words[ROOF_BOUNDS];
struct roof_share {
    enum roof_bound bound; /* ROOF_UNKNOWN: neither operations nor bytes are known */
    double share;          /* shortest time at the limit over its time; NaN: unknown */
    /* The same, by the best round of each ceiling and its own slow steps: noise cannot explain a
     * value above 1. */
    double least;
};
struct roof_share roof_share(const struct roof_ceilings *ceilings, const struct roof_work *work);

enum { ROOF_MOST_WORKLOADS = 32, ROOF_MOST_LINES = 256 };

/* A phase, or a product of one shape, which is a part of a phase. */
struct roof_line {
    char name[64]; /* "forward", "1024x1024x1024 nt" */
    int phase;     /* enum record_phase; RECORD_PHASES: a product that belongs to no phase */
    bool product;
    size_t count; /* how often a step has the product */
    struct roof_work work;
};
struct roof_workload {
    char name[96];
    size_t batch, rows; /* rows: those of one device */
    double step_ns;
    struct roof_line *line;
    size_t n;
};
struct roof {
    char node_hash[17], machine_class[65], cpu_model[128], blas[200], created_utc[32];
    char devices[64], instructions[32];
    size_t rounds;
    bool oversubscribed;
    struct roof_ceilings ceilings;
    struct roof_workload *workload;
    size_t n;
};
/* Reads a file. Returns NULL and why if it cannot be read, is no such file, or has an impossible
 * number. The caller calls roof_free. */
struct roof *roof_read(const char *path, struct text_error *err);
void roof_free(struct roof *roof);

/* ---- for other programs: analysis/export.c ------------------------------------------------ */

/* The parts of a record_key. */
extern const struct export_parts export_record_parts;
/* Adds a cell with the name "mlp:8,4/dp/virt:2/batch 64/..." of its key. The key remains owned by
 * the caller. */
struct export_cell *export_add_record(struct export_set *set, const struct record_key *key);

/* Exports the cells of records. A cell has numbers if all its planned launches are verified:
 * medians over launches, and their intervals. Any other cell is FAILED. */
void export_report(const struct report *report, struct export_set *set);

/* The formats of --format in report and sweep: those of an export set, and the summary of a job. */
enum { REPORT_SUMMARY = EXPORT_FORMATS, REPORT_FORMATS };
#define REPORT_FORMAT_NAMES "csv|bmf|github|openmetrics|annotations|junit|md"
const char *report_format_name(size_t format);

/* ---- words: numbers in words, alone or at the end of a text: analysis/words.c ------------- */

/* Appends to a text of a cell as much as fits. */
#define report_add(text, ...) text_add(text, REPORT_CELL_TEXT, __VA_ARGS__)
/* The functions that end in _words return text, or a constant. PHRASE is space for them; it lasts
 * as long as the block that it is in. */
#define PHRASE ((char[REPORT_CELL_TEXT]){0})
/* An interval as "[1.21, 1.25] ms", a range as "1.21..1.25 ms", and "-" without either. */
const char *report_range_words(const struct report_value *value, report_number_fn *number,
                               char text[REPORT_CELL_TEXT]);
/* The first is the median in words, with "?" if it is not certain; the second the range. */
const char *report_metric_words(const struct report_point *point, int metric,
                                char text[REPORT_CELL_TEXT]);
const char *report_metric_range_words(const struct report_point *point, int metric,
                                      char text[REPORT_CELL_TEXT]);

/* The functions that follow print a number in words. Each returns text, or "-" if the number is not
 * finite. WORD is space for one number; it lasts as long as the block that it is in. */
#define WORD ((char[32]){0})
/* "12.3 ms" or "845 us", with three digits. */
const char *report_time(double ns, char text[32]);
/* "1.23 M" or "845", with three digits. */
const char *report_rate(double per_second, char text[32]);
/* "74.7 GFLOP/s". */
const char *report_flops(double per_second, char text[32]);
/* "1.23 GB/s". */
const char *report_speed(double per_second, char text[32]);
/* "1.23 MiB" or "845 B", with three digits. */
const char *report_bytes(double bytes, char text[32]);
/* "1.86", with at least two significant digits: a speed-up of 0.004 must not look like 0. */
const char *report_ratio(double ratio, char text[32]);
/* "93 %" or "<1 %"; "0 %" only for a share that is known to be 0. */
const char *report_share(double share, char text[32]);
const char *report_percent(double share, char text[32]);

#endif
