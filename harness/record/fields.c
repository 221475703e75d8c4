/* record/fields.c: the tables that tie struct members to JSON fields.
 *
 * The order is the order in the file. Enumerations, arrays and nested objects are not here:
 * record/write.c and record/read.c treat them by name. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "record/json.h"

const char *const record_type_names[RECORD_TYPES] = {"run", "cell", "end"};

#define PLACE(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define TEXT(type, member)                                                                         \
    {                                                                                              \
#member, RECORD_TEXT, PLACE(type, member), 0, 0, false                                     \
    }
#define HASH(type, member)                                                                         \
    {                                                                                              \
#member, RECORD_HASH, PLACE(type, member), 0, 0, false                                     \
    }
#define BOOL(type, member)                                                                         \
    {                                                                                              \
#member, RECORD_BOOL, PLACE(type, member), 0, 0, false                                     \
    }
#define INT(type, member, min, max)                                                                \
    {                                                                                              \
#member, RECORD_INT, PLACE(type, member), min, max, false                                  \
    }
#define LONG(type, member, min)                                                                    \
    {                                                                                              \
#member, RECORD_LONG, PLACE(type, member), min, LONG_MAX, false                            \
    }
#define COUNT(type, member)                                                                        \
    {                                                                                              \
#member, RECORD_COUNT, PLACE(type, member), 0, RECORD_EXACT_MAX, false                     \
    }
#define U64(type, member)                                                                          \
    {                                                                                              \
#member, RECORD_U64, PLACE(type, member), 0, RECORD_EXACT_MAX, false                       \
    }
#define BIG(type, member)                                                                          \
    {                                                                                              \
#member, RECORD_BIG, PLACE(type, member), 0, 0, false                                      \
    }
#define REAL(type, member)                                                                         \
    {                                                                                              \
#member, RECORD_REAL, PLACE(type, member), 0, 0, false                                     \
    }
#define LATER_TEXT(type, member)                                                                   \
    {                                                                                              \
#member, RECORD_TEXT, PLACE(type, member), 0, 0, true                                      \
    }
#define LATER_BOOL(type, member)                                                                   \
    {                                                                                              \
#member, RECORD_BOOL, PLACE(type, member), 0, 0, true                                      \
    }
#define LATER_INT(type, member, min, max)                                                          \
    {                                                                                              \
#member, RECORD_INT, PLACE(type, member), min, max, true                                   \
    }
#define LATER_REAL(type, member)                                                                   \
    {                                                                                              \
#member, RECORD_REAL, PLACE(type, member), 0, 0, true                                      \
    }
#define LATER_COUNT(type, member)                                                                  \
    {                                                                                              \
#member, RECORD_COUNT, PLACE(type, member), 0, RECORD_EXACT_MAX, true                      \
    }
#define LATER_U64(type, member)                                                                    \
    {                                                                                              \
#member, RECORD_U64, PLACE(type, member), 0, RECORD_EXACT_MAX, true                        \
    }
#define END                                                                                        \
    {                                                                                              \
        NULL, RECORD_TEXT, 0, 0, 0, 0, false                                                       \
    }

const struct record_field record_run_fields[] = {
    HASH(record_run, run_id),
    TEXT(record_run, created_utc),
    TEXT(record_run, source),
    BIG(record_run, seed),
    COUNT(record_run, planned),
    LATER_TEXT(record_run, scaling),
    LATER_INT(record_run, launches, 1, INT_MAX),
    TEXT(record_run, command),
    TEXT(record_run, devices),
    TEXT(record_run, backend),
    TEXT(record_run, communicator),
    LATER_TEXT(record_run, gpu_software),
    TEXT(record_run, program_version),
    TEXT(record_run, git_sha),
    BOOL(record_run, git_dirty),
    LATER_TEXT(record_run, source_digest),
    LATER_TEXT(record_run, machine_class),
    LATER_TEXT(record_run, machine_instance),
    LATER_TEXT(record_run, environment),
    TEXT(record_run, compiler),
    TEXT(record_run, cflags),
    TEXT(record_run, build_type),
    TEXT(record_run, sanitizers),
    TEXT(record_run, kernel),
    TEXT(record_run, libc),
    TEXT(record_run, hwloc_version),
    TEXT(record_run, blas),
    TEXT(record_run, node_hash),
    TEXT(record_run, cpu_model),
    TEXT(record_run, governor),
    INT(record_run, packages, 0, INT_MAX),
    INT(record_run, numa_nodes, 0, INT_MAX),
    INT(record_run, cores, 0, INT_MAX),
    INT(record_run, pus, 0, INT_MAX),
    INT(record_run, usable_pus, 0, INT_MAX),
    U64(record_run, mem_bytes),
    U64(record_run, l1d_bytes),
    U64(record_run, l2_bytes),
    U64(record_run, l3_bytes),
    REAL(record_run, timer_tick_ns),
    REAL(record_run, timer_overhead_ns),
    TEXT(record_run, clock),
    TEXT(record_run, sync_method),
    TEXT(record_run, rank_reduction),
    END,
};

const struct record_field record_slot_fields[] = {
    TEXT(record_slot, name),
    TEXT(record_slot, kind),
    TEXT(record_slot, cores),
    INT(record_slot, numa_node, -1, INT_MAX),
    BOOL(record_slot, bound),
    LATER_TEXT(record_slot, model),
    LATER_TEXT(record_slot, bus),
    LATER_BOOL(record_slot, near),
    END,
};

const struct record_field record_key_fields[] = {
    TEXT(record_key, workload),
    TEXT(record_key, mode),
    TEXT(record_key, devices),
    INT(record_key, n_devices, 0, RECORD_MAX_RANKS),
    COUNT(record_key, global_batch),
    TEXT(record_key, dtype),
    TEXT(record_key, backend),
    TEXT(record_key, communicator),
    LATER_COUNT(record_key, bucket_bytes),
    INT(record_key, launch, 0, INT_MAX),
    END,
};

const struct record_field record_cell_fields[] = {
    HASH(record_cell, run_id),
    HASH(record_cell, cell_id),
    COUNT(record_cell, order_index),
    TEXT(record_cell, reason),
    BOOL(record_cell, validated),
    COUNT(record_cell, values_checked),
    COUNT(record_cell, steps_checked),
    LATER_COUNT(record_cell, probe_values),
    LATER_REAL(record_cell, probe_bound),
    LATER_REAL(record_cell, probe_ratio),
    LATER_U64(record_cell, probe_ns),
    LATER_INT(record_cell, exact_bits, 0, 24),
    LONG(record_cell, first_bad_step, -1),
    BOOL(record_cell, oversubscribed),
    COUNT(record_cell, model_params),
    REAL(record_cell, flops_per_step),
    TEXT(record_cell, warmup_rule),
    BOOL(record_cell, steady_state),
    COUNT(record_cell, warmup_steps),
    COUNT(record_cell, n_samples),
    INT(record_cell, n_ranks, 0, RECORD_MAX_RANKS),
    COUNT(record_cell, n_valid),
    REAL(record_cell, median_ns),
    REAL(record_cell, mean_ns),
    REAL(record_cell, min_ns),
    REAL(record_cell, max_ns),
    REAL(record_cell, p05_ns),
    REAL(record_cell, p25_ns),
    REAL(record_cell, p75_ns),
    REAL(record_cell, p95_ns),
    BOOL(record_cell, has_ci),
    REAL(record_cell, ci_lo_ns),
    REAL(record_cell, ci_hi_ns),
    REAL(record_cell, ci_coverage),
    REAL(record_cell, cv),
    REAL(record_cell, rho1),
    REAL(record_cell, n_eff),
    REAL(record_cell, throughput_samples_per_s),
    LATER_REAL(record_cell, outside_frac),
    LATER_REAL(record_cell, bytes_per_step),
    LATER_REAL(record_cell, compute_alone_ns),
    LATER_REAL(record_cell, comm_alone_ns),
    LATER_REAL(record_cell, whole_ns),
    LATER_REAL(record_cell, hidden_frac),
    BIG(record_cell, start_epoch_ns),
    U64(record_cell, setup_ns),
    U64(record_cell, wall_ns),
    END,
};

const struct record_field record_end_fields[] = {
    HASH(record_end, run_id),  COUNT(record_end, planned),    COUNT(record_end, ok),
    COUNT(record_end, not_ok), BOOL(record_end, interrupted), END,
};
