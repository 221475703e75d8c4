/* report/beside_json.c: what nccl-tests writes with -J. */
#include "report/beside.h"

#include <math.h>
#include <string.h>

#include "record/json.h"
#include "verify/collective.h"

enum { RANKS_MOST = 1 << 20, NEWEST = 3 };

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

static int read_program(const json_t *root, struct beside *beside, struct text_error *err)
{
    const char *path = json_string_value(json_array_get(json_object_get(root, "args"), 0));
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path;

    if (!name)
        return record_fail(err, "\"args\" does not say which program it is of");
    beside->collective = collective_of_nccl(name);
    return beside->collective ? 0 : record_fail(err, "'%.40s' is not measured here", name);
}

/* "devices" has one entry of each process. */
static int read_ranks(const json_t *root, struct beside *beside, struct text_error *err)
{
    const json_t *config = json_object_get(root, "config");
    const size_t processes = json_array_size(json_object_get(config, "devices"));
    json_int_t threads = 0, gpus = 0;

    if (record_json_integer(json_object_get(config, "nthreads"), "nthreads", 1, RANKS_MOST,
                            &threads, err) ||
        record_json_integer(json_object_get(config, "ngpus"), "ngpus", 1, RANKS_MOST, &gpus, err))
        return -1;
    if (processes < 1 || processes > RANKS_MOST ||
        (double)processes * (double)threads * (double)gpus > RANKS_MOST)
        return record_fail(err, "\"devices\" has %zu processes, with %lld times %lld ranks each",
                           processes, (long long)threads, (long long)gpus);
    beside->ranks = (int)((json_int_t)processes * threads * gpus);
    return 0;
}

static int read_place(const json_t *result, const char *name, const struct beside_line *head,
                      struct beside *beside, struct text_error *err)
{
    const json_t *place = json_object_get(result, name);
    const json_t *wrong = json_object_get(place, "nwrong");
    struct beside_line line = *head;

    if (!place || json_is_null(place))
        return 0;
    if (json_object_get(place, "cpu_time"))
        return record_fail(err, "its times are those of the CPU (-C 1)");
    if (record_json_real(json_object_get(place, "time"), "time", &line.ns, err) ||
        record_json_real(json_object_get(place, "alg_bw"), "alg_bw", &line.algbw, err) ||
        record_json_real(json_object_get(place, "bus_bw"), "bus_bw", &line.busbw, err))
        return -1;
    line.wrong = NAN;
    if (wrong && !json_is_null(wrong) && record_json_real(wrong, "nwrong", &line.wrong, err))
        return -1;
    line.out_of_place = strcmp(name, "out_of_place") == 0;
    line.ns *= 1e3;
    line.algbw *= 1e9;
    line.busbw *= 1e9;
    return beside_add(beside, &line, err);
}

/* It is not shown; what is wrong in it is said all the same. */
static void note_other(const json_t *result, struct beside *beside)
{
    static const char *const places[] = {"out_of_place", "in_place"};

    ++beside->others;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i)
        beside->failed =
            beside->failed ||
            json_number_value(json_object_get(json_object_get(result, places[i]), "nwrong")) > 0;
}

static int read_result(const json_t *result, struct beside *beside, struct text_error *err)
{
    struct beside_line head = {.type = collective_type_of_nccl(text_of(result, "type"))};
    json_int_t bytes = 0;

    if (record_json_integer(json_object_get(result, "size"), "size", 0, RECORD_EXACT_MAX, &bytes,
                            err))
        return -1;
    if (!head.type || strcmp(text_of(result, "redop"), beside->collective->nccl_op) != 0) {
        note_other(result, beside);
        return 0;
    }
    head.bytes = (size_t)bytes;
    return read_place(result, "out_of_place", &head, beside, err) ||
                   read_place(result, "in_place", &head, beside, err)
               ? -1
               : 0;
}

bool beside_is(const struct json_t *root)
{
    return json_object_get(root, "args") || json_object_get(root, "results");
}

int beside_json(const struct json_t *root, struct beside *beside, struct text_error *err)
{
    const json_t *results = json_object_get(root, "results"), *bounds;
    json_int_t version = 0;

    if (record_json_integer(json_object_get(root, "version"), "version", 1, NEWEST, &version,
                            err) ||
        read_program(root, beside, err) || read_ranks(root, beside, err))
        return -1;
    if (!json_is_array(results))
        return record_fail(err, "\"results\" is missing or no array");
    for (size_t i = 0; i < json_array_size(results); ++i) {
        struct text_error why = {""};

        if (read_result(json_array_get(results, i), beside, &why))
            return record_fail(err, "result %zu: %.250s", i + 1, why.text);
    }
    bounds = json_object_get(root, "out_of_bounds");
    beside->finished = bounds != NULL;
    beside->failed = beside->failed || (bounds && strcmp(text_of(bounds, "okay"), "true") != 0);
    return 0;
}
