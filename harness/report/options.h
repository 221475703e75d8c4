/* report/options.h: the options on the command line of `lockstep report`. */
#ifndef HARNESS_REPORT_OPTIONS_H
#define HARNESS_REPORT_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

enum { REPORT_EXTERNAL_MOST = 32 };

/* These formats come after those that a sweep also prints. */
enum { REPORT_NCCL_TESTS = REPORT_FORMATS, REPORT_PAGE };

struct report_arguments {
    const char *out, *check, *peer, *limits;
    const char *external[REPORT_EXTERNAL_MOST];
    size_t n_external;
    double peak;   /* operations per second of one device; 0: not stated */
    size_t format; /* REPORT_PAGE: no format, but a page */
    char **files;
    size_t n_files;
    uint64_t seen; /* bits of the options that were given */
};

/* Returns 0 if the options go together; otherwise it has printed a line that says why not. The
 * texts belong to argv. */
int report_options(int argc, char **argv, struct report_arguments *arguments);

#endif
