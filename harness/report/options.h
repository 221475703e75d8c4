/* report/options.h: what the command line of `lockstep report` says. */
#ifndef HARNESS_REPORT_OPTIONS_H
#define HARNESS_REPORT_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

enum { REPORT_EXTERNAL_MOST = 32 };

/* Behind the formats that a sweep prints, too. */
enum { REPORT_NCCL_TESTS = REPORT_FORMATS, REPORT_PAGE };

struct report_arguments {
    const char *out, *check, *peer, *limits;
    const char *external[REPORT_EXTERNAL_MOST];
    size_t n_external;
    double peak;   /* operations per second of one device; 0: not stated */
    size_t format; /* REPORT_PAGE: none, but a page */
    char **files;
    size_t n_files;
    uint64_t seen; /* options that were given */
};

/* 0: the options go together; else a line has said why not. The texts are those of argv. */
int report_options(int argc, char **argv, struct report_arguments *arguments);

#endif
