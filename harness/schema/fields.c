/* schema/fields.c: the tables that connect the rows of schema/field_list.h with members of structs.
 */
#include "schema/fields.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
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
#define ROW_T(name, room, since, role, unit, words, meaning) \
    {#name, RECORD_TEXT, PLACE(name), 0, 0, since, RECORD_##role, NULL, unit, words, meaning},
#define ROW_I(name, least, most, since, role, unit, words, meaning) \
    {#name, RECORD_INT, PLACE(name), least, most, since, RECORD_##role, NULL, unit, words, meaning},
#define ROW_F(kind, name, since, role, unit, words, meaning) \
    {#name, RECORD_##kind, PLACE(name), RANGE_##kind, since, RECORD_##role, NULL, unit, words, meaning},
#define ROW_N(name, type, role, unit, meaning) \
    {#name, RECORD_NESTED, 0, 0, 0, 0, true, RECORD_##role, type, unit, NULL, meaning},
#define ROWS(fields) fields(ROW_T, ROW_I, ROW_F, ROW_N)
#define END {.name = NULL}
/* clang-format on */

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
const struct record_field record_cell_fields[] = {
    ROWS(RECORD_CELL_FIELDS) ROWS(RECORD_DERIVED_FIELDS) ROWS(RECORD_BESIDE_FIELDS) END};
const struct record_field record_derived_fields[] = {ROWS(RECORD_DERIVED_FIELDS) END};
#undef OBJECT

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
