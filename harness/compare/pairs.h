/* compare/pairs.h: internal to this room: evidence of class I, two programs in interleaved pairs.
 *
 * A pair is two launches of one cell next to each other, one of each arm. The order in a pair is
 * drawn: that, and no model of noise, makes the tests exact. pairs_options.c reads what to run,
 * pairs_ask.c asks both programs whether they can, pairs.c runs the pairs, and pairs_judge.c judges
 * them. pairs_sum.c sums up, finds the pairs that neighbours disturbed, and says how fit the
 * machine is. pairs_page.c and pairs_record.c write the results. */
#ifndef HARNESS_COMPARE_PAIRS_H
#define HARNESS_COMPARE_PAIRS_H

#include "compare/compare.h"
#include "record/files.h"
#include "sweep/sweep.h"

/* Runs the pairs that the command line asks for. Returns the exit status. */
int pairs_main(const struct compare_options *options);

enum { PAIRS_OLD, PAIRS_NEW, PAIRS_ARMS };
enum { PAIRS_EXIT_REGRESSED = 1, PAIRS_EXIT_INVALID = 3, PAIRS_EXIT_INCONCLUSIVE = 4 };
enum { PAIRS_DEFAULT = 12, PAIRS_LEAST = 8, PAIRS_LOOKS_MOST = 2 };

/* Limits for the ratio of times NEW / OLD. The .05 of a comparison are divided into two parts: one
 * slow cell of many does not move all of them, and a change that moves all of them may not show in
 * any. */
#define PAIRS_ALPHA_ALL   0.01
#define PAIRS_ALPHA_CELLS 0.04 /* by Holm */
#define PAIRS_MARGIN      1.01 /* the tests are about a ratio beyond this */
#define PAIRS_DELTA       1.02 /* the estimate must also reach this */
#define PAIRS_ALIKE       1.03 /* EQUIVALENT: the interval is inside of 1/this .. this */
#define PAIRS_ASKED       1.05 /* the result says how many pairs find this */

enum pairs_verdict {
    PAIRS_EQUIVALENT,   /* shown to be alike */
    PAIRS_IMPROVED,     /* shown to be faster */
    PAIRS_REGRESSED,    /* shown to be slower */
    PAIRS_INCONCLUSIVE, /* none of these is shown */
    PAIRS_INVALID,      /* no verdict is possible, and the reason says why */
    PAIRS_VERDICTS
};
extern const char *const pairs_verdict_words[PAIRS_VERDICTS];

/* The verdict on a cell, or on all cells together. NaN: unknown. */
struct pairs_judged {
    enum pairs_verdict verdict;
    char reason[COMPARE_TEXT]; /* INVALID: why; INCONCLUSIVE: "", or why it has no other verdict */
    double ratio, lo, hi, level; /* NEW / OLD by Hodges and Lehmann; the interval is exact, and
                                    unknown if so few pairs have none of that level */
    double p_slower, p_faster;   /* one-sided against the margin; for cells adjusted by Holm */
    double detectable; /* the ratio that as many pairs find in about 80 of 100 comparisons */
    size_t needed;     /* pairs that find PAIRS_ASKED so; 0: no number does */
};

/* The differences that are judged. */
struct pairs_data {
    const double *d; /* [cell * pairs + pair]: log(new / old) */
    size_t cells, pairs;
    const bool *left_out; /* the same index: pairs that do not count; NULL: all count */
    size_t looks; /* interim analyses that are planned, and divide the errors evenly: 1 or more */
};

/* Returns the smallest number of pairs that can show anything in one of so many cells, by one of so
 * many interim analyses. */
size_t pairs_least(size_t cells, size_t looks);
/* Judges the cells and all together. A cell that is INVALID stays so, and counts in Holm's family.
 * A cell becomes INVALID if one of its d is not finite, or if it has too few pairs. For all
 * together, the difference of a pair is the median of the valid cells. */
void pairs_judge(const struct pairs_data *data, struct pairs_judged cell[],
                 struct pairs_judged *all);
/* Fills detectable and needed of judged cells. */
void pairs_power(const struct pairs_data *data, struct pairs_judged cell[],
                 struct pairs_judged *all);

struct pairs_arm {
    const char *program; /* NULL: this one */
    const char *options; /* the options of the arm, as given; NULL: none */
    char sha256[DIGEST_HEX], version[160];
    struct sweep_options sweep;
    struct record_run run;    /* this program's description of the devices and the machine */
    struct cell_config *plan; /* a block of all cells per pair */
};

struct pairs_launch {
    enum record_status status;
    char reason[sizeof((struct record_cell *)0)->reason];
    size_t steps, warmup_steps;
    bool oversubscribed;
    enum compare_floor rule;
    double floor_ns, cost_ns;               /* NaN: not verified */
    double elsewhere[REPORT_STEAL_SOURCES]; /* the part of the time of its cores that was used
                                               elsewhere; NaN: not known */
};

struct pairs_pair {
    int first; /* the arm that runs first */
    struct pairs_launch launch[PAIRS_ARMS];
};

struct pairs {
    struct pairs_arm arm[PAIRS_ARMS];
    size_t n, cells; /* n: pairs of each cell up to this interim analysis */
    size_t per_look; /* pairs of each cell from one interim analysis to the next */
    size_t looks;    /* interim analyses that are planned */
    size_t look;     /* the number of this one, from 1 */
    uint64_t seed;
    struct compare_options options;
    bool same;     /* both arms are one program in one setting: A/A */
    size_t *cell;  /* [place in the plan]: the cell at that place; cell c is the one at place c of
                      the first block */
    size_t *steps; /* [cell]: of every launch but the first; 0: not known yet */
    struct pairs_pair *pair; /* [number * cells + cell] */
    size_t done;             /* pairs that were run */
    struct exact_side *side; /* [cell * PAIRS_ARMS + arm] */
    struct exact_changes *changes;
    char instance[DIGEST_HEX];        /* of the machine, before the first pair */
    struct output output;             /* the record, with --out */
    struct pairs_judged *judged, all; /* by floors; they are the gate */
    struct pairs_judged **sorted;     /* from the slowest on; those without a ratio are last */
    double detectable;                /* the median of the cells that are valid */
    /* The same by means, with separate errors: printed next to it, and never a gate. detectable is
     * unknown. */
    struct pairs_judged *cost, all_cost;
    struct compare_notes invalid; /* why no verdict is possible; then all cells are INVALID */
    size_t count[PAIRS_VERDICTS], count_cost[PAIRS_VERDICTS]; /* of cells */
};

/* Fills both arms up to their plans. Returns 0, or EXIT_MISUSE after one line. */
int pairs_options(const struct compare_options *options, struct pairs *pairs);
/* Checks that both programs can be measured, and fills sha256, version and same. Returns 0, an exit
 * status after one line, or EXIT_INTERRUPTED. */
int pairs_ask(struct pairs *pairs);
/* Reads the numbers of a launch. */
void pairs_launch_of(const struct record_cell *cell, struct pairs_launch *launch);
/* Called when all pairs up to an interim analysis are done: fills judged and cost, all and
 * all_cost, changes, invalid and both counts. */
void pairs_sum_up(struct pairs *pairs);
/* The pairs in which the machine was disturbed: in at least one launch, more than the limit of
 * report_steal_sources was used elsewhere. A cell with more than REPORT_DISTURBED_MOST is INVALID,
 * and a result must also hold without these pairs. With allow_disturbed they count like all others.
 */
struct pairs_disturbed {
    size_t pairs, unknown; /* unknown: no limit was passed, but not all shares are known */
    size_t by[REPORT_STEAL_SOURCES];
};
/* Adds a pair. */
void pairs_disturbed_add(const struct pairs_pair *pair, struct pairs_disturbed *disturbed);
/* Counts the pairs of a cell; if cell is the number of cells, those of all cells. */
struct pairs_disturbed pairs_disturbed_of(const struct pairs *pairs, size_t cell);
/* Whether the cell has too many; then why says so, and what a user can do. */
bool pairs_too_disturbed(const struct pairs *pairs, size_t cell, char why[COMPARE_TEXT]);
/* Calls pairs_judge with all pairs and without the disturbed ones. A verdict that is not the same
 * both times becomes INCONCLUSIVE, and the reason says so. The numbers are those of all pairs. */
void pairs_judge_twice(const struct pairs *pairs, const struct pairs_data *data,
                       struct pairs_judged cell[], struct pairs_judged *all);
/* Whether a verdict is a false alarm: in a comparison of one program with itself, every difference
 * is an error of this machine. */
bool pairs_false_alarm(const struct pairs *pairs, const struct pairs_judged *judged);
/* Whether further pairs are useless: a failure is shown already, or no verdict is INCONCLUSIVE. */
bool pairs_settled(const struct pairs *pairs);
size_t pairs_false_alarms(const struct pairs *pairs); /* of all verdicts that gate */
/* How fit the machine is for comparisons of these cells, as pairs of one program with itself show.
 * words: the reason. */
enum pairs_fitness {
    PAIRS_FIT,   /* no false alarm, and PAIRS_ASKED is found in each cell */
    PAIRS_NOISY, /* no false alarm, and less than that is found */
    PAIRS_UNFIT, /* a false alarm, or something is INVALID */
    PAIRS_FITNESSES
};
extern const char *const pairs_fitness_words[PAIRS_FITNESSES];
enum pairs_fitness pairs_fit(const struct pairs *pairs, char words[COMPARE_TEXT]);
/* Returns 0 or one of PAIRS_EXIT, or COMPARE_EXIT_CHANGED. */
int pairs_exit(const struct pairs *pairs);
/* Writes the name of the cell of an arm: "mlp:256,256 dp virt:2, 64 rows, f32, cpu/threads". */
void pairs_cell_words(const struct pairs *pairs, size_t cell, int arm, char text[COMPARE_TEXT]);

/* Make the members of lines of the record. */
#define PAIRS_SCHEMA "lockstep/compare/1.0"
struct json_t *
pairs_begin_json(const struct pairs *pairs); /* what is known before the first pair */
struct json_t *pairs_pair_json(const struct pairs *pairs, size_t cell, size_t number);
/* cell: its number; the number of cells stands for all cells together. */
struct json_t *pairs_verdict_json(const struct pairs *pairs, size_t cell);
struct json_t *pairs_end_json(const struct pairs *pairs, bool interrupted);

/* Writes forest.svg, .png and -narrow.svg to this directory, which is made if necessary. Returns 0,
 * or -1 after one line. */
int pairs_forest(const struct pairs *pairs, const char *directory);
extern const unsigned char figure_asset_forest[];

struct json_t *pairs_json(const void *of);
extern const struct compare_judge pairs_page; /* of a struct pairs */

/* A baseline uses these, too. They add "1 REGRESSED, 0 INCONCLUSIVE, ..." to text, and are the
 * states of the verdicts in other formats. */
void pairs_counts(const size_t count[PAIRS_VERDICTS], char text[REPORT_CELL_TEXT]);
extern const enum export_state pairs_export_states[PAIRS_VERDICTS];

#endif
