/* check/record.h: a result of `lockstep check --format json`, read back for the report. */
#ifndef HARNESS_CHECK_RECORD_H
#define HARNESS_CHECK_RECORD_H

#include "check/runner.h"

/* The case that a result points to, with its texts. */
struct check_record_case {
    struct check_case test;
    char id[96], rule[32], sentence[RUNNER_TEXT]; /* the last "": the file of an older program */
};

struct check_record {
    char name[96], version[96];
    struct runner_options options; /* those that a command repeats */
    char devices[64 * 52], capabilities[1024], dialects[2048], profiles[128]; /* lists of words */
    char blas[160], gpu_software[96];                                         /* "": not known */
    char machine_class[65], machine_instance[65]; /* as in records; "": of an older program */
    int n_devices;                                /* 0: on the host */
    char program[65];                             /* provenance_program; as above */
    char created[32], lockstep[32], git[64];      /* when and by which program; as above */
    bool sealed, interrupted;
    const char *word; /* the verdict, or INTERRUPTED */
    bool partial;     /* --only or --area: not the whole profile */
    enum check_verdict verdict;
    double seconds;
    struct check_record_case *cases;
    struct runner_result *result; /* of each */
    size_t n_cases, left_out;     /* left_out: of the profile, by --only or --area */
    struct runner_sums *sums;     /* its cases were counted by the reader */
};

/* NULL: one line is in err. All texts are valid UTF-8 that can be shown; the sums were counted
 * again. */
struct check_record *check_record_read(const char *path, struct text_error *err);
void check_record_free(struct check_record *record); /* NULL allowed */

#endif
