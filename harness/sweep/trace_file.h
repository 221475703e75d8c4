/* sweep/trace_file.h: the trace of a sweep: a file that appears whole when the sweep has ended.
 * Nothing that goes wrong with it touches a record. */
#ifndef HARNESS_TRACE_FILE_H
#define HARNESS_TRACE_FILE_H

#include "files/text_out.h"

struct trace_file {
    struct text_out out; /* without a file: there is no trace */
    size_t cells;        /* that it has */
    bool made;           /* it is closed, and there */
};

/* path "": opens nothing. Another file than a trace is not replaced. 0, or -1 and why. */
int trace_file_open(struct trace_file *trace, const char *path, struct text_error *err);
/* The line of one cell: measure/trace.h. */
void trace_file_add(struct trace_file *trace, const char *events);
/* 0, or -1 and why there is no such file, or still the old one. Of a trace that is not open: 0. */
int trace_file_close(struct trace_file *trace, struct text_error *err);
/* Gives it up, if it is open. */
void trace_file_discard(struct trace_file *trace);

#endif
