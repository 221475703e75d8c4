/* validate/json.c: the verdict for programs: lockstep/verdict/1.0, one object per machine. */
#include "validate/validate.h"

#include <jansson.h>
#include <stdlib.h>

#include "build_info.h"
#include "files/files.h"
#include "machine/machine.h"
#include "record/json.h"

/* An unknown value is null, never an empty text. */
static json_t *value_known(const char *value)
{
    return value_cleaned(value && value[0] != '\0' ? value : NULL);
}

static json_t *value_above_0(uint64_t n)
{
    return n > 0 && n <= INT64_MAX ? json_integer((json_int_t)n) : json_null();
}

static void set_member(json_t *object, const char *name, json_t *value)
{
    json_object_set_new(object, name, value);
}

/* ---- a limit ------------------------------------------------------------------------------ */

static json_t *limit_json(const struct validate *validate, const struct validate_judged *judged)
{
    const struct profile_limit *limit = judged->limit;
    const struct profile_place *at = &limit->at;
    const struct record_key *key = judged->point ? &judged->point->row->cell->key : NULL;
    const struct record_slot *slot = validate_slot(judged);
    struct validate_device shown[RECORD_MAX_SLOTS];
    const int n = validate_devices(judged, shown);
    double *rate = limit->row->of_pair && judged->launches > 0 ? validate_pairs(judged) : NULL;
    const int senders = rate ? key->n_devices : 0;
    json_t *o = json_object(), *size = json_object();
    json_t *devices = n > 0 ? json_array() : json_null();
    json_t *by_pair = rate ? json_array() : json_null();
    char bound[96], place[VALIDATE_TEXT], number[128], action[VALIDATE_TEXT];

    /* The limit as the profile has it. */
    profile_bound_words(limit, bound);
    set_member(o, "metric", value_cleaned(limit->metric));
    set_member(o, "statistic", value_cleaned(limit->statistic));
    set_member(o, "limit", value_cleaned(bound));
    set_member(o, "min", value_real(limit->least));
    set_member(o, "max", value_real(limit->most));
    set_member(o, "expected", value_real(limit->healthy));
    set_member(o, "peak", value_real(limit->peak_at));
    set_member(o, "unit", value_cleaned(quantity_base_unit(limit->row->kind)));
    set_member(o, "binding", json_boolean(limit->binding));
    set_member(o, "source", value_cleaned(limit->source));
    set_member(o, "date", value_cleaned(limit->date));
    set_member(o, "evidence", value_cleaned(limit->evidence));
    /* The size at which it was measured; if it was not measured, the size of the limit. */
    set_member(size, "workload", value_cleaned(key ? key->workload : at->workload));
    set_member(size, "mode", value_cleaned(key ? key->mode : at->mode));
    set_member(size, "devices", value_cleaned(key ? key->devices : NULL));
    set_member(size, "bytes", value_cleaned(at->bytes));
    set_member(size, "n_devices", value_above_0(key ? (uint64_t)key->n_devices : at->devices));
    set_member(size, "batch", value_above_0(key ? key->global_batch : at->batch));
    set_member(size, "chain", value_above_0(key ? key->chain : at->chain));
    set_member(size, "host_inputs", value_above_0(key ? key->host_inputs : at->host_inputs));
    set_member(size, "backend", value_cleaned(key ? key->backend : at->backend));
    set_member(size, "communicator", value_cleaned(key ? key->communicator : at->communicator));
    set_member(size, "math", value_cleaned(key ? key->dtype : at->math));
    /* The numbers of the machine. */
    validate_place_words(judged, place);
    validate_number_words(judged, number);
    set_member(o, "verdict", value_cleaned(validate_verdict_words[judged->verdict]));
    set_member(o, "place", value_cleaned(place));
    set_member(o, "size", size);
    set_member(o, "device", judged->device < 0 ? json_null() : json_integer(judged->device));
    set_member(o, "device_name", value_known(slot ? slot->name : NULL));
    set_member(o, "device_model", value_known(slot ? slot->model : NULL));
    set_member(o, "launches", json_integer((json_int_t)judged->launches));
    set_member(o, "median", value_real(judged->middle));
    set_member(o, "lo", value_real(judged->lo));
    set_member(o, "hi", value_real(judged->hi));
    set_member(o, "level", json_real(1.0 - validate_alpha));
    set_member(o, "shared_by", json_integer((json_int_t)judged->units));
    set_member(o, "is", value_cleaned(judged->launches > 0 ? number : NULL));
    set_member(o, "reason", value_cleaned(judged->why));
    validate_reason_words(validate, judged, action);
    set_member(o, "likely", value_cleaned(action));
    validate_action_words(validate, judged, action);
    set_member(o, "action", value_cleaned(action));
    for (int d = 0; d < n; ++d)
        json_array_append_new(
            devices, json_pack("{s:o, s:o, s:o}", "median", value_real(shown[d].median), "lo",
                               value_real(shown[d].lo), "hi", value_real(shown[d].hi)));
    set_member(o, "by_device", devices);
    /* The copies from each device to each other one, if the limit is about copies. */
    for (int from = 0; from < senders; ++from) {
        json_t *line = json_array();

        for (int to = 0; to < senders; ++to)
            json_array_append_new(line, value_real(rate[from * senders + to]));
        json_array_append_new(by_pair, line);
    }
    set_member(o, "by_pair", by_pair);
    free(rate);
    return o;
}

/* ---- the machine -------------------------------------------------------------------------- */

static json_t *program_json(const char *version, const char *commit)
{
    json_t *o = json_object();

    set_member(o, "version", value_known(version));
    set_member(o, "commit", value_known(commit));
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
    return value_known(status == 0 ? chain : NULL);
}

void validate_json(FILE *stream, const struct validate *validate)
{
    const struct validate_conformance *cases = validate->conformance;
    const struct report *report = validate->report;
    const struct record_run *run = &report->file[0].run;
    json_t *limits = json_array(), *unknown = json_array(), *root = json_object();
    json_t *binding = json_object(), *conformance = cases ? json_object() : json_null();
    json_t *devices = json_array(), *software = json_object();
    char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT];
    struct record_field facts[PROVENANCE_FACTS + 1];
    size_t doubtful = report->n_files - 1;

    for (unsigned i = 0; i < validate->profile->n_limits; ++i)
        json_array_append_new(limits, limit_json(validate, &validate->judged[i]));
    for (unsigned i = 0; i < validate->profile->n_unknown; ++i)
        json_array_append_new(unknown, value_cleaned(validate->profile->unknown[i]));
    for (int v = 0; v < VALIDATE_VERDICTS; ++v)
        set_member(binding, validate_verdict_words[v],
                   json_integer((json_int_t)validate->count[v]));
    if (cases) {
        set_member(conformance, "required", value_cleaned(validate->profile->requires.conformance));
        set_member(conformance, "verdict", value_cleaned(validate_verdict_words[cases->verdict]));
        set_member(conformance, "reason", value_known(cases->why));
        set_member(conformance, "cases", json_integer((json_int_t)cases->cases));
        set_member(conformance, "passed", json_integer((json_int_t)cases->passed));
        set_member(conformance, "failed", json_integer((json_int_t)cases->failed));
        set_member(conformance, "skipped", json_integer((json_int_t)cases->skipped));
    }
    for (int i = 0; i < run->n_slots; ++i)
        json_array_append_new(devices, json_pack("{s:o, s:o, s:o, s:o}", "name",
                                                 value_cleaned(run->slot[i].name), "kind",
                                                 value_cleaned(run->slot[i].kind), "model",
                                                 value_known(run->slot[i].model), "bus",
                                                 value_known(run->slot[i].bus)));
    /* Machines of one class may differ in their software, although they should be alike. */
    set_member(software, "kernel", value_known(run->kernel));
    set_member(software, "libc", value_known(run->libc));
    set_member(software, "blas", value_known(run->blas));
    set_member(software, "gpu_software", value_known(run->gpu_software));
    set_member(software, "governor", value_known(run->governor));
    set_member(software, "backend", value_known(run->backend));
    set_member(software, "communicator", value_known(run->communicator));
    /* The facts that make times doubtful, from records whose times are doubtful: a reader of the
     * verdict judges them again. */
    while (doubtful > 0 &&
           provenance_doubts(&report->file[doubtful].run, PROVENANCE_REFUSED, doubt) == 0)
        --doubtful;
    provenance_facts(facts);
    set_member(root, "schema", value_cleaned("lockstep/verdict/1.0"));
    set_member(root, "verdict", value_cleaned(validate_machine_words[validate->machine]));
    set_member(root, "node", value_cleaned(validate->node));
    set_member(root, "profile", value_cleaned(validate->profile->name));
    set_member(root, "profile_sha256", value_cleaned(validate->profile->sha256));
    set_member(root, "judged_by", program_json(BUILD_VERSION, BUILD_GIT));
    set_member(root, "machine_class", value_cleaned(run->machine_class));
    set_member(root, "machine_instance", value_cleaned(run->machine_instance));
    set_member(root, "node_hash", value_cleaned(run->node_hash));
    set_member(root, "cpu_model", value_cleaned(run->cpu_model));
    set_member(root, "cores", value_above_0((uint64_t)run->cores));
    set_member(root, "devices", devices);
    set_member(root, "software", software);
    set_member(root, "run_id", value_cleaned(run->run_id));
    set_member(root, "measured_utc", value_known(run->created_utc));
    set_member(root, "measured_by", program_json(run->program_version, run->git_sha));
    set_member(root, "allow_dirty", json_boolean(validate->allow_dirty));
    set_member(root, "records", record_json_of(facts, &report->file[doubtful].run));
    set_member(root, "samples_sha256", samples_json(report));
    set_member(root, "binding", binding);
    set_member(root, "conformance", conformance);
    set_member(root, "limits", limits);
    set_member(root, "unknown", unknown);
    document_print(stream, root);
}
