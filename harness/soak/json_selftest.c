/* soak/json_selftest.c: the same for programs: lockstep/selftest/1.0, one object. */
#include "soak/selftest.h"

#include <jansson.h>

#include "build_info.h"
#include "record/document.h"

/* What is found where: null for a detector that found nothing. */
static json_t *found_json(const struct selftest_seen *seen)
{
    json_t *o = json_object();

    for (int d = 0; d < SELFTEST_DETECTORS; ++d)
        json_object_set_new(o, selftest_detector_words[d],
                            seen->at[d] > 0 ? value_count(seen->at[d]) : json_null());
    return o;
}

static json_t *case_json(const struct selftest_case *item)
{
    const bool faulty = item->fault != NULL;

    return json_pack("{s:s, s:s?, s:s, s:o, s:o, s:s?, s:o, s:I, s:I, s:i, s:b, s:s}", "name",
                     item->name, "fault", item->fault, "mode", item->mode, "device",
                     faulty ? json_integer(item->device) : json_null(), "step",
                     faulty ? json_integer(item->step) : json_null(), "detector",
                     faulty ? selftest_detector_words[item->detector] : NULL, "found_in",
                     found_json(&item->seen), "findings", (json_int_t)item->seen.findings,
                     "elsewhere", (json_int_t)item->seen.elsewhere, "exit_status",
                     item->seen.status, "right", !selftest_wrong(item), "verdict", item->verdict);
}

int selftest_json(FILE *stream, const struct selftest *selftest)
{
    const struct selftest_sums *sums = &selftest->sums;
    json_t *cases = json_array(), *flips = json_array(), *root;

    for (size_t i = 0; i < selftest->n; ++i)
        json_array_append_new(selftest->item[i].drawn ? flips : cases,
                              case_json(&selftest->item[i]));
    root = json_pack("{s:s, s:{s:s, s:s}, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
                     "lockstep/selftest/1.0", "program", "version", BUILD_VERSION, "commit",
                     BUILD_GIT, "seed", value_count(sums->seed), "interrupted", sums->interrupted,
                     "found", value_count(sums->found), "silent", value_count(sums->silent),
                     "flips_right", value_count(sums->flips_right), "wrong",
                     value_count(sums->wrong), "cases", cases, "flips", flips);
    return document_print(stream, root);
}
