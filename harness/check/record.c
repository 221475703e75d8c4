/* check/record.c: reads lockstep/check/1.0. The reader is strict: a field that is missing, has
 * another type or is too long, or a sum that does not add up, makes the file unreadable. */
#include "check/record.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "files/text_out.h"
#include "record/json.h"

enum { FILE_BYTES_MAX = 64 << 20 };

const char *const check_record_words[CHECK_RECORD_VERDICTS] = {"PASS", "FAIL", "SKIP", "BROKEN"};

static int fault(struct text_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Notes a fault; the first one wins. */
static int fault(struct text_error *err, const char *format, ...)
{
    va_list args;

    if (err->text[0] != '\0')
        return -1;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return -1;
}

/* ---- fields ---------------------------------------------------------------------------------- */

enum row_kind { ROW_TEXT, ROW_COUNT, ROW_FLAG };

/* A field of an object, and where its value is stored. */
struct row {
    const char *key;
    enum row_kind kind;
    bool optional; /* the field may be null or missing; then the value is empty */
    size_t offset, bytes;
};
#define AT(type, member) .offset = offsetof(struct type, member)
#define TEXT(key_, type, member)                                                                   \
    {                                                                                              \
        .key = (key_), AT(type, member), .bytes = sizeof((struct type){.member = ""}.member)       \
    }
#define COUNT(key_, type, member)                                                                  \
    {                                                                                              \
        .key = (key_), .kind = ROW_COUNT, AT(type, member)                                         \
    }
#define ROWS(list) (list), sizeof(list) / sizeof(list)[0]

static void read_row_text(const json_t *object, const char *key, char *text, size_t bytes,
                          struct text_error *err)
{
    const char *value = json_string_value(json_object_get(object, key));

    text[0] = '\0';
    if (!value || strlen(value) >= bytes) {
        fault(err, "'%s' is missing, no text, or longer than %zu bytes", key, bytes - 1);
        return;
    }
    snprintf(text, bytes, "%s", value);
    text_clean(text, ' ');
}

static size_t read_count(const json_t *object, const char *key, struct text_error *err)
{
    const json_t *value = json_object_get(object, key);

    if (json_is_integer(value) && json_integer_value(value) >= 0)
        return (size_t)json_integer_value(value);
    fault(err, "'%s' is missing or no whole number of 0 or more", key);
    return 0;
}

static void read_rows(const json_t *object, void *to, const struct row rows[], size_t n,
                      struct text_error *err)
{
    for (size_t i = 0; i < n; ++i) {
        const json_t *value = json_object_get(object, rows[i].key);
        char *at = (char *)to + rows[i].offset;

        if (rows[i].optional && (!value || json_is_null(value)))
            continue;
        if (rows[i].kind == ROW_TEXT) {
            read_row_text(object, rows[i].key, at, rows[i].bytes, err);
        } else if (rows[i].kind == ROW_COUNT) {
            *(size_t *)(void *)at = read_count(object, rows[i].key, err);
        } else {
            if (!json_is_boolean(value))
                fault(err, "'%s' is missing or neither true nor false", rows[i].key);
            *(bool *)at = json_is_true(value);
        }
    }
}

static enum check_record_verdict read_verdict(const json_t *object, struct text_error *err)
{
    char word[16];

    read_row_text(object, "verdict", word, sizeof word, err);
    for (int i = 0; i < CHECK_RECORD_VERDICTS; ++i)
        if (strcmp(word, check_record_words[i]) == 0)
            return (enum check_record_verdict)i;
    fault(err, "'%.20s' is not a verdict", word);
    return CHECK_RECORD_BROKEN;
}

/* Joins the words of a list to one text, with commas; of an object, each after its key. */
static void read_words(json_t *list, const char *what, json_type type, char *text, size_t bytes,
                       struct text_error *err)
{
    const size_t n = type == JSON_ARRAY ? json_array_size(list) : json_object_size(list);
    void *member = type == JSON_ARRAY ? NULL : json_object_iter(list);
    size_t used = 0;

    text[0] = '\0';
    if (!list || json_typeof(list) != type)
        fault(err, "'%s' is missing or no %s", what, type == JSON_ARRAY ? "list" : "object");
    for (size_t i = 0; i < n; ++i) {
        const char *key = type == JSON_ARRAY ? "" : json_object_iter_key(member);
        const char *word = json_string_value(type == JSON_ARRAY ? json_array_get(list, i)
                                                                : json_object_iter_value(member));

        if (!word || used + strlen(key) + strlen(word) + (type == JSON_ARRAY ? 3 : 4) > bytes) {
            fault(err, "'%s' has something that is not a text, or too much of it", what);
            return;
        }
        used += (size_t)snprintf(text + used, bytes - used, "%s%s%s%s", used > 0 ? ", " : "", key,
                                 type == JSON_ARRAY ? "" : " ", word);
        member = type == JSON_ARRAY ? NULL : json_object_iter_next(list, member);
    }
    text_clean(text, ' ');
}

/* ---- parts ----------------------------------------------------------------------------------- */

static const struct row impl_rows[] = {
    TEXT("name", check_record, name),
    TEXT("version", check_record, version),
    TEXT("spec", check_record, spec),
    TEXT("options", check_record, options),
    TEXT("device_list", check_record, device_list),
    {.key = "blas", .optional = true, AT(check_record, blas), .bytes = 160},
    {.key = "gpu_software", .optional = true, AT(check_record, gpu_software), .bytes = 96},
    {.key = "launcher", .optional = true, AT(check_record, launcher), .bytes = 300},
    COUNT("devices", check_record, n_devices),
    COUNT("seed", check_record, seed),
};
/* Old files have no machine, and it is null if it could not be read. */
static const struct row machine_rows[] = {
    TEXT("class", check_record, machine_class),
    {.key = "program", .optional = true, AT(check_record, program), .bytes = 65},
    TEXT("instance", check_record, machine_instance),
};
static const struct row case_rows[] = {
    TEXT("id", check_record_case, id),
    TEXT("rule", check_record_case, rule),
    TEXT("obligation", check_record_case, obligation),
    TEXT("evidence", check_record_case, evidence),
    TEXT("reason", check_record_case, reason),
};
static const struct row area_rows[] = {
    COUNT("rules", check_record_area, rules),
    COUNT("covered", check_record_area, covered),
    COUNT("pending", check_record_area, pending),
    COUNT("not_applicable", check_record_area, not_applicable),
    COUNT("observed", check_record_area, observed),
    COUNT("reported", check_record_area, reported),
    COUNT("untested", check_record_area, untested),
};
static const struct row excuse_rows[] = {
    TEXT("rule", check_record_excuse, rule),
    TEXT("reason", check_record_excuse, reason),
    {.key = "pending", .kind = ROW_FLAG, AT(check_record_excuse, pending)},
};

static void read_area(const json_t *object, struct check_record_area *area, struct text_error *err)
{
    read_row_text(object, "area", area->name, sizeof area->name, err);
    read_rows(object, area, ROWS(area_rows), err);
    if (area->covered + area->pending + area->not_applicable != area->rules ||
        area->observed + area->reported + area->untested != area->rules)
        fault(err, "the rules of %s do not add up", area->name);
}

static void *new_list(const json_t *array, const char *what, size_t size, size_t *n,
                      struct text_error *err)
{
    void *list = calloc(json_array_size(array) + 1, size);

    *n = 0;
    if (!json_is_array(array))
        fault(err, "'%s' is missing or no list", what);
    else if (!list)
        fault(err, "no memory for %zu of '%s'", json_array_size(array), what);
    else
        *n = json_array_size(array);
    return list;
}

static void read_lists(const json_t *root, struct check_record *record, struct text_error *err)
{
    const json_t *rules = json_object_get(root, "rules"), *cases = json_object_get(root, "cases");
    const json_t *areas = json_object_get(rules, "areas"),
                 *excuses = json_object_get(rules, "excuses"),
                 *partial = json_object_get(rules, "partial");

    record->cases = new_list(cases, "cases", sizeof *record->cases, &record->n_cases, err);
    for (size_t i = 0; i < record->n_cases; ++i) {
        const json_t *object = json_array_get(cases, i);
        struct check_record_case *one = &record->cases[i];

        read_rows(object, one, ROWS(case_rows), err);
        one->verdict = read_verdict(object, err);
        if (one->verdict == CHECK_RECORD_PASS && read_count(object, "compared", err) == 0)
            fault(err, "%s passed and compared nothing", one->id);
    }
    record->areas = new_list(areas, "areas", sizeof *record->areas, &record->n_areas, err);
    for (size_t i = 0; i < record->n_areas; ++i)
        read_area(json_array_get(areas, i), &record->areas[i], err);
    record->excuses =
        new_list(excuses, "excuses", sizeof *record->excuses, &record->n_excuses, err);
    for (size_t i = 0; i < record->n_excuses; ++i)
        read_rows(json_array_get(excuses, i), &record->excuses[i], ROWS(excuse_rows), err);
    read_area(rules, &record->total, err);
    read_words(json_object_get(rules, "profiles"), "profiles", JSON_ARRAY, record->profiles,
               sizeof record->profiles, err);
    if (!json_is_boolean(partial))
        fault(err, "'partial' is missing or neither true nor false");
    record->partial = json_is_true(partial);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static int compare_ids(const void *a, const void *b)
{
    const struct check_record_case *const *x = a, *const *y = b;

    return strcmp((*x)->id, (*y)->id);
}

/* Counts the cases, and compares the sums of the file with that. */
static void check_counts(const json_t *counts, struct check_record *record, struct text_error *err)
{
    static const char *const keys[CHECK_RECORD_VERDICTS] = {"pass", "fail", "skip", "broken"};
    const json_t *seconds = json_object_get(counts, "seconds");
    const struct check_record_case **sorted = calloc(record->n_cases + 1, sizeof *sorted);
    struct check_record_area *total = &record->total;
    const size_t *n = total->verdict;

    if (!sorted) {
        fault(err, "no memory for %zu cases", record->n_cases);
        return;
    }
    for (size_t i = 0; i < record->n_cases; ++i) {
        const struct check_record_case *one = &record->cases[i];

        sorted[i] = one;
        ++total->cases;
        ++total->verdict[one->verdict];
        for (size_t a = 0; a < record->n_areas; ++a) {
            const size_t length = strlen(record->areas[a].name);

            if (strncmp(one->rule, record->areas[a].name, length) != 0 || one->rule[length] != '-')
                continue;
            ++record->areas[a].cases;
            ++record->areas[a].verdict[one->verdict];
        }
    }
    /* A case is counted once. */
    qsort(sorted, record->n_cases, sizeof *sorted, compare_ids);
    for (size_t i = 1; i < record->n_cases; ++i)
        if (strcmp(sorted[i - 1]->id, sorted[i]->id) == 0)
            fault(err, "the case %s is there twice", sorted[i]->id);
    free(sorted);
    /* The worst verdict; if all are skipped, it is SKIP. */
    const enum check_record_verdict worst = n[CHECK_RECORD_BROKEN] > 0 || record->n_cases == 0
                                                ? CHECK_RECORD_BROKEN
                                            : n[CHECK_RECORD_FAIL] > 0 ? CHECK_RECORD_FAIL
                                            : n[CHECK_RECORD_PASS] > 0 ? CHECK_RECORD_PASS
                                                                       : CHECK_RECORD_SKIP;

    record->verdict = read_verdict(counts, err);
    record->seconds = json_number_value(seconds);
    if (!json_is_number(seconds) || !(record->seconds >= 0))
        fault(err, "'seconds' is missing or no time");
    if (read_count(counts, "cases", err) != total->cases)
        fault(err, "'counts' is of another number of cases");
    for (int i = 0; i < CHECK_RECORD_VERDICTS; ++i)
        if (read_count(counts, keys[i], err) != n[i])
            fault(err, "'%s' in 'counts' is not the number of such cases", keys[i]);
    if (record->verdict != worst)
        fault(err, "the verdict %s is not that of the cases", check_record_words[record->verdict]);
}

int check_record_read(const char *path, struct check_record *record, struct text_error *err)
{
    struct text_error why = {""};
    char schema[64] = "";
    json_t *root = record_json_file(path, FILE_BYTES_MAX, &why);

    *record = (struct check_record){.n_cases = 0};
    if (root) {
        read_row_text(root, "schema", schema, sizeof schema, &why);
        if (strcmp(schema, "lockstep/check/1.0") != 0)
            fault(&why, "the schema is '%s', not lockstep/check/1.0", schema);
    }
    if (why.text[0] == '\0') {
        json_t *impl = json_object_get(root, "impl"), *machine = json_object_get(root, "machine");

        read_rows(impl, record, ROWS(impl_rows), &why);
        read_words(json_object_get(impl, "device_names"), "device_names", JSON_ARRAY,
                   record->devices, sizeof record->devices, &why);
        read_words(json_object_get(impl, "capabilities"), "capabilities", JSON_ARRAY,
                   record->capabilities, sizeof record->capabilities, &why);
        read_words(json_object_get(impl, "dialects"), "dialects", JSON_OBJECT, record->dialects,
                   sizeof record->dialects, &why);
        if (machine && !json_is_null(machine))
            read_rows(machine, record, ROWS(machine_rows), &why);
        record->sealed = json_object_get(root, "chain") != NULL;
        read_lists(root, record, &why);
        check_counts(json_object_get(root, "counts"), record, &why);
    }
    json_decref(root);
    if (why.text[0] == '\0')
        return 0;
    snprintf(err->text, sizeof err->text, "%.100s: %.150s", path, why.text);
    check_record_free(record);
    return -1;
}

void check_record_free(struct check_record *record)
{
    free(record->cases);
    free(record->areas);
    free(record->excuses);
    *record = (struct check_record){.n_cases = 0};
}
