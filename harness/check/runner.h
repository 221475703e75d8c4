/* check/runner.h: `lockstep check`: the declarations that its files share.
 *
 * The data go this way: check/options.c reads the command line, check/catalogue.c picks the cases,
 * check/pool.c runs jobs of cases, each in its own process (check/child.c), check/judge.c turns the
 * results into verdicts, check/result.c turns these into an exit status, and check/text.c and
 * similar files write them. All that comes from an implementation is bounded and cleaned before it
 * is used or shown. */
#ifndef HARNESS_CHECK_RUNNER_H
#define HARNESS_CHECK_RUNNER_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "check.h"
#include "export/export.h"
#include "files/files.h"
#include "launch/launcher.h"
#include "load.h"

#define RUNNER_TEXT         1024 /* a reason, a path, the name of an implementation */
#define RUNNER_CAPABILITIES 29   /* bits of enum impl_capability */

/* ---- options ------------------------------------------------------------------------------- */

enum runner_format {
    RUNNER_FORMAT_TEXT,
    RUNNER_FORMAT_JSON,
    RUNNER_FORMAT_JUNIT,
    RUNNER_FORMAT_MD,
    RUNNER_FORMAT_CSV,
    RUNNER_FORMAT_OPENMETRICS,
    RUNNER_FORMAT_ANNOTATIONS,
    RUNNER_FORMATS
};

/* How many ranks are in each process, and how the processes are started. */
struct world_plan {
    const char *launcher;          /* NULL: all ranks are in one process */
    size_t processes, per_process; /* of a model, of each; 0: the other one is given */
};

struct runner_options {
    char program[RUNNER_TEXT]; /* as it was called, for commands that repeat a case */
    char impl[RUNNER_TEXT];
    struct impl_spec spec;          /* of impl; without it, of the reference or a mutant */
    char impl_options[RUNNER_TEXT]; /* with --backend or --communicator: "BACKEND/COMMUNICATOR" */
    char backend[32], communicator[32];
    char devices[256];
    char launcher[LAUNCHER_BYTES];                  /* "": all ranks are in one process */
    struct world_plan world;                        /* with the launcher */
    char only[RUNNER_TEXT], area[256], profile[64]; /* as given, or "". part: only or area */
    char known[RUNNER_TEXT];                        /* a file; "": no failure is known */
    char required[RUNNER_TEXT];                     /* capabilities by name; demanded: as bits */
    uint64_t demanded;
    unsigned profiles; /* enum check_profile, or-ed */
    bool by_default;   /* no profile was asked for: those that an implementation does not offer are
                          left out */
    size_t seed, jobs, require_devices, copies; /* copies: KiB of the largest; 0: none */
    double limit_s;                             /* 0: the limit of each case */
    size_t format;                              /* enum runner_format, of standard output */
    char out[RUNNER_FORMATS][RUNNER_TEXT];      /* the file of each format; "": none */
    char to[RUNNER_TEXT];                       /* of --out; out has it, too */
    unsigned formats;                           /* 1 << each that is asked for */
    bool files;                                 /* there is a file in out */
    bool has_seed, has_backend, has_devices;
    bool list, rules, isolate, mutants, until_caught, every_run, same_process, exitfirst, part;
};

/* Returns 0, or the exit status after a complaint. */
int runner_parse(int argc, char **argv, struct runner_options *options);
/* Writes the command that runs this case again, quoted for a shell. */
void runner_command(const struct runner_options *options, const char *id,
                    char text[8 * RUNNER_TEXT]);

/* ---- the catalogue ------------------------------------------------------------------------- */

struct runner_profile {
    const char *name;
    unsigned bit;      /* enum check_profile */
    uint64_t required; /* enum impl_capability, or-ed */
    int devices;       /* with fewer devices, or fewer ranks, the profile is not tested */
};
enum { RUNNER_PROFILES = 3, RUNNER_AREAS = 48 };
extern const struct runner_profile runner_profiles[RUNNER_PROFILES];

const struct check_excuse *runner_excuse(const struct check_area *area, const char *rule);
const struct check_area *runner_area_of(const char *rule); /* NULL: none has that name */
/* Writes the name of a rule: "AREA-07". */
void runner_rule(const struct check_area *area, int number, char rule[32]);
/* As in documents for programs. */
extern const char *const runner_obligation_words[], *const runner_evidence_words[],
                                                        *const runner_verdict_words[];
/* For people: "must", or of a case that was not passed: "required if offered". */
const char *runner_obligation(const struct check_case *test, bool failed);
/* The name of its area; its rule, "PROFILE" or "COPY", if it has none. */
const char *runner_area_name(const struct check_case *test);

/* Selects the cases that the options ask for, but for --only @FILE, in the order of the areas.
 * Returns 0 and *tests, which the caller frees; or the exit status after a complaint. */
int runner_select(const char *command, const struct runner_options *options,
                  const struct check_case ***tests, size_t *n);
/* Reads a list of names, with commas: bit i of *bits is name i. Returns 0, or the exit status after
 * a complaint. */
int runner_names(const char *command, const char *option, const char *list,
                 const char *const names[], size_t n, uint64_t *bits);
/* Reads --area: bit i of *areas is area i. Returns 0, or the exit status after a complaint. */
int runner_areas(const char *command, const struct runner_options *options, uint64_t *areas);
void runner_list(FILE *stream, const struct check_case *const tests[], size_t n);
/* As lockstep/cases/1.0. */
void runner_list_json(FILE *stream, const struct check_case *const tests[], size_t n);
void runner_rules(FILE *stream, uint64_t areas);

/* ---- processes that an implementation leaves running --------------------------------------- */

/* A process that starts an implementation becomes the parent of all its descendants whose own
 * parents end, whatever session or group they moved to. So it finds them. */
struct strays {
    uint32_t n;         /* the number that was found; all were killed, except with `unseen` */
    uint32_t unwatched; /* the system cannot tell which are left (no PR_SET_CHILD_SUBREAPER) */
    uint32_t unseen;    /* a process is left and cannot be found (no /proc) */
    char name[32];      /* of one of them, by its own report */
};

/* From now on this process becomes the parent of such processes. */
void strays_watch(void);
/* Called when no process that this one has started should be left: waits a moment for them to end
 * by themselves, then kills the rest. */
void strays_end(struct strays *strays);
/* Kills all children of this process except those in spared; waits for none of them. Returns how
 * many it killed, and the name of one. */
size_t strays_kill(const pid_t spared[], size_t n, char name[32]);

/* ---- results ------------------------------------------------------------------------------- */

struct runner_result {
    const struct check_case *test;
    const char *sentence; /* of its rule; "": RULES.md has none */
    enum check_verdict verdict;
    bool unasked; /* SKIP, because the run ended before it: --exitfirst */
    bool listed;  /* in the file of --known */
    bool known;   /* SKIP, because it failed as --known says */
    size_t stale; /* the line of that file, if the case passed; 0: it did not */
    bool ran;     /* it ran in a process: the verdict is about the implementation */
    size_t compared;
    int few_devices;      /* a SKIP needs so many devices; 0: it has another reason */
    struct strays strays; /* processes that the implementation left running */
    double seconds;       /* from each request to its verdict, by the runner's clock */
    char reason[RUNNER_TEXT];
    char hint[sizeof((struct check_outcome *)0)->hint];
    char scenario[sizeof((struct check_outcome *)0)->scenario]; /* of a FAIL; "": it has none */
};
bool runner_failed(const struct runner_result *result); /* FAIL or BROKEN */
/* Writes what was found, a line each: the reason, the hint, and on what model. */
void runner_found(const struct runner_result *result, char text[2 * RUNNER_TEXT]);
/* It is not run any more: SKIP because of --exitfirst, BROKEN if the run was interrupted. */
void runner_unask(struct runner_result *result, bool interrupted);
/* Returns the first result that failed, or was skipped, in the same way as number i, or i. */
size_t runner_first_alike(const struct runner_result result[], size_t i);
/* Returns the ids of all of which number *i is the first, with blanks between them, and how many
 * there are; *i becomes the first of the area in which they break the most rules. The caller
 * frees them. */
char *runner_alike(const struct runner_result result[], size_t n, size_t *i, size_t *count);

/* The description of an implementation, with its texts cleaned. */
struct runner_about {
    struct impl_about about;
    bool process; /* the implementation is in another process: one session serves many cases */
};

struct runner_requirement {
    struct check_case test;
    char id[80];
};

struct runner_run {
    const struct runner_options *options;
    struct runner_about is;
    bool interrupted;          /* the cases without a verdict are BROKEN */
    bool unfelt;               /* all passed, though the devices fail on purpose: it is no pass */
    char fault[192];           /* what became of the fault of the devices; "": nothing to say */
    char cause[RUNNER_TEXT];   /* why the implementation could not be tested at all; "": it could */
    enum check_verdict caused; /* by cause, of all cases: FAIL if it crashed, for example */
    bool traceable;            /* the system cannot protect our memory from an implementation */
    unsigned profiles;         /* of the options, without those that are left out */
    struct runner_result *result;
    size_t n;
    /* One case for each capability that a profile requires and lacks, and for its devices. */
    struct runner_requirement *requirement;
    size_t n_requirements;
    double seconds;
};

/* Numbers of rules of an area. */
enum runner_rules {
    RULES_ALL,
    RULES_COVERED,
    RULES_PENDING,
    RULES_OUTSIDE,  /* not applicable */
    RULES_OBSERVED, /* there is a case of that evidence with PASS or FAIL */
    RULES_REPORTED,
    RULES_UNTESTED,
    RULES_COUNTED
};
extern const char *const runner_rules_words[RULES_COUNTED]; /* of documents for programs */

struct runner_area_sums {
    const struct check_area *area; /* NULL: the results about profiles, the total, or of a file */
    char name[32];
    size_t rule[RULES_COUNTED];
    size_t cases, verdict[CHECK_BROKEN + 1];
};

/* The areas of a run; row n is their total. With --only or --area, areas without a result are left
 * out; without results about profiles, so is their row. */
struct runner_sums {
    struct runner_area_sums row[RUNNER_AREAS + 2];
    size_t n;
};
void runner_sums_of(const struct runner_run *run, struct runner_sums *sums);
/* Returns the exit status of the program, which follows from the verdicts. */
int runner_exit(const struct runner_run *run);
/* Returns "PASS", or the worst verdict, and the sentence that explains it. */
const char *runner_verdict(const struct runner_run *run, char sentence[RUNNER_TEXT]);
/* How many cases of the profiles that it offers were left out by --only or --area. */
size_t runner_left_out(const struct runner_run *run);

/* Adds the results. Those of run->cause, and those about a capability that a profile or a case
 * requires and that is not claimed, get their verdicts here. A result whose reason is "" is to be
 * run. */
void runner_prepare(struct runner_run *run, const struct check_case *const tests[], size_t n);
/* Gives the run a cause, which no case runs with, if the implementation found fewer devices than
 * --require-devices, or none for cuda:all, where the host alone would pass. */
void runner_find_devices(const char *command, struct runner_run *run);
/* Called when all have run: a profile that was skipped because a few devices are missing was not
 * tested. */
void runner_require_devices(struct runner_run *run);
/* Reads --known, and applies it once all have run (over). Returns 0, or the exit status after a
 * complaint. */
int runner_know(const char *command, struct runner_run *run, bool over);
void runner_run_free(struct runner_run *run);

/* ---- output -------------------------------------------------------------------------------- */

void runner_text(FILE *stream, const struct runner_run *run);
void runner_copies_text(FILE *stream, const struct runner_run *run);
void runner_markdown(FILE *stream, const struct runner_run *run);
/* Opens and fills a table of a page: cases that failed, or were skipped, those with one reason in
 * one row; areas that have cases and their total. */
struct grid;
struct text_out;
enum runner_table { RUNNER_FAILURES, RUNNER_KNOWN, RUNNER_BY_AREA, RUNNER_SKIPPED, RUNNER_TABLES };
void runner_table(struct grid *grid, struct text_out *out, int which,
                  const struct runner_options *options, const struct runner_result result[],
                  size_t n, const struct runner_sums *sums);
/* Returns 0, or -1 and why the identity of this machine could not be read. */
int runner_json(FILE *stream, const struct runner_run *run, struct text_error *why);
/* Uses the writers that sweep and compare use, too. Returns 0, or -1 and why. */
int runner_export(FILE *stream, const struct runner_run *run, enum export_format format,
                  struct text_error *err);

/* The file of each format; file NULL: it has none. They are opened before anything runs, and get
 * their names only when all are complete. */
int runner_out_open(const char *command, const struct runner_options *options,
                    struct whole_file out[RUNNER_FORMATS]);
int runner_out_close(const char *command, struct whole_file out[RUNNER_FORMATS]);

/* Copies between all devices, and fills run with a result for each pair. Returns 0, or the exit
 * status after a complaint. */
int runner_copies(const char *command, struct runner_run *run);

/* ---- the kill matrix ----------------------------------------------------------------------- */

/* Runs the cases on every mutant, and writes which cases caught which one. */
int runner_mutants(const char *command, const struct runner_options *options,
                   const struct check_case *const tests[], size_t n,
                   struct whole_file out[RUNNER_FORMATS]);

struct mutant;

struct runner_kill {
    const struct mutant *mutant;
    struct runner_result *result; /* one per case of the matrix */
    char spec[160];
    size_t caught, broken; /* broken: of those caught, by a death or a hang */
    bool own;              /* a case of the mutant's rule caught it */
};

struct runner_matrix {
    const struct runner_options *options;
    const struct runner_about *is; /* about the reference without a bug */
    const struct check_case **test;
    size_t n_tests, left_out; /* left_out: cases whose needs are not claimed */
    struct runner_kill *kill;
    size_t n, survivors, others; /* others: caught only by cases of rules other than their own */
    size_t runs; /* runs of a case on a mutant; a case is not run if it never asks for the bug */
    double seconds;
};

/* The rule of a mutant may be a list: "SPLIT-02, SPLIT-04". */
bool runner_names_rule(const char *list, const char *rule);
/* Fills caught, broken and own, survivors and others. */
void runner_matrix_sum(struct runner_matrix *matrix);
void runner_matrix_text(FILE *stream, const struct runner_matrix *matrix);
void runner_matrix_json(FILE *stream, const struct runner_matrix *matrix);
/* Whether the file at path holds exactly this matrix. */
bool runner_matrix_holds(const char *path, const struct runner_matrix *matrix);

/* Loads the implementation once, and fills run->is, or run->cause. Returns 0, or the exit status
 * after a complaint. */
int runner_probe(const char *command, const char *spec, struct runner_run *run);

#endif
