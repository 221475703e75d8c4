/* fleet/verdict.c: reads a verdict of `lockstep validate`: the members it must have, and the name,
 * status and facts of its node.
 *
 * Versions of that program add members. So a member that is missing is not known, and one that is
 * unknown here is a fact as any other. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "fleet/fleet.h"
#include "machine/machine.h"
#include "record/json.h"
#include "text/alloc.h"

/* ---- members --------------------------------------------------------------------------------- */

/* LATER: files of older versions do not have it. */
enum is {
    TEXT = 1,
    REAL = 2,
    COUNT = 4,
    BOOLEAN = 8,
    OBJECT = 16,
    ARRAY = 32,
    NOTHING = 64,
    LATER = 128,
    MAYBE = NOTHING | LATER
};
enum { SAID = 1023, WORDS = 512, MOST = 1 << 30 };

/* The objects of a verdict. SHOWN: of by_device. */
enum object { ROOT, BINDING, CASES, LIMIT, SIZE, SHOWN, DEVICE, PROGRAM, SOFTWARE };

/* least, most: of a number its value, of a text its bytes, of a list its elements. */
static const struct {
    enum object in;
    const char *names; /* with blanks between them */
    int is;
    double least, most;
    enum object of; /* of an object, or of the objects of a list; ROOT: of anything */
} members[] = {
    {ROOT, "schema verdict profile", TEXT, 1, SAID, ROOT},
    {ROOT, "node", TEXT | MAYBE, 1, 253, ROOT},
    {ROOT, "machine_class", TEXT, 0, DIGEST_HEX - 1, ROOT},
    {ROOT, "run_id machine_instance", TEXT, 1, DIGEST_HEX - 1, ROOT},
    {ROOT, "samples_sha256 profile_sha256", TEXT | MAYBE, DIGEST_HEX - 1, DIGEST_HEX - 1, ROOT},
    {ROOT, "node_hash cpu_model", TEXT | NOTHING, 0, SAID, ROOT},
    {ROOT, "measured_utc", TEXT | NOTHING, 20, 20, ROOT}, /* 2026-11-23T10:00:01Z */
    {ROOT, "cores", COUNT | NOTHING, 1, MOST, ROOT},
    {ROOT, "judged_by measured_by", OBJECT, 0, 0, PROGRAM},
    {ROOT, "software", OBJECT, 0, 0, SOFTWARE},
    {ROOT, "binding", OBJECT, 0, 0, BINDING},
    {ROOT, "conformance", OBJECT | MAYBE, 0, 0, CASES},
    {ROOT, "devices", ARRAY, 0, FLEET_FACTS, DEVICE},
    {ROOT, "allow_dirty", BOOLEAN | LATER, 0, 0, ROOT},
    {ROOT, "records", OBJECT | LATER, 0, 0, ROOT},
    {ROOT, "unknown", ARRAY | LATER, 0, FLEET_FACTS, ROOT},
    {ROOT, "limits", ARRAY, 0, FLEET_LIMITS, LIMIT},
    {BINDING, "PASS OPEN UNMEASURED INVALID FAIL", COUNT, 0, FLEET_LIMITS, ROOT},
    {CASES, "required verdict", TEXT, 1, SAID, ROOT},
    {CASES, "reason", TEXT | NOTHING, 0, SAID, ROOT},
    {CASES, "cases passed failed skipped", COUNT, 0, MOST, ROOT},
    {LIMIT, "metric unit verdict", TEXT, 1, WORDS, ROOT},
    {LIMIT, "statistic reason", TEXT | NOTHING, 0, WORDS, ROOT},
    {LIMIT, "place", TEXT, 0, WORDS, ROOT},
    {LIMIT, "evidence source date limit is likely action device_name device_model", TEXT | NOTHING,
     0, SAID, ROOT},
    {LIMIT, "min max expected median lo hi", REAL | NOTHING, 0, INFINITY, ROOT},
    {LIMIT, "peak", REAL | MAYBE, 0, INFINITY, ROOT},
    {LIMIT, "binding", BOOLEAN, 0, 0, ROOT},
    {LIMIT, "size", OBJECT, 0, 0, SIZE},
    {LIMIT, "device", COUNT | NOTHING, 0, FLEET_DEVICES - 1, ROOT},
    {LIMIT, "launches shared_by", COUNT, 0, MOST, ROOT},
    {LIMIT, "level", REAL, 0.95, 0.95, ROOT},
    {LIMIT, "by_device", ARRAY | MAYBE, 1, FLEET_DEVICES, SHOWN},
    {LIMIT, "by_pair", ARRAY | MAYBE, 0, FLEET_DEVICES, ROOT},
    {SIZE, "workload mode devices backend communicator math", TEXT | NOTHING, 0, WORDS, ROOT},
    {SIZE, "bytes", TEXT | MAYBE, 0, WORDS, ROOT},
    {SIZE, "n_devices", COUNT | NOTHING, 1, MOST, ROOT},
    {SIZE, "batch", COUNT | NOTHING, 1, INFINITY, ROOT},
    {SIZE, "chain host_inputs", COUNT | MAYBE, 1, INFINITY, ROOT},
    {SHOWN, "median lo hi", REAL | NOTHING, 0, INFINITY, ROOT},
    {DEVICE, "name kind", TEXT, 1, SAID, ROOT},
    {DEVICE, "model bus", TEXT | NOTHING, 0, SAID, ROOT},
    {PROGRAM, "version commit", TEXT | NOTHING, 0, SAID, ROOT},
    {SOFTWARE, "kernel libc blas gpu_software governor backend communicator", TEXT | NOTHING, 0,
     SAID, ROOT},
};

static int check_object(const json_t *object, enum object in, const char *path,
                        struct text_error *why);

static int check_member(const json_t *value, size_t row, const char *path, struct text_error *why)
{
    static const int types[] = {
        [JSON_OBJECT] = OBJECT,        [JSON_ARRAY] = ARRAY, [JSON_STRING] = TEXT,
        [JSON_INTEGER] = REAL | COUNT, [JSON_REAL] = REAL,   [JSON_TRUE] = BOOLEAN,
        [JSON_FALSE] = BOOLEAN,        [JSON_NULL] = NOTHING};

    const int is = value ? types[json_typeof(value)] : LATER;
    /* The number that the range limits; 0 where there is none. */
    const double size = json_is_string(value)   ? (double)json_string_length(value)
                        : json_is_array(value)  ? (double)json_array_size(value)
                        : json_is_number(value) ? json_number_value(value)
                                                : 0;
    char inner[96];
    int status = 0;

    if ((is & members[row].is) == 0)
        return text_fail(why, "its %s is %s", path, value ? "of another type" : "missing");
    if ((is & (TEXT | REAL | ARRAY)) != 0 &&
        !(size >= members[row].least && size <= members[row].most))
        return text_fail(why, "its %s %s %.12g, allowed is %.12g to %.12g", path,
                         (is & REAL) != 0 ? "is" : "has the length", size, members[row].least,
                         members[row].most);
    if (members[row].of == ROOT)
        return 0;
    if (is == OBJECT)
        return check_object(value, members[row].of, path, why);
    for (size_t i = 0; status == 0 && i < json_array_size(value); ++i) {
        snprintf(inner, sizeof inner, "%.60s[%zu]", path, i);
        status = check_object(json_array_get(value, i), members[row].of, inner, why);
    }
    return status;
}

static int check_object(const json_t *object, enum object in, const char *path,
                        struct text_error *why)
{
    char name[32], inner[96];

    for (size_t i = 0; i < sizeof members / sizeof members[0]; ++i)
        for (const char *at = members[i].names; members[i].in == in && *at != '\0';) {
            const int bytes = (int)strcspn(at, " ");

            snprintf(name, sizeof name, "%.*s", bytes, at);
            snprintf(inner, sizeof inner, "%.60s%s%s", path, path[0] != '\0' ? "." : "", name);
            if (check_member(json_object_get(object, name), i, inner, why) != 0)
                return -1;
            at += bytes + (at[bytes] == ' ');
        }
    return 0;
}

enum { DEPTH = 4, WHAT_BYTES = 96, VALUE_BYTES = 160 };

/* ---- facts -------------------------------------------------------------------------------- */

/* Members that differ in each node by their nature, follow from its limits, or are read elsewhere
 * in this room. */
static const char *const no_facts[] = {
    "verdict",     "binding", "node",           "node_hash", "machine_instance", "run_id",
    "run_ids",     "limits",  "samples_sha256", "reason",    "action",           "created",
    "created_utc", "date",    "file",           "files",     "hostname",         "conformance"};

/* Long values are told apart by their digests. */
static int add_value(struct fleet_node *node, const char *what, const char *value,
                     struct text_error *why)
{
    const size_t bytes = strlen(value);
    char digest[DIGEST_HEX], text[VALUE_BYTES];

    if (bytes < VALUE_BYTES)
        return fleet_add_fact(node, what, value, why);
    if (digest_sha256(value, bytes, digest) != 0)
        cli_no_memory();
    snprintf(text, sizeof text, "%zu bytes, SHA-256 %.12s...", bytes, digest);
    return fleet_add_fact(node, what, text, why);
}

static int add_facts(const json_t *value, const char *what, int depth, struct fleet_node *node,
                     struct text_error *why);

/* Members within have names like "driver.version" or "devices.3.model". */
static int add_member(const json_t *value, const char *outer, const char *member, int depth,
                      struct fleet_node *node, struct text_error *why)
{
    char what[WHAT_BYTES];

    for (size_t i = 0; depth == 0 && i < sizeof no_facts / sizeof no_facts[0]; ++i)
        if (strcmp(member, no_facts[i]) == 0)
            return 0;
    if (snprintf(what, sizeof what, "%s%s%s", outer, depth > 0 ? "." : "", member) < WHAT_BYTES)
        return add_facts(value, what, depth + 1, node, why);
    return text_fail(why, "its member '%.40s...' has a name of over %d bytes", what,
                     WHAT_BYTES - 1);
}

static int add_facts(const json_t *value, const char *what, int depth, struct fleet_node *node,
                     struct text_error *why)
{
    char place[24];
    int status = 0;

    if (json_is_null(value))
        return 0;
    if (depth > DEPTH || (!json_is_object(value) && !json_is_array(value))) {
        if (json_is_string(value))
            return json_string_length(value) > 0
                       ? add_value(node, what, json_string_value(value), why)
                       : 0;
        char *const text =
            cli_memory(json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS));

        status = add_value(node, what, text, why);
        free(text);
        return status;
    }
    for (void *at = json_object_iter((json_t *)value); status == 0 && at;
         at = json_object_iter_next((json_t *)value, at))
        status = add_member(json_object_iter_value(at), what, json_object_iter_key(at), depth, node,
                            why);
    for (size_t i = 0; status == 0 && i < json_array_size(value); ++i) {
        snprintf(place, sizeof place, "%zu", i);
        status = add_member(json_array_get(value, i), what, place, depth, node, why);
    }
    return status;
}

/* ---- the rest ----------------------------------------------------------------------------- */

static size_t count_in(const json_t *object, const char *member)
{
    return (size_t)json_integer_value(json_object_get(object, member));
}

/* The cases that the profile requires: FAIL, or PASS, is what their numbers show. */
static int read_conformance(const json_t *root, struct fleet_node *node,
                            enum validate_verdict *verdict, struct text_error *why)
{
    const json_t *cases = json_object_get(root, "conformance");
    const struct validate_conformance numbers = {.cases = count_in(cases, "cases"),
                                                 .passed = count_in(cases, "passed"),
                                                 .failed = count_in(cases, "failed"),
                                                 .skipped = count_in(cases, "skipped")};
    const char *words = json_string_value(json_object_get(cases, "verdict"));
    const char *reason = json_string_value(json_object_get(cases, "reason"));
    const enum validate_verdict shown = validate_judge_cases(&numbers);
    char passed[64];

    *verdict = VALIDATE_PASS;
    if (!json_is_object(cases))
        return 0;
    *verdict = fleet_find_verdict(words);
    if (shown != *verdict && *verdict != VALIDATE_UNMEASURED && *verdict != VALIDATE_INVALID)
        return text_fail(why, "its conformance is %.20s, its cases show %s", words,
                         validate_verdict_words[shown]);
    if (*verdict == VALIDATE_FAIL || (*verdict > 0 && node->status == FLEET_NOT_SHOWN)) {
        snprintf(node->why, sizeof node->why, "%.20s conformance: %.180s", words,
                 reason ? reason : "no reason");
        snprintf(node->cause, sizeof node->cause, "conformance");
    }
    snprintf(passed, sizeof passed, "%zu of %zu", numbers.passed, numbers.cases);
    return fleet_add_fact(node, "conformance.passed", passed, why) != 0
               ? -1
               : fleet_add_fact(node, "conformance.required",
                                json_string_value(json_object_get(cases, "required")), why);
}

int fleet_verdict(const json_t *root, struct fleet_node *node, struct text_error *why)
{
    static const char *const identities[FLEET_IDENTITIES] = {"run_id", "machine_instance",
                                                             "samples_sha256"};
    const json_t *name = json_object_get(root, "node");
    enum validate_verdict cases;
    char devices[24];
    int status = 0;

    const char *schema = json_string_value(json_object_get(root, "schema"));

    if (!json_is_object(root) || !schema)
        return text_fail(why, "it is no verdict, as `lockstep validate --format json` prints one");
    if (!record_json_is_schema(schema, "verdict"))
        return text_fail(why, "its schema is '%.60s', this program knows lockstep/verdict/1.x",
                         schema);
    if (check_object(root, ROOT, "", why) != 0)
        return -1;
    const char *const verdict = json_string_value(json_object_get(root, "verdict"));
    const char *const date = json_string_value(json_object_get(root, "measured_utc"));

    /* The name of the file stays if the verdict has none. */
    if (json_is_string(name))
        snprintf(node->name, sizeof node->name, "%s", json_string_value(name));
    for (int i = 0; i < FLEET_IDENTITIES; ++i) {
        const char *value = json_string_value(json_object_get(root, identities[i]));

        snprintf(node->identity[i], sizeof node->identity[i], "%s", value ? value : "");
    }
    while (status <= FLEET_NOT_SHOWN && strcmp(verdict, fleet_status_words[status]) != 0)
        ++status;
    if (status > FLEET_NOT_SHOWN)
        return text_fail(why, "its verdict is '%.60s': ACCEPTED, REJECTED and NOT SHOWN are known",
                         verdict);
    node->status = (enum fleet_status)status;
    if (date && strspn(date, "0123456789-:TZ") != strlen(date))
        return text_fail(why, "its measured_utc is '%.60s', no date as 2026-11-23T10:00:01Z", date);
    snprintf(devices, sizeof devices, "%zu", json_array_size(json_object_get(root, "devices")));
    if (fleet_add_fact(node, "devices", devices, why) != 0 ||
        read_conformance(root, node, &cases, why) != 0 || add_facts(root, "", 0, node, why) != 0 ||
        fleet_limits(root, cases, node, why) != 0)
        return -1;
    /* Records that no other command judges by accept no node here. */
    const json_t *const records = json_object_get(root, "records");
    char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT] = {"a build and a clock that it does not name"};
    struct record_field facts[PROVENANCE_FACTS + 1];
    struct record_run *run = cli_alloc(1, sizeof *run);
    size_t doubts = 1;

    provenance_facts(facts);
    status = records ? record_json_fields(records, facts, run, why) : 0;
    if (records && status == 0)
        doubts = provenance_doubts(run, PROVENANCE_REFUSED, doubt);
    free(run);
    if (status != 0 || doubts == 0 || node->status != FLEET_ACCEPTED)
        return status;
    node->status = FLEET_NOT_SHOWN;
    snprintf(node->why, sizeof node->why, "it is accepted, but it is of %s", doubt[0]);
    snprintf(node->cause, sizeof node->cause, "its records are doubtful");
    return 0;
}
