/* validate/profile_read.c: reads a profile from its file: YAML by schema, then the meanings of its
 * texts. */
#include "validate/profile.h"

#include "check/runner.h"
#include "dp.h"
#include "plan/plan.h"
#include "text/alloc.h"
#include "text/options.h"
#include "workload.h"

#include <cyaml/cyaml.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { TEXT_BYTES = 512 };

/* ---- the schema --------------------------------------------------------------------------- */

#define TEXT(name, structure)                                                                      \
    CYAML_FIELD_STRING_PTR(#name, CYAML_FLAG_POINTER, struct structure, name, 1, TEXT_BYTES)
#define MAYBE(name, structure)                                                                     \
    CYAML_FIELD_STRING_PTR(#name, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct structure,      \
                           name, 1, TEXT_BYTES)
#define COUNT(name, structure) CYAML_FIELD_UINT(#name, CYAML_FLAG_OPTIONAL, struct structure, name)

static const cyaml_schema_field_t match_fields[] = {
    MAYBE(machine_class, profile_match), MAYBE(cpu_model, profile_match),
    MAYBE(gpu_model, profile_match),     COUNT(gpus, profile_match),
    COUNT(cores, profile_match),         CYAML_FIELD_END};

static const cyaml_schema_field_t requires_fields[] = {
    COUNT(launches, profile_requires), MAYBE(conformance, profile_requires), CYAML_FIELD_END};

static const cyaml_schema_field_t place_fields[] = {MAYBE(workload, profile_place),
                                                    MAYBE(mode, profile_place),
                                                    MAYBE(backend, profile_place),
                                                    MAYBE(communicator, profile_place),
                                                    MAYBE(math, profile_place),
                                                    COUNT(devices, profile_place),
                                                    COUNT(batch, profile_place),
                                                    COUNT(chain, profile_place),
                                                    COUNT(host_inputs, profile_place),
                                                    MAYBE(bytes, profile_place),
                                                    CYAML_FIELD_END};

static const cyaml_schema_field_t limit_fields[] = {
    TEXT(metric, profile_limit),
    MAYBE(statistic, profile_limit),
    MAYBE(min, profile_limit),
    MAYBE(max, profile_limit),
    MAYBE(expected, profile_limit),
    MAYBE(peak, profile_limit),
    MAYBE(sibling, profile_limit),
    TEXT(kind, profile_limit),
    TEXT(source, profile_limit),
    TEXT(date, profile_limit),
    TEXT(evidence, profile_limit),
    CYAML_FIELD_MAPPING("at", CYAML_FLAG_DEFAULT, struct profile_limit, at, place_fields),
    CYAML_FIELD_END};

static const cyaml_schema_value_t limit_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct profile_limit, limit_fields)};

static const cyaml_schema_value_t text_schema = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, TEXT_BYTES)};

static const cyaml_schema_field_t profile_fields[] = {
    TEXT(schema, profile),
    TEXT(name, profile),
    MAYBE(about, profile),
    CYAML_FIELD_MAPPING("match", CYAML_FLAG_DEFAULT, struct profile, match, match_fields),
    CYAML_FIELD_MAPPING("requires", CYAML_FLAG_OPTIONAL, struct profile, requires, requires_fields),
    CYAML_FIELD_SEQUENCE_COUNT("limits", CYAML_FLAG_POINTER, struct profile, limit, n_limits,
                               &limit_schema, 1, PROFILE_LIMITS),
    CYAML_FIELD_SEQUENCE_COUNT("unknown", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct profile,
                               unknown, n_unknown, &text_schema, 0, PROFILE_UNKNOWN),
    CYAML_FIELD_SEQUENCE_COUNT("learned_from", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                               struct profile, learned_from, n_learned_from, &text_schema, 0,
                               PROFILE_SESSIONS),
    MAYBE(not_shown, profile),
    CYAML_FIELD_END};

static const cyaml_schema_value_t profile_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct profile, profile_fields)};

/* The messages of libcyaml about an error: the first has the error, a later one has the line. */
struct complaint {
    char what[160];
    int line;
};

static void note_complaint(cyaml_log_t level, void *context, const char *format, va_list arguments)
{
    struct complaint *complaint = context;
    char text[240];
    const char *at;
    int line;

    if (level < CYAML_LOG_ERROR)
        return;
    (void)vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    at = strstr(text, "(line: ");
    if (complaint->what[0] == '\0')
        (void)snprintf(complaint->what, sizeof complaint->what, "%.150s",
                       strncmp(text, "Load: ", 6) == 0 ? text + 6 : text);
    if (at && complaint->line == 0 && sscanf(at, "(line: %d", &line) == 1)
        complaint->line = line;
}

void profile_free(struct profile *profile)
{
    const cyaml_config_t config = {.mem_fn = cyaml_mem};

    (void)cyaml_free(&config, &profile_schema, profile, 0);
}

/* ---- where limits are --------------------------------------------------------------------- */

/* The keys of counts. libcyaml also accepts -64 and 0x40 as numbers, and it cannot tell a 0 in the
 * file from a number that is left out. */
static const struct count {
    const char *key;
    size_t least, most;
} counts[] = {{"gpus", 1, RECORD_MAX_SLOTS},
              {"cores", 1, 1 << 20},
              {"launches", 1, PLAN_MAX_LAUNCHES},
              {"devices", 1, RECORD_MAX_RANKS},
              {"batch", 1, PLAN_MAX_ROWS},
              {"chain", 0, CELL_CHAIN_MAX},
              {"host_inputs", 0, 1}};

/* Takes a text. At depth 1 it is the name of a part; in a mapping it may be the name of a count,
 * whose value is the next text, or that value. */
static int take_text(const char *text, int depth, bool *in_limits, const struct count **count,
                     struct text_error *why)
{
    const struct count *own = *count;
    struct text_error problem = {"a 0 stands in front of it"};
    size_t number;

    if (depth == 1)
        *in_limits = strcmp(text, "limits") == 0;
    if (depth != 2 && depth != 4)
        return 0;
    *count = NULL;
    /* libcyaml reads 030 as 24. */
    if (own && ((text[0] == '0' && text[1] != '\0') ||
                option_size(text, own->least, own->most, &number, &problem) != 0))
        return text_fail(why, "%s: %.170s", own->key, problem.text);
    for (size_t i = 0; !own && i < sizeof counts / sizeof counts[0]; ++i)
        if (strcmp(text, counts[i].key) == 0)
            *count = &counts[i];
    return 0;
}

/* Whether an event has an anchor, an alias or a tag. libcyaml ignores them, so the value would mean
 * something else to the author of the file. */
static bool is_marked(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return true;
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor || event->data.scalar.tag;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor || event->data.mapping_start.tag;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor || event->data.sequence_start.tag;
    default:
        return false;
    }
}

/* Finds the lines of the mappings in the sequence of `limits:`, three levels deep, because libcyaml
 * does not report them. It also refuses a second document, which libcyaml does not read. */
static int find_places(const char *path, struct profile *profile, struct text_error *why)
{
    FILE *file = fopen(path, "rb");
    const struct count *count = NULL;
    unsigned n = 0, documents = 0;
    bool in_limits = false, more = true;
    struct text_error problem;
    yaml_parser_t parser;
    int status = 0;

    if (!file)
        return text_fail(why, "%.200s: %s", path, strerror(errno));
    if (!yaml_parser_initialize(&parser))
        cli_no_memory();
    yaml_parser_set_input_file(&parser, file);
    for (int depth = 0; more && status == 0;) {
        yaml_event_t event;

        if (!yaml_parser_parse(&parser, &event)) {
            status = text_fail(&problem, "%.100s", parser.problem ? parser.problem : "no memory");
            break;
        }
        switch (event.type) {
        case YAML_DOCUMENT_START_EVENT:
            if (++documents > 1)
                status = text_fail(&problem, "a profile is one document of YAML");
            break;
        case YAML_SCALAR_EVENT:
            status = take_text((const char *)event.data.scalar.value, depth, &in_limits, &count,
                               &problem);
            break;
        case YAML_MAPPING_START_EVENT:
        case YAML_SEQUENCE_START_EVENT:
            ++depth;
            if (depth == 3 && in_limits && n < profile->n_limits)
                profile->limit[n++].line = (int)event.start_mark.line + 1;
            break;
        case YAML_MAPPING_END_EVENT:
        case YAML_SEQUENCE_END_EVENT:
            --depth;
            break;
        default:
            more = event.type != YAML_STREAM_END_EVENT;
        }
        if (status == 0 && is_marked(&event))
            status = text_fail(&problem, "a profile has no anchors, aliases and tags");
        yaml_event_delete(&event);
    }
    if (status != 0)
        snprintf(why->text, sizeof why->text, "%.120s:%zu: %.190s", path, parser.mark.line + 1,
                 problem.text);
    yaml_parser_delete(&parser);
    /* Profiles of one name may have other limits, or other places for them. */
    const long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    const size_t bytes = end > 0 ? (size_t)end : 0;
    char *const text = malloc(bytes + 1);

    rewind(file);
    const bool unread = !text || fread(text, 1, bytes, file) != bytes ||
                        digest_sha256(text, bytes, profile->sha256) != 0;

    fclose(file);
    if (status == 0 && unread)
        snprintf(why->text, sizeof why->text, "%.200s: %s", path,
                 text ? "cannot be read again" : "no memory to read it again");
    free(text);
    return unread ? -1 : status;
}

/* ---- what the texts mean ------------------------------------------------------------------ */

static int refuse_limit(const char *path, const struct profile_limit *limit, struct text_error *why,
                        const char *key, const char *problem)
{
    return text_fail(why, "%.90s:%d: limit of %.24s: %s: %.170s", path, limit->line, limit->metric,
                     key, problem);
}

static int read_words(const char *path, struct profile_limit *limit, struct text_error *why)
{
    static const char *const evidence[] = {"published", "measured", "learned"};
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day, end = 0;
    size_t i = 0;

    limit->row = validate_metric_find(limit->metric);
    if (!limit->row)
        return refuse_limit(path, limit, why, "metric",
                            "it is not known; see lockstep validate check --metrics");
    limit->by = VALIDATE_COST;
    if (limit->row->counted && limit->statistic)
        return refuse_limit(path, limit, why, "statistic", "this metric is counted, and has none");
    if (!limit->row->counted) {
        char allowed[128] = "it has to be one of ";

        for (i = 0; i < VALIDATE_STATISTICS; ++i)
            text_list(allowed, sizeof allowed, i == 0 ? "" : ", ", validate_statistics[i].name);
        for (i = 0; limit->statistic && i < VALIDATE_STATISTICS; ++i)
            if (strcmp(limit->statistic, validate_statistics[i].name) == 0)
                break;
        if (!limit->statistic || i == VALIDATE_STATISTICS)
            return refuse_limit(path, limit, why, "statistic", allowed);
        limit->by = (enum validate_statistic)i;
    }
    limit->binding = strcmp(limit->kind, "binding") == 0;
    if (!limit->binding && strcmp(limit->kind, "advisory") != 0)
        return refuse_limit(path, limit, why, "kind", "it has to be binding or advisory");
    if (limit->source[strspn(limit->source, " ")] == '\0')
        return refuse_limit(path, limit, why, "source", "it says nothing");
    if (sscanf(limit->date, "%4d-%2d-%2d%n", &year, &month, &day, &end) != 3 || end != 10 ||
        limit->date[10] != '\0' || year < 2000 || month < 1 || month > 12 || day < 1 ||
        day > days[month - 1])
        return refuse_limit(path, limit, why, "date", "it has to be a day, such as 2026-11-23");
    for (i = 0; i < 3 && strcmp(limit->evidence, evidence[i]) != 0;)
        ++i;
    return i < 3 ? 0
                 : refuse_limit(path, limit, why, "evidence",
                                "it has to be published, measured or learned");
}

static int read_bounds(const char *path, struct profile_limit *limit, struct text_error *why)
{
    const struct {
        const char *key, *text;
        double *number, unknown;
    } rows[] = {{"min", limit->min, &limit->least, -INFINITY},
                {"max", limit->max, &limit->most, INFINITY},
                {"expected", limit->expected, &limit->healthy, NAN},
                {"peak", limit->peak, &limit->peak_at, NAN},
                {"sibling", limit->sibling, &limit->sibling_at, NAN}};
    struct text_error problem;

    if (!limit->min && !limit->max)
        return refuse_limit(path, limit, why, "min, max", "one of them is needed");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        *rows[i].number = rows[i].unknown;
        if (rows[i].text &&
            quantity_read(rows[i].text, limit->row->kind, rows[i].number, &problem) != 0)
            return refuse_limit(path, limit, why, rows[i].key, problem.text);
    }
    if (limit->least > limit->most)
        return refuse_limit(path, limit, why, "min, max", "no number is above min and below max");
    return 0;
}

/* Reads a place, whose names are ones that records can have. Its bytes belong to a transfer: no
 * cell has any. */
static int read_place(const char *path, struct profile_limit *limit, struct text_error *why)
{
    const struct profile_place *at = &limit->at;
    struct dp_communicator_row communicator;
    struct dp_backend_row backend;
    bool mode = !at->mode, known = !at->backend, math = !at->math;
    struct text_error problem;
    struct workload workload;
    char text[171];

    limit->at_bytes = NAN;
    /* The name of a workload is the one that the parser gives, because records have no other. */
    if (limit->at.workload) {
        if (workload_parse(limit->at.workload, &workload, text, sizeof text) != 0)
            return refuse_limit(path, limit, why, "workload", text);
        snprintf(text, sizeof text, "'%.60s' has the name %.80s in records", limit->at.workload,
                 workload.name);
        if (strcmp(workload.name, limit->at.workload) != 0)
            return refuse_limit(path, limit, why, "workload", text);
    }
    if (at->mode && strcmp(at->mode, cell_mode_names[CELL_COLLECTIVE]) == 0)
        return refuse_limit(
            path, limit, why, "mode",
            "a limit is of steps, or of parts of the machine; a collective has none");
    for (int i = 0; i < CELL_MODES; ++i)
        mode = mode || strcmp(at->mode, cell_mode_names[i]) == 0;
    for (int i = 0; !known && dp_backends(i, &backend); ++i)
        known = strcmp(at->backend, backend.name) == 0;
    for (int i = 0; i < DP_MATHS; ++i)
        math = math || strcmp(at->math, dp_math_name((enum dp_math)i)) == 0;
    if (!mode || !known || !math ||
        (at->communicator && !dp_communicator_of(at->communicator, &communicator)))
        return refuse_limit(path, limit, why,
                            !mode    ? "mode"
                            : !known ? "backend"
                            : math   ? "communicator"
                                     : "math",
                            "no record has one of that name");
    if (!limit->at.bytes)
        return 0;
    if (limit->row->kind != QUANTITY_SPEED)
        return refuse_limit(path, limit, why, "bytes",
                            "only a bandwidth is taken at a number of bytes");
    return quantity_read(limit->at.bytes, QUANTITY_BYTES, &limit->at_bytes, &problem) == 0
               ? 0
               : refuse_limit(path, limit, why, "bytes", problem.text);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Checks that no two numbers for the same place are binding: it would be unclear by which one a
 * machine was accepted. */
static int check_once(const char *path, const struct profile *profile, unsigned i,
                      struct text_error *why)
{
    const struct profile_limit *limit = &profile->limit[i];

    for (unsigned k = 0; k < i; ++k) {
        const struct profile_limit *other = &profile->limit[k];
        const struct profile_place *a = &limit->at, *b = &other->at;
        char problem[120];

        if (!limit->binding || !other->binding || limit->row != other->row ||
            limit->by != other->by || !same_text(a->workload, b->workload) ||
            !same_text(a->mode, b->mode) || !same_text(a->backend, b->backend) ||
            !same_text(a->communicator, b->communicator) || !same_text(a->math, b->math) ||
            !same_text(a->bytes, b->bytes) || a->devices != b->devices || a->batch != b->batch ||
            a->chain != b->chain || a->host_inputs != b->host_inputs ||
            ((!limit->min || !other->min) && (!limit->max || !other->max)))
            continue;
        snprintf(problem, sizeof problem,
                 "the one of line %d is binding, too, at the same place: one of them is advisory",
                 other->line);
        return refuse_limit(path, limit, why, limit->min && other->min ? "min" : "max", problem);
    }
    return 0;
}

/* Checks the names of profiles of cases: those of `lockstep check --profile`. */
static int check_conformance(const char *path, const char *cases, struct text_error *why)
{
    for (const char *at = cases; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const size_t bytes = strcspn(at, ",");
        bool known = bytes == 3 && strncmp(at, "all", 3) == 0;

        for (int i = 0; i < RUNNER_PROFILES; ++i)
            known = known || (strlen(runner_profiles[i].name) == bytes &&
                              strncmp(at, runner_profiles[i].name, bytes) == 0);
        if (known)
            continue;
        return text_fail(
            why,
            "%.100s: requires: conformance: '%.*s' is not one of primitives, dataparallel, "
            "ddp or all",
            path, (int)(bytes < 40 ? bytes : 40), at);
    }
    return 0;
}

int profile_read(const char *path, struct profile **profile, struct text_error *why)
{
    struct complaint complaint = {"", 0};
    const cyaml_config_t config = {.log_fn = note_complaint,
                                   .log_ctx = &complaint,
                                   .mem_fn = cyaml_mem,
                                   .log_level = CYAML_LOG_ERROR,
                                   .flags = CYAML_CFG_NO_ALIAS};
    struct profile *read = NULL;
    const cyaml_err_t loaded =
        cyaml_load_file(path, &config, &profile_schema, (cyaml_data_t **)&read, NULL);
    int status;

    *profile = NULL;
    if (loaded == CYAML_ERR_FILE_OPEN)
        return text_fail(why, "%.240s: %.60s", path, strerror(errno));
    if (loaded != CYAML_OK)
        return text_fail(why, "%.120s:%d: %.150s", path, complaint.line,
                         loaded != CYAML_ERR_ALIAS && complaint.what[0] != '\0'
                             ? complaint.what
                             : cyaml_strerror(loaded));
    if (!read)
        return text_fail(why, "%.200s: it is empty", path);
    if (strcmp(read->schema, PROFILE_SCHEMA) != 0)
        status = text_fail(why, "%.100s: schema is '%.40s', this program knows %s", path,
                           read->schema, PROFILE_SCHEMA);
    else
        status = find_places(path, read, why) != 0 ||
                 check_conformance(path, read->requires.conformance, why) != 0;
    for (unsigned i = 0; i < read->n_limits && status == 0; ++i)
        status = read_words(path, &read->limit[i], why) != 0 ||
                 read_bounds(path, &read->limit[i], why) != 0 ||
                 read_place(path, &read->limit[i], why) != 0 || check_once(path, read, i, why) != 0;
    if (status == 0)
        *profile = read;
    else
        profile_free(read);
    return status == 0 ? 0 : -1;
}

void profile_bound_words(const struct profile_limit *limit, char text[96])
{
    if (limit->min && limit->max)
        snprintf(text, 96, "%.40s to %.40s", limit->min, limit->max);
    else
        snprintf(text, 96, "%s %.60s", limit->min ? "at least" : "at most",
                 limit->min ? limit->min : limit->max);
}
