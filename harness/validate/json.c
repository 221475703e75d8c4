/* validate/json.c: the verdict for programs: lockstep/verdict/1.0, one object per machine. */
#include "validate/validate.h"

#include <jansson.h>
#include <stdlib.h>

#include "build_info.h"
#include "files/files.h"
#include "machine/machine.h"
#include "record/json.h"

/* ---- a limit ------------------------------------------------------------------------------ */

static json_t *limit_json(const struct validate *validate, const struct validate_judged *judged)
{
    const struct profile_limit *limit = judged->limit;
    const struct record_key *key = judged->point ? &judged->point->row->cell->key : NULL;
    /* The place at which it was measured; if it was not measured, that of the limit. */
    const struct profile_place at = key ? validate_place_of(key) : limit->at;
    const struct record_slot *slot = validate_slot(judged);
    const struct validate_device *shown = judged->shown;
    double *rate = limit->row->of_pair && judged->launches > 0 ? validate_pairs(judged) : NULL;
    const int senders = rate ? key->n_devices : 0;
    json_t *devices = judged->n_shown > 0 ? json_array() : json_null();
    json_t *by_pair = rate ? json_array() : json_null();
    char bound[96], place[VALIDATE_TEXT], number[128], likely[VALIDATE_TEXT], action[VALIDATE_TEXT];

    profile_bound_words(limit, bound);
    validate_place_words(judged, place);
    validate_number_words(judged, number);
    validate_reason_words(validate, judged, likely);
    validate_action_words(validate, judged, action);
    for (int d = 0; d < judged->n_shown; ++d)
        json_array_append_new(
            devices, value_object("median:r lo:r hi:r", shown[d].median, shown[d].lo, shown[d].hi));
    /* The copies from each device to each other one, if the limit is about copies. */
    for (int from = 0; from < senders; ++from) {
        json_t *line = json_array();

        for (int to = 0; to < senders; ++to)
            json_array_append_new(line, value_real(rate[from * senders + to]));
        json_array_append_new(by_pair, line);
    }
    free(rate);
    json_t *const size = value_object(
        "workload:c mode:c devices:c bytes:c n_devices:p batch:p chain:p host_inputs:p backend:c "
        "communicator:c math:c",
        at.workload, at.mode, key ? key->devices : NULL, limit->at.bytes, (size_t)at.devices,
        (size_t)at.batch, (size_t)at.chain, (size_t)at.host_inputs, at.backend, at.communicator,
        at.math);
    /* The limit as the profile has it. */
    json_t *const o = value_object(
        "metric:c statistic:c limit:c min:r max:r expected:r peak:r unit:c binding:b source:c "
        "date:c evidence:c",
        limit->metric, limit->statistic, bound, limit->least, limit->most, limit->healthy,
        limit->peak_at, quantity_base_unit(limit->row->kind), limit->binding, limit->source,
        limit->date, limit->evidence);

    /* The numbers of the machine. */
    return value_add(o,
                     "verdict:c place:c size:o device:o device_name:k device_model:k launches:n "
                     "median:r lo:r hi:r level:r shared_by:n is:c reason:c likely:c action:c "
                     "by_device:o by_pair:o",
                     validate_verdict_words[judged->verdict], place, size,
                     judged->device < 0 ? json_null() : json_integer(judged->device),
                     slot ? slot->name : NULL, slot ? slot->model : NULL, judged->launches,
                     judged->middle, judged->lo, judged->hi, 1.0 - validate_alpha, judged->units,
                     judged->launches > 0 ? number : NULL, judged->why, likely, action, devices,
                     by_pair);
}

/* ---- the machine -------------------------------------------------------------------------- */

void validate_json(FILE *stream, const struct validate *validate)
{
    const struct validate_conformance *cases = validate->conformance;
    const struct report *report = validate->report;
    const struct record_run *run = &report->file[0].run;
    json_t *limits = json_array(), *unknown = json_array(), *devices = json_array();
    json_t *binding = json_object(), *conformance = json_null();
    char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT], chain[2 * DIGEST_HEX] = "";
    struct record_field facts[PROVENANCE_FACTS + 1];
    size_t doubtful = report->n_files - 1;
    int status = 0;

    for (unsigned i = 0; i < validate->profile->n_limits; ++i)
        json_array_append_new(limits, limit_json(validate, &validate->judged[i]));
    for (unsigned i = 0; i < validate->profile->n_unknown; ++i)
        json_array_append_new(unknown, value_cleaned(validate->profile->unknown[i]));
    for (int v = 0; v < VALIDATE_VERDICTS; ++v)
        json_object_set_new(binding, validate_verdict_words[v], value_count(validate->count[v]));
    if (cases)
        conformance = value_object("required:c verdict:c reason:k cases:n passed:n failed:n "
                                   "skipped:n",
                                   validate->profile->requires.conformance,
                                   validate_verdict_words[cases->verdict], cases->why, cases->cases,
                                   cases->passed, cases->failed, cases->skipped);
    for (int i = 0; i < run->n_slots; ++i)
        json_array_append_new(devices, value_object("name:c kind:c model:k bus:k",
                                                    run->slot[i].name, run->slot[i].kind,
                                                    run->slot[i].model, run->slot[i].bus));
    /* A digest of the samples of all launches: no two machines have the same, whatever their files
     * claim. */
    for (size_t f = 0; f < report->n_files; ++f)
        for (size_t c = 0; c < report->file[f].n_cells; ++c) {
            const struct record_cell *cell = &report->file[f].cell[c];

            if (cell->n_samples == 0)
                continue;
            status |= digest_sha256(cell->t_step_ns, cell->n_samples * sizeof *cell->t_step_ns,
                                    chain + DIGEST_HEX);
            status |= digest_sha256(chain, sizeof chain, chain);
        }
    /* The facts that make times doubtful, from records whose times are doubtful: a reader of the
     * verdict judges them again. */
    while (doubtful > 0 &&
           provenance_doubts(&report->file[doubtful].run, PROVENANCE_REFUSED, doubt) == 0)
        --doubtful;
    provenance_facts(facts);
    /* Machines of one class may differ in their software, although they should be alike. */
    document_print(
        stream,
        value_object(
            "schema:c verdict:c node:c profile:c profile_sha256:c "
            "judged_by:{version:k commit:k} machine_class:c machine_instance:c node_hash:c "
            "cpu_model:c cores:p devices:o software:{kernel:k libc:k blas:k gpu_software:k "
            "governor:k backend:k communicator:k} run_id:c measured_utc:k "
            "measured_by:{version:k commit:k} allow_dirty:b records:o samples_sha256:k binding:o "
            "conformance:o limits:o unknown:o",
            "lockstep/verdict/1.0", validate_machine_words[validate->machine], validate->node,
            validate->profile->name, validate->profile->sha256, BUILD_VERSION, BUILD_GIT,
            run->machine_class, run->machine_instance, run->node_hash, run->cpu_model,
            (size_t)run->cores, devices, run->kernel, run->libc, run->blas, run->gpu_software,
            run->governor, run->backend, run->communicator, run->run_id, run->created_utc,
            run->program_version, run->git_sha, validate->allow_dirty,
            record_json_of(facts, &report->file[doubtful].run), status == 0 ? chain : NULL, binding,
            conformance, limits, unknown));
}
