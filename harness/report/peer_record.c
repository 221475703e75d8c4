/* report/peer_record.c: reads lockstep/peer/1.x. The file is untrusted: types and ranges are
 * checked before anything is stored, and text is cleaned. */
#include "report/peer.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "text/alloc.h"

enum { FILE_BYTES_MAX = 256 << 20, STEPS_MAX = 1000000, REASON_BYTES = 208 };

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

/* ---- a launch ----------------------------------------------------------------------------- */

static void read_peer_launch(const json_t *object, const struct peer_record *record,
                             struct peer_arm *arm, struct text_error *err)
{
    struct report_row *row = &arm->row[arm->point->n];
    struct record_cell *cell = &arm->cell[arm->point->n];
    const json_t *outside = json_object_get(object, "outside_frac");
    char status[16];

    *row = (struct report_row){.run = &record->run, .cell = cell};
    cell->median_ns = cell->outside_frac = NAN;
    cell->key.launch = (int)member_count(object, "round", 0, (long long)record->launches - 1, err);
    for (size_t i = 0; i < arm->point->n; ++i)
        if (arm->cell[i].key.launch == cell->key.launch)
            member_fault(err, "round %d is there twice in one arm", cell->key.launch);
    ++arm->point->n;
    member_text(object, "status", status, sizeof status, err);
    if (strcmp(status, "ok") == 0) {
        /* All of its steps were checked, and their median counts. */
        const json_t *list;
        const size_t n = member_list(object, "step_ns", 1, STEPS_MAX, &list, err);
        double *steps = cli_alloc(n, sizeof *steps);

        row->verified = true;
        for (size_t i = 0; i < n; ++i) {
            const json_t *step = json_array_get(list, i);

            steps[i] = (double)json_integer_value(step);
            if (!json_is_integer(step) || json_integer_value(step) < 1 ||
                json_integer_value(step) > STEP_NS_MAX)
                member_fault(err, "'step_ns' has something that is not the time of a step in ns");
        }
        if (member_count(object, "steps_checked", 0, STEPS_MAX, err) < n)
            member_fault(err, "a launch is ok and did not check all of its %zu steps", n);
        member_count(object, "values_checked", 1, INT64_MAX, err);
        cell->median_ns = stats_median(steps, n);
        free(steps);
        if (outside && member_number(outside, "outside_frac", 0, INFINITY, err) > 1.0)
            member_fault(err, "'outside_frac' is more than 1");
        if (outside)
            cell->outside_frac = json_number_value(outside);
        return;
    }
    if (strcmp(status, "wrong") != 0 && strcmp(status, "broken") != 0)
        member_fault(err, "'status' is '%.20s', not ok, wrong or broken", status);
    arm->wrong = arm->wrong || strcmp(status, "wrong") == 0;
    member_text(object, "reason", cell->reason, REASON_BYTES, err);
    if (arm->failed++ == 0)
        arm->reason = cell->reason;
}

/* ---- cells -------------------------------------------------------------------------------- */

static void read_peer_arm(const json_t *object, struct peer_record *record, struct peer_cell *cell,
                          struct text_error *err)
{
    struct peer_arm *arm = &cell->arm[cell->n_arms];
    char program[16], mode[24];
    double scratch[PEER_MAX_LAUNCHES];
    const json_t *launches;
    size_t most, n;

    member_text(object, "program", program, sizeof program, err);
    member_text(object, "mode", mode, sizeof mode, err);
    while (arm->kind < PEER_KINDS && (strcmp(program, peer_kinds[arm->kind].program) != 0 ||
                                      strcmp(mode, peer_kinds[arm->kind].mode) != 0))
        ++arm->kind;
    if (arm->kind == PEER_KINDS)
        member_fault(err, "'%s' in mode '%s' is not a known arm", program, mode);
    arm->devices = (int)member_count(object, "devices", 1, PEER_MAX_DEVICES, err);
    /* Old records have one PyTorch, and no arm that is absent. */
    if (json_object_get(object, "torch"))
        member_text(object, "torch", arm->torch, sizeof arm->torch, err);
    else if (arm->kind >= PEER_PYTORCH_DDP)
        snprintf(arm->torch, sizeof arm->torch, "%s", record->pytorch[0].torch);
    if (json_object_get(object, "absent")) {
        member_text(object, "absent", arm->absent, sizeof arm->absent, err);
        if (arm->absent[0] == '\0')
            member_fault(err, "'absent' gives no reason");
    }
    for (size_t a = 0; a < cell->n_arms; ++a)
        if (cell->arm[a].kind == arm->kind && cell->arm[a].devices == arm->devices &&
            strcmp(cell->arm[a].torch, arm->torch) == 0)
            member_fault(err, "an arm of %.60s, batch %zu is there twice", cell->workload,
                         cell->batch);
    most = arm->absent[0] == '\0' ? record->launches : 0;
    n = member_list(object, "launches", record->complete ? most : 0, most, &launches, err);
    arm->point = &record->points.point[record->points.n_points++];
    ++cell->n_arms;
    /* A point is made of the launches. */
    arm->row = cli_alloc(n, sizeof *arm->row);
    arm->cell = cli_alloc(n, sizeof *arm->cell);
    for (size_t i = 0; i < n && err->text[0] == '\0'; ++i)
        read_peer_launch(json_array_get(launches, i), record, arm, err);
    for (size_t i = 0; i < arm->point->n; ++i) {
        arm->row[i].verified = arm->row[i].verified && !arm->wrong;
        arm->point->verified += arm->row[i].verified;
    }
    arm->point->row = arm->row;
    arm->point->value[REPORT_STEP] = report_over_launches(arm->point, REPORT_STEP, scratch);
    arm->point->value[REPORT_OUTSIDE] = report_over_launches(arm->point, REPORT_OUTSIDE, scratch);
}

/* ---- the file ----------------------------------------------------------------------------- */

#define RUN_TEXT(member)   MEMBER_TEXT(#member, peer_record, run.member)
#define OWN_TEXT(member)   MEMBER_TEXT(#member, peer_record, member)
#define TORCH_TEXT(member) MEMBER_TEXT(#member, peer_versions, member)

static const struct member_text root_texts[] = {RUN_TEXT(created_utc), RUN_TEXT(git_sha),
                                                OWN_TEXT(seed)};
static const struct member_text class_texts[] = {RUN_TEXT(machine_class),
                                                 RUN_TEXT(machine_instance)};
static const struct member_text machine_texts[] = {RUN_TEXT(node_hash), RUN_TEXT(cpu_model),
                                                   RUN_TEXT(kernel), RUN_TEXT(governor)};
static const struct member_text build_texts[] = {
    MEMBER_TEXT("lockstep", peer_record, run.program_version),
    MEMBER_TEXT("lockstep_blas", peer_record, run.blas), RUN_TEXT(build_type)};
static const struct member_text torch_texts[] = {TORCH_TEXT(python), TORCH_TEXT(torch),
                                                 TORCH_TEXT(torch_blas), TORCH_TEXT(gloo)};
static const struct member_text setting_texts[] = {OWN_TEXT(clock),       OWN_TEXT(step_time),
                                                   OWN_TEXT(warmup_rule), OWN_TEXT(ddp),
                                                   OWN_TEXT(sgd),         OWN_TEXT(environment)};

static double read_peer_load(const json_t *machine, const char *key, struct text_error *err)
{
    const json_t *list;

    return member_list(machine, key, 3, 3, &list, err) == 3
               ? member_number(json_array_get(list, 0), key, 0, INFINITY, err)
               : NAN;
}

static void read_peer_root(const json_t *root, struct peer_record *record, struct text_error *err)
{
    char schema[64], math[8] = "f32"; /* old records have no math */
    const json_t *machine = json_object_get(root, "machine"), *cells;
    const json_t *versions = json_object_get(root, "versions"), *others;
    struct record_run *run = &record->run;
    size_t n;

    member_text(root, "schema", schema, sizeof schema, err);
    if (!record_json_is_schema(schema, "peer"))
        member_fault(err, "the schema is '%s', not lockstep/peer/1.x", schema);
    MEMBER_TEXTS(root, root_texts, record, err);
    run->git_dirty = member_flag(root, "git_dirty", err);
    member_flag(root, "interrupted", err);
    record->oversubscribed = member_flag(root, "oversubscribed", err);
    record->complete = member_flag(root, "complete", err);
    record->devices = (int)member_count(root, "devices", 1, PEER_MAX_DEVICES, err);
    if (json_object_get(root, "math"))
        member_text(root, "math", math, sizeof math, err);
    record->tf32 = strcmp(math, "tf32") == 0;
    if (strcmp(math, "f32") != 0 && !record->tf32)
        member_fault(err, "'math' is '%s', not f32 or tf32", math);
    record->launches = member_count(root, "launches", 1, PEER_MAX_LAUNCHES, err);
    record->seconds = member_number(json_object_get(root, "seconds"), "seconds", 0, INFINITY, err);
    MEMBER_TEXTS(machine, machine_texts, record, err);
    if (json_object_get(machine, "machine_class")) /* missing in old records */
        MEMBER_TEXTS(machine, class_texts, record, err);
    run->packages = (int)member_count(machine, "packages", 0, 1 << 20, err);
    run->cores = (int)member_count(machine, "cores", 0, 1 << 20, err);
    run->pus = (int)member_count(machine, "pus", 0, 1 << 20, err);
    run->usable_pus = (int)member_count(machine, "usable_pus", 0, 1 << 20, err);
    run->load_avg[0] = read_peer_load(machine, "load_start", err);
    record->load_end = read_peer_load(machine, "load_end", err);
    MEMBER_TEXTS(versions, build_texts, record, err);
    MEMBER_TEXTS(versions, torch_texts, &record->pytorch[0], err);
    record->n_pytorch = 1;
    if (json_object_get(versions, "beside"))
        record->n_pytorch += member_list(versions, "beside", 0, PEER_MAX_TORCHES - 1, &others, err);
    for (size_t i = 1; i < record->n_pytorch; ++i)
        MEMBER_TEXTS(json_array_get(others, i - 1), torch_texts, &record->pytorch[i], err);
    MEMBER_TEXTS(json_object_get(root, "settings"), setting_texts, record, err);
    n = member_list(root, "cells", 1, PEER_MAX_CELLS, &cells, err);
    for (size_t c = 0; c < n && err->text[0] == '\0'; ++c) {
        const json_t *object = json_array_get(cells, c), *arms;
        struct peer_cell *cell = &record->cell[c];

        member_text(object, "workload", cell->workload, sizeof cell->workload, err);
        cell->batch = member_count(object, "batch", 1, INT64_C(1) << 40, err);
        for (size_t i = 0; i < c; ++i)
            if (record->cell[i].batch == cell->batch &&
                strcmp(record->cell[i].workload, cell->workload) == 0)
                member_fault(err, "%.60s, batch %zu is there twice", cell->workload, cell->batch);
        ++record->n_cells;

        const size_t n_arms = member_list(object, "arms", 1, PEER_MAX_ARMS, &arms, err);

        for (size_t a = 0; a < n_arms && err->text[0] == '\0'; ++a)
            read_peer_arm(json_array_get(arms, a), record, cell, err);
    }
}

struct peer_record *peer_record_read(const char *path, struct text_error *err)
{
    struct peer_record *record = cli_alloc(1, sizeof *record);
    struct text_error why = {""};
    json_t *root = record_json_file(path, FILE_BYTES_MAX, &why);

    record->points.point = cli_alloc(PEER_MAX_CELLS * PEER_MAX_ARMS, sizeof(struct report_point));
    if (root)
        read_peer_root(root, record, &why);
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
        for (size_t a = 0; a < record->cell[c].n_arms; ++a) {
            free(record->cell[c].arm[a].row);
            free(record->cell[c].arm[a].cell);
        }
    if (record)
        free(record->points.point);
    free(record);
}
