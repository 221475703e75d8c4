/* check/record.h: a result of `lockstep check --format json`, read back for the report. */
#ifndef HARNESS_CHECK_RECORD_H
#define HARNESS_CHECK_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "record/record.h"

enum check_record_verdict {
    CHECK_RECORD_PASS,
    CHECK_RECORD_FAIL,
    CHECK_RECORD_SKIP,
    CHECK_RECORD_BROKEN,
    CHECK_RECORD_VERDICTS
};
extern const char *const check_record_words[CHECK_RECORD_VERDICTS];

struct check_record_case {
    char id[96], rule[32], obligation[16], evidence[16], reason[1024];
    enum check_record_verdict verdict;
};

struct check_record_area {
    char name[32];
    size_t rules, covered, pending, not_applicable, observed, reported, untested;
    size_t cases, verdict[CHECK_RECORD_VERDICTS]; /* counted by the reader */
};

struct check_record_excuse {
    char rule[32], reason[512];
    bool pending;
};

struct check_record {
    char name[96], version[96], spec[1100], options[1100], device_list[300];
    char devices[64 * 52], capabilities[1024], dialects[2048], profiles[128]; /* lists of words */
    char blas[160], gpu_software[96];                                         /* "": not known */
    char machine_class[65], machine_instance[65]; /* as in records; "": of an older program */
    size_t n_devices, seed;
    char program[65]; /* provenance_program; "": the file of an older program */
    char launcher[300];
    bool sealed;
    bool partial; /* --only or --area: not the whole profile */
    enum check_record_verdict verdict;
    double seconds;
    struct check_record_case *cases;
    size_t n_cases;
    struct check_record_area *areas, total;
    size_t n_areas;
    struct check_record_excuse *excuses;
    size_t n_excuses;
};

/* Returns 0, or -1 and one line. All texts are valid UTF-8 that can be shown; the sums were counted
 * again. */
int check_record_read(const char *path, struct check_record *record, struct text_error *err);
void check_record_free(struct check_record *record);

#endif
