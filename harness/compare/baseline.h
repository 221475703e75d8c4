/* compare/baseline.h: internal to this room: evidence of class II, one session against the history
 * of many.
 *
 * A baseline is a file of sessions: the measurements of each session for each cell, one line each.
 * All of its sessions are of one class of machine, one library of matrix products and one plan, and
 * have the same cells. The unit of the statistics is the session: launches of one session share its
 * state of the machine, so more of them tell nothing about the next session.
 *
 * baseline_take.c makes lines of a sweep's records, or says why it cannot; baseline_file.c reads
 * the file; baseline_judge.c judges, baseline_page.c describes the results, and baseline.c is the
 * command `lockstep compare baseline`. */
#ifndef HARNESS_COMPARE_BASELINE_H
#define HARNESS_COMPARE_BASELINE_H

#include "compare/compare.h"
#include "compare/pairs.h"
#include "record/record.h"

/* The numbers of sessions that are needed to judge at all, and to make a gate; and the limit. */
enum { BASELINE_LEAST = 6, BASELINE_GATE = 10, BASELINE_MOST = 100 };
#define BASELINE_ALPHA  0.05 /* shared by all cells */
#define BASELINE_FOLDER "results/baselines"
#define BASELINE_SCHEMA "lockstep/baseline/1.0"
enum { BASELINE_WHY = 640 }; /* bytes of a reason, which may name two libraries */

/* A line of the file: the measurements of a session for a cell. */
struct baseline_line {
    char machine_class[DIGEST_HEX], machine_instance[DIGEST_HEX];
    char plan_sha256[DIGEST_HEX]; /* of the options except the seed, and of the way in which time is
                                     taken */
    char records_sha256[DIGEST_HEX]; /* of the file of records */
    char run_id[17], created_utc[32], git_sha[48];
    char blas[160];           /* "": an older program, not known */
    uint64_t start_epoch_ns;  /* of the first launch */
    size_t sitting, line, of; /* session of the baseline, from 1; its line, from 1; lines of it */
    struct record_key key;    /* without a launch */
    size_t launches, steps;   /* steps: of the launch with fewest */
    char floor_statistic[24]; /* as compare_floor_words */
    double floor_log;         /* of the median over launches of their floors in ns */
    double cost_log;          /* the same of the means of the launches */
    double sd_floor;          /* of the logarithms of the floors, over launches */
    size_t n[EXACT_METRICS];  /* elements */
    double exact[EXACT_METRICS][RECORD_MAX_RANKS]; /* NaN: unknown */
};

/* Lines of one session or of many, sorted by session and then by cell. */
struct baseline_lines {
    struct baseline_line *line;
    size_t n;
};
/* Members of a line of the file, in their order: those before the cell, and those after it. */
extern const struct record_field baseline_names[], baseline_numbers[];

/* The session in a file of records. */
struct baseline_source {
    const char *path;
    char *text; /* of the file; NULL: it cannot be read twice */
    struct record_file file;
    struct report report;
    struct baseline_lines lines;  /* of the cells whose launches were all verified */
    size_t crowded;               /* cells that are oversubscribed, which have no line */
    struct compare_notes refused; /* "FILE:LINE: why": why it cannot be in a baseline */
};
/* Reads a session. Returns 0, or EXIT_MISUSE after one line if it cannot be read. Free it in any
 * case. */
int baseline_take(const char *command, const char *path, bool allow_dirty,
                  struct baseline_source *source);
void baseline_source_free(struct baseline_source *source);

struct baseline {
    char path[1024];
    bool is_there;
    char *text; /* the text of the file */
    size_t bytes;
    unsigned mode;               /* of the file */
    char last[DIGEST_HEX];       /* the chain: SHA-256 of the last line */
    size_t sessions, cells;      /* every session has the same cells */
    struct baseline_lines lines; /* cell c of session s is line[s * cells + c] */
};
/* Puts the path together. Returns 0, or -1 and the fault of the name. */
int baseline_name(const char *folder, const char *name, struct baseline *baseline,
                  struct text_error *err);
/* Reads the file. Returns 0 if it was read, or does not exist; or -1 and "FILE:LINE: why". Free it
 * in any case. */
int baseline_read(struct baseline *baseline, struct text_error *err);
/* Reads the lines of its text, which is already there. Returns the same. */
int baseline_read_lines(struct baseline *baseline, struct text_error *err);
void baseline_free(struct baseline *baseline);
/* Checks that the session fits those of the baseline. Returns 0, or -1 and "FILE: why". fresh: it
 * is to be added, so it must not be a part of one that is there. */
int baseline_fits(const struct baseline *baseline, const struct baseline_source *source, bool fresh,
                  char why[BASELINE_WHY]);

/* The statistics of a cell over the sessions, and in a new one. NaN: unknown. */
struct baseline_judged {
    enum pairs_verdict verdict;
    char reason[BASELINE_WHY]; /* INVALID: why */
    double mean, sd;           /* of the logarithms of the sessions */
    double ratio, lo, hi;      /* NEW over the mean; one-sided bounds of alpha / cells each */
    double detectable;         /* the ratio that is found in about 80 of 100 comparisons */
    size_t needed;             /* sessions that find PAIRS_ASKED so; 0: more than BASELINE_MOST */
    double cost;               /* ratio of costs, which has no verdict */
};
/* Fills mean and sd from x[], a logarithm per session. */
void baseline_spread(const double x[], size_t sessions, struct baseline_judged *judged);
/* Fills detectable and needed from sd, for one of so many cells. */
void baseline_power(size_t sessions, size_t cells, struct baseline_judged *judged);
/* Fills mean, sd, ratio, lo, hi and verdict. INVALID: there are fewer than BASELINE_LEAST sessions,
 * or a value is not a number. */
void baseline_judge(const double x[], size_t sessions, double fresh, size_t cells,
                    struct baseline_judged *judged);

/* `lockstep compare --baseline`. */
struct baseline_compare {
    const struct compare_options *options; /* NULL: `lockstep compare baseline show` */
    struct baseline baseline;
    struct baseline_source source;
    struct baseline_judged *judged; /* [cell] of the baseline */
    size_t count[PAIRS_VERDICTS];
    size_t only_new;               /* cells that the baseline does not have */
    struct exact_changes *changes; /* counted numbers that differ from those of the last session */
    char invalid[BASELINE_WHY];    /* why no time can be judged; "": times can */
};
int baseline_compare_main(const struct compare_options *options);
/* Reads the baseline, which must exist, and fills mean, sd, detectable and needed of all cells.
 * Returns 0, or EXIT_MISUSE after one line. */
int baseline_open(const char *command, const char *folder, const char *name,
                  struct baseline_compare *compare);
void baseline_close(struct baseline_compare *compare);
bool baseline_is_gate(const struct baseline *baseline);
int baseline_exit(const struct baseline_compare *compare);
extern const struct compare_judge baseline_compare_judge, baseline_show_judge;

#endif
