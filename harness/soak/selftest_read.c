/* soak/selftest_read.c: the findings that a run of soak prints as JSON. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "soak/soak.h"

static const enum selftest_detector detector_of[SOAK_WHATS] = {
    [SOAK_OUTPUTS] = SELFTEST_RESULT,   [SOAK_LOSS] = SELFTEST_RESULT,
    [SOAK_GRADIENT] = SELFTEST_RESULT,  [SOAK_REDUCED] = SELFTEST_MEAN,
    [SOAK_PARAMETER] = SELFTEST_RESULT, [SOAK_DEAD] = SELFTEST_DEAD,
    [SOAK_HUNG] = SELFTEST_LIMIT};

static void note(struct selftest_seen *seen, enum selftest_detector detector, uint64_t iteration,
                 bool there)
{
    if (seen->at[detector] == 0 || iteration < seen->at[detector])
        seen->at[detector] = iteration;
    ++seen->findings;
    seen->elsewhere += !there;
}

void selftest_read(const char *text, size_t bytes, int device, struct selftest_seen *seen)
{
    json_t *root = json_loadb(text, bytes, 0, NULL);
    const json_t *findings = json_object_get(root, "findings");
    const json_t *devices = json_object_get(root, "devices");

    seen->understood = json_is_array(findings) && json_is_array(devices);
    seen->beside = (uint64_t)json_integer_value(json_object_get(root, "buckets_beside"));
    for (size_t i = 0; i < json_array_size(findings); ++i) {
        const json_t *finding = json_array_get(findings, i);
        const char *text_of = json_string_value(json_object_get(finding, "what"));
        const char *differ = json_string_value(json_object_get(finding, "xor"));
        const json_int_t iteration = json_integer_value(json_object_get(finding, "iteration"));
        const json_t *named = json_object_get(finding, "device_index");
        int what = 0;

        while (text_of && what < SOAK_WHATS && strcmp(text_of, soak_what_words[what]) != 0)
            ++what;
        if (!text_of || what == SOAK_WHATS) {
            seen->understood = false;
            continue;
        }
        if (seen->findings == 0 && differ)
            seen->wrong_bits = strtoull(differ, NULL, 16);
        note(seen, detector_of[what], (uint64_t)iteration,
             json_is_integer(named) && json_integer_value(named) == device);
    }
    for (size_t i = 0; i < json_array_size(devices); ++i) {
        const json_t *row = json_array_get(devices, i);
        const char *speed = json_string_value(json_object_get(row, "speed"));
        const json_int_t since = json_integer_value(json_object_get(row, "since"));

        if (!speed)
            seen->understood = false;
        else if (strcmp(speed, soak_speed_words[SOAK_SLOW]) == 0)
            note(seen, SELFTEST_SPEED, 1, (int)i == device); /* since the first iteration */
        else if (strcmp(speed, soak_speed_words[SOAK_DROPPED_CLOCK]) == 0)
            note(seen, SELFTEST_DROP, (uint64_t)since, (int)i == device);
        else if (strcmp(speed, soak_speed_words[SOAK_UNJUDGED]) == 0)
            seen->unjudged = true;
    }
    json_decref(root);
}
