/* record/record.h: records of a sweep as C structs, and as JSON Lines in a file.
 *
 * This is the only part of the harness that knows jansson. A file has one "lockstep/run/1.2" line,
 * then one "lockstep/cell/1.1" line per finished cell, then at most one "lockstep/end/1.1" line per
 * session. Readers reject other majors and other schemas, and ignore unknown fields.
 * schema/field_list.h and results/README.md have the fields with their units and meanings. */
#ifndef HARNESS_RECORD_H
#define HARNESS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/files.h"
#include "schema/fields.h"
#include "text/text.h"

/* Writes 16 hex digits, a function of the key alone. */
void record_cell_id(const struct record_key *key, char id[17]);

/* Writes "64 rows", or "4096 bytes" for a collective. */
enum { RECORD_AMOUNT_TEXT = 32 };
void record_amount_words(const struct record_key *key, char text[RECORD_AMOUNT_TEXT]);

/* Allocates arrays for n_samples and n_ranks, zeroed. Returns 0, or -1 if memory is short. */
int record_cell_alloc(struct record_cell *cell, size_t n_samples, int n_ranks);
void record_cell_free(struct record_cell *cell);
/* Keeps only t_step_ns and flags of the samples; the other arrays are most of the memory of a cell.
 */
void record_cell_keep_steps(struct record_cell *cell);
/* Frees only its parts, as if none had been measured. */
void record_parts_free(struct record_cell *cell);
/* The number of rows of a part on so many devices. */
size_t record_part_rows(enum record_part part, int devices);
/* Allocates the times of a part, zeroed. */
void record_part_alloc(struct record_cell *cell, enum record_part part, size_t n);

/* Fills the derived fields (and the warm-up, mild and severe flags) from the raw ones. Only samples
 * that are neither warm-up nor bad count. A field that follows from no sample becomes NaN. */
void record_derive(struct record_cell *cell);
/* The time of sample i: of a step, or of all steps of a chain after the warm-up. */
uint64_t record_sample_ns(const struct record_cell *cell, size_t i);
/* The time of the step in which the phases of sample i were measured. */
uint64_t record_phased_ns(const struct record_cell *cell, size_t i);
/* Sets the times of the three turns from their rounds; does nothing if no rounds were kept. */
void record_derive_rounds(struct record_cell *cell);

/* Whether the record of an ok cell shows that it was measured and checked; the summary must follow
 * from the samples. Readers apply this to every ok cell. */
int record_check_ok(const struct record_cell *cell, struct text_error *err);
/* Whether a clock whose rate is ratio times that of a timer can be trusted: within 0.5 %. A running
 * clock may be corrected by up to 0.05 %. */
bool record_clock_holds(double ratio);
/* Whether the fields of a record, whatever its status, can be those of one cell. */
int record_check_fields(const struct record_cell *cell, struct text_error *err);
/* The number of values that are compared in an iteration of a collective. */
double record_collective_values(const struct record_cell *cell);
bool record_is_collective(const struct record_key *key);

/* The seconds in which a launch was timed, in work that is compared and counts. The first member is
 * the time of its steps. The second is the time of the steps without communication and of the
 * reductions alone, with the whole steps of their rounds. Both are 0 if the launch is not verified.
 */
struct record_timed {
    double steps, beside;
};
struct record_timed record_timed(const struct record_cell *cell);

/* The rest of the time of a launch, by its purpose. The last one is the remainder: it resets the
 * parameters between steps, reads the state of the machine, and closes. */
enum record_cost {
    RECORD_COST_PROCESS, /* until it began, and from its record to its end */
    RECORD_COST_DEVICES,
    RECORD_COST_MODEL,
    RECORD_COST_REFERENCE, /* with the probe */
    RECORD_COST_WARMUP,    /* with its verification */
    RECORD_COST_VERIFY,
    RECORD_COST_REST,
    RECORD_COSTS
};
extern const char *const record_cost_names[RECORD_COSTS];

/* Sums over launches; unknown counts the launches whose time is not known. */
struct record_costs {
    size_t launches, unknown;
    double seconds[RECORD_COSTS];
};
/* Adds a launch that is verified; ignores others. */
void record_costs_add(struct record_costs *costs, const struct record_cell *cell);
/* The average milliseconds per launch for one cost, and for all costs and for writing the record.
 * writing is the seconds for all records; NaN: not known. They return NaN if the times of some
 * launches are not known. */
double record_cost_ms(const struct record_costs *costs, enum record_cost cost);
double record_costs_ms(const struct record_costs *costs, double writing);
/* Writes "183 ms of a launch: process 90 ms, .., writing 3 ms". Returns false if the times of some
 * launches are not known. */
enum { RECORD_COSTS_TEXT = 512 };
bool record_costs_words(const struct record_costs *costs, double writing,
                        char text[RECORD_COSTS_TEXT]);

/* Each returns one line of JSON without the newline; NULL if a count is above 2^53. Bytes that are
 * not UTF-8 become "?"; NaN and infinity become null. The caller frees the line. */
char *record_run_text(const struct record_run *run);
char *record_cell_text(const struct record_cell *cell);
/* The run_id in end is not read. */
char *record_end_text(const char *run_id, const struct record_end *end);

/* Parses one line of that kind. It checks the schema, types, ranges, that array lengths agree, and
 * that a cell that claims to be ok was validated and has a time. The text of err names the field;
 * it has no FILE:LINE here. On failure there is nothing to free. */
int record_run_parse(const char *line, struct record_run *run, struct text_error *err);
int record_cell_parse(const char *line, struct record_cell *cell, struct text_error *err);

/* Makes a line of a sealed file from line, which is freed. before is the SHA-256 of the line
 * before, "" for a first line. A line that closes the file also has its own SHA-256. NULL: line is
 * NULL, or memory is short. */
char *record_chain_add(char *line, const char *before, bool closes);

/* Appends a line and its newline with one write, and calls fsync. It reports short writes (full
 * disk), and then leaves the file as it was before the call, if that is possible. */
int record_append(int fd, const char *line, struct text_error *err);

/* A whole file. If several cells have one id, the last one counts. A torn last line (no newline, or
 * not JSON) sets torn and torn_offset; a bad line before the last is an error. */
struct record_file {
    struct record_run run;
    struct record_cell *cell;
    size_t n_cells;
    bool planned; /* cells are those of the command; false for minor 0, where this is not known */
    bool sealed;  /* each line has the SHA-256 of the line before */
    char last[DIGEST_HEX]; /* if sealed: SHA-256 of the last whole line */
    bool ended;            /* the last session wrote its end line */
    bool interrupted;      /* that line says that it was interrupted */
    double seconds;        /* of all sessions; NaN: that of one is not known */
    double writing; /* the part of them that writing records to the disk took; NaN likewise */
    bool torn;
    bool partial;     /* the torn line has no newline and is no whole JSON */
    long torn_offset; /* the file should be truncated to this length */
};
/* steps: all is checked, but cells keep only these, as record_cell_keep_steps does. */
int record_read(const char *path, bool steps, struct record_file *file, struct text_error *err);
void record_file_free(struct record_file *file);
/* Launches of one boot of a machine belong to two sessions if so many ns are between them: 6 h. */
#define RECORD_SITTINGS_APART UINT64_C(21600000000000)
/* Whether a launch of a is also in b, or, if both are one file, is in it twice. If so, it returns
 * -1 and both names. The cells of a resumed run may be in several files. */
int record_copied(const struct record_file *a, const struct record_file *b, struct text_error *err);

/* ---- making a cell --------------------------------------------------------------------------- */

struct cell_config;
/* Fills the identity of a cell in its record. The status is RECORD_BROKEN until the result is
 * known. */
void cell_identify(const struct cell_config *config, struct record_cell *cell);

/* ---- walks over the tables of fields --------------------------------------------------------- */

/* A table says what each field of a record is for, so runs are resumed, pooled, told apart and
 * cleaned by walks that know no name of a field. */

/* Each walk takes a mask of roles. It ignores fields of other roles, and nested fields. */

/* Returns the first field that differs; NULL: none. Values are compared bit by bit, but NaN equals
 * NaN. */
const struct record_field *record_differs(const struct record_field *fields, unsigned roles,
                                          const void *a, const void *b);
/* Orders two objects by one field. It returns 0 if the field has another role, or is the same in
 * both. */
int record_field_order(const struct record_field *field, unsigned roles, const void *a,
                       const void *b);
/* The same for the slots of two runs, n of each; *slot becomes the index of the slot. */
const struct record_field *record_slots_differ(const struct record_run *a,
                                               const struct record_run *b, int n, int *slot);
/* The same for all GPUs of their nodes, if both runs have read them; *gpu becomes the index. If the
 * numbers of GPUs differ, the first GPU that only one has differs in its address. */
const struct record_field *record_gpus_differ(const struct record_run *a,
                                              const struct record_run *b, int *gpu);
/* Orders two objects by all fields; 0 means that no field differs. */
int record_order(const struct record_field *fields, unsigned roles, const void *a, const void *b);
/* Finds the field of that name; NULL: none. */
const struct record_field *record_find(const struct record_field *fields, const char *name);
/* Writes its value in object, like "virt:2", "4" or "true", cut to bytes. */
void record_show(const struct record_field *field, const void *object, char *text, size_t bytes);

/* Sets real numbers that records of minor 0 do not have to NaN: unknown until they are measured. */
void record_unknown(const struct record_field *fields, void *object);

/* Makes every text of an object printable, also in its lists: text_clean. */
void record_clean(const struct record_field *fields, void *object);

/* ---- the node, and the GPUs of a cell -------------------------------------------------------- */

/* NaN and an empty text mean that a value could not be read. harness/machine reads them. */

/* Bits of throttle, as NVML documents them. */
enum {
    RECORD_THROTTLE_IDLE = 0x1,
    RECORD_THROTTLE_SET = 0x2,
    RECORD_THROTTLE_POWER_CAP = 0x4,
    RECORD_THROTTLE_HARDWARE = 0x8,
    RECORD_THROTTLE_SYNC_BOOST = 0x10,
    RECORD_THROTTLE_SOFTWARE_HEAT = 0x20,
    RECORD_THROTTLE_HARDWARE_HEAT = 0x40,
    RECORD_THROTTLE_POWER_BRAKE = 0x80,
    RECORD_THROTTLE_DISPLAY = 0x100
};
/* Writes "power cap, software thermal slowdown", "none", or "unknown" for NaN; other bits as a
 * number. */
enum { RECORD_NODE_TEXT = 240 };
void record_throttle_words(double throttle, char text[RECORD_NODE_TEXT]);

void record_watched_free(struct record_watched *watched, int n);

/* Whether the reports of the GPUs of the cell mean that its times cannot be trusted, and why: a
 * slowdown by heat, or by the hardware because of its power supply, or uncorrected memory errors. A
 * value that is not known raises no doubt. */
bool record_gpu_doubt(const struct record_cell *cell, char why[RECORD_NODE_TEXT]);
/* Other reports that are mentioned, although the times can be trusted. */
enum record_gpu_note {
    RECORD_NOTE_POWER_CAP, /* at its power limit, as a healthy GPU is under load */
    RECORD_NOTE_CORRECTED, /* memory errors that were corrected */
    RECORD_NOTE_LINKS,     /* errors of NVLinks, or an NVLink that is down */
    RECORD_NOTE_FOREIGN,   /* processes of other users */
    RECORD_NOTES
};
/* Writes the note for the first GPU of the cell that has it. Returns false if none has it. */
bool record_gpu_note(const struct record_cell *cell, enum record_gpu_note which,
                     char note[RECORD_NODE_TEXT]);

#endif
