/* soak/selftest.h: whether `lockstep soak` finds what it is for: a run of it for each fault that a
 * virtual device can have, in a separate process, and for none. */
#ifndef HARNESS_SELFTEST_H
#define HARNESS_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "export/export.h"
#include "text/text.h"

int selftest_main(int argc, char **argv);

/* The detectors of faults. */
enum selftest_detector {
    SELFTEST_RESULT, /* a device's own outputs, loss or gradients, or its parameters */
    SELFTEST_MEAN,   /* the mean of the gradients */
    SELFTEST_DEAD,   /* an error of the device */
    SELFTEST_LIMIT,  /* the time limit of an iteration */
    SELFTEST_SPEED,  /* slower than the others */
    SELFTEST_DROP,   /* slower than before */
    SELFTEST_DETECTORS
};
extern const char *const selftest_detector_words[SELFTEST_DETECTORS];

enum { SELFTEST_ARGUMENTS = 20, SELFTEST_TEXT = 96 };

/* The result of one run of soak. */
struct selftest_seen {
    int status;                      /* its exit status; -1: it was killed */
    bool understood;                 /* its output is what soak prints */
    uint64_t at[SELFTEST_DETECTORS]; /* the first iteration that the detector names; 0: none */
    size_t findings;                 /* by all of them */
    size_t elsewhere;                /* those that name another device, or none */
    uint64_t wrong_bits;             /* bits that differ in the first number that is wrong */
    uint64_t beside;                 /* buckets that were launched while backward went on */
    bool unjudged;                   /* the speed of a device was not judged */
};

/* A run of soak with a fault, or without, and what came of it. */
struct selftest_case {
    const char *name, *fault;        /* fault: as in a list of devices; NULL: none */
    const char *mode;                /* of soak */
    unsigned step;                   /* that the fault begins in */
    int device;                      /* that has it; -1: none */
    enum selftest_detector detector; /* that is meant for it */
    bool drawn;                      /* one of many flips, at a drawn place */
    struct selftest_seen seen;
    const char *verdict; /* "right", "silent", or "FAILED: " and why */
};

struct selftest_sums {
    size_t found, silent, flips, flips_right, wrong;
    uint64_t seed;
    bool interrupted;
};

struct selftest {
    struct selftest_case *item; /* in the order of the runs */
    size_t n, most;
    struct selftest_sums sums;
};

bool selftest_wrong(const struct selftest_case *item);

/* As text, while it runs; the others when all is known. 0, or -1: memory is short. */
void selftest_text_heading(void);
void selftest_text_case(const struct selftest_case *item);
void selftest_text_flips(const struct selftest *selftest);
void selftest_text_end(const struct selftest *selftest);
int selftest_json(FILE *stream, const struct selftest *selftest); /* lockstep/selftest/1.0 */
int selftest_export(FILE *stream, const struct selftest *selftest, enum export_format format);

/* json_read.c: reads what soak prints as JSON. device: where the fault is, -1 nowhere. */
void selftest_read(const char *text, size_t bytes, int device, struct selftest_seen *seen);

/* selftest_run.c: runs this program with these arguments, NULL after the last, at most so many
 * seconds. 0; -1 and why: it could not be run. 1: a signal asked to stop. */
int selftest_run(const char *const arguments[], double seconds, int device,
                 struct selftest_seen *seen, struct text_error *why);

#endif
