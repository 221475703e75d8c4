/* compare/compare.h: `lockstep compare`: what two files of records can say of two programs, and no
 * more than that.
 *
 * The main program needs compare_main only; the rest is shared by the files of this room. The way
 * of the data: main.c reads the files, files.c says whether they can be compared at all, cells.c
 * puts the launches of a cell side by side, judge.c tests their times, exact.c what has to be the
 * same to the last byte, and text.c, markdown.c and json.c write what came of it.
 *
 * The evidence decides which verdicts there are. Two files are class III: two sittings, which
 * differ for reasons of the machine, too. Launches of two files are no pairs: block 3 of one of
 * them and block 3 of the other have nothing in common. */
#ifndef HARNESS_COMPARE_H
#define HARNESS_COMPARE_H

#include "analysis/analysis.h"
#include "record/record.h"

#include <stdbool.h>
#include <stdio.h>

/* The subcommand; argv[0] is "lockstep compare". Returns the exit status, see --help. */
int compare_main(int argc, char **argv);

/* `lockstep baseline`, likewise. */
int baseline_main(int argc, char **argv);

enum { COMPARE_A, COMPARE_B, COMPARE_SIDES };
enum { COMPARE_EXIT_CHANGED = 1, COMPARE_EXIT_INVALID = 3 };

enum compare_verdict {
    COMPARE_NO_EVIDENCE, /* of a difference: that is not evidence of none */
    COMPARE_SUSPECT,     /* worth an experiment that can decide */
    COMPARE_INVALID,     /* nothing can be said, and the reason why */
    COMPARE_UNMEASURED,  /* verified on neither side */
    COMPARE_VERDICTS
};
extern const char *const compare_verdict_words[COMPARE_VERDICTS];

/* What a launch is summed up as, the floor: the side with fewer steps decides for both. */
enum compare_floor {
    COMPARE_P05,   /* the 5th percentile: COMPARE_P05_STEPS or more */
    COMPARE_P10,   /* the 10th: COMPARE_P10_STEPS or more */
    COMPARE_LEAST, /* the smallest of the first so many of all launches: few */
    COMPARE_FLOORS
};
enum {
    COMPARE_P05_STEPS = 40,
    COMPARE_P10_STEPS = 20,
    COMPARE_LAUNCHES = 4, /* on each side: fewer have no interval of 95 % */
    COMPARE_FORMS = 3,    /* of output: text, JSON, Markdown */
    COMPARE_NOTES = 64,
    COMPARE_TEXT = 384
};
extern const char *const compare_floor_words[COMPARE_FLOORS];

/* The rule of SUSPECT: adjusted p at most alpha, and the ratio further from 1 than beyond. */
#define COMPARE_ALPHA  0.05
#define COMPARE_BEYOND 1.05
#define COMPARE_LEVEL  0.95

/* Launches of a cell by one number each. NaN: unknown. */
struct compare_ratio {
    double ns[COMPARE_SIDES]; /* medians over launches */
    double ratio;             /* B / A: of the logarithms by Hodges and Lehmann */
    double lo, hi, coverage;  /* from the exact distribution of the rank sum; NaN: none */
    double p;                 /* two-sided, exact rank sum */
};

struct compare_launch {
    const struct report_row *row;
    int side;
    size_t place; /* of its key in the order of all keys */
    bool leads;   /* a stretch of launches of one key, as the files have them */
};

/* A cell that is in both files: launches first.. of A, then those of B. */
struct compare_cell {
    const struct record_key *key;
    size_t first, n[COMPARE_SIDES], verified[COMPARE_SIDES];
    enum compare_floor rule;
    size_t steps; /* of the launch with fewest, after the warm-up */
    struct compare_ratio floor, cost;
    double adjusted; /* p of floor by Holm, over the cells that were tested */
    enum compare_verdict verdict;
    char reason[COMPARE_TEXT]; /* INVALID: why */
};

struct compare_notes {
    char text[COMPARE_NOTES][COMPARE_TEXT];
    size_t n;
};

/* As many as there is room for. */
void compare_note(struct compare_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct compare {
    const char *path[COMPARE_SIDES];
    bool allow_dirty, exact; /* options */
    struct record_file file[COMPARE_SIDES];
    struct report report[COMPARE_SIDES]; /* of one file each */
    struct compare_launch *launch;       /* of both files, by cell, side and launch */
    size_t n_launches;
    struct compare_cell *cell; /* in both files */
    size_t n_cells, only[COMPARE_SIDES];
    size_t count[COMPARE_VERDICTS]; /* of cells */
    size_t tested;                  /* cells in Holm's family */
    struct exact_changes *changes;  /* numbers that have to be the same, and are not: exact.h */
    struct compare_notes invalid;   /* why no time can be compared; then all cells are INVALID */
    struct compare_notes differs;   /* what else is not the same in both */
    struct compare_notes remarks;   /* what a reader should know */
};

/* The rule for a launch of so many steps after the warm-up. */
enum compare_floor compare_floor_rule(size_t steps);
/* The floor of a launch in ns, by a rule; of COMPARE_LEAST the first `fewest` steps count. steps:
 * room for n_samples. */
double compare_floor(const struct record_cell *cell, enum compare_floor rule, size_t fewest,
                     double steps[]);

/* Fills invalid, differs and remarks from what the files say of themselves. */
void compare_files(struct compare *compare);
/* Fills launch, cell and only from report. 0, or -1 when memory is short. */
int compare_cells(struct compare *compare);
/* Adds to differs how the end of the warm-up was found, if a cell has another rule in each file. */
void compare_warmups(struct compare *compare);
/* Fills times, verdicts, count and tested. 0, or -1 when memory is short. */
int compare_judge(struct compare *compare);
/* Fills changes. 0, or -1 when memory is short. */
int compare_exact(struct compare *compare);

/* "mlp:256,256 dp virt:2, 64 rows, f32, cpu/threads": all that tells cells apart. */
void compare_cell_words(const struct record_key *key, char text[COMPARE_TEXT]);
/* "SUSPECT: B/A 1.120 [1.081, 1.163], p 0.0019; cost 1.120" */
void compare_verdict_text(const struct compare_cell *cell, char text[REPORT_CELL_TEXT]);
/* The rule, with the numbers in it. */
void compare_rule_words(const struct compare *compare, char text[COMPARE_TEXT]);
/* "1.120 [1.081, 1.163]" */
void compare_ratio_words(const struct compare_ratio *ratio, char text[64]);
extern const char compare_class_words[];

/* Over the cells with an interval, the median of the ratios, which is what all of them have in
 * common, and of the half-widths, as a part of the ratio: what these launches can resolve. NaN: no
 * cell has one. 0, or -1 when memory is short. */
int compare_common(const struct compare *compare, double *ratio, double *half);
/* 0 or one of COMPARE_EXIT; what is asked for by --exact comes first, as it needs no times. */
int compare_exit(const struct compare *compare);

/* A paragraph in lines of at most 80 columns: all but the first are indented so. */
void compare_say(FILE *stream, size_t indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Each: 0, or -1 when memory is short. */
int compare_text(FILE *stream, const struct compare *compare);
int compare_markdown(FILE *stream, const struct compare *compare);
int compare_json(FILE *stream, const struct compare *compare); /* lockstep/compare/1.0 */

#endif
