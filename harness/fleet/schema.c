/* fleet/schema.c: the members of a verdict, a row each: where they are, of which types, and within
 * which range. What is in no row is a fact of a later version. */
#include "fleet/fleet.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "files/digest.h"

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
    {ROOT, "samples_sha256", TEXT | MAYBE, DIGEST_HEX - 1, DIGEST_HEX - 1, ROOT},
    {ROOT, "node_hash cpu_model measured_utc", TEXT | NOTHING, 0, SAID, ROOT},
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

static int type_of(const json_t *value)
{
    static const int types[] = {
        [JSON_OBJECT] = OBJECT,        [JSON_ARRAY] = ARRAY, [JSON_STRING] = TEXT,
        [JSON_INTEGER] = REAL | COUNT, [JSON_REAL] = REAL,   [JSON_TRUE] = BOOLEAN,
        [JSON_FALSE] = BOOLEAN,        [JSON_NULL] = NOTHING};

    return value ? types[json_typeof(value)] : LATER;
}

/* What the range is about; 0 where there is none. */
static double size_of(const json_t *value)
{
    return json_is_string(value)   ? (double)json_string_length(value)
           : json_is_array(value)  ? (double)json_array_size(value)
           : json_is_number(value) ? json_number_value(value)
                                   : 0;
}

static int check_object(const json_t *object, enum object in, const char *path,
                        struct text_error *why);

static int check(const json_t *value, size_t row, const char *path, struct text_error *why)
{
    const int is = type_of(value);
    const double size = size_of(value);
    char inner[96];
    int status = 0;

    if ((is & members[row].is) == 0)
        snprintf(why->text, sizeof why->text, "its %s is %s", path,
                 value ? "of another type" : "missing");
    else if ((is & (TEXT | REAL | ARRAY)) != 0 &&
             !(size >= members[row].least && size <= members[row].most))
        snprintf(why->text, sizeof why->text, "its %s %s %.12g, allowed is %.12g to %.12g", path,
                 (is & REAL) != 0 ? "is" : "has the length", size, members[row].least,
                 members[row].most);
    if (why->text[0] != '\0' || members[row].of == ROOT)
        return why->text[0] != '\0' ? -1 : 0;
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
            if (check(json_object_get(object, name), i, inner, why) != 0)
                return -1;
            at += bytes + (at[bytes] == ' ');
        }
    return 0;
}

int fleet_schema(const json_t *root, struct text_error *why)
{
    return check_object(root, ROOT, "", why);
}
