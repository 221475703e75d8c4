/* compare/pairs_record.c: pairs for programs: the record, lockstep/compare/1.0 in JSON Lines, and
 * the same as one object. */
#include "compare/pairs.h"

#include <jansson.h>

#include "record/json.h"

static const char SCHEMA[] = "lockstep/compare/1.0";
static const char *const arm_names[PAIRS_ARMS] = {"old", "new"};

/* Prints these members as a line of the record, which the caller frees. */
static char *record_line(const char *type, json_t *members)
{
    json_t *line = json_pack("{s:s, s:s}", "schema", SCHEMA, "type", type);

    json_object_update_new(line, members);
    return document_text(line, JSON_COMPACT | JSON_REAL_PRECISION(12));
}

/* Returns the result of --aa; null: it was not asked for. */
static json_t *fitness_json(const struct pairs *pairs)
{
    char words[COMPARE_TEXT];

    return pairs->options.aa ? json_string(pairs_fitness_words[pairs_fit(pairs, words)])
                             : json_null();
}

/* Returns the facts that are known before the first pair. */
static json_t *begin_json(const struct pairs *pairs)
{
    const struct record_run *run = &pairs->arm[PAIRS_OLD].run;
    json_t *arms = json_array(), *cells = json_array();
    char old[COMPARE_TEXT], fresh[COMPARE_TEXT];

    for (int i = 0; i < PAIRS_ARMS; ++i) {
        const struct pairs_arm *arm = &pairs->arm[i];

        json_array_append_new(
            arms, json_pack("{s:s, s:o, s:o, s:o, s:s, s:o}", "arm", arm_names[i], "program",
                            arm->program ? value_text(arm->program) : json_null(), "options",
                            arm->options ? value_text(arm->options) : json_null(), "version",
                            value_text(arm->version), "sha256", arm->sha256, "command",
                            value_text(arm->run.command)));
    }
    for (size_t c = 0; c < pairs->cells; ++c) {
        pairs_cell_words(pairs, c, PAIRS_OLD, old);
        pairs_cell_words(pairs, c, PAIRS_NEW, fresh);
        json_array_append_new(cells, json_pack("{s:o, s:o, s:o}", "cell", value_count(c), "old",
                                               value_text(old), "new", value_text(fresh)));
    }
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:{s:f, s:f, s:f, s:f, s:f}, s:o, s:o}",
        "class", "I", "run_id", value_text(run->run_id), "created_utc",
        value_text(run->created_utc), "machine_class", value_text(run->machine_class),
        "machine_instance", value_text(pairs->instance), "environment",
        value_text(run->environment), "same", pairs->same, "seed", value_count(pairs->seed),
        "pairs", value_count(pairs->per_look), "looks", value_count(pairs->looks), "rule",
        "alpha_all", PAIRS_ALPHA_ALL, "alpha_cells", PAIRS_ALPHA_CELLS, "margin", PAIRS_MARGIN,
        "delta", PAIRS_DELTA, "alike", PAIRS_ALIKE, "arms", arms, "cells", cells);
}

char *pairs_begin_line(const struct pairs *pairs)
{
    return record_line("begin", begin_json(pairs));
}

static json_t *launch_json(const struct pairs_launch *launch)
{
    const bool verified = launch->status == RECORD_OK;

    return json_pack(
        "{s:s, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}", "status",
        record_status_names[launch->status], "reason", value_text(launch->reason), "steps",
        value_count(launch->steps), "warmup_steps", value_count(launch->warmup_steps),
        "oversubscribed", launch->oversubscribed, "floor_statistic",
        verified ? value_text(compare_floor_words[launch->rule]) : json_null(), "floor_ns",
        value_real(launch->floor_ns), "cost_ns", value_real(launch->cost_ns), "foreign_frac",
        value_real(launch->elsewhere[0]), "steal_frac", value_real(launch->elsewhere[1]));
}

char *pairs_pair_line(const struct pairs *pairs, size_t cell, size_t number)
{
    const struct pairs_pair *pair = &pairs->pair[number * pairs->cells + cell];
    struct pairs_disturbed disturbed = {.pairs = 0};

    pairs_disturbed_add(pair, &disturbed);
    return record_line(
        "pair", json_pack("{s:o, s:o, s:s, s:o, s:o, s:o}", "cell", value_count(cell), "pair",
                          value_count(number), "first", arm_names[pair->first], "disturbed",
                          disturbed.unknown > 0 ? json_null() : json_boolean(disturbed.pairs > 0),
                          "old", launch_json(&pair->launch[PAIRS_OLD]), "new",
                          launch_json(&pair->launch[PAIRS_NEW])));
}

/* cell: null for all of them. */
static json_t *verdict_json(const struct pairs *pairs, size_t cell)
{
    const bool one = cell < pairs->cells;
    const struct pairs_judged *judged = one ? &pairs->judged[cell] : &pairs->all;
    const struct pairs_judged *cost = one ? &pairs->cost[cell] : &pairs->all_cost;
    const struct pairs_disturbed disturbed = pairs_disturbed_of(pairs, cell);

    return json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, "
        "s:s, s:o, s:o, s:o, s:o, s:o, s:o}",
        "cell", one ? value_count(cell) : json_null(), "verdict",
        pairs_verdict_words[judged->verdict], "reason", value_text(judged->reason), "ratio",
        value_real(judged->ratio), "lo", value_real(judged->lo), "hi", value_real(judged->hi),
        "level", value_real(judged->level), "p_slower", value_real(judged->p_slower), "p_faster",
        value_real(judged->p_faster), "cost", value_real(cost->ratio), "detectable",
        value_real(judged->detectable), "pairs_for_5_percent",
        judged->needed > 0 ? value_count(judged->needed) : json_null(), "pairs_disturbed",
        value_count(disturbed.pairs), "pairs_disturbed_unknown", value_count(disturbed.unknown),
        "false_alarm", pairs_false_alarm(pairs, judged), "cost_verdict",
        pairs_verdict_words[cost->verdict], "cost_reason", value_text(cost->reason), "cost_lo",
        value_real(cost->lo), "cost_hi", value_real(cost->hi), "cost_p_slower",
        value_real(cost->p_slower), "cost_p_faster", value_real(cost->p_faster), "look",
        value_count(pairs->look));
}

char *pairs_verdict_line(const struct pairs *pairs, size_t cell)
{
    return record_line("verdict", verdict_json(pairs, cell));
}

char *pairs_change_line(const struct pairs *pairs, size_t change)
{
    return record_line("change", exact_change_json(&pairs->changes->change[change]));
}

char *pairs_end_line(const struct pairs *pairs, bool interrupted)
{
    return record_line("end",
                       json_pack("{s:o, s:o, s:b, s:o, s:o}", "pairs_planned",
                                 value_count(pairs->cells * pairs->per_look * pairs->looks),
                                 "pairs_done", value_count(pairs->done), "interrupted", interrupted,
                                 "fitness", interrupted ? json_null() : fitness_json(pairs), "exit",
                                 interrupted ? json_null() : json_integer(pairs_exit(pairs))));
}

json_t *pairs_json(const void *of)
{
    const struct pairs *pairs = of;
    json_t *root = json_pack("{s:s}", "schema", SCHEMA);
    json_t *verdicts = json_array();

    for (size_t c = 0; c < pairs->cells; ++c)
        json_array_append_new(verdicts, verdict_json(pairs, c));
    json_object_update_new(root, begin_json(pairs));
    json_object_update_new(
        root, json_pack("{s:o, s:o, s:o, s:o, s:o, s:i}", "all", verdict_json(pairs, pairs->cells),
                        "verdicts", verdicts, "changes", exact_changes_json(pairs->changes),
                        "false_alarms", value_count(pairs_false_alarms(pairs)), "fitness",
                        fitness_json(pairs), "exit", pairs_exit(pairs)));
    return root;
}
