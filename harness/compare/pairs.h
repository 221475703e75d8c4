/* compare/pairs.h: internal to this room: evidence of class I, two programs in interleaved pairs.
 *
 * A pair is two launches of one cell next to each other, one of each arm. Which of them is first is
 * drawn for every pair: that, and no model of noise, is what makes the tests exact. pairs_options.c
 * reads what to run, pairs_ask.c asks both programs whether they can, pairs.c runs, pairs_sum.c
 * sums up, pairs_judge.c judges, pairs_disturbed.c says what neighbours have to do with it,
 * pairs_fit.c what the machine is worth, and pairs_page.c, pairs_forest.c and pairs_record.c write
 * what came of it. */
#ifndef HARNESS_COMPARE_PAIRS_H
#define HARNESS_COMPARE_PAIRS_H

#include "compare/compare.h"
#include "record/output.h"
#include "sweep/sweep.h"

/* Whether these arguments ask for pairs; then it is the subcommand. As compare_main. */
bool pairs_wanted(int argc, char **argv);
int pairs_main(int argc, char **argv);

enum { PAIRS_OLD, PAIRS_NEW, PAIRS_ARMS };
enum { PAIRS_EXIT_REGRESSED = 1, PAIRS_EXIT_INVALID = 3, PAIRS_EXIT_INCONCLUSIVE = 4 };
enum { PAIRS_DEFAULT = 12, PAIRS_LEAST = 8, PAIRS_LOOKS_MOST = 2 };

/* Limits for the ratio of times NEW / OLD. The .05 of a comparison are shared out: one slow cell of
 * many does not move all of them, and a change that moves all of them may show in none. */
#define PAIRS_ALPHA_ALL   0.01
#define PAIRS_ALPHA_CELLS 0.04 /* by Holm */
#define PAIRS_MARGIN      1.01 /* the tests are of a ratio beyond this */
#define PAIRS_DELTA       1.02 /* the estimate has to reach this, too */
#define PAIRS_ALIKE       1.03 /* EQUIVALENT: the interval is inside of 1/this .. this */
#define PAIRS_ASKED       1.05 /* the pairs that this takes are said */

enum pairs_verdict {
    PAIRS_EQUIVALENT,   /* shown to be alike */
    PAIRS_IMPROVED,     /* shown to be faster */
    PAIRS_REGRESSED,    /* shown to be slower */
    PAIRS_INCONCLUSIVE, /* none of these was shown */
    PAIRS_INVALID,      /* nothing can be said, and the reason why */
    PAIRS_VERDICTS
};
extern const char *const pairs_verdict_words[PAIRS_VERDICTS];

/* The verdict on a cell, or on all together. NaN: unknown. */
struct pairs_judged {
    enum pairs_verdict verdict;
    char reason[COMPARE_TEXT];   /* INVALID: why; INCONCLUSIVE: "", or why it is no other */
    double ratio, lo, hi, level; /* NEW / OLD by Hodges and Lehmann; the interval is exact, and no
                                    number where so few pairs have none of that level */
    double p_slower, p_faster;   /* one-sided against the margin; of cells adjusted by Holm */
    double detectable;           /* ratio that as many pairs find in about 80 of 100 comparisons */
    size_t needed;               /* pairs that find PAIRS_ASKED so; 0: no number does */
};

/* The differences that are judged. */
struct pairs_data {
    const double *d; /* [cell * pairs + pair]: log(new / old) */
    size_t cells, pairs;
    const bool *left_out; /* likewise: pairs that do not count; NULL: all count */
    size_t looks; /* interim analyses that were planned, and share the errors evenly: 1 or more */
};

/* Fewest pairs that can show anything in one of so many cells, by one of so many
 * interim analyses. */
size_t pairs_least(size_t cells, size_t looks);
/* A cell that is INVALID already stays so, and counts in Holm's family; one with a d that is not
 * finite, or too few pairs, becomes so. All: per pair the median of the cells that are valid. 0, or
 * -1 when memory is short. */
int pairs_judge(const struct pairs_data *data, struct pairs_judged cell[],
                struct pairs_judged *all);
/* Fills detectable and needed of what was judged so. Likewise. */
int pairs_power(const struct pairs_data *data, struct pairs_judged cell[],
                struct pairs_judged *all);

struct pairs_arm {
    const char *program; /* NULL: this one */
    const char *options; /* its own, as given; NULL: none */
    char sha256[DIGEST_HEX], version[160];
    struct sweep_options sweep;
    struct record_run run;    /* what this program says of the devices and the machine */
    struct cell_config *plan; /* a block of all cells per pair */
};

struct pairs_launch {
    enum record_status status;
    char reason[sizeof((struct record_cell *)0)->reason];
    size_t steps, warmup_steps;
    bool oversubscribed;
    enum compare_floor rule;
    double floor_ns, cost_ns;               /* NaN: not verified */
    double elsewhere[REPORT_STEAL_SOURCES]; /* shares of its cores' time; NaN: not known */
};

struct pairs_pair {
    int first; /* arm */
    struct pairs_launch launch[PAIRS_ARMS];
};

struct pairs {
    struct pairs_arm arm[PAIRS_ARMS];
    size_t n, cells; /* pairs of each cell up to this interim analysis; cells */
    size_t per_look; /* pairs of each cell from one interim analysis to the next */
    size_t looks;    /* interim analyses that are planned */
    size_t look;     /* which of them it is, from 1 on */
    size_t asked;    /* --pairs, 0: not given */
    uint64_t seed;
    size_t format;
    const char *figure; /* a directory; NULL: none */
    bool strict, exact, allow_dirty, allow_disturbed;
    bool same;               /* both arms are one program in one setting: A/A */
    bool aa;                 /* --aa: it was asked for, to know what this machine is worth */
    size_t *cell;            /* [place in the plan]: its cell; cell c is the one at place c */
    size_t *steps;           /* [cell]: of every launch but the first; 0: not known yet */
    struct pairs_pair *pair; /* [number * cells + cell] */
    size_t done;             /* pairs */
    struct exact_side *side; /* [cell * PAIRS_ARMS + arm] */
    struct exact_changes *changes;
    char instance[DIGEST_HEX];        /* of the machine, before the first pair */
    struct output output;             /* the record, with --out */
    struct pairs_judged *judged, all; /* by floors: the gate */
    struct pairs_judged **sorted;     /* from the slowest on; those without a ratio last */
    double detectable;                /* the median of the cells that are valid */
    /* By means, with their own errors: said next to it, and never a gate; detectable is unknown.
     */
    struct pairs_judged *cost, all_cost;
    struct compare_notes invalid; /* why nothing can be said; then all cells are INVALID */
    size_t count[PAIRS_VERDICTS], count_cost[PAIRS_VERDICTS]; /* of cells */
};

/* Fills both arms up to their plans, and what the options say. 0, or EXIT_MISUSE after one line. */
int pairs_options(int argc, char **argv, struct pairs *pairs);
/* Whether both programs can be what is measured: sha256, version, same. 0, an exit status after one
 * line, or EXIT_INTERRUPTED. */
int pairs_ask(struct pairs *pairs);
/* A launch as its numbers. 0, or -1 when memory is short. */
int pairs_launch_of(const struct record_cell *cell, struct pairs_launch *launch);
/* When all pairs up to an interim analysis are done: fills judged and cost with their alls,
 * changes, invalid and both counts. Likewise. */
int pairs_sum_up(struct pairs *pairs);
/* Pairs in which the machine was disturbed: in one launch at least more than the limit of
 * report_steal_sources went elsewhere. A cell with too many is INVALID, and what is shown has to be
 * shown without them, too; with allow_disturbed they count like all others. */
#define PAIRS_DISTURBED_MOST 0.25 /* of the pairs of a cell */
struct pairs_disturbed {
    size_t pairs, unknown; /* unknown: no limit was passed, but not all shares are known */
    size_t by[REPORT_STEAL_SOURCES];
};
/* Adds a pair. */
void pairs_disturbed_add(const struct pairs_pair *pair, struct pairs_disturbed *disturbed);
/* The pairs of a cell, or with the number of all cells those of all together. */
struct pairs_disturbed pairs_disturbed_of(const struct pairs *pairs, size_t cell);
/* Whether the cell has too many; then why says so, and what to do. */
bool pairs_too_disturbed(const struct pairs *pairs, size_t cell, char why[COMPARE_TEXT]);
/* As pairs_judge, which it calls with all pairs and without the disturbed ones: what is not the
 * same verdict both times is INCONCLUSIVE, and the reason says so. Numbers are of all pairs. */
int pairs_judge_twice(const struct pairs *pairs, const struct pairs_data *data,
                      struct pairs_judged cell[], struct pairs_judged *all);
/* In a comparison of one program with itself, all that is found is an error of this machine. */
bool pairs_false_alarm(const struct pairs *pairs, const struct pairs_judged *judged);
/* Whether more pairs are of no use: what fails the comparison is shown, or nothing is INCONCLUSIVE.
 */
bool pairs_settled(const struct pairs *pairs);
size_t pairs_false_alarms(const struct pairs *pairs); /* of all verdicts that gate */
/* Whether the machine is fit for comparisons of these cells, as pairs of one program with itself
 * show it. words: why. */
enum pairs_fitness {
    PAIRS_FIT,   /* no false alarm, and PAIRS_ASKED is found in each cell */
    PAIRS_NOISY, /* no false alarm, and less than that is found */
    PAIRS_UNFIT, /* a false alarm, or something is INVALID */
    PAIRS_FITNESSES
};
extern const char *const pairs_fitness_words[PAIRS_FITNESSES];
enum pairs_fitness pairs_fit(const struct pairs *pairs, char words[COMPARE_TEXT]);
/* 0 or one of PAIRS_EXIT, or COMPARE_EXIT_CHANGED. */
int pairs_exit(const struct pairs *pairs);
/* The cell's name, "mlp:256,256 dp virt:2, 64 rows, f32, cpu/threads", of an arm. */
void pairs_cell_words(const struct pairs *pairs, size_t cell, int arm, char text[COMPARE_TEXT]);

/* Lines of the record, NULL: memory is short. Caller frees. */
char *pairs_begin_line(const struct pairs *pairs);
char *pairs_pair_line(const struct pairs *pairs, size_t cell, size_t number);
/* cell: its number, or that of all cells for what is said of all together. */
char *pairs_verdict_line(const struct pairs *pairs, size_t cell);
char *pairs_change_line(const struct pairs *pairs, size_t change);
char *pairs_end_line(const struct pairs *pairs, bool interrupted);

/* forest.svg, .png and -narrow.svg of this directory, which is made if need be. 0, or -1 after one
 * line. */
int pairs_forest(const struct pairs *pairs, const char *directory);
extern const unsigned char figure_asset_forest[];

struct json_t *pairs_json(const void *of);
extern const struct compare_judge pairs_page; /* of a struct pairs */

/* Shared with a baseline: "1 REGRESSED, 0 INCONCLUSIVE, ...", added to text; the meaning of
 * INCONCLUSIVE, if a cell is; and the state of a verdict in other formats. */
void pairs_counts(const size_t count[PAIRS_VERDICTS], char text[REPORT_CELL_TEXT]);
void pairs_say_open(struct compare_page *page, const size_t count[PAIRS_VERDICTS]);
extern const enum export_state pairs_export_states[PAIRS_VERDICTS];

#endif
