/* forecast/forecast.h: `lockstep forecast`, from the records of a sweep to steps on more ranks.
 *
 * The way of the data: forecast/gather.c takes the points of DistributedDataParallel from a report,
 * or refuses them; forecast/series.c fits them and fills the lines; forecast/words.c and
 * forecast/write.c print these. */
#ifndef HARNESS_FORECAST_H
#define HARNESS_FORECAST_H

#include "analysis/analysis.h"

/* ---- curves through what was measured: forecast/fit.c ---------------------------------------- */

/* The time of a step as a function of ranks and rows. Pure functions on arrays; no allocation, and
 * nothing of records. */
enum { FIT_POINTS = 128 }; /* at most, of a setting */

/* A reduction: transfers that follow each other, and bytes that are written in them. */
struct fit_traffic {
    double transfers, bytes;
};

/* A point of a sweep, of one launch or of several in the middle. Times in ns. */
struct fit_point {
    int ranks;
    size_t shard; /* rows of the rank that has most */
    size_t model; /* points of one model have one */
    struct fit_traffic traffic;
    double step;    /* the whole */
    double compute; /* without its reduction */
    double comm;    /* the reduction alone */
    double hidden;  /* of it, by the computation */
};

/* y = alpha + beta x. Through points of one x there is no line: it is known at that x only. */
struct fit_curve {
    double alpha, beta;
    double only; /* that x; NaN: a line */
    size_t n;    /* points; 0: nothing is known */
};

/* The computation of a step by the rows of a rank: with one rank, with several, and with any. */
enum fit_kind { FIT_ONE, FIT_SEVERAL, FIT_ALL, FIT_KINDS };

struct fit_model {
    struct fit_curve compute[FIT_KINDS];
    struct fit_curve transfer; /* the time of a transfer by its bytes, of all models */
    double share,
        cover; /* hidden: at most of the reduction, and of the computation; NaN: unknown */
};

/* Fits one model through all points but skip (n or more: none), of which those of other models say
 * what a transfer takes. n is at most FIT_POINTS. */
void fit_model(const struct fit_point point[], size_t n, size_t skip, size_t model,
               struct fit_model *fit);

struct fit_time {
    double compute, comm, hidden, step; /* NaN: not known */
};
struct fit_time fit_time(const struct fit_model *fit, int ranks, size_t shard,
                         struct fit_traffic traffic);

/* ---- a forecast ------------------------------------------------------------------------------ */

/* The subcommand; argv[0] is "lockstep forecast". Returns the exit status, see --help. */
int forecast_main(int argc, char **argv);

enum {
    FORECAST_TO = 65536, /* ranks, at most */
    FORECAST_LINES = FIT_POINTS + 32,
    FORECAST_TEXT = REPORT_CELL_TEXT
};

/* Points that were run alike: what a transfer takes is the same for all of their models. */
struct forecast_setting {
    const struct report_point *point[FIT_POINTS];
    size_t model[FIT_POINTS]; /* of a point: the first one of its workload */
    size_t n, launches;       /* launches: that all of them have */
    int most;                 /* ranks of a point */
};

/* Whether a line has a number, or why not. */
enum forecast_state {
    FORECAST_HOLDS,
    FORECAST_UNKNOWN, /* the fit says nothing there */
    FORECAST_WIDE,    /* the interval is wider than the number */
    FORECAST_NO_ROWS  /* there are more ranks than rows */
};

struct forecast_line {
    int ranks;
    size_t shard, batch;              /* rows of the largest shard; of all ranks */
    const struct report_point *point; /* measured; NULL: it is not */
    double measured;                  /* ns; NaN: it is not */
    bool extrapolated;                /* on more than twice the ranks of any that was measured */
    enum forecast_state state;
    struct report_value step; /* ns; over the launches, then by the error of the series, too */
    struct report_value efficiency;
    /* For a point that was measured: the forecast of a fit without it, as a part of what was
     * measured less 1; and that of the fit with it. NaN: it takes the point. */
    double without, error, residual;
    double compute; /* ns, of the fit; the median over the launches */
    /* By SMPI, ns; and how far it is from what was measured. NaN: it has no number, and why. */
    double simulated, simulated_error;
    int rounds, of; /* of an exchange: those that were simulated, and how many it has */
    char why[80];
};

/* A model on more and more ranks, with one batch, or as many rows on each. */
struct forecast_series {
    const struct report_point *point; /* of its largest number of ranks */
    const struct forecast_setting *setting;
    size_t model, rows; /* rows: the batch, or of each rank */
    bool weak;
    struct report_value alpha, beta; /* ns; ns per byte, of a transfer */
    struct report_value share, cover;
    double off;   /* the largest error of a point of several ranks; the residual where tried is 0 */
    size_t tried; /* of these points, those without which there is a forecast */
    bool one_size; /* all transfers were of one: alpha is what it takes */
    size_t counts, n;
    struct forecast_line *line; /* [FORECAST_LINES], by ranks */
};

/* The options of --simulate. forecast/simulate.c */
struct forecast_simulation {
    const char *platform; /* as it was named; NULL: nothing is simulated */
    double timeout;       /* seconds, of a line */
    bool fitted;          /* the platform is what was fitted */
    char version[64];     /* of the simulator */
};

struct forecast {
    const struct report *report;
    struct forecast_simulation simulation;
    int to;
    struct forecast_setting *setting;
    struct forecast_series *series;
    size_t n_settings, n_series;
};

/* Settings and series of the points, or why there is no forecast of them. 0, or -1 and why.
 * forecast/gather.c */
int forecast_gather(struct forecast *forecast, struct text_error *why);
/* Whether a point of its setting is one of the series. */
bool forecast_series_has(const struct forecast_series *series, size_t index);
/* Fills the lines of all. 0, or -1 and why. forecast/series.c */
int forecast_fill(struct forecast *forecast, struct text_error *why);
void forecast_free(struct forecast *forecast);

/* The traffic of a reduction of so many parameters on so many ranks. 0, or -1: it is not known for
 * its communicator, or of several devices a process. forecast/traffic.c */
int forecast_traffic(const struct record_key *key, size_t params, int ranks,
                     struct fit_traffic *traffic);

/* Whether its ranks are processes. */
bool forecast_of_processes(const struct record_key *key);
/* Simulates the lines of all series whose ranks are processes. 0, or -1 and why. */
int forecast_simulate(struct forecast *forecast, struct text_error *why);

/* Lines of all series; those without a number; and those that should be simulated, and were not. */
struct forecast_counts {
    size_t lines, without, not_simulated;
};
struct forecast_counts forecast_count(const struct forecast *forecast);

/* ---- the steps once more, simulated by SimGrid's SMPI --------------------------------------- */

enum { PLATFORM_PATH = 1024 };

/* Where the platform of that name, or that file, is. 0, or -1 and why there is none, or which line
 * of it says more than a platform needs. forecast/platform.c */
int platform_find(const char *name, char path[PLATFORM_PATH], struct text_error *why);
/* As many hosts, between any two of which a message takes alpha and beta for a byte. It is there
 * until the stream is closed. NULL and errno: none. */
FILE *platform_fitted(int ranks, double alpha_ns, double beta_ns, char path[PLATFORM_PATH]);

/* ---- words: forecast/words.c ----------------------------------------------------------------- */

enum forecast_column {
    FORECAST_RANKS,
    FORECAST_SHARD,
    FORECAST_MEASURED,
    FORECAST_STEP,
    FORECAST_RANGE,
    FORECAST_EFFICIENCY,
    FORECAST_WITHOUT,
    FORECAST_ERROR,
    FORECAST_RESIDUAL,
    FORECAST_SIMULATED,
    FORECAST_SIMULATED_ERROR,
    FORECAST_NOTE,
    FORECAST_COLUMNS
};
/* Its name and its width in text; the number of a line that it shows, if it shows just that. */
struct forecast_column_row {
    const char *name;
    int width;
    enum { FORECAST_OTHER, FORECAST_TIME, FORECAST_PERCENT } form;
    size_t offset;
};
extern const struct forecast_column_row forecast_columns[FORECAST_COLUMNS];
/* Whether there is anything to say in it. */
bool forecast_shows(const struct forecast *forecast, int column);
void forecast_line_words(const struct forecast *forecast, const struct forecast_line *line,
                         int column, char text[FORECAST_TEXT]);
/* Writes the step on the most ranks: "16 ranks: a step takes 5.1 ms [4.6 ms, 5.7 ms] ..". */
void forecast_answer_words(const struct forecast *forecast, const struct forecast_series *series,
                           char text[FORECAST_TEXT]);
/* "mlp:8,4, ddp, strong scaling of 64 rows, cpu/threads on virt". */
void forecast_series_words(const struct forecast_series *series, char text[FORECAST_TEXT]);
/* A sentence about the fit, and one about the interval. */
void forecast_fit_words(const struct forecast_series *series, char text[FORECAST_TEXT]);
void forecast_interval_words(const struct forecast_series *series, char text[FORECAST_TEXT]);
/* How it was simulated, or why not; "" without --simulate. */
void forecast_simulated_words(const struct forecast *forecast, const struct forecast_series *series,
                              char text[FORECAST_TEXT]);
extern const char *const forecast_states[]; /* "wide", in programs */

void forecast_text(FILE *stream, const struct forecast *forecast);
void forecast_json(FILE *stream, const struct forecast *forecast);
void forecast_csv(FILE *stream, const struct forecast *forecast);
void forecast_markdown(FILE *stream, const struct forecast *forecast);

#endif
