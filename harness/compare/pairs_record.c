/* compare/pairs_record.c: pairs for programs: what the lines of the record say,
 * lockstep/compare/1.0 in JSON Lines, and the same as one object. */
#include "compare/pairs.h"

#include <jansson.h>

#include "record/json.h"

/* Returns the result of --aa; null: it was not asked for. */
static json_t *fitness_json(const struct pairs *pairs)
{
    char words[COMPARE_TEXT];

    return pairs->options.aa ? json_string(pairs_fitness_words[pairs_fit(pairs, words)])
                             : json_null();
}

json_t *pairs_begin_json(const struct pairs *pairs)
{
    static const char *const names[PAIRS_ARMS] = {"old", "new"};
    const struct record_run *run = &pairs->arm[PAIRS_OLD].run;
    json_t *arms = json_array(), *cells = json_array();
    char old[COMPARE_TEXT], fresh[COMPARE_TEXT];

    for (int i = 0; i < PAIRS_ARMS; ++i) {
        const struct pairs_arm *arm = &pairs->arm[i];

        json_array_append_new(arms,
                              value_object("arm:t program:t options:t version:t sha256:t command:t",
                                           names[i], arm->program, arm->options, arm->version,
                                           arm->sha256, arm->run.command));
    }
    for (size_t c = 0; c < pairs->cells; ++c) {
        pairs_cell_words(pairs, c, PAIRS_OLD, old);
        pairs_cell_words(pairs, c, PAIRS_NEW, fresh);
        json_array_append_new(cells, value_object("cell:n old:t new:t", c, old, fresh));
    }
    return value_object("class:t run_id:t created_utc:t machine_class:t machine_instance:t "
                        "environment:t same:b seed:n pairs:n looks:n "
                        "rule:{alpha_all:r alpha_cells:r margin:r delta:r alike:r} arms:o cells:o",
                        "I", run->run_id, run->created_utc, run->machine_class, pairs->instance,
                        run->environment, pairs->same, (size_t)pairs->seed, pairs->per_look,
                        pairs->looks, PAIRS_ALPHA_ALL, PAIRS_ALPHA_CELLS, PAIRS_MARGIN, PAIRS_DELTA,
                        PAIRS_ALIKE, arms, cells);
}

static json_t *launch_json(const struct pairs_launch *launch)
{
    const bool verified = launch->status == RECORD_OK;

    return value_object("status:t reason:t steps:n warmup_steps:n oversubscribed:b "
                        "floor_statistic:t floor_ns:r cost_ns:r foreign_frac:r steal_frac:r",
                        record_status_names[launch->status], launch->reason, launch->steps,
                        launch->warmup_steps, launch->oversubscribed,
                        verified ? compare_floor_words[launch->rule] : NULL, launch->floor_ns,
                        launch->cost_ns, launch->elsewhere[0], launch->elsewhere[1]);
}

json_t *pairs_pair_json(const struct pairs *pairs, size_t cell, size_t number)
{
    const struct pairs_pair *pair = &pairs->pair[number * pairs->cells + cell];
    struct pairs_disturbed disturbed = {.pairs = 0};

    pairs_disturbed_add(pair, &disturbed);
    return value_object("cell:n pair:n first:t disturbed:o old:o new:o", cell, number,
                        pair->first == PAIRS_OLD ? "old" : "new",
                        disturbed.unknown > 0 ? json_null() : json_boolean(disturbed.pairs > 0),
                        launch_json(&pair->launch[PAIRS_OLD]),
                        launch_json(&pair->launch[PAIRS_NEW]));
}

json_t *pairs_verdict_json(const struct pairs *pairs, size_t cell)
{
    const bool one = cell < pairs->cells;
    const struct pairs_judged *judged = one ? &pairs->judged[cell] : &pairs->all;
    const struct pairs_judged *cost = one ? &pairs->cost[cell] : &pairs->all_cost;
    const struct pairs_disturbed disturbed = pairs_disturbed_of(pairs, cell);

    return value_object(
        "cell:o verdict:t reason:t ratio:r lo:r hi:r level:r p_slower:r p_faster:r "
        "cost:r detectable:r pairs_for_5_percent:p pairs_disturbed:n "
        "pairs_disturbed_unknown:n false_alarm:b cost_verdict:t cost_reason:t "
        "cost_lo:r cost_hi:r cost_p_slower:r cost_p_faster:r look:n",
        one ? value_count(cell) : json_null(), pairs_verdict_words[judged->verdict], judged->reason,
        judged->ratio, judged->lo, judged->hi, judged->level, judged->p_slower, judged->p_faster,
        cost->ratio, judged->detectable, judged->needed, disturbed.pairs, disturbed.unknown,
        pairs_false_alarm(pairs, judged), pairs_verdict_words[cost->verdict], cost->reason,
        cost->lo, cost->hi, cost->p_slower, cost->p_faster, pairs->look);
}

json_t *pairs_end_json(const struct pairs *pairs, bool interrupted)
{
    return value_object("pairs_planned:n pairs_done:n interrupted:b fitness:o exit:o",
                        pairs->cells * pairs->per_look * pairs->looks, pairs->done, interrupted,
                        interrupted ? json_null() : fitness_json(pairs),
                        interrupted ? json_null() : json_integer(pairs_exit(pairs)));
}

json_t *pairs_json(const void *of)
{
    const struct pairs *pairs = of;
    json_t *root = value_object("schema:t", PAIRS_SCHEMA), *verdicts = json_array();

    for (size_t c = 0; c < pairs->cells; ++c)
        json_array_append_new(verdicts, pairs_verdict_json(pairs, c));
    json_object_update_new(root, pairs_begin_json(pairs));
    return value_add(root, "all:o verdicts:o changes:o false_alarms:n fitness:o exit:i",
                     pairs_verdict_json(pairs, pairs->cells), verdicts,
                     exact_changes_json(pairs->changes), pairs_false_alarms(pairs),
                     fitness_json(pairs), pairs_exit(pairs));
}
