/* record/record.h: records of a sweep as C structs, and as JSON Lines in a file.
 *
 * The only part of the harness that knows jansson. A file is: one "lockstep/run/1.2" line, then
 * one "lockstep/cell/1.1" line per finished cell, then at most one "lockstep/end/1.1" line per
 * sitting. Readers reject other majors and other schemas, and ignore unknown fields.
 * Fields with their units and meanings: schema/field_list.h, and results/README.md. */
#ifndef HARNESS_RECORD_H
#define HARNESS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/digest.h"
#include "record/node.h"
#include "schema/structs.h"
#include "text/text.h"

/* 16 hex digits, a function of the key alone. */
void record_cell_id(const struct record_key *key, char id[17]);

/* "64 rows"; of a collective "4096 bytes". */
enum { RECORD_AMOUNT_TEXT = 32 };
void record_amount_words(const struct record_key *key, char text[RECORD_AMOUNT_TEXT]);

/* Arrays for n_samples and n_ranks, zeroed. 0, or -1 when memory is short. */
int record_cell_alloc(struct record_cell *cell, size_t n_samples, int n_ranks);
void record_cell_free(struct record_cell *cell);
/* Of the samples only t_step_ns and flags stay: most of a cell's memory is the others'. */
void record_cell_keep_steps(struct record_cell *cell);
/* Only its parts: as if none had been measured. */
void record_parts_free(struct record_cell *cell);
/* Rows of a part on so many devices. */
size_t record_part_rows(enum record_part part, int devices);
/* Zeroed times of a part. 0, or -1 when memory is short. */
int record_part_alloc(struct record_cell *cell, enum record_part part, size_t n);

/* Fills the derived fields (and the warm-up, mild and severe flags) from the raw ones; only samples
 * that are neither warm-up nor bad count. What no sample speaks about becomes NaN. 0, or -1 when
 * memory is short. */
int record_derive(struct record_cell *cell);
/* What sample i took: a step, or all steps of a chain behind the warm-up. */
uint64_t record_sample_ns(const struct record_cell *cell, size_t i);
/* How long the step was in which the phases of sample i were measured. */
uint64_t record_phased_ns(const struct record_cell *cell, size_t i);
/* The times of the three turns from their rounds; nothing where no rounds were kept. */
void record_derive_rounds(struct record_cell *cell);

/* Whether the record of an ok cell shows that it was measured and checked; the summary must follow
 * from the samples. Readers apply it to every ok cell. */
int record_check_ok(const struct record_cell *cell, struct text_error *err);
/* Whether a clock that counts so many times as much as a timer can be believed: within 0.5 %, where
 * 0.05 % is what a clock may be corrected by while it runs. */
bool record_clock_holds(double ratio);
/* Whether the fields of a record, whatever its status, can be those of one cell. */
int record_check_fields(const struct record_cell *cell, struct text_error *err);
/* The part of it that is about collectives; nothing of other cells. record/collective.c */
int record_check_collective(const struct record_cell *cell, struct text_error *err);
/* Values that are compared in an iteration of one. */
double record_collective_values(const struct record_cell *cell);
bool record_is_collective(const struct record_key *key);
/* The part of it that is about phases: every replica with rows has times. */
int record_check_phases(const struct record_cell *cell, struct text_error *err);

/* Seconds in which a launch was timed, in what was compared and counts: its steps, and beside them
 * steps without communication and reductions alone, with the whole steps of their rounds. Nothing
 * of a launch that is not verified. */
struct record_timed {
    double steps, beside;
};
struct record_timed record_timed(const struct record_cell *cell);

/* The rest of a launch, by what it was for. What is left over is the last one: setting back the
 * parameters between steps, what is read of the machine, closing. */
enum record_cost {
    RECORD_COST_PROCESS, /* until it began, and from its record to its end */
    RECORD_COST_DEVICES,
    RECORD_COST_MODEL,
    RECORD_COST_REFERENCE, /* and the probe */
    RECORD_COST_WARMUP,    /* its verification included */
    RECORD_COST_VERIFY,
    RECORD_COST_REST,
    RECORD_COSTS
};
extern const char *const record_cost_names[RECORD_COSTS];

/* Sums of launches whose time is known; all of them, or not. */
struct record_costs {
    size_t launches, unknown;
    double seconds[RECORD_COSTS];
};
/* Adds a launch that is verified; nothing of others. */
void record_costs_add(struct record_costs *costs, const struct record_cell *cell);
/* Milliseconds of a launch on the average, and of writing its record (seconds of all of them; NaN:
 * not known). NaN: not known of all launches. */
double record_cost_ms(const struct record_costs *costs, enum record_cost cost);
double record_costs_ms(const struct record_costs *costs, double writing);
/* "183 ms of a launch: process 90 ms, .., writing 3 ms". False: not known of all launches. */
enum { RECORD_COSTS_TEXT = 512 };
bool record_costs_words(const struct record_costs *costs, double writing,
                        char text[RECORD_COSTS_TEXT]);

/* One line of JSON without the newline; NULL when memory is short or a count is above 2^53.
 * Bytes that are not UTF-8 become "?"; NaN and infinity become null. Caller frees. */
char *record_run_text(const struct record_run *run);
char *record_cell_text(const struct record_cell *cell);
char *record_end_text(const char *run_id, const struct record_end *end); /* its own is not read */

/* Parses one line of that kind; checks schema, types, ranges, that array lengths agree, and that
 * a cell that claims to be ok was validated and has a time. The text names the field; it has no
 * FILE:LINE here. On failure there is nothing to free. */
int record_run_parse(const char *line, struct record_run *run, struct text_error *err);
int record_cell_parse(const char *line, struct record_cell *cell, struct text_error *err);

/* Makes line, which is freed, one of a sealed file: before is the SHA-256 of the line before, ""
 * for a first line; a line that closes the file has its own, too. NULL: line is, or memory is
 * short. */
char *record_chain_add(char *line, const char *before, bool closes);

/* Appends a line and its newline with one write and fsyncs. Reports short writes (full disk)
 * and leaves the file as it was before the call when it can. */
int record_append(int fd, const char *line, struct text_error *err);

/* A whole file. Cells of equal id: the last one counts. A torn last line (no newline, or not
 * JSON) sets torn and torn_offset; a bad line before the last is an error. */
struct record_file {
    struct record_run run;
    struct record_cell *cell;
    size_t n_cells;
    bool planned;          /* cells are those of the command; not known of minor 0 */
    bool sealed;           /* each line has the SHA-256 of the one before */
    char last[DIGEST_HEX]; /* if sealed: of the last whole line */
    bool ended;            /* the last sitting wrote its end line */
    bool interrupted;      /* and says that it was interrupted */
    double seconds;        /* of all sittings; NaN: of one it is not known */
    double writing;        /* the part of them that records took to be on the disk; NaN likewise */
    bool torn;
    long torn_offset; /* the file should be truncated here */
};
int record_read(const char *path, struct record_file *file, struct text_error *err);
/* The same, and as much is checked, for who needs only the steps: record_cell_keep_steps. */
int record_read_steps(const char *path, struct record_file *file, struct text_error *err);
void record_file_free(struct record_file *file);
/* ns between two sittings of one start of a machine that count as two: 6 h. */
#define RECORD_SITTINGS_APART UINT64_C(21600000000000)
/* Whether a launch of a is one of b, too, or, where both are one file, stands there twice: -1 and
 * both names. The cells of a resumed run may be in several files. */
int record_copied(const struct record_file *a, const struct record_file *b, struct text_error *err);

#endif
