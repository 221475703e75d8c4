/* check/matrix.h: which cases caught which mutant. */
#ifndef HARNESS_CHECK_MATRIX_H
#define HARNESS_CHECK_MATRIX_H

#include "check/runner.h"

struct mutant;

struct runner_kill {
    const struct mutant *mutant;
    struct runner_result *result; /* one per case of the matrix */
    char spec[160];
    size_t caught, broken; /* broken: of those caught, by a death or a hang */
    bool own;              /* a case of the mutant's rule caught it */
};

struct runner_matrix {
    const struct runner_options *options;
    const struct runner_about *is; /* about the reference without a bug */
    const struct check_case **test;
    size_t n_tests, left_out; /* left_out: cases whose needs are not claimed */
    struct runner_kill *kill;
    size_t n;
    size_t runs; /* runs of a case on a mutant; a case is not run if it never asks for the bug */
    double seconds;
};

/* The rule of a mutant may be a list: "SPLIT-02, SPLIT-04". */
bool runner_names_rule(const char *list, const char *rule);
bool runner_caught(const struct runner_result *result);
/* Fills caught, broken and own. */
void runner_matrix_sum(struct runner_matrix *matrix);
size_t runner_survivors(const struct runner_matrix *matrix);
void runner_matrix_text(FILE *stream, const struct runner_matrix *matrix);
void runner_matrix_json(FILE *stream, const struct runner_matrix *matrix);
/* Whether the file at path holds exactly this matrix. */
bool runner_matrix_holds(const char *path, const struct runner_matrix *matrix);

#endif
