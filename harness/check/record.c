/* check/record.c: reads lockstep/check/1.0. The reader is strict: a field that is missing, has
 * another type or is too long, or a sum that does not add up, makes the file unreadable. */
#include "check/record.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "record/json.h"
#include "text/alloc.h"

enum { FILE_BYTES_MAX = 64 << 20 };

/* ---- members --------------------------------------------------------------------------------- */

static size_t read_count(const json_t *object, const char *key, struct text_error *err)
{
    const json_t *value = json_object_get(object, key);

    if (json_is_integer(value) && json_integer_value(value) >= 0)
        return (size_t)json_integer_value(value);
    member_fault(err, "'%s' is missing or no whole number of 0 or more", key);
    return 0;
}

static int read_devices(const json_t *object, const char *key, struct text_error *err)
{
    const size_t n = read_count(object, key, err);

    if (n <= IMPL_MAX_DEVICES)
        return (int)n;
    member_fault(err, "'%s' is more than %d", key, IMPL_MAX_DEVICES);
    return 0;
}

/* Returns which of the words it is. */
static int read_word(const json_t *object, const char *key, const char *const words[], int n,
                     struct text_error *err)
{
    char word[16];

    member_text(object, key, word, sizeof word, err);
    for (int i = 0; i < n; ++i)
        if (strcmp(word, words[i]) == 0)
            return i;
    member_fault(err, "'%.20s' is not a word of '%s'", word, key);
    return n - 1;
}

static enum check_verdict read_verdict(const json_t *object, struct text_error *err)
{
    return (enum check_verdict)read_word(object, "verdict", runner_verdict_words, CHECK_BROKEN + 1,
                                         err);
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
        member_fault(err, "'%s' is missing or no %s", what, type == JSON_ARRAY ? "list" : "object");
    for (size_t i = 0; i < n; ++i) {
        const char *key = type == JSON_ARRAY ? "" : json_object_iter_key(member);
        const char *word = json_string_value(type == JSON_ARRAY ? json_array_get(list, i)
                                                                : json_object_iter_value(member));

        if (!word || used + strlen(key) + strlen(word) + (type == JSON_ARRAY ? 3 : 4) > bytes) {
            member_fault(err, "'%s' has something that is not a text, or too much of it", what);
            return;
        }
        used += (size_t)snprintf(text + used, bytes - used, "%s%s%s%s", used > 0 ? ", " : "", key,
                                 type == JSON_ARRAY ? "" : " ", word);
        member = type == JSON_ARRAY ? NULL : json_object_iter_next(list, member);
    }
    text_clean(text, ' ');
}

/* ---- parts ----------------------------------------------------------------------------------- */

static const struct member_text impl_texts[] = {
    MEMBER_TEXT("name", check_record, name),
    MEMBER_TEXT("version", check_record, version),
    MEMBER_TEXT("spec", check_record, options.impl),
    MEMBER_TEXT("options", check_record, options.impl_options),
    MEMBER_TEXT("device_list", check_record, options.devices),
    MEMBER_TEXT_OR_NONE("blas", check_record, blas),
    MEMBER_TEXT_OR_NONE("gpu_software", check_record, gpu_software),
    MEMBER_TEXT_OR_NONE("launcher", check_record, options.launcher),
    MEMBER_TEXT_OR_NONE("known", check_record, options.known),
};
/* Old files have no machine, and it is null if it could not be read. */
static const struct member_text machine_texts[] = {
    MEMBER_TEXT("class", check_record, machine_class),
    MEMBER_TEXT_OR_NONE("program", check_record, program),
    MEMBER_TEXT("instance", check_record, machine_instance),
};
/* Old files do not have them. */
static const struct member_text root_texts[] = {
    MEMBER_TEXT_OR_NONE("created_utc", check_record, created),
    MEMBER_TEXT_OR_NONE("program_version", check_record, lockstep),
    MEMBER_TEXT_OR_NONE("git", check_record, git),
};
static const struct member_text case_texts[] = {
    MEMBER_TEXT("id", check_record_case, id),
    MEMBER_TEXT("rule", check_record_case, rule),
    MEMBER_TEXT_OR_NONE("sentence", check_record_case, sentence),
};
static const struct member_text result_texts[] = {
    MEMBER_TEXT("reason", runner_result, reason),
    MEMBER_TEXT_OR_NONE("scenario", runner_result, scenario),
    MEMBER_TEXT_OR_NONE("hint", runner_result, hint),
};

static void read_area(const json_t *object, struct runner_area_sums *area, struct text_error *err)
{
    size_t *n = area->rule;

    member_text(object, "area", area->name, sizeof area->name, err);
    for (int i = 0; i < RULES_COUNTED; ++i)
        n[i] = read_count(object, runner_rules_words[i], err);
    if (n[RULES_COVERED] + n[RULES_PENDING] + n[RULES_OUTSIDE] != n[RULES_ALL] ||
        n[RULES_OBSERVED] + n[RULES_REPORTED] + n[RULES_UNTESTED] != n[RULES_ALL])
        member_fault(err, "the rules of %s do not add up", area->name);
}

static void read_lists(const json_t *root, struct check_record *record, struct text_error *err)
{
    const json_t *rules = json_object_get(root, "rules"), *cases = json_object_get(root, "cases");
    const json_t *areas = json_object_get(rules, "areas");
    const size_t n = json_array_size(cases);

    record->result = calloc(n + 1, sizeof *record->result);
    record->cases = calloc(n + 1, sizeof *record->cases);
    if (!json_is_array(cases))
        member_fault(err, "'cases' is missing or no list");
    else if (!record->result || !record->cases)
        member_fault(err, "no memory for %zu cases", n);
    else
        record->n_cases = n;
    for (size_t i = 0; i < record->n_cases; ++i) {
        const json_t *object = json_array_get(cases, i);
        struct check_record_case *one = &record->cases[i];
        struct runner_result *result = &record->result[i];

        MEMBER_TEXTS(object, case_texts, one, err);
        MEMBER_TEXTS(object, result_texts, result, err);
        one->test = (struct check_case){.id = one->id, .rule = one->rule};
        one->test.obligation = (enum check_obligation)read_word(
            object, "obligation", runner_obligation_words, MAY + 1, err);
        one->test.evidence = (enum check_evidence)read_word(
            object, "evidence", runner_evidence_words, REPORTED + 1, err);
        result->test = &one->test;
        result->sentence = one->sentence;
        result->verdict = read_verdict(object, err);
        result->known =
            result->verdict == CHECK_SKIP && json_is_true(json_object_get(object, "known"));
        if (json_object_get(object, "needs_devices")) /* old files do not have it */
            result->few_devices = read_devices(object, "needs_devices", err);
        if (result->verdict == CHECK_PASS && read_count(object, "compared", err) == 0)
            member_fault(err, "%s passed and compared nothing", one->id);
    }
    if (!json_is_array(areas) || json_array_size(areas) > RUNNER_AREAS)
        member_fault(err, "'areas' is missing, no list, or longer than %d", RUNNER_AREAS);
    for (; record->sums->n < json_array_size(areas) && err->text[0] == '\0'; ++record->sums->n)
        read_area(json_array_get(areas, record->sums->n), &record->sums->row[record->sums->n], err);
    read_area(rules, &record->sums->row[record->sums->n], err);
    read_words(json_object_get(rules, "profiles"), "profiles", JSON_ARRAY, record->profiles,
               sizeof record->profiles, err);
    record->partial = member_flag(rules, "partial", err);
    if (json_object_get(rules, "left_out"))
        record->left_out = read_count(rules, "left_out", err);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static int compare_tests(const void *a, const void *b)
{
    const struct check_case *const *x = a, *const *y = b;

    return strcmp((*x)->id, (*y)->id);
}

/* Counts the cases, and compares the sums of the file with that. */
static void check_counts(const json_t *counts, struct check_record *record, struct text_error *err)
{
    static const char *const keys[] = {"pass", "fail", "skip", "broken"};
    const json_t *seconds = json_object_get(counts, "seconds");
    const struct check_case **sorted = cli_alloc(record->n_cases, sizeof *sorted);
    struct runner_area_sums *total = &record->sums->row[record->sums->n];
    const size_t *n = total->verdict;

    for (size_t i = 0; i < record->n_cases; ++i) {
        const struct runner_result *result = &record->result[i];

        sorted[i] = result->test;
        ++total->cases;
        ++total->verdict[result->verdict];
        for (struct runner_area_sums *area = record->sums->row; area < total; ++area) {
            const size_t length = strlen(area->name);

            if (strncmp(result->test->rule, area->name, length) != 0 ||
                result->test->rule[length] != '-')
                continue;
            ++area->cases;
            ++area->verdict[result->verdict];
        }
    }
    /* A case is counted once. */
    qsort(sorted, record->n_cases, sizeof *sorted, compare_tests);
    for (size_t i = 1; i < record->n_cases; ++i)
        if (strcmp(sorted[i - 1]->id, sorted[i]->id) == 0)
            member_fault(err, "the case %s is there twice", sorted[i]->id);
    free(sorted);
    /* The worst verdict; if all are skipped, it is SKIP. */
    const enum check_verdict worst = n[CHECK_BROKEN] > 0 || record->n_cases == 0 ? CHECK_BROKEN
                                     : n[CHECK_FAIL] > 0                         ? CHECK_FAIL
                                     : n[CHECK_PASS] > 0                         ? CHECK_PASS
                                                                                 : CHECK_SKIP;

    record->verdict = read_verdict(counts, err);
    record->seconds = json_number_value(seconds);
    record->interrupted = json_is_true(json_object_get(counts, "interrupted"));
    record->word = record->interrupted ? "INTERRUPTED" : runner_verdict_words[record->verdict];
    if (!json_is_number(seconds) || !(record->seconds >= 0))
        member_fault(err, "'seconds' is missing or no time");
    if (read_count(counts, "cases", err) != total->cases)
        member_fault(err, "'counts' is of another number of cases");
    for (int i = 0; i <= CHECK_BROKEN; ++i)
        if (read_count(counts, keys[i], err) != n[i])
            member_fault(err, "'%s' in 'counts' is not the number of such cases", keys[i]);
    /* A pass on devices that fail on purpose is called FAIL. */
    if (record->verdict != worst && !(record->verdict == CHECK_FAIL && worst == CHECK_PASS))
        member_fault(err, "the verdict %s is not that of the cases",
                     runner_verdict_words[record->verdict]);
}

struct check_record *check_record_read(const char *path, struct text_error *err)
{
    struct check_record *record = cli_alloc(1, sizeof *record);
    struct runner_options *const options = &record->options;
    struct text_error why = {""};
    char schema[64] = "";
    json_t *root = record_json_file(path, FILE_BYTES_MAX, &why);

    snprintf(options->program, sizeof options->program, "lockstep");
    record->sums = cli_alloc(1, sizeof *record->sums);
    if (root) {
        member_text(root, "schema", schema, sizeof schema, &why);
        if (strcmp(schema, "lockstep/check/1.0") != 0)
            member_fault(&why, "the schema is '%s', not lockstep/check/1.0", schema);
    }
    if (why.text[0] == '\0') {
        json_t *impl = json_object_get(root, "impl"), *machine = json_object_get(root, "machine");

        MEMBER_TEXTS(root, root_texts, record, &why);
        MEMBER_TEXTS(impl, impl_texts, record, &why);
        record->n_devices = read_devices(impl, "devices", &why);
        options->seed = read_count(impl, "seed", &why);
        options->has_seed = options->seed != 0;
        options->spec = impl_spec_read(options->impl);
        /* The reference has no other options than these two. */
        if (options->spec.kind == IMPL_SPEC_REFERENCE) {
            const char *text = options->impl_options;
            const size_t n = strcspn(text, "/");

            options->has_backend = text[0] != '\0';
            snprintf(options->backend, sizeof options->backend, "%.*s", (int)n, text);
            snprintf(options->communicator, sizeof options->communicator, "%.31s",
                     text + n + (text[n] == '/'));
        }
        /* Old files do not have them. */
        options->world.processes = (size_t)json_integer_value(json_object_get(impl, "processes"));
        options->world.per_process =
            (size_t)json_integer_value(json_object_get(impl, "per_process"));
        options->limit_s = json_number_value(json_object_get(impl, "timeout"));
        options->same_process = json_is_true(json_object_get(impl, "same_process"));
        read_words(json_object_get(impl, "device_names"), "device_names", JSON_ARRAY,
                   record->devices, sizeof record->devices, &why);
        read_words(json_object_get(impl, "capabilities"), "capabilities", JSON_ARRAY,
                   record->capabilities, sizeof record->capabilities, &why);
        read_words(json_object_get(impl, "dialects"), "dialects", JSON_OBJECT, record->dialects,
                   sizeof record->dialects, &why);
        if (machine && !json_is_null(machine))
            MEMBER_TEXTS(machine, machine_texts, record, &why);
        record->sealed = json_object_get(root, "chain") != NULL;
        read_lists(root, record, &why);
        check_counts(json_object_get(root, "counts"), record, &why);
    }
    json_decref(root);
    if (why.text[0] == '\0')
        return record;
    snprintf(err->text, sizeof err->text, "%.100s: %.150s", path, why.text);
    check_record_free(record);
    return NULL;
}

void check_record_free(struct check_record *record)
{
    if (record) {
        free(record->cases);
        free(record->result);
        free(record->sums);
    }
    free(record);
}
