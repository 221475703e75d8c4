/* compare/compare.h: `lockstep compare`: the differences between two programs.
 *
 * Three judges give verdicts, by the evidence that there is: two files of records (class III,
 * below), one session against the history of many (class II, compare/baseline.h), and launches in
 * interleaved pairs (class I, compare/pairs.h). All of them compare exact numbers in the same way
 * (exact.c), and describe their results to one renderer (page.c).
 *
 * For two files, main.c reads them, files.c says whether they can be compared at all, judge.c joins
 * the launches of a cell and tests their times, and files_page.c describes the results. Two files
 * are two sessions, which differ for reasons of the machine, too. Their launches are not pairs:
 * block 3 of one and block 3 of the other have nothing in common. */
#ifndef HARNESS_COMPARE_H
#define HARNESS_COMPARE_H

#include "analysis/analysis.h"
#include "files/files.h"
#include "record/record.h"

#include <stdbool.h>
#include <stdio.h>

struct json_t;

/* The subcommands; argv[0] is "lockstep compare" or "lockstep compare baseline". They return the
 * exit status, see --help. */
int compare_main(int argc, char **argv);
int baseline_main(int argc, char **argv);

enum { COMPARE_A, COMPARE_B, COMPARE_SIDES };
enum { COMPARE_EXIT_CHANGED = 1, COMPARE_EXIT_INVALID = 3 };
enum { COMPARE_NOTES = 64, COMPARE_TEXT = 384 };

/* The command line. NULL, 0: not given. */
struct compare_options {
    const char *path[COMPARE_SIDES]; /* of records; with --ab the first one is NEW */
    const char *ab, *aa;             /* programs: OLD of --ab, and that of --aa */
    const char *arm[COMPARE_SIDES];  /* options, as given by --a and --b */
    char **sweep; /* arguments of `lockstep sweep`; none: no pairs are asked for */
    int n_sweep;
    size_t pairs, looks;
    const char *figure, *baseline, *folder;
    bool strict, lenient, exact, allow_dirty, allow_disturbed, verbose;
    size_t format;
};

/* Lines that are collected, up to a limit. */
struct compare_notes {
    char text[COMPARE_NOTES][COMPARE_TEXT];
    size_t n;
};
void compare_note(struct compare_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- exact numbers: they are counted, not timed, so that one more is a change on any machine ----
 */

struct exact_metric {
    const char *name, *unit, *part; /* part: what an element belongs to; "": there is one */
    bool real;                      /* a double, and NaN: unknown; else a uint64_t */
    size_t offset;                  /* in a cell: of its first element */
    size_t count;                   /* and of their number; 0: there is one */
    bool later;                     /* old records, and baselines of them, do not have it */
};
enum { EXACT_METRICS = 6 };
extern const struct exact_metric exact_metrics[EXACT_METRICS];

/* The verified launches of one side of a cell: the least and the most of each element. NaN: one of
 * the launches does not know it. */
struct exact_side {
    size_t launches;
    size_t n[EXACT_METRICS]; /* elements */
    double lo[EXACT_METRICS][RECORD_MAX_RANKS], hi[EXACT_METRICS][RECORD_MAX_RANKS];
};
/* Adds a launch, which must be verified. */
void exact_add(struct exact_side *side, const struct record_cell *launch);

/* A number that should be the same on both sides, but differs. */
struct exact_change {
    size_t cell;
    const struct record_key *key; /* of the cell in documents; NULL: its number */
    const struct exact_metric *metric;
    char where[32];                /* " of device 1" */
    char value[COMPARE_SIDES][64]; /* "65536", "65536 to 65540", "unknown", "none" */
};
struct exact_changes {
    size_t n;
    struct exact_change change[];
};
/* Allocates the changes of so many cells. The caller frees it. */
struct exact_changes *exact_room(size_t cells);
/* Adds the first element of each metric of the cell that differs. It skips a side without a
 * verified launch, and a later metric that A does not know: B may be the first program that counts
 * it. */
void exact_compare(const struct exact_side side[COMPARE_SIDES], size_t cell,
                   const struct record_key *key, struct exact_changes *changes);
/* Returns an object; and an array of all. */
struct json_t *exact_change_json(const struct exact_change *change);
struct json_t *exact_changes_json(const struct exact_changes *changes);

/* ---- what is printed: each judge describes a page, which page.c writes in the form of --format --
 */

/* The forms that only comparisons have; those of export/export.h follow. */
enum { COMPARE_AS_TEXT, COMPARE_AS_JSON, COMPARE_AS_MARKDOWN, COMPARE_FORMS };
enum { COMPARE_FORMATS = COMPARE_FORMS + EXPORT_FORMATS };
const char *compare_format_name(size_t format);

/* The ratios of a cell. */
enum { COMPARE_TIME, COMPARE_COST, COMPARE_DETECTABLE, COMPARE_METRICS };

/* A compared point: a cell, or another item that has a verdict. An INVALID one is an error in other
 * formats, and has no numbers there; one that decides nothing is never a test that passed. */
struct compare_point {
    bool is_cell; /* else only other formats show it, under its name, and rest says it all */
    struct record_key key;
    char name[COMPARE_TEXT];
    char against[COMPARE_TEXT];  /* the cell of B, if it is another one; else "" */
    char verdict[48];            /* "A/A REGRESSED"; "": a point that is only listed */
    size_t number;               /* of the verdict, among those of the page */
    enum export_state state;     /* of the point, in other formats */
    char ratio[160], cost[160];  /* "": it has no numbers, and rest says why */
    char rest[REPORT_CELL_TEXT]; /* further words */
    char more[128];              /* more of them, in text only */
    bool hidden; /* it is not printed for people, because its text was printed already */
    bool brief;  /* it is left out of Markdown */
    size_t launches;
    struct export_value value[COMPARE_METRICS];
};

/* The place of a paragraph. */
enum compare_place {
    COMPARE_TITLE, /* first: the answer */
    COMPARE_HEAD,  /* before the points */
    COMPARE_FOOT   /* after the points, with --verbose; in Markdown before them */
};

struct compare_page {
    const char *ratio;               /* "B/A" */
    const char *side[COMPARE_SIDES]; /* the names of the sides if numbers CHANGED */
    const char *gate;                /* ", not a gate", or "" */
    const char *const *verdicts;     /* of other formats */
    size_t n_verdicts;
    const struct exact_changes *changes; /* of the cells among the points; NULL: none */
    bool exact;                          /* exact changes fail */
    struct compare_point *point;         /* cells come first */
    struct compare_point **order;        /* in that of text and Markdown; NULL: failures first */
    size_t n;
    struct memory_file words; /* paragraphs, each between the digit of its place and a 0 */
    char summary[EXPORT_TEXT];
};
void compare_say(struct compare_page *page, enum compare_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds a point without numbers; with a key, it is a cell. */
struct compare_point *compare_add_point(struct compare_page *page, const struct record_key *key,
                                        size_t number, enum export_state state);

struct compare_judge {
    void (*describe)(const void *of, struct compare_page *page);
    struct json_t *(*json)(const void *of);
};
/* Prints the results for so many cells. Returns 0, or EXIT_MISUSE after one line. As text without
 * verbose it is at most a screen. */
int compare_print(const struct compare_judge *judge, const void *of, size_t cells, size_t format,
                  bool verbose);
/* Writes "5.0 % more time [+3.9 %, +6.1 %]", or "30 times the time [28, 31]". */
enum { COMPARE_CHANGE = 96 };
void compare_change_words(const struct export_value *value, char text[COMPARE_CHANGE]);
/* Writes "REGRESSED in 2 of 12 cells, most in CELL: 5.0 % more time [..]" about the cells with the
 * verdict of that number; "": there is none. */
void compare_worst_words(const struct compare_page *page, size_t number, char text[COMPARE_TEXT]);

/* Compares two keys; 0 means that they are of the same cell. */
int compare_key_order(const struct record_key *a, const struct record_key *b);
/* Writes "mlp:256,256 dp virt:2, 64 rows, f32, cpu/threads": all that distinguishes cells. */
void compare_cell_words(const struct record_key *key, char text[COMPARE_TEXT]);

/* ---- floors: a launch is summed up by the fast end of its steps ------------------------------ */

/* The side with fewer steps decides for both. */
enum compare_floor {
    COMPARE_P05,   /* the 5th percentile, for COMPARE_P05_STEPS or more */
    COMPARE_P10,   /* the 10th, for COMPARE_P10_STEPS or more */
    COMPARE_LEAST, /* the smallest of as many first steps as all launches have */
    COMPARE_FLOORS
};
enum { COMPARE_P05_STEPS = 40, COMPARE_P10_STEPS = 20 };
extern const char *const compare_floor_words[COMPARE_FLOORS];
/* Returns the rule for a launch with so many steps after the warm-up. */
enum compare_floor compare_floor_rule(size_t steps);
/* Returns the floor of a launch in ns, by a rule. COMPARE_LEAST uses only the first `fewest` steps.
 * steps: capacity for n_samples. */
double compare_floor(const struct record_cell *cell, enum compare_floor rule, size_t fewest,
                     double steps[]);

/* ---- two files ---- */

enum compare_verdict {
    COMPARE_NO_EVIDENCE, /* no evidence of a difference, which is not evidence of none */
    COMPARE_SUSPECT,     /* an experiment that can decide is worthwhile */
    COMPARE_INVALID,     /* no verdict is possible, and the reason says why */
    COMPARE_UNMEASURED,  /* verified on neither side */
    COMPARE_VERDICTS
};

/* The rule of SUSPECT: the adjusted p is at most alpha, and the ratio is further from 1 than
 * beyond. */
#define COMPARE_ALPHA  0.05
#define COMPARE_BEYOND 1.05
#define COMPARE_LEVEL  0.95
enum { COMPARE_LAUNCHES = 4 }; /* on each side: fewer have no interval of 95 % */

/* One number for each launch of a cell, compared. NaN: unknown. */
struct compare_ratio {
    double ns[COMPARE_SIDES]; /* medians over launches */
    double ratio;             /* B / A: of the logarithms by Hodges and Lehmann */
    double lo, hi, coverage;  /* from the exact distribution of the rank sum; NaN: none */
    double p;                 /* two-sided, exact rank sum */
};

struct compare_launch {
    const struct report_row *row;
    int side;
};

/* A cell that is in both files. Its launches of A begin at first, and those of B follow. */
struct compare_cell {
    const struct record_key *key;
    size_t first, n[COMPARE_SIDES], verified[COMPARE_SIDES];
    enum compare_floor rule;
    size_t steps; /* of the launch with fewest, after the warm-up */
    struct compare_ratio floor, cost;
    double adjusted; /* p of floor, adjusted by Holm over the cells that were tested */
    enum compare_verdict verdict;
    char reason[COMPARE_TEXT]; /* INVALID: why */
};

struct compare {
    const struct compare_options *options;
    struct record_file file[COMPARE_SIDES];
    struct report report[COMPARE_SIDES]; /* of one file each */
    struct compare_launch *launch;       /* of both files, by cell, side and launch */
    size_t n_launches;
    struct compare_cell *cell; /* in both files */
    size_t n_cells, only[COMPARE_SIDES];
    size_t count[COMPARE_VERDICTS]; /* of cells */
    size_t tested;                  /* cells in Holm's family */
    /* Over the cells with an interval: the median of the ratios, which is the change that all of
     * them share, and the median of the half-widths, as a part of the ratio, which is what these
     * launches can resolve. NaN: no cell has one. */
    double common, half_width;
    struct exact_changes *changes;
    struct compare_notes invalid; /* why no time can be compared; then all cells are INVALID */
    struct compare_notes differs; /* other differences between the files */
    struct compare_notes remarks; /* remarks for a reader */
};

/* Fills invalid, differs and remarks from the descriptions in the files. */
void compare_files(struct compare *compare);
/* Adds to differs how the end of the warm-up was found, if a cell has another rule in each file. */
void compare_warmups(struct compare *compare);
/* Fills launch, cell, only and changes from report. */
void compare_cells(struct compare *compare);
/* Fills times, verdicts, count, tested, common and half_width. */
void compare_judge(struct compare *compare);
/* Returns 0 or one of COMPARE_EXIT. The result of --exact comes first, as it needs no times. */
int compare_exit(const struct compare *compare);
extern const struct compare_judge compare_files_judge; /* of a struct compare */

#endif
