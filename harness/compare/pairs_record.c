/* compare/pairs_record.c: pairs for programs: the record, lockstep/compare/1.0 in JSON Lines, and
 * the same as one object.
 *
 * What jansson cannot add for want of memory shows at the end (record/memory.h). */
#include "compare/pairs.h"

#include <jansson.h>
#include <math.h>

#include "record/memory.h"

static const char SCHEMA[] = "lockstep/compare/1.0";
static const char *const arm_names[PAIRS_ARMS] = {"old", "new"};

static json_t *text(const char *value)
{
    json_t *string = json_string(value);

    return string ? string : json_string("?");
}

static json_t *real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *count(size_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *line_of(const char *type)
{
    return json_pack("{s:s, s:s}", "schema", SCHEMA, "type", type);
}

static char *print(json_t *root)
{
    return record_memory_text(root, JSON_COMPACT | JSON_REAL_PRECISION(12));
}

static json_t *arms(const struct pairs *pairs)
{
    json_t *array = json_array();

    for (int i = 0; i < PAIRS_ARMS; ++i) {
        const struct pairs_arm *arm = &pairs->arm[i];

        json_array_append_new(array,
                              json_pack("{s:s, s:o, s:o, s:o, s:s, s:o}", "arm", arm_names[i],
                                        "program", arm->program ? text(arm->program) : json_null(),
                                        "options", arm->options ? text(arm->options) : json_null(),
                                        "version", text(arm->version), "sha256", arm->sha256,
                                        "command", text(arm->run.command)));
    }
    return array;
}

static json_t *rule(void)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "alpha_all", PAIRS_ALPHA_ALL, "alpha_cells",
                     PAIRS_ALPHA_CELLS, "margin", PAIRS_MARGIN, "delta", PAIRS_DELTA, "alike",
                     PAIRS_ALIKE);
}

/* Of --aa; null: it was not asked for. */
static json_t *fitness(const struct pairs *pairs)
{
    char words[COMPARE_TEXT];

    return pairs->aa ? json_string(pairs_fitness_words[pairs_fit(pairs, words)]) : json_null();
}

static json_t *cells(const struct pairs *pairs)
{
    json_t *array = json_array();
    char name[PAIRS_ARMS][COMPARE_TEXT];

    for (size_t c = 0; c < pairs->cells; ++c) {
        for (int arm = 0; arm < PAIRS_ARMS; ++arm)
            pairs_cell_words(pairs, c, arm, name[arm]);
        json_array_append_new(array,
                              json_pack("{s:o, s:o, s:o}", "cell", count(c), "old",
                                        text(name[PAIRS_OLD]), "new", text(name[PAIRS_NEW])));
    }
    return array;
}

/* What is known before the first pair. */
static void add_begin(const struct pairs *pairs, json_t *object)
{
    const struct record_run *run = &pairs->arm[PAIRS_OLD].run;

    json_object_update_new(
        object,
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "class", "I",
                  "run_id", text(run->run_id), "created_utc", text(run->created_utc),
                  "machine_class", text(run->machine_class), "machine_instance",
                  text(pairs->instance), "environment", text(run->environment), "same", pairs->same,
                  "seed", count(pairs->seed), "pairs", count(pairs->per_look), "looks",
                  count(pairs->looks), "rule", rule(), "arms", arms(pairs), "cells", cells(pairs)));
}

char *pairs_begin_line(const struct pairs *pairs)
{
    json_t *line = line_of("begin");

    add_begin(pairs, line);
    return print(line);
}

static json_t *launch_of(const struct pairs_launch *launch)
{
    const bool verified = launch->status == RECORD_OK;

    return json_pack("{s:s, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "status",
                     record_status_names[launch->status], "reason", text(launch->reason), "steps",
                     count(launch->steps), "warmup_steps", count(launch->warmup_steps),
                     "oversubscribed", launch->oversubscribed, "floor_statistic",
                     verified ? text(compare_floor_words[launch->rule]) : json_null(), "floor_ns",
                     real(launch->floor_ns), "cost_ns", real(launch->cost_ns), "foreign_frac",
                     real(launch->elsewhere[0]), "steal_frac", real(launch->elsewhere[1]));
}

char *pairs_pair_line(const struct pairs *pairs, size_t cell, size_t number)
{
    const struct pairs_pair *pair = &pairs->pair[number * pairs->cells + cell];
    json_t *line = line_of("pair");

    struct pairs_disturbed disturbed = {.pairs = 0};

    pairs_disturbed_add(pair, &disturbed);
    json_object_update_new(
        line,
        json_pack("{s:o, s:o, s:s, s:o, s:o, s:o}", "cell", count(cell), "pair", count(number),
                  "first", arm_names[pair->first], "disturbed",
                  disturbed.unknown > 0 ? json_null() : json_boolean(disturbed.pairs > 0), "old",
                  launch_of(&pair->launch[PAIRS_OLD]), "new", launch_of(&pair->launch[PAIRS_NEW])));
    return print(line);
}

/* cell: null for all of them. */
static json_t *verdict_of(const struct pairs *pairs, size_t cell)
{
    const bool one = cell < pairs->cells;
    const struct pairs_judged *judged = one ? &pairs->judged[cell] : &pairs->all;
    const struct pairs_judged *cost = one ? &pairs->cost[cell] : &pairs->all_cost;
    const struct pairs_disturbed disturbed = pairs_disturbed_of(pairs, cell);

    return json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, "
        "s:s, s:o, s:o, s:o, s:o, s:o, s:o}",
        "cell", one ? count(cell) : json_null(), "verdict", pairs_verdict_words[judged->verdict],
        "reason", text(judged->reason), "ratio", real(judged->ratio), "lo", real(judged->lo), "hi",
        real(judged->hi), "level", real(judged->level), "p_slower", real(judged->p_slower),
        "p_faster", real(judged->p_faster), "cost", real(cost->ratio), "detectable",
        real(judged->detectable), "pairs_for_5_percent",
        judged->needed > 0 ? count(judged->needed) : json_null(), "pairs_disturbed",
        count(disturbed.pairs), "pairs_disturbed_unknown", count(disturbed.unknown), "false_alarm",
        pairs_false_alarm(pairs, judged), "cost_verdict", pairs_verdict_words[cost->verdict],
        "cost_reason", text(cost->reason), "cost_lo", real(cost->lo), "cost_hi", real(cost->hi),
        "cost_p_slower", real(cost->p_slower), "cost_p_faster", real(cost->p_faster), "look",
        count(pairs->look));
}

char *pairs_verdict_line(const struct pairs *pairs, size_t cell)
{
    json_t *line = line_of("verdict");

    json_object_update_new(line, verdict_of(pairs, cell));
    return print(line);
}

static void cell_words(const void *of, size_t cell, char name[COMPARE_TEXT])
{
    pairs_cell_words(of, cell, PAIRS_NEW, name);
}

static json_t *cell_number(const void *of, size_t cell)
{
    (void)of;
    return count(cell);
}

struct exact_names pairs_names(const struct pairs *pairs)
{
    return (struct exact_names){pairs, cell_words, cell_number, {"OLD", "NEW"}};
}

char *pairs_change_line(const struct pairs *pairs, size_t change)
{
    const struct exact_names names = pairs_names(pairs);
    json_t *line = line_of("change");

    json_object_update_new(line, exact_change_json(&pairs->changes->change[change], &names));
    return print(line);
}

char *pairs_end_line(const struct pairs *pairs, bool interrupted)
{
    json_t *line = line_of("end");

    json_object_update_new(line,
                           json_pack("{s:o, s:o, s:b, s:o, s:o}", "pairs_planned",
                                     count(pairs->cells * pairs->per_look * pairs->looks),
                                     "pairs_done", count(pairs->done), "interrupted", interrupted,
                                     "fitness", interrupted ? json_null() : fitness(pairs), "exit",
                                     interrupted ? json_null() : json_integer(pairs_exit(pairs))));
    return print(line);
}

int pairs_json(FILE *stream, const struct pairs *pairs)
{
    const struct exact_names names = pairs_names(pairs);
    json_t *root = json_pack("{s:s}", "schema", SCHEMA), *array = json_array();
    char *document;

    add_begin(pairs, root);
    for (size_t c = 0; c < pairs->cells; ++c)
        json_array_append_new(array, verdict_of(pairs, c));
    json_object_set_new(root, "all", verdict_of(pairs, pairs->cells));
    json_object_set_new(root, "verdicts", array);
    json_object_set_new(root, "changes", exact_json(pairs->changes, &names));
    json_object_set_new(root, "false_alarms", count(pairs_false_alarms(pairs)));
    json_object_set_new(root, "fitness", fitness(pairs));
    json_object_set_new(root, "exit", json_integer(pairs_exit(pairs)));
    document = record_memory_text(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    if (!document)
        return -1;
    fprintf(stream, "%s\n", document);
    free(document);
    return 0;
}
