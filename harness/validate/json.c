/* validate/json.c: the verdict for programs: lockstep/verdict/1.0, one object per machine.
 *
 * If jansson runs out of memory and cannot add a member, that shows at the end
 * (record/memory.h). */
#include "validate/validate.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "build_info.h"
#include "files/digest.h"
#include "machine/provenance.h"
#include "record/document.h"
#include "record/json.h"

/* An unknown value is null, never an empty text. */
static json_t *known(const char *value)
{
    return value_cleaned(value && value[0] != '\0' ? value : NULL);
}

static json_t *count(uint64_t n)
{
    return n > 0 && n <= INT64_MAX ? json_integer((json_int_t)n) : json_null();
}

static void set(json_t *object, const char *name, json_t *value)
{
    json_object_set_new(object, name, value);
}

/* ---- a limit ------------------------------------------------------------------------------ */

/* The size at which it was measured; if it was not measured, the size of the limit. */
static json_t *size_json(const struct validate_judged *judged)
{
    const struct profile_place *at = &judged->limit->at;
    const struct record_key *key = judged->point ? &judged->point->row->cell->key : NULL;
    json_t *o = json_object();

    set(o, "workload", value_cleaned(key ? key->workload : at->workload));
    set(o, "mode", value_cleaned(key ? key->mode : at->mode));
    set(o, "devices", value_cleaned(key ? key->devices : NULL));
    set(o, "bytes", value_cleaned(at->bytes));
    set(o, "n_devices", count(key ? (uint64_t)key->n_devices : at->devices));
    set(o, "batch", count(key ? key->global_batch : at->batch));
    set(o, "chain", count(key ? key->chain : at->chain));
    set(o, "host_inputs", count(key ? key->host_inputs : at->host_inputs));
    set(o, "backend", value_cleaned(key ? key->backend : at->backend));
    set(o, "communicator", value_cleaned(key ? key->communicator : at->communicator));
    set(o, "math", value_cleaned(key ? key->dtype : at->math));
    return o;
}

/* Adds the limit as the profile has it. */
static void add_limit(json_t *o, const struct profile_limit *limit)
{
    char bound[96];

    profile_bound_words(limit, bound);
    set(o, "metric", value_cleaned(limit->metric));
    set(o, "statistic", value_cleaned(limit->statistic));
    set(o, "limit", value_cleaned(bound));
    set(o, "min", value_real(limit->least));
    set(o, "max", value_real(limit->most));
    set(o, "expected", value_real(limit->healthy));
    set(o, "peak", value_real(limit->peak_at));
    set(o, "unit", value_cleaned(quantity_base_unit(limit->row->kind)));
    set(o, "binding", json_boolean(limit->binding));
    set(o, "source", value_cleaned(limit->source));
    set(o, "date", value_cleaned(limit->date));
    set(o, "evidence", value_cleaned(limit->evidence));
}

static int add_devices(json_t *o, const struct validate_judged *judged)
{
    struct validate_device shown[RECORD_MAX_SLOTS];
    const int n = validate_devices(judged, shown);
    json_t *devices = n > 0 ? json_array() : json_null();

    for (int d = 0; d < n; ++d) {
        json_t *one = json_object();

        set(one, "median", value_real(shown[d].median));
        set(one, "lo", value_real(shown[d].lo));
        set(one, "hi", value_real(shown[d].hi));
        json_array_append_new(devices, one);
    }
    set(o, "by_device", devices);
    return n < 0 ? -1 : 0;
}

/* Adds the copies from each device to each other one, if the limit is about copies. */
static int add_pairs(json_t *o, const struct validate_judged *judged)
{
    const bool has = judged->limit->row->of_pair && judged->launches > 0;
    const int devices = has ? judged->point->row->cell->key.n_devices : 0;
    double *rate = has ? validate_pairs(judged) : NULL;
    json_t *by_pair = rate ? json_array() : json_null();

    for (int from = 0; rate && from < devices; ++from) {
        json_t *line = json_array();

        for (int to = 0; to < devices; ++to)
            json_array_append_new(line, value_real(rate[from * devices + to]));
        json_array_append_new(by_pair, line);
    }
    set(o, "by_pair", by_pair);
    free(rate);
    return has && !rate ? -1 : 0;
}

/* Adds the numbers of the machine. */
static void add_shown(json_t *o, const struct validate_judged *judged)
{
    const struct record_slot *slot = validate_slot(judged);
    char place[VALIDATE_TEXT], number[128];

    validate_place_words(judged, place);
    validate_number_words(judged, number);
    set(o, "verdict", value_cleaned(validate_verdict_words[judged->verdict]));
    set(o, "place", value_cleaned(place));
    set(o, "size", size_json(judged));
    set(o, "device", judged->device < 0 ? json_null() : json_integer(judged->device));
    set(o, "device_name", known(slot ? slot->name : NULL));
    set(o, "device_model", known(slot ? slot->model : NULL));
    set(o, "launches", json_integer((json_int_t)judged->launches));
    set(o, "median", value_real(judged->middle));
    set(o, "lo", value_real(judged->lo));
    set(o, "hi", value_real(judged->hi));
    set(o, "level", json_real(1.0 - validate_alpha));
    set(o, "shared_by", json_integer((json_int_t)judged->units));
    set(o, "is", value_cleaned(judged->launches > 0 ? number : NULL));
    set(o, "reason", value_cleaned(judged->why));
    set(o, "likely", value_cleaned(validate_reason_words(judged)));
    set(o, "action", value_cleaned(validate_action_words(judged)));
}

/* ---- the machine -------------------------------------------------------------------------- */

static json_t *devices_json(const struct record_run *run)
{
    json_t *devices = json_array();

    for (int i = 0; i < run->n_slots; ++i) {
        json_t *o = json_object();

        set(o, "name", value_cleaned(run->slot[i].name));
        set(o, "kind", value_cleaned(run->slot[i].kind));
        set(o, "model", known(run->slot[i].model));
        set(o, "bus", known(run->slot[i].bus));
        json_array_append_new(devices, o);
    }
    return devices;
}

/* The software, in which machines of one class may differ although they should be alike. */
static json_t *software_json(const struct record_run *run)
{
    json_t *o = json_object();

    set(o, "kernel", known(run->kernel));
    set(o, "libc", known(run->libc));
    set(o, "blas", known(run->blas));
    set(o, "gpu_software", known(run->gpu_software));
    set(o, "governor", known(run->governor));
    set(o, "backend", known(run->backend));
    set(o, "communicator", known(run->communicator));
    return o;
}

static json_t *program_json(const char *version, const char *commit)
{
    json_t *o = json_object();

    set(o, "version", known(version));
    set(o, "commit", known(commit));
    return o;
}

/* A digest of the samples of all launches: no two machines have the same, whatever their files
 * claim. */
static json_t *samples_json(const struct report *report)
{
    char chain[2 * DIGEST_HEX] = "";
    int status = 0;

    for (size_t f = 0; f < report->n_files; ++f)
        for (size_t c = 0; c < report->file[f].n_cells; ++c) {
            const struct record_cell *cell = &report->file[f].cell[c];

            if (cell->n_samples == 0)
                continue;
            status |= digest_sha256(cell->t_step_ns, cell->n_samples * sizeof *cell->t_step_ns,
                                    chain + DIGEST_HEX);
            status |= digest_sha256(chain, sizeof chain, chain);
        }
    return known(status == 0 ? chain : NULL);
}

/* The facts that make times doubtful, from records whose times are doubtful: a reader of the
 * verdict judges them again. */
static json_t *records_json(const struct report *report)
{
    char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT];
    struct record_field facts[PROVENANCE_FACTS + 1];
    size_t f = report->n_files - 1;

    while (f > 0 && provenance_doubts(&report->file[f].run, PROVENANCE_REFUSED, doubt) == 0)
        --f;
    provenance_facts(facts);
    return record_json_of(facts, &report->file[f].run);
}

static void add_machine(json_t *o, const struct record_run *run)
{
    set(o, "machine_class", value_cleaned(run->machine_class));
    set(o, "machine_instance", value_cleaned(run->machine_instance));
    set(o, "node_hash", value_cleaned(run->node_hash));
    set(o, "cpu_model", value_cleaned(run->cpu_model));
    set(o, "cores", count((uint64_t)run->cores));
    set(o, "devices", devices_json(run));
    set(o, "software", software_json(run));
    set(o, "run_id", value_cleaned(run->run_id));
    set(o, "measured_utc", known(run->created_utc));
    set(o, "measured_by", program_json(run->program_version, run->git_sha));
}

static json_t *counts_json(const struct validate *validate)
{
    json_t *o = json_object();

    for (int v = 0; v < VALIDATE_VERDICTS; ++v)
        set(o, validate_verdict_words[v], json_integer((json_int_t)validate->count[v]));
    return o;
}

static json_t *conformance_json(const struct validate *validate)
{
    const struct validate_conformance *cases = validate->conformance;
    json_t *o = cases ? json_object() : json_null();

    if (!cases)
        return o;
    set(o, "required", value_cleaned(validate->profile->requires.conformance));
    set(o, "verdict", value_cleaned(validate_verdict_words[cases->verdict]));
    set(o, "reason", known(cases->why));
    set(o, "cases", json_integer((json_int_t)cases->cases));
    set(o, "passed", json_integer((json_int_t)cases->passed));
    set(o, "failed", json_integer((json_int_t)cases->failed));
    set(o, "skipped", json_integer((json_int_t)cases->skipped));
    return o;
}

int validate_json(FILE *stream, const struct validate *validate)
{
    json_t *limits = json_array(), *unknown = json_array(), *root = json_object();
    int status = 0;

    for (unsigned i = 0; i < validate->profile->n_limits; ++i) {
        json_t *o = json_object();

        add_limit(o, validate->judged[i].limit);
        add_shown(o, &validate->judged[i]);
        status |= add_devices(o, &validate->judged[i]);
        status |= add_pairs(o, &validate->judged[i]);
        json_array_append_new(limits, o);
    }
    for (unsigned i = 0; i < validate->profile->n_unknown; ++i)
        json_array_append_new(unknown, value_cleaned(validate->profile->unknown[i]));
    set(root, "schema", value_cleaned("lockstep/verdict/1.0"));
    set(root, "verdict", value_cleaned(validate_machine_words[validate->machine]));
    set(root, "node", value_cleaned(validate->node));
    set(root, "profile", value_cleaned(validate->profile->name));
    set(root, "judged_by", program_json(BUILD_VERSION, BUILD_GIT));
    add_machine(root, &validate->report->file[0].run);
    set(root, "allow_dirty", json_boolean(validate->allow_dirty));
    set(root, "records", records_json(validate->report));
    set(root, "samples_sha256", samples_json(validate->report));
    set(root, "binding", counts_json(validate));
    set(root, "conformance", conformance_json(validate));
    set(root, "limits", limits);
    set(root, "unknown", unknown);
    if (status != 0) {
        json_decref(root);
        return status;
    }
    return document_print(stream, root);
}
