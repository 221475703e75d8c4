/* validate/validate.h: `lockstep validate`: whether records show that a machine is what its profile
 * says.
 *
 * The main program needs validate_main and profile_main only; the rest is shared by the files of
 * this room. The way of the data: profile_read.c reads the limits, main.c the records, judge.c
 * holds one against the other, conformance.c the cases that have to pass,
 * links.c says which copies between devices are slow, need.c and
 * measure.c measure what a profile is about, mutate.c shows that each limit can fail, and text.c,
 * json.c, markdown.c and export.c write what came of it.
 *
 * Every launch gives one number. A limit is PASS only if the bound of their median, at 95 % for
 * all cells and devices of the limit together, is on its good side; what nobody measured, or
 * nobody may believe, is never a pass. */
#ifndef HARNESS_VALIDATE_H
#define HARNESS_VALIDATE_H

#include "analysis/analysis.h"
#include "export/export.h"
#include "validate/profile.h"

/* The subcommands. They return the exit status, see --help. */
int validate_main(int argc, char **argv);
int profile_main(int argc, char **argv);

/* In the order of what decides: the worst of a limit's cells and devices is the limit's. */
enum validate_verdict {
    VALIDATE_PASS,
    VALIDATE_OPEN,       /* neither side is shown */
    VALIDATE_UNMEASURED, /* no such cell, or its launches do not know the metric */
    VALIDATE_INVALID,    /* nobody may believe the numbers, and why */
    VALIDATE_FAIL,
    VALIDATE_VERDICTS
};
extern const char *const validate_verdict_words[VALIDATE_VERDICTS];

/* Launches that let a limit of so many cells and devices be shown. */
size_t validate_launches_for(size_t units);
/* The error of a limit, which all of its cells and devices share. */
extern const double validate_alpha;

enum validate_machine { VALIDATE_ACCEPTED, VALIDATE_REJECTED, VALIDATE_NOT_SHOWN };
extern const char *const validate_machine_words[3];
enum { VALIDATE_EXIT_NOT_SHOWN = 3, VALIDATE_TEXT = 320 };

/* A limit against the cell and device that are worst for it. */
struct validate_judged {
    const struct profile_limit *limit;
    enum validate_verdict verdict;
    const struct report_point *point; /* NULL: no such cell */
    int device;                       /* -1: not of one device */
    size_t launches, units;           /* of the cell; cells and devices that share the error */
    double middle, lo, hi;            /* median over launches and its bounds; NaN: unknown */
    char why[VALIDATE_TEXT];          /* OPEN, UNMEASURED, INVALID; of copies also FAIL */
};

/* The cases that a profile requires, on the machine's devices. */
struct validate_conformance {
    enum validate_verdict verdict;
    size_t cases, passed, failed, skipped; /* 0 cases: nobody knows */
    char why[VALIDATE_TEXT];               /* of all but PASS */
};

struct validate_need; /* measure.h */

struct validate {
    const struct profile *profile;
    const struct report *report;
    const struct validate_conformance *conformance; /* NULL: the profile requires none */
    const struct validate_need *need; /* what had to be measured; NULL: somebody else did */
    bool allow_dirty;                 /* records of a changed tree are judged, too */
    const char *node;                 /* what whoever asks calls the machine; NULL: nothing */
    struct validate_judged *judged;   /* of each limit */
    size_t count[VALIDATE_VERDICTS];  /* of binding limits */
    enum validate_machine machine;
};

/* The records of n files of one machine: rows, points and groups. 0, or an exit status after the
 * complaint. Caller: validate_close, in any case. */
int validate_open(const char *command, char *const paths[], size_t n, struct report *report);
void validate_close(struct report *report);

/* Whether the records are of a machine that the profile is for. 0, or -1 and why. */
int validate_match(const struct profile *profile, const struct report *report,
                   struct text_error *why);
/* The same of one header; subject: "the records are of". */
int validate_match_run(const struct profile *profile, const struct record_run *run,
                       const char *subject, struct text_error *why);
/* What a file of `lockstep check --format json` says of the cases that the profile requires, of the
 * program, libraries and devices of all records. path NULL: nobody ran them. 0, or an exit status
 * after the complaint. */
int validate_conformance(const char *command, const char *path, const struct profile *profile,
                         const struct report *report, struct validate_conformance *conformance);

/* Fills judged, count and machine. 0, or -1: memory is short. The caller frees judged. */
int validate_judge(struct validate *validate);
/* One limit, with each number of a launch multiplied by factor, which makes a machine slower. */
int validate_judge_limit(const struct validate *validate, const struct profile_limit *limit,
                         double factor, struct validate_judged *judged);

/* The same from numbers that are known, also those of a verdict that is read back: verdict and why
 * of a limit from its launches, units (1 or more), lo and hi; verdict of cases from their numbers,
 * if all that are required were run; and of the machine from its binding limits and its cases. */
void validate_judge_numbers(struct validate_judged *judged);
enum validate_verdict validate_judge_cases(const struct validate_conformance *cases);
enum validate_machine validate_judge_machine(const size_t count[VALIDATE_VERDICTS],
                                             enum validate_verdict cases);

/* A device at the place of a limit that is about devices; NaN: unknown. */
struct validate_device {
    double median, lo, hi;
};
/* Of n launches, which are sorted. lo, hi NaN: too few. */
struct validate_device validate_sum(const struct validate_judged *judged, double value[], size_t n);
/* Of each device of the cell that decides. Their number, 0 if there are none, or -1: memory is
 * short. */
int validate_devices(const struct validate_judged *judged,
                     struct validate_device shown[RECORD_MAX_SLOTS]);

/* Of any launch of that cell, or of any of its parts: room for what metrics call steps. */
size_t validate_most_samples(const struct report_point *point);
/* Of a limit about copies: the median of those from each device to each other one, a row for each
 * that sends; NaN: to itself. NULL: memory is short. The caller frees it. */
double *validate_pairs(const struct validate_judged *judged);
/* Of such a limit that is FAIL: says in `why` which copies are slow, and so what is. 0, or -1. */
int validate_find_link(struct validate_judged *judged);

/* Each limit of a profile, shown to fail: a machine that gets slower, step by step, as the records
 * would be of it. Without records the machine is the limit's expected number. */
struct validate_firing {
    bool fires;
    double factor;           /* the smallest that was tried at which it fails */
    char why[VALIDATE_TEXT]; /* !fires */
};
/* Whether the limit's own text shows that it is of no use, and why: a bound on the wrong side, or
 * one that is not within 0.3 and 1.1 of what is expected. */
bool validate_is_wrong(const struct profile_limit *limit, char why[VALIDATE_TEXT]);
/* report: NULL without records. 0, or -1: memory is short. */
int validate_mutate(const struct profile *profile, const struct report *report,
                    const struct profile_limit *limit, struct validate_firing *firing);

/* Prints a profile that sittings of one class of machine keep, a file of records each. about:
 * metrics, with commas between them; NULL: the usual ones. The exit status, after the complaint. */
int validate_learn(const char *command, const char *name, const char *about, char *const paths[],
                   size_t n);

/* "mlp:256,256 dp virt:2, 64 rows; device 1" */
void validate_place_words(const struct validate_judged *judged, char text[VALIDATE_TEXT]);
/* "2.31 ms [2.25, 2.40]" */
void validate_number_words(const struct validate_judged *judged, char text[128]);
/* "FAIL: is 2.31 ms [2.25, 2.40]", or "OPEN: is ..: why" */
void validate_message_words(const struct validate_judged *judged, char text[VALIDATE_TEXT + 160]);
/* What it is likely to be when the limit fails, else "". */
const char *validate_reason_words(const struct validate_judged *judged);
/* What to do first about a limit that is no PASS; of a PASS "". */
const char *validate_action_words(const struct validate_judged *judged);
/* "conformance of ddp: 66 of 76 cases passed, 0 failed, 10 were skipped" */
void validate_conformance_words(const struct validate *validate, char text[VALIDATE_TEXT]);
/* "ACCEPTED by profile my-box: of its binding limits 3 PASS, 0 FAIL, ..; conformance PASS" */
void validate_summary_words(const struct validate *validate, char text[VALIDATE_TEXT]);
/* The device that is named; NULL: none is. */
const struct record_slot *validate_slot(const struct validate_judged *judged);

/* 0, or -1: memory is short. */
int validate_text(FILE *stream, const struct validate *validate);
int validate_json(FILE *stream, const struct validate *validate); /* lockstep/verdict/1.0 */
int validate_markdown(FILE *stream, const struct validate *validate);
/* By the writers that sweep and check have, too. */
int validate_export(FILE *stream, const struct validate *validate, enum export_format format);

#endif
