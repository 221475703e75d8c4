/* measure/step_result.c: checks the results of the steps of a cell. */
#include "measure/measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "numbers/equal.h"
#include "record/record.h"

int step_result_bad(const struct step_result *left, size_t step, const char *reason)
{
    left->cell->first_bad_step = (long)step;
    left->cell->flags[step] |= RECORD_BAD_VALUES;
    return cell_fail(left->cell, RECORD_FAILED, reason);
}

static uint64_t digest_rows(const struct session *s)
{
    size_t rows[DP_MAX_SLOTS];
    const size_t shards = probe_rows(&s->probe, rows);

    return equal_digest(0, rows, shards * sizeof rows[0]);
}

/* Verifies the first step of a set: every value against the reference. Keeps the digests that later
 * steps must have, too. */
static int verify_values(struct step_result *left, int k, size_t step)
{
    const struct session *s = left->session;
    size_t shard[DP_MAX_SLOTS], values = 0;
    struct text_error why = {""};
    const struct verify_step result = session_result(s, shard);
    const int status = verify_check(left->verify[k], &result, &values, &why);
    struct session_verified *step_digests = &left->step[k];
    struct dp_error err = {0};
    char reason[256];

    left->cell->values_checked += values;
    left->cell->n_shards = (int)result.n_shards;
    memcpy(left->cell->shard, shard, result.n_shards * sizeof shard[0]);
    if (status < 0)
        return cell_fail(left->cell, RECORD_BROKEN, why.text);
    if (status == 0) {
        *step_digests = (struct session_verified){session_digest(s), session_gradients(s)};
        left->mark[k].rows = digest_rows(s);
        if (session_fingerprint(left->session, step_digests->step, &err) == 0 && left->marked)
            (void)marks_of_step(&left->marks, &left->mark[k].bits, &err);
    }
    if (status > 0 || err.status) {
        snprintf(reason, sizeof reason, "step %zu, set %d: %.200s", step, k,
                 status > 0 ? why.text : err.text);
        return step_result_bad(left, step, reason);
    }
    left->verified[k] = true;
    /* How many bits the exact data use at least: in outputs, and in gradients of weights. */
    int bits = equal_significant(s->outputs, s->rows * workload_width(s->workload));

    for (int p = 0; p < s->n_params; ++p) {
        const struct dp_tensor *value = &s->param[p]->value;
        const int own = equal_significant(s->gradient[p], dp_tensor_count(value));

        bits = value->ndim > 1 && own < bits ? own : bits;
    }
    if (workload_is_exact(s->workload) &&
        (left->cell->exact_bits == 0 || bits < left->cell->exact_bits))
        left->cell->exact_bits = bits > 0 ? bits : 1; /* all numbers are 0 */
    return 0;
}

int step_result_check(struct step_result *left, int k, size_t step, struct dp_error *err)
{
    const struct step_result_marks *seen = &left->mark[k];
    const struct dp_slot *slot;
    struct marks_digest bits;
    char reason[256];
    int status;

    if (left->verified[k] && left->marked) {
        if ((status = marks_of_step(&left->marks, &bits, err)))
            return status;
        if ((slot = marks_differ(&left->marks, &bits, &seen->bits)))
            snprintf(reason, sizeof reason,
                     "step %zu, set %d: %s has a result that it had not in the verified step", step,
                     k, dp_slot_name(slot));
        else if (digest_rows(left->session) != seen->rows)
            snprintf(reason, sizeof reason,
                     "step %zu, set %d: the replicas had other rows than in the verified step",
                     step, k);
        else
            return 0;
        step_result_place(left, k, step, reason);
        return step_result_bad(left, step, reason);
    }
    if (session_read(left->session, err))
        return -1;
    if (!left->verified[k] || left->by_value)
        return verify_values(left, k, step);

    const uint64_t digest = session_digest(left->session);

    if (digest == left->step[k].step)
        return 0;
    snprintf(reason, sizeof reason,
             "step %zu, set %d: digest %016" PRIx64 ", the verified step's is %016" PRIx64, step, k,
             digest, left->step[k].step);
    step_result_place(left, k, step, reason);
    return step_result_bad(left, step, reason);
}

void cell_pass(struct record_cell *cell)
{
    struct text_error why = {""};

    cell->status = RECORD_OK;
    cell->validated = true;
    cell->reason[0] = '\0';
    if (record_check_ok(cell, &why) == 0)
        return;
    cell->validated = false;
    cell_fail(cell, RECORD_FAILED, why.text);
}

void step_result_judge(struct step_result *left, const size_t measured[WORKLOAD_SETS])
{
    struct text_error why = {""};

    for (int k = 0; k < WORKLOAD_SETS; ++k) {
        if (left->verified[k] && (measured[k] > 0 || left->cell->n_valid < WORKLOAD_SETS))
            continue;
        snprintf(why.text, sizeof why.text, "data set %d was %s", k,
                 left->verified[k] ? "not used in any measured step" : "not verified");
        cell_fail(left->cell, RECORD_FAILED, why.text);
        return;
    }
    cell_pass(left->cell);
}
