/* schema/fields.c: the tables that connect the rows of schema/field_list.h with members of structs.
 */
#include "schema/fields.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
/* NOLINTBEGIN(bugprone-macro-parentheses): arguments are pieces of initializers */
#define RANGE_HASH    0, 0
#define RANGE_OPTIONS 0, 0
#define RANGE_BOOL    0, 0
#define RANGE_LONG    -1, LONG_MAX
#define RANGE_COUNT   0, RECORD_EXACT_MAX
#define RANGE_U64     0, RECORD_EXACT_MAX
#define RANGE_BIG     0, 0
#define RANGE_REAL    0, 0
#define RANGE_SERIES  0, 0

/* The offset and the size of a member in struct OBJECT. */
#define PLACE(name) offsetof(struct OBJECT, name), sizeof(((struct OBJECT *)0)->name)
#define FIRST false
#define LATER true
#define ROW_T(name, room, since, role, unit, words, text) \
    {#name, RECORD_TEXT, PLACE(name), 0, 0, since, RECORD_##role, NULL, unit, words, .meaning = text},
#define ROW_I(name, least, most, since, role, unit, words, text) \
    {#name, RECORD_INT, PLACE(name), least, most, since, RECORD_##role, NULL, unit, words, .meaning = text},
#define ROW_F(kind, name, since, role, unit, words, text) \
    {#name, RECORD_##kind, PLACE(name), RANGE_##kind, since, RECORD_##role, NULL, unit, words, .meaning = text},
#define ROW_N(row, form, since, is, part, measure, text) \
    {.name = #row, .kind = RECORD_NESTED, .later = since, .role = RECORD_##part, .type = is, \
     .unit = measure, .meaning = text, .nest = form},
#define ROWS(fields) fields(ROW_T, ROW_I, ROW_F, ROW_N)
#define END {.name = NULL}

/* The forms of nested fields; empty is an enum record_empty. */
#define AT(form, empty, member) RECORD_##form, RECORD_##empty, .offset = offsetof(struct OBJECT, member)
#define COUNTED(form, empty, member, n, most) \
    AT(form, empty, member), .bytes = sizeof ((struct OBJECT *)0)->member[0], \
    .count = offsetof(struct OBJECT, n), .max = most
#define BY_HAND RECORD_BY_HAND
#define STATE(member) AT(STATE, WRITTEN, member)
#define MEMBER(member, fields) AT(OBJECT, WRITTEN, member), .element = fields
#define GROUP(empty, fields) RECORD_OBJECT, RECORD_##empty, .element = fields
#define LIST(empty, member, n, most, fields) COUNTED(LIST, empty, member, n, most), .element = fields
#define HEAP_LIST(empty, member, n, most, fields) \
    COUNTED(HEAP_LIST, empty, member, n, most), .element = fields
#define NUMBERS(empty, member, n, most) COUNTED(NUMBERS, empty, member, n, most)
#define REALS(member, n) AT(REALS, WRITTEN, member), .max = n
#define STEPS(empty, member) AT(STEPS, empty, member)
#define FLAGS(member) AT(FLAGS, WRITTEN, member)
#define RANKS(member) AT(RANKS, AS_NULL, member)

#define OBJECT record_run
const struct record_field record_run_fields[] = {ROWS(RECORD_RUN_FIELDS) END};
#undef OBJECT

#define OBJECT record_slot
const struct record_field record_slot_fields[] = {ROWS(RECORD_SLOT_FIELDS) END};
#undef OBJECT

#define OBJECT record_key
const struct record_field record_key_fields[] = {ROWS(RECORD_KEY_FIELDS) END};
#undef OBJECT

#define OBJECT record_cell
/* The members of objects whose values are in the cell itself. */
#define CELL_ROW(word, form) {.name = #word, .kind = RECORD_NESTED, .role = RECORD_RESULT, .nest = form},
#define PHASE_ROW(index, word) CELL_ROW(word, AT(RANKS, AS_NULL, phase_ns[RECORD_##index]))
#define TURN_ROW(index, word) \
    CELL_ROW(word, NUMBERS(LEFT_OUT, round_ns[RECORD_##index], n_rounds, RECORD_MOST_ROUNDS))
#define PART_ROW(index, word) CELL_ROW(word, AT(PART, LEFT_OUT, part[RECORD_##index]))
#define MEDIAN_ROW(index, word) \
    {#word, RECORD_REAL, PLACE(phase_median_ns[RECORD_##index]), .role = RECORD_RESULT, .unit = "ns"},
static const struct record_field phase_fields[] = {RECORD_EACH_PHASE(PHASE_ROW) END};
static const struct record_field turn_fields[] = {RECORD_EACH_TURN(TURN_ROW) END};
static const struct record_field part_fields[] = {RECORD_EACH_PART(PART_ROW) END};
static const struct record_field median_fields[] = {RECORD_EACH_PHASE(MEDIAN_ROW) END};
const struct record_field record_raw_fields[] = {ROWS(RECORD_RAW_FIELDS) END};
const struct record_field record_cell_fields[] = {
    ROWS(RECORD_CELL_FIELDS) ROWS(RECORD_DERIVED_FIELDS) ROWS(RECORD_BESIDE_FIELDS)
    ROWS(RECORD_LAST_FIELDS) END};
const struct record_field record_derived_fields[] = {ROWS(RECORD_DERIVED_FIELDS) END};
#undef OBJECT

/* NOLINTEND(bugprone-macro-parentheses) */
/* clang-format on */

#define OBJECT record_end
const struct record_field record_end_fields[] = {ROWS(RECORD_END_FIELDS) END};
#undef OBJECT

#define OBJECT record_numa
const struct record_field record_numa_fields[] = {ROWS(RECORD_NUMA_FIELDS) END};
#undef OBJECT

#define OBJECT record_gpu
const struct record_field record_gpu_fields[] = {ROWS(RECORD_GPU_FIELDS) END};
#undef OBJECT

#define OBJECT record_reading
const struct record_field record_reading_fields[] = {ROWS(RECORD_READING_FIELDS) END};
#undef OBJECT

#define OBJECT record_nvlink
const struct record_field record_nvlink_fields[] = {ROWS(RECORD_NVLINK_FIELDS) END};
#undef OBJECT

#define OBJECT record_nic
const struct record_field record_nic_fields[] = {ROWS(RECORD_NIC_FIELDS) END};
#undef OBJECT

#define OBJECT record_watched
const struct record_field record_watched_fields[] = {ROWS(RECORD_WATCHED_FIELDS) END};
#undef OBJECT

#define OBJECT record_during
const struct record_field record_during_fields[] = {ROWS(RECORD_DURING_FIELDS) END};
#undef OBJECT
