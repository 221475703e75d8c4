/* output.h: the file of a sweep: opened so that nothing measured can be lost. */
#ifndef HARNESS_OUTPUT_H
#define HARNESS_OUTPUT_H

#include "record.h"

struct output {
    int fd;
    char path[512];
    bool resumed;            /* it held records: they are in file */
    struct record_file file; /* of the earlier sittings */
};

/* path NULL: results/local/sweep-UTC.jsonl, folders are made. Refuses a file that holds something
 * unless resume; resume of a file that is missing or empty starts one. Cuts off a torn tail.
 * No second process can have the file open here. */
int output_open(struct output *output, const char *path, bool resume, struct record_error *err);
/* Appends and frees the line; NULL is an error. */
int output_append(struct output *output, char *line, struct record_error *err);
void output_close(struct output *output);

#endif
