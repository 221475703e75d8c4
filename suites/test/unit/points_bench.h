/* points_bench.h: hand-made rows of a report, and the points that are made of them. */
#ifndef UNIT_POINTS_BENCH_H
#define UNIT_POINTS_BENCH_H

#include "report/page.h"

enum { BENCH_CAPACITY = 96 };

/* Rows as analysis/make.c makes them, and memory for their points. */
struct bench {
    struct record_run run, other_run;
    struct record_cell cell[BENCH_CAPACITY];
    struct report_row row[BENCH_CAPACITY];
    struct report_point point[BENCH_CAPACITY];
    struct report_group group[BENCH_CAPACITY];
    struct report report, collectives; /* of the second there are none */
    size_t missing;                    /* launches that were planned and not run */
};

struct bench *bench_open(const char *scaling);
void bench_close(struct bench *bench);
/* Adds one verified launch, as the next cell; its mean is 2 ns more than the median. */
struct report_row *bench_add(struct bench *bench, const char *mode, int devices, size_t batch,
                             int launch, double median_ns);
/* Sets the median time of a phase of a cell. */
void bench_phase(struct bench *bench, size_t cell, enum record_phase phase, double ns);
void bench_fail(struct report_row *row);
/* Makes points and groups of all rows, which it sorts, counts and noise; call it again after rows
 * have changed. */
void bench_make(struct bench *bench);

/* Returns a table of the report as its Markdown, without escapes. The caller frees it. */
char *bench_table(const struct report *report, enum report_table_id which);
/* Writes the words of a cell in a row, from 0, that many columns after the one with that heading.
 */
void bench_cell(const struct report *report, enum report_table_id which, size_t row,
                const char *heading, int after, char text[REPORT_CELL_TEXT]);

bool bench_near(double got, double want);
void bench_value(const struct report_value *got, double middle, double lo, double hi,
                 enum report_range range, size_t n);

#endif
