/* check/runner.h: `lockstep check`: what its files share.
 *
 * The way of the data: check/options.c reads the command line, check/select.c picks the cases,
 * check/pool.c runs jobs of cases in processes of their own (check/process.c is the parent's side
 * of one, check/child.c the child's), check/judge.c turns what came back into verdicts and sums,
 * check/text.c and its like write them. Nothing that an implementation says is believed or shown
 * before it was bounded and cleaned. */
#ifndef HARNESS_CHECK_RUNNER_H
#define HARNESS_CHECK_RUNNER_H

#include <stdio.h>

#include "check.h"
#include "check/strays.h"
#include "export/export.h"
#include "files/whole.h"
#include "load.h"
#include "plan/launcher.h"

#define RUNNER_TEXT         1024 /* a reason, a path, a name of an implementation */
#define RUNNER_CAPABILITIES 23   /* bits of enum impl_capability */

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

struct runner_options {
    char program[RUNNER_TEXT]; /* as it was called, for commands that repeat a case */
    char impl[RUNNER_TEXT];
    struct impl_spec spec;          /* of impl, or of what is tested without it */
    char impl_options[RUNNER_TEXT]; /* with --backend or --communicator: "BACKEND/COMMUNICATOR" */
    char backend[32], communicator[32];
    char devices[256];
    char launcher[LAUNCHER_BYTES]; /* "": ranks are in one process */
    size_t processes, per_process; /* of a model, or of each: ranks; 0: the other one is given */
    char world[RUNNER_TEXT];       /* the program that stands for the reference then */
    char only[RUNNER_TEXT], area[256], profile[64]; /* as given, "" not */
    unsigned profiles;                              /* enum check_profile, or-ed */
    bool by_default; /* nobody asked for them: what an implementation does not offer is left out */
    uint64_t seed;
    size_t jobs, require_devices;
    double limit_s; /* 0: each case's own */
    enum runner_format format;
    char out[RUNNER_TEXT];
    bool has_seed, has_backend, has_devices;
    bool list, rules, isolate, mutants, until_caught, every_run, same_process;
    uint64_t seen; /* for command_once */
};

/* 0, or the exit status after a complaint. */
int runner_parse(int argc, char **argv, struct runner_options *options);
/* The command that runs this case again, quoted for a shell. */
void runner_command(const struct runner_options *options, const char *id,
                    char text[8 * RUNNER_TEXT]);

/* launched.c: --launcher and what goes with it. 0, or the exit status after a complaint. */
int runner_launched(const char *command, struct runner_options *options);
/* What impl_load takes. */
const char *runner_spec(const struct runner_options *options);
/* How ranks are spread, for people. */
void runner_processes(const struct runner_options *options, char text[RUNNER_TEXT]);

/* ---- the catalogue ------------------------------------------------------------------------- */

struct runner_profile {
    const char *name;
    unsigned bit;      /* enum check_profile */
    uint64_t required; /* enum impl_capability, or-ed */
    int devices;       /* on fewer, or with fewer ranks, it is not tested */
};
enum { RUNNER_PROFILES = 3 };
extern const struct runner_profile runner_profiles[RUNNER_PROFILES];

/* Every rule has a case or an excuse and never both, every case is of a rule of its area, and so
 * on. 0, or -1 and the first fault. */
int runner_catalogue(const struct check_area *const areas[], int n, char why[RUNNER_TEXT]);
const struct check_excuse *runner_excuse(const struct check_area *area, const char *rule);
const struct check_area *runner_area_of(const char *rule); /* NULL: none has that name */
/* "AREA-07" */
void runner_rule(const struct check_area *area, int number, char rule[32]);
extern const char *const runner_obligation_words[], *const runner_evidence_words[],
                                                        *const runner_verdict_words[];

/* The cases that the options ask for, in the order of the areas. 0 and *tests (to be freed), or
 * the exit status after a complaint. */
int runner_select(const char *command, const struct runner_options *options,
                  const struct check_case ***tests, size_t *n);
/* Whether --area names areas that are there: 0, or the exit status after a complaint. */
int runner_check_areas(const char *command, const struct runner_options *options);
void runner_list(FILE *stream, const struct check_case *const tests[], size_t n);
void runner_rules(FILE *stream, const struct runner_options *options);

/* ---- results ------------------------------------------------------------------------------- */

struct runner_result {
    const struct check_case *test;
    enum check_verdict verdict;
    bool ran; /* in a process: what it says is about the implementation */
    size_t compared;
    int few_devices;      /* SKIP for want of so many; 0: for another reason */
    struct strays strays; /* what was left behind */
    double seconds;       /* from asking to the verdict, by the runner's clock */
    char reason[RUNNER_TEXT];
};

/* What an implementation is, cleaned. */
struct runner_about {
    struct impl_about about;
    bool process; /* it is another process: one session serves many cases */
};

struct runner_requirement {
    struct check_case test;
    char id[80];
};

struct runner_run {
    const struct runner_options *options;
    struct runner_about is;
    char cause[RUNNER_TEXT]; /* why it could not be tested at all, "" when it could */
    bool blame;              /* it crashed, or worse: a failure, not for want of a verdict */
    bool traceable;          /* the system would not hide us from an implementation */
    unsigned profiles;       /* of the options, less what is left out */
    struct runner_result *result;
    size_t n;
    /* A case of its own for each capability that a profile lacks, and for its devices. */
    struct runner_requirement *requirement;
    size_t n_requirements;
    double seconds;
};

struct runner_area_sums {
    const char *name;
    int rules, covered, pending, not_applicable;
    int observed, reported; /* rules of which a case of that kind came to PASS or FAIL */
    size_t cases, verdict[CHECK_BROKEN + 1];
};

/* The sums of one area; area NULL: of what belongs to none (profiles). */
void runner_sums(const struct runner_run *run, const struct check_area *area,
                 struct runner_area_sums *sums);
/* With --only or --area, areas without a result are left out; so is NULL without one. */
bool runner_shows(const struct runner_run *run, const struct check_area *area);
void runner_totals(const struct runner_run *run, struct runner_area_sums *total);
/* Of the verdicts; the exit status of the program. */
int runner_exit(const struct runner_run *run);
/* "PASS", or the worst verdict, and the sentence that goes with it. */
const char *runner_verdict(const struct runner_run *run, char sentence[RUNNER_TEXT]);

/* Adds the results; those of run->cause, and those about a capability that a profile or a case
 * requires and that is not claimed, have their verdicts then. Reason "" means: to be run. 0, or -1
 * without memory. */
int runner_prepare(struct runner_run *run, const struct check_case *const tests[], size_t n);
/* When all have run: a profile that was skipped for want of a few devices was not tested. */
void runner_require_devices(struct runner_run *run);
void runner_run_free(struct runner_run *run);

/* Printable ASCII stays, the rest becomes '?'; ends within bytes. */
void runner_clean(char *text, size_t bytes);

/* ---- output -------------------------------------------------------------------------------- */

void runner_text(FILE *stream, const struct runner_run *run);
/* Nothing when memory is short: record_memory_failed says so. 0, or -1: which machine this is could
 * not be read. */
int runner_json(FILE *stream, const struct runner_run *run);
void runner_markdown(FILE *stream, const struct runner_run *run);
/* By the writers that sweep and compare have, too. 0, or -1 and why. */
int runner_export(FILE *stream, const struct runner_run *run, enum export_format format,
                  struct text_error *err);

/* The file of --out: opened before anything runs, named only when complete; file NULL: no --out. */
int runner_out_open(const char *command, const char *path, struct whole_file *out);
int runner_out_close(const char *command, struct whole_file *out);
void runner_out_discard(struct whole_file *out);

/* ---- the kill matrix ----------------------------------------------------------------------- */

int runner_mutants(const char *command, const struct runner_options *options,
                   const struct check_case *const tests[], size_t n, struct whole_file *out);

/* What a person sees of it while it runs, on a terminal only. */
struct runner_progress {
    bool terminal;
    size_t done, total, bad;
};
void runner_progress_open(struct runner_progress *progress, size_t total);
void runner_progress_verdict(void *progress, const struct runner_result *result);
void runner_progress_close(struct runner_progress *progress);

/* Loads it once: run->is, or run->cause. 0, or the exit status after a complaint. */
int runner_probe(const char *command, const char *spec, struct runner_run *run);
/* A pool could not go on: says so and returns the exit status. */
int runner_stopped(const char *command, int status, struct runner_progress *progress);

#endif
