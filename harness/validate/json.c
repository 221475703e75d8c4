/* validate/json.c: the verdict for programs: lockstep/verdict/1.0, one object per machine.
 *
 * What jansson cannot add for want of memory shows at the end (record/memory.h). */
#include "validate/validate.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "record/memory.h"

/* A profile's text may be anything. */
static json_t *text(const char *value)
{
    json_t *string = value ? json_string(value) : json_null();

    return string ? string : json_string("?");
}

static json_t *real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static const char *const base_units[QUANTITY_KINDS] = {"ns", "samples/s", "B", "1"};

static json_t *judged_json(const struct validate_judged *judged)
{
    const struct profile_limit *limit = judged->limit;
    char place[VALIDATE_TEXT];

    validate_place_words(judged, place);
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:b, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, "
        "s:o}",
        "metric", text(limit->metric), "statistic", text(limit->statistic), "min",
        real(limit->least), "max", real(limit->most), "binding", limit->binding, "unit",
        base_units[limit->row->kind], "place", text(place), "device",
        judged->device < 0 ? json_null() : json_integer(judged->device), "verdict",
        validate_verdict_words[judged->verdict], "launches",
        json_integer((json_int_t)judged->launches), "median", real(judged->middle), "lo",
        real(judged->lo), "hi", real(judged->hi), "source", text(limit->source), "reason",
        text(judged->why), "likely",
        judged->verdict == VALIDATE_FAIL ? validate_reason_words(judged) : "", "date",
        text(limit->date), "evidence", text(limit->evidence));
}

int validate_json(FILE *stream, const struct validate *validate)
{
    const struct record_run *run = &validate->report->file[0].run;
    json_t *limits = json_array(), *root;
    char *document;

    for (unsigned i = 0; i < validate->profile->n_limits; ++i)
        json_array_append_new(limits, judged_json(&validate->judged[i]));
    root = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
                     "lockstep/verdict/1.0", "verdict", validate_machine_words[validate->machine],
                     "profile", text(validate->profile->name), "machine_class",
                     text(run->machine_class), "machine_instance", text(run->machine_instance),
                     "node_hash", text(run->node_hash), "cpu_model", text(run->cpu_model), "run_id",
                     text(run->run_id), "limits", limits);
    document = record_memory_text(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    if (!document)
        return -1;
    fprintf(stream, "%s\n", document);
    free(document);
    return 0;
}
