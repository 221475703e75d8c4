/* report/peer_record.c: reads lockstep/peer/1.x. The file is untrusted: types and ranges are
 * checked before anything is stored, and text is cleaned. */
#include "report/peer.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "numbers/stats.h"
#include "record/json.h"

enum { FILE_BYTES_MAX = 256 << 20, STEPS_MAX = 1000000 };

static const json_int_t STEP_NS_MAX = INT64_C(86400) * 1000000000;

const struct peer_kind_row peer_kinds[PEER_KINDS] = {
    [PEER_LOCKSTEP_DP] = {"lockstep", "dp", "lockstep DataParallel", "device", PEER_NO_GROUP},
    [PEER_LOCKSTEP_DDP] = {"lockstep", "ddp", "lockstep DDP", "device", PEER_NO_GROUP},
    [PEER_LOCKSTEP_DDP_NCCL] = {"lockstep", "ddp-nccl", "lockstep DDP over NCCL", "GPU",
                                PEER_NO_GROUP},
    [PEER_LOCKSTEP_PROCESSES] = {"lockstep", "processes", "lockstep DDP over MPI", "process",
                                 PEER_NO_GROUP},
    [PEER_LOCKSTEP_PLAIN] = {"lockstep", "plain", "lockstep plain", "device", PEER_NO_GROUP},
    [PEER_LLMC_STEP] = {"llmc", "step", "llm.c", "thread", PEER_NO_GROUP},
    [PEER_PYTORCH_DDP] = {"pytorch", "ddp", "PyTorch DDP over gloo, tuned", "process",
                          PEER_PARALLEL},
    [PEER_PYTORCH_DDP_DEFAULT] = {"pytorch", "ddp-default", "PyTorch DDP over gloo, as it comes",
                                  "process", PEER_PARALLEL},
    [PEER_PYTORCH_DDP_NCCL] = {"pytorch", "ddp-nccl", "PyTorch DDP over NCCL, tuned", "GPU",
                               PEER_PARALLEL},
    [PEER_PYTORCH_DDP_NCCL_DEFAULT] = {"pytorch", "ddp-nccl-default",
                                       "PyTorch DDP over NCCL, as it comes", "GPU", PEER_PARALLEL},
    [PEER_PYTORCH_DP] = {"pytorch", "dp", "PyTorch DataParallel", "GPU", PEER_PARALLEL},
    [PEER_PYTORCH_PLAIN] = {"pytorch", "plain", "PyTorch plain", "process", PEER_PLAIN},
    [PEER_PYTORCH_STEPS] = {"pytorch", "plain-steps", "PyTorch plain, attention in steps",
                            "process", PEER_NO_GROUP},
    [PEER_PYTORCH_COMPILED] = {"pytorch", "compiled", "PyTorch plain by torch.compile", "process",
                               PEER_PLAIN},
    [PEER_PYTORCH_PRODUCTS] = {"pytorch", "products", "torch.mm alone", NULL, PEER_PRODUCTS},
    [PEER_PYTORCH_MATMUL] = {"pytorch", "matmul", "torch.mm alone", NULL, PEER_NO_GROUP},
};

/* Sets err, unless it is set already: the first fault counts. */
static void fault(struct text_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void fault(struct text_error *err, const char *format, ...)
{
    va_list args;

    if (err->text[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    text_clean(err->text, ' ');
}

/* ---- fields ------------------------------------------------------------------------------- */

static void read_text(const json_t *object, const char *key, char *text, size_t bytes,
                      struct text_error *err)
{
    const json_t *member = json_object_get(object, key);
    const char *value = json_string_value(member);

    text[0] = '\0';
    if (!value || json_string_length(member) >= bytes) {
        fault(err, "'%s' is missing, no text, or longer than %zu bytes", key, bytes - 1);
        return;
    }
    snprintf(text, bytes, "%s", value);
    text_clean(text, ' ');
}

/* Texts whose keys have the names of their members. */
struct text_field {
    const char *key;
    size_t at, bytes;
};
#define TEXT_FIELD(type, member)                                                                   \
    {                                                                                              \
#member, offsetof(struct type, member), sizeof((struct type *)0)->member                   \
    }

static const struct text_field root_texts[] = {TEXT_FIELD(peer_record, created_utc),
                                               TEXT_FIELD(peer_record, git_sha),
                                               TEXT_FIELD(peer_record, seed)};
static const struct text_field class_texts[] = {TEXT_FIELD(peer_record, machine_class),
                                                TEXT_FIELD(peer_record, machine_instance)};
static const struct text_field machine_texts[] = {
    TEXT_FIELD(peer_record, node_hash), TEXT_FIELD(peer_record, cpu_model),
    TEXT_FIELD(peer_record, kernel), TEXT_FIELD(peer_record, governor)};
static const struct text_field version_texts[] = {TEXT_FIELD(peer_record, lockstep),
                                                  TEXT_FIELD(peer_record, lockstep_blas),
                                                  TEXT_FIELD(peer_record, build_type)};
static const struct text_field pytorch_texts[] = {
    TEXT_FIELD(peer_versions, python), TEXT_FIELD(peer_versions, torch),
    TEXT_FIELD(peer_versions, torch_blas), TEXT_FIELD(peer_versions, gloo)};
static const struct text_field setting_texts[] = {
    TEXT_FIELD(peer_record, clock),       TEXT_FIELD(peer_record, step_time),
    TEXT_FIELD(peer_record, warmup_rule), TEXT_FIELD(peer_record, ddp),
    TEXT_FIELD(peer_record, sgd),         TEXT_FIELD(peer_record, environment)};

static void read_texts(const json_t *object, const struct text_field field[], size_t n, void *to,
                       struct text_error *err)
{
    for (size_t i = 0; i < n; ++i)
        read_text(object, field[i].key, (char *)to + field[i].at, field[i].bytes, err);
}
#define READ_TEXTS(object, fields, to, err)                                                        \
    read_texts(object, fields, sizeof(fields) / sizeof(fields)[0], to, err)

static size_t read_count(const json_t *object, const char *key, json_int_t min, json_int_t max,
                         struct text_error *err)
{
    const json_t *value = json_object_get(object, key);

    if (json_is_integer(value) && json_integer_value(value) >= min &&
        json_integer_value(value) <= max)
        return (size_t)json_integer_value(value);
    fault(err,
          "'%s' is missing or no whole number of %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT,
          key, min, max);
    return 0;
}

static double read_number(const json_t *value, const char *key, struct text_error *err)
{
    const double number = json_number_value(value);

    if (json_is_number(value) && isfinite(number) && number >= 0.0)
        return number;
    fault(err, "'%s' is missing or no number of 0 or more", key);
    return NAN;
}

static bool read_flag(const json_t *object, const char *key, struct text_error *err)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_boolean(value))
        fault(err, "'%s' is missing or neither true nor false", key);
    return json_is_true(value);
}

/* Reads a list of min to max elements. Returns its length, or 0 after a fault. */
static size_t read_list(const json_t *object, const char *key, size_t min, size_t max,
                        const json_t **list, struct text_error *err)
{
    *list = json_object_get(object, key);
    if (json_is_array(*list) && json_array_size(*list) >= min && json_array_size(*list) <= max)
        return json_array_size(*list);
    fault(err, "'%s' is missing or no list of %zu to %zu", key, min, max);
    return 0;
}

/* ---- a launch ----------------------------------------------------------------------------- */

/* Returns the median of the steps of a launch, all of which were checked. */
static double read_steps(const json_t *object, struct text_error *err)
{
    const json_t *list;
    const size_t n = read_list(object, "step_ns", 1, STEPS_MAX, &list, err);
    double *steps = calloc(n + 1, sizeof *steps), median;

    if (!steps) {
        fault(err, "no memory for %zu steps", n);
        return NAN;
    }
    for (size_t i = 0; i < n; ++i) {
        const json_t *step = json_array_get(list, i);

        steps[i] = (double)json_integer_value(step);
        if (!json_is_integer(step) || json_integer_value(step) < 1 ||
            json_integer_value(step) > STEP_NS_MAX)
            fault(err, "'step_ns' has something that is not the time of a step in ns");
    }
    if (read_count(object, "steps_checked", 0, STEPS_MAX, err) < n)
        fault(err, "a launch is ok and did not check all of its %zu steps", n);
    read_count(object, "values_checked", 1, INT64_MAX, err);
    stats_sort(steps, n);
    median = n > 0 ? (steps[(n - 1) / 2] + steps[n / 2]) / 2 : NAN;
    free(steps);
    return median;
}

static void read_failure(const json_t *object, const char *status, struct peer_arm *arm,
                         struct text_error *err)
{
    char reason[sizeof arm->reason];

    if (strcmp(status, "wrong") != 0 && strcmp(status, "broken") != 0)
        fault(err, "'status' is '%.20s', not ok, wrong or broken", status);
    arm->wrong = arm->wrong || strcmp(status, "wrong") == 0;
    read_text(object, "reason", reason, sizeof reason, err);
    if (arm->failed++ == 0)
        memcpy(arm->reason, reason, sizeof arm->reason);
}

static void read_launch(const json_t *object, const struct peer_record *record,
                        struct peer_arm *arm, struct text_error *err)
{
    struct peer_launch *launch = &arm->launch[arm->n];
    const json_t *outside = json_object_get(object, "outside_frac");
    char status[16];

    launch->round = read_count(object, "round", 0, (json_int_t)record->launches - 1, err);
    for (size_t i = 0; i < arm->n; ++i)
        if (arm->launch[i].round == launch->round)
            fault(err, "round %zu is there twice in one arm", launch->round);
    ++arm->n;
    read_text(object, "status", status, sizeof status, err);
    launch->ok = strcmp(status, "ok") == 0;
    launch->step_ns = launch->outside = NAN;
    if (!launch->ok) {
        read_failure(object, status, arm, err);
        return;
    }
    launch->step_ns = read_steps(object, err);
    if (outside && read_number(outside, "outside_frac", err) <= 1.0)
        launch->outside = json_number_value(outside);
    else if (outside)
        fault(err, "'outside_frac' is more than 1");
}

/* ---- cells -------------------------------------------------------------------------------- */

static enum peer_kind read_kind(const json_t *object, struct text_error *err)
{
    char program[16], mode[24];

    read_text(object, "program", program, sizeof program, err);
    read_text(object, "mode", mode, sizeof mode, err);
    for (int kind = 0; kind < PEER_KINDS; ++kind)
        if (strcmp(program, peer_kinds[kind].program) == 0 &&
            strcmp(mode, peer_kinds[kind].mode) == 0)
            return (enum peer_kind)kind;
    fault(err, "'%s' in mode '%s' is not a known arm", program, mode);
    return PEER_KINDS;
}

static void read_arm(const json_t *object, const struct peer_record *record, struct peer_cell *cell,
                     struct text_error *err)
{
    struct peer_arm arm = {.kind = read_kind(object, err)};
    const json_t *launches;
    size_t most, n;

    arm.devices = (int)read_count(object, "devices", 1, PEER_MAX_DEVICES, err);
    /* Old records have one PyTorch, and no arm that is absent. */
    if (json_object_get(object, "torch"))
        read_text(object, "torch", arm.torch, sizeof arm.torch, err);
    else if (arm.kind >= PEER_PYTORCH_DDP)
        snprintf(arm.torch, sizeof arm.torch, "%s", record->pytorch.torch);
    if (json_object_get(object, "absent")) {
        read_text(object, "absent", arm.absent, sizeof arm.absent, err);
        if (arm.absent[0] == '\0')
            fault(err, "'absent' gives no reason");
    }
    for (size_t a = 0; a < cell->n_arms; ++a)
        if (cell->arm[a].kind == arm.kind && cell->arm[a].devices == arm.devices &&
            strcmp(cell->arm[a].torch, arm.torch) == 0)
            fault(err, "an arm of %.60s, batch %zu is there twice", cell->workload, cell->batch);
    most = arm.absent[0] == '\0' ? record->launches : 0;
    n = read_list(object, "launches", record->complete ? most : 0, most, &launches, err);
    arm.launch = calloc(n + 1, sizeof *arm.launch);
    if (!arm.launch)
        fault(err, "no memory for %zu launches", n);
    for (size_t i = 0; i < n && err->text[0] == '\0'; ++i)
        read_launch(json_array_get(launches, i), record, &arm, err);
    cell->arm[cell->n_arms++] = arm;
}

static void read_cell(const json_t *object, struct peer_record *record, struct text_error *err)
{
    struct peer_cell *cell = &record->cell[record->n_cells];
    const json_t *arms;
    size_t n;

    read_text(object, "workload", cell->workload, sizeof cell->workload, err);
    cell->batch = read_count(object, "batch", 1, INT64_C(1) << 40, err);
    for (size_t i = 0; i < record->n_cells; ++i)
        if (record->cell[i].batch == cell->batch &&
            strcmp(record->cell[i].workload, cell->workload) == 0)
            fault(err, "%.60s, batch %zu is there twice", cell->workload, cell->batch);
    ++record->n_cells;
    n = read_list(object, "arms", 1, PEER_MAX_ARMS, &arms, err);
    for (size_t i = 0; i < n && err->text[0] == '\0'; ++i)
        read_arm(json_array_get(arms, i), record, cell, err);
}

/* ---- the file ----------------------------------------------------------------------------- */

static double read_load(const json_t *machine, const char *key, struct text_error *err)
{
    const json_t *list;

    return read_list(machine, key, 3, 3, &list, err) == 3
               ? read_number(json_array_get(list, 0), key, err)
               : NAN;
}

static void read_machine(const json_t *machine, struct peer_record *record, struct text_error *err)
{
    READ_TEXTS(machine, machine_texts, record, err);
    if (json_object_get(machine, "machine_class"))
        READ_TEXTS(machine, class_texts, record, err);
    record->packages = read_count(machine, "packages", 0, 1 << 20, err);
    record->cores = read_count(machine, "cores", 0, 1 << 20, err);
    record->pus = read_count(machine, "pus", 0, 1 << 20, err);
    record->usable_pus = read_count(machine, "usable_pus", 0, 1 << 20, err);
    record->load_start = read_load(machine, "load_start", err);
    record->load_end = read_load(machine, "load_end", err);
}

static void read_versions(const json_t *versions, struct peer_record *record,
                          struct text_error *err)
{
    const json_t *beside;

    READ_TEXTS(versions, version_texts, record, err);
    READ_TEXTS(versions, pytorch_texts, &record->pytorch, err);
    if (!json_object_get(versions, "beside"))
        return;
    record->n_beside = read_list(versions, "beside", 0, PEER_MAX_BESIDE, &beside, err);
    for (size_t i = 0; i < record->n_beside; ++i)
        READ_TEXTS(json_array_get(beside, i), pytorch_texts, &record->beside[i], err);
}

/* Reads the math; old records have none. */
static void read_math(const json_t *root, struct peer_record *record, struct text_error *err)
{
    snprintf(record->math, sizeof record->math, "f32");
    if (!json_object_get(root, "math"))
        return;
    read_text(root, "math", record->math, sizeof record->math, err);
    if (strcmp(record->math, "f32") != 0 && !peer_is_tf32(record))
        fault(err, "'math' is '%s', not f32 or tf32", record->math);
}

static void read_root(const json_t *root, struct peer_record *record, struct text_error *err)
{
    const json_t *cells;
    size_t n;

    READ_TEXTS(root, root_texts, record, err);
    record->git_dirty = read_flag(root, "git_dirty", err);
    record->interrupted = read_flag(root, "interrupted", err);
    record->oversubscribed = read_flag(root, "oversubscribed", err);
    record->complete = read_flag(root, "complete", err);
    record->devices = (int)read_count(root, "devices", 1, PEER_MAX_DEVICES, err);
    read_math(root, record, err);
    record->launches = read_count(root, "launches", 1, PEER_MAX_LAUNCHES, err);
    record->seconds = read_number(json_object_get(root, "seconds"), "seconds", err);
    read_machine(json_object_get(root, "machine"), record, err);
    read_versions(json_object_get(root, "versions"), record, err);
    READ_TEXTS(json_object_get(root, "settings"), setting_texts, record, err);
    n = read_list(root, "cells", 1, PEER_MAX_CELLS, &cells, err);
    for (size_t i = 0; i < n && err->text[0] == '\0'; ++i)
        read_cell(json_array_get(cells, i), record, err);
}

static json_t *load(const char *path, struct text_error *err)
{
    const char prefix[] = "lockstep/peer/1.";
    json_t *root = record_json_file(path, FILE_BYTES_MAX, err);
    char schema[64];

    if (!root)
        return NULL;
    read_text(root, "schema", schema, sizeof schema, err);
    if (strncmp(schema, prefix, sizeof prefix - 1) != 0 || schema[sizeof prefix - 1] == '\0' ||
        strspn(schema + sizeof prefix - 1, "0123456789") != strlen(schema + sizeof prefix - 1))
        fault(err, "the schema is '%s', not lockstep/peer/1.x", schema);
    return root;
}

struct peer_record *peer_record_read(const char *path, struct text_error *err)
{
    struct peer_record *record = calloc(1, sizeof *record);
    struct text_error why = {""};
    json_t *root = NULL;

    if (!record)
        fault(&why, "no memory for the record");
    else
        root = load(path, &why);
    if (why.text[0] == '\0')
        read_root(root, record, &why);
    json_decref(root);
    if (why.text[0] == '\0')
        return record;
    snprintf(err->text, sizeof err->text, "%.100s: %.150s", path, why.text);
    text_clean(err->text, ' ');
    peer_record_free(record);
    return NULL;
}

void peer_record_free(struct peer_record *record)
{
    for (size_t c = 0; record && c < record->n_cells; ++c)
        for (size_t a = 0; a < record->cell[c].n_arms; ++a)
            free(record->cell[c].arm[a].launch);
    free(record);
}
