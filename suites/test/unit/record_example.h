/* record_example.h: records that the tests of records start from. */
#ifndef UNIT_RECORD_EXAMPLE_H
#define UNIT_RECORD_EXAMPLE_H

#include "record/record.h"
#include "workload.h"

#define EXAMPLE_RUN_ID "0123456789abcdef"

struct record_run example_run(void);
struct workload example_workload(const char *name);

/* Returns a cell with 8 steps on 2 ranks, of which 2 are warm-up and one has bad values; the phase
 * loss is not measured. Its derived fields are filled; the caller frees it. */
struct record_cell example_cell(int launch);

/* Makes it a cell of mode ddp. */
void example_ranks(struct record_cell *cell);

/* Changes a cell by words: "NAME=VALUE" of a field, "NAME[I]=VALUE" or "NAME[I-K]=VALUE" of
 * samples, "PHASE=none", or "phases=none" of all; "ranks" (example_ranks), "phased" (adds steps for
 * phases), and "derived" (derives what follows from the others). */
void example_change(struct record_cell *cell, const char *changes);

/* Asserts that the changed cell, as it is written, is refused with an error that has the words. */
void example_change_refused(struct record_cell *cell, const char *changes, const char *words);

/* Returns the text with the first occurrence of old replaced; asserts that there is one. The caller
 * frees it. */
char *example_edit(const char *text, const char *old, const char *with);

/* Returns what is read from a text, which must be readable; the caller frees it. */
struct record_cell example_read(const char *text);
struct record_run example_run_read(const char *text);

/* Returns what is read from a text that is written now; the caller frees it. */
struct record_cell example_again(const struct record_cell *cell);

/* Asserts that a text is refused with an error that has the words. */
void example_refused(const char *text, const char *words);
void example_run_refused(const char *text, const char *words);

/* Asserts that of the text with the first occurrence of old replaced. */
void example_edit_refused(const char *text, const char *old, const char *with, const char *words);

/* Adds a GPU about which nothing is known, readings of it during the steps, and parts of the
 * machine. */
void example_gpu(struct record_cell *cell);
void example_series(struct record_during *during);
struct record_series example_numbers(size_t n, const double value[]);
void example_parts(struct record_cell *cell);

#endif
