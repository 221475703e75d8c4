/* validate/validate.h: `lockstep validate`: whether records show that a machine fulfils its
 * profile.
 *
 * The main program needs the mains only; the rest is shared by the files of
 * this folder. The data go this way: profile_read.c reads the limits and main.c the records;
 * judge.c compares them, and shows that each limit can fail; limit.c has what a limit says by
 * itself; conformance.c runs the cases that have to pass; devices.c has the numbers over launches,
 * and finds which copies between devices are slow; need.c and measure.c measure the cells that a
 * profile is about; text.c, json.c and export.c write the verdict.
 *
 * Every launch gives one number. A limit is PASS only if the bound of their median, at 95 % for all
 * cells and devices of the limit together, is on its good side. A number that was not measured, or
 * is not valid, is never a pass. */
#ifndef HARNESS_VALIDATE_H
#define HARNESS_VALIDATE_H

#include "analysis/analysis.h"
#include "export/export.h"
#include "plan/plan.h"
#include "validate/profile.h"

/* The subcommands. They return the exit status; see --help. */
int validate_main(int argc, char **argv);
int validate_check_main(int argc, char **argv);
int validate_learn_main(int argc, char **argv);

/* The verdicts, from good to bad: that of a limit is the worst of its cells and devices. */
enum validate_verdict {
    VALIDATE_PASS,
    VALIDATE_OPEN,       /* the limit is between the bounds */
    VALIDATE_UNMEASURED, /* there is no such cell, or its launches do not have the metric */
    VALIDATE_INVALID,    /* the numbers are not valid; why has the reason */
    VALIDATE_FAIL,
    VALIDATE_VERDICTS
};
extern const char *const validate_verdict_words[VALIDATE_VERDICTS];

/* The number of launches that a limit of that many cells and devices needs. */
size_t validate_launches_for(size_t units);
/* The error of a limit, which is divided among all of its cells and devices. */
extern const double validate_alpha;

enum validate_machine { VALIDATE_ACCEPTED, VALIDATE_REJECTED, VALIDATE_NOT_SHOWN };
extern const char *const validate_machine_words[3];
enum { VALIDATE_EXIT_NOT_SHOWN = 3, VALIDATE_TEXT = 320 };

/* The values of a device at the place of a limit that is about devices; NaN: unknown. */
struct validate_device {
    double median, lo, hi;
};

/* A limit, judged by the cell and device that are worst for it. */
struct validate_judged {
    const struct profile_limit *limit;
    enum validate_verdict verdict;
    const struct report_point *point; /* NULL: no such cell */
    int device;                       /* -1: it is not about one device */
    size_t launches, units;  /* launches of the cell; cells and devices that share the error */
    double middle, lo, hi;   /* median over launches and its bounds; NaN: unknown */
    char why[VALIDATE_TEXT]; /* for OPEN, UNMEASURED, INVALID; for copies also FAIL */
    int n_shown; /* the devices of that cell; 0: it is not about one, or has no numbers */
    struct validate_device shown[RECORD_MAX_SLOTS];
};

/* The result of the cases that a profile requires, on the devices of the machine. */
struct validate_conformance {
    enum validate_verdict verdict;
    size_t cases, passed, failed, skipped; /* 0 cases: unknown */
    char why[VALIDATE_TEXT];               /* for all but PASS */
};

/* ---- the cells that a profile needs to be judged, and their measurement ---- */

struct validate_need {
    /* Workload, mode, devices, batch, chain and host_inputs of each, once; a ratio needs its base,
     * too.
     */
    struct profile_place cell[2 * PROFILE_LIMITS];
    size_t n;
    size_t launches;                           /* of each cell, enough to judge all limits */
    uint64_t devices;                          /* the most that a cell has */
    const char *backend, *communicator, *math; /* of all cells; NULL: any */
    bool parts; /* parts of the machine are measured after the steps of each cell */
};

/* Finds the cells that limits name in full: workload, mode, devices and batch. A limit that leaves
 * one of these out is judged by the cells of other limits. Returns 0, or -1 and the reason: there
 * are none, or no single sweep has them all. */
int validate_need(const struct profile *profile, struct validate_need *need,
                  struct text_error *why);
/* The place of a cell of a record, but for bytes. */
struct profile_place validate_place_of(const struct record_key *key);
/* Whether a limit is about the cell at a place; what is not known of that, may be any. */
bool validate_limit_has(const struct profile_limit *limit, const struct profile_place *cell);
/* Whether a limit may be judged by steps in chains of that length; 0: single steps. Metrics that
 * are not about steps are the same after both. */
bool validate_limit_takes(const struct profile_limit *limit, uint64_t chain);
/* Whether both cells are the same, whatever computes and carries. */
bool validate_is_cell(const struct profile_place *a, const struct profile_place *b);

struct validate_request {
    const char *devices; /* NULL: those that the profile is for, else one virtual device per core */
    const char *bind;    /* as for a sweep; NULL: its default */
    const char *out;     /* the file, which is created */
    const char *cases;   /* the file of `lockstep check`, if the profile requires it */
    double minutes;      /* 0: no limit */
    bool wait;           /* waits for cores that a sweep has */
};

/* conformance.c: runs the cases on those devices, for at most that many seconds. If they come to an
 * end, the file at path has their result in JSON. Returns 0, or an exit status after the complaint;
 * EXIT_INTERRUPTED after a signal. */
int validate_check(const char *command, const char *cases, const char *devices, double seconds,
                   const char *path);

/* Measures the cells, launch after launch of each cell, until all is done or the time is over; a
 * launch that is not finished then is dropped. It refuses a machine that the profile is not for
 * before it measures. Returns 0, or an exit status after the complaint; EXIT_INTERRUPTED after a
 * signal. */
int validate_measure(const char *command, const struct validate_request *request,
                     const struct profile *profile, const struct validate_need *need);

/* ---- the verdict ---- */

struct validate {
    const struct profile *profile;
    const struct report *report;
    const struct validate_conformance *conformance; /* NULL: the profile requires none */
    const struct validate_need *need;               /* cells to be measured here; NULL: none */
    bool allow_dirty;                               /* records of a changed tree are judged, too */
    const char *node;                               /* name of the machine by --node; NULL: none */
    const char
        *again; /* the command that measured here, without --minutes; NULL: records were named */
    double minutes;                  /* with it, as given by --minutes; 0: no limit */
    struct validate_judged *judged;  /* of each limit */
    size_t count[VALIDATE_VERDICTS]; /* of binding limits */
    enum validate_machine machine;
};

/* Opens the records of n files of one machine: rows, points and groups. Returns 0, or an exit
 * status after the complaint. The caller calls validate_close in any case. */
int validate_open(const char *command, char *const paths[], size_t n, struct report *report);
void validate_close(struct report *report);

/* Checks that the records are of a machine that the profile is for. Returns 0, or -1 and the
 * reason. */
int validate_match(const struct profile *profile, const struct report *report,
                   struct text_error *why);
/* The same for one header; subject: a text like "the records are of". */
int validate_match_run(const struct profile *profile, const struct record_run *run,
                       const char *subject, struct text_error *why);
/* Reads from a file of `lockstep check --format json` the result of the cases that the profile
 * requires, for the program, libraries and devices of all records. path NULL: the cases were not
 * run. Returns 0, or an exit status after the complaint. */
int validate_conformance(const char *command, const char *path, const struct profile *profile,
                         const struct report *report, struct validate_conformance *conformance);

/* Judges all limits: fills judged, count and machine. The caller frees judged. */
void validate_judge(struct validate *validate);
/* Judges one limit, with the number of each launch changed by factor, which makes the machine
 * slower. */
void validate_judge_limit(const struct validate *validate, const struct profile_limit *limit,
                          double factor, struct validate_judged *judged);

/* These judge by numbers that are known, also by those of a verdict that is read back. The first
 * finds verdict and why of a limit from its launches, units (1 or more), lo and hi; the second
 * whether a machine at 0.3 of the speed of these numbers fails it; the third the verdict of cases
 * from their numbers, if all that are required were run; the fourth that of the machine from its
 * binding limits and its cases. */
void validate_judge_numbers(struct validate_judged *judged);
bool validate_can_fail(const struct validate_judged *judged);
enum validate_verdict validate_judge_cases(const struct validate_conformance *cases);
enum validate_machine validate_judge_machine(const size_t count[VALIDATE_VERDICTS],
                                             enum validate_verdict cases);

/* Computes them from n launches, and sorts these. lo, hi NaN: there are too few. */
struct validate_device validate_sum(const struct validate_judged *judged, double value[], size_t n);

/* The most samples that any launch of the cell has, or any of its parts: the size of the workspace
 * that metrics call steps. */
size_t validate_most_samples(const struct report_point *point);
/* For a limit about copies: the median of those from each device to each other one, with a row for
 * each device that sends; NaN: to itself. The caller frees it. */
double *validate_pairs(const struct validate_judged *judged);
/* For such a limit that is FAIL: writes in `why` which copies are slow, and which part that points
 * to. */
void validate_find_link(struct validate_judged *judged);

/* A machine at less than a third of its speed is broken, whatever is measured. */
#define VALIDATE_WORST (1.0 / 0.3)
/* Judges a limit by its own text. Writes in `why` that it is useless, "" if nothing says so: a
 * bound on the wrong side, or one that is not within 0.3 and 1.1 of the expected value. Returns the
 * factor by which a machine is slower than expected that just fails it; NaN: unknown. */
double validate_limit_itself(const struct profile_limit *limit, char why[VALIDATE_TEXT]);
/* The same on a machine that gets slower, step by step, according to its records. report: NULL
 * without records: the machine has the expected number of the limit. */
double validate_mutate(const struct profile *profile, const struct report *report,
                       const struct profile_limit *limit, char why[VALIDATE_TEXT]);

/* Prints a profile that sessions of one class of machine keep; each file of records is a session.
 * out: where standard output goes, in words.
 * about: metrics, with commas between them; NULL: the usual ones. Returns the exit status, after
 * the complaint. */
int validate_learn(const char *command, const char *name, const char *about, const char *out,
                   char *const paths[], size_t n);

/* Writes a place, as "mlp:256,256 dp virt:2, 64 rows; device 1". */
void validate_place_words(const struct validate_judged *judged, char text[VALIDATE_TEXT]);
/* Writes a number, as "2.31 ms [2.25, 2.40]"; and ", on device 0 of 8" if others were not used. */
void validate_number_words(const struct validate_judged *judged, char text[128]);
/* Writes a verdict, as "FAIL: is 2.31 ms [2.25, 2.40]" or "OPEN: is ..: why". */
void validate_message_words(const struct validate_judged *judged, char text[VALIDATE_TEXT + 160]);
/* The likely cause if the limit fails, else "". A cause is named only if its own number is bad:
 * that of the limit, the share of other programs, or another limit that fails at the same device.
 * Else validate_no_reason. */
void validate_reason_words(const struct validate *validate, const struct validate_judged *judged,
                           char text[VALIDATE_TEXT]);
extern const char validate_no_reason[];
/* The words for a limit that fails by itself, also where it shows no cause: false then. */
bool validate_own_reason(const struct validate_judged *judged, char text[VALIDATE_TEXT]);
/* The first action for a limit that is not PASS; "" if it is PASS. It names the command that was
 * used, and of an OPEN one how much longer it takes, as an estimate. */
void validate_action_words(const struct validate *validate, const struct validate_judged *judged,
                           char text[VALIDATE_TEXT]);
/* Writes "conformance of ddp: 66 of 76 cases passed, 0 failed, 10 were skipped". */
void validate_conformance_words(const struct validate *validate, char text[VALIDATE_TEXT]);
/* Writes "ACCEPTED by profile my-box: of its binding limits 3 PASS, 0 FAIL, ..; conformance
 * PASS". */
void validate_summary_words(const struct validate *validate, char text[VALIDATE_TEXT]);
/* The device that the limit names; NULL: it names none. */
const struct record_slot *validate_slot(const struct validate_judged *judged);

/* These write the verdict. */
void validate_text(FILE *stream, const struct validate *validate);
void validate_json(FILE *stream, const struct validate *validate); /* lockstep/verdict/1.0 */
void validate_markdown(FILE *stream, const struct validate *validate);
/* Writes it by the same writers as sweep and check. Returns 0, or -1 and why. */
int validate_export(FILE *stream, const struct validate *validate, enum export_format format,
                    struct text_error *why);

#endif
