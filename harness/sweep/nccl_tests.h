/* sweep/nccl_tests.h: a command line of nccl-tests as options of a sweep, so that whoever has one
 * need not write another. Source: README.md of NVIDIA's nccl-tests, version 2.19. */
#ifndef HARNESS_SWEEP_NCCL_TESTS_H
#define HARNESS_SWEEP_NCCL_TESTS_H

#include "record/plan.h"

enum { NCCL_OPTIONS_MOST = 8, NCCL_VALUE = 1024 };

/* Names and values of options of the plan. */
struct nccl_options {
    struct {
        const char *name;
        char value[NCCL_VALUE];
    } row[NCCL_OPTIONS_MOST];
    size_t n;
};

/* "all_reduce_perf -b 8 -e 128M -f 2 -g 8", with the program's path or without it. Sizes are
 * rounded up to what every rank has a block of, and nccl-tests' own where none are given; what else
 * is not given stays a sweep's own. 0, or -1 and why: what is asked for cannot be had here, or is
 * not known. */
int nccl_tests_options(const char *command, struct nccl_options *options, struct text_error *why);

#endif
