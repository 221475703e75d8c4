/* analysis/roof.c: reads lockstep/limits/1.x, and computes the limit of a machine and the share of
 * it that was reached. The file is untrusted: types and ranges are checked before anything is
 * stored, and text is cleaned. */
#include "analysis/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "text/alloc.h"

const char *const roof_rate_keys[ROOF_RATES] = {
    [ROOF_FMA] = "multiply_adds", [ROOF_READ] = "memory_read", [ROOF_COPY] = "memory_copied"};
const char *const roof_way_keys[ROOF_WAYS] = {[ROOF_ALONE] = "alone", [ROOF_AT_ONCE] = "at_once"};
const char *const roof_bound_words[ROOF_BOUNDS] = {[ROOF_UNKNOWN] = "not counted",
                                                   [ROOF_BY_FMA] = "multiply-adds",
                                                   [ROOF_BY_MEMORY] = "memory",
                                                   [ROOF_BY_COPIES] = "copies"};

/* ---- shares --------------------------------------------------------------------------------- */

/* The time at the limit; 0: nothing is counted. best: it uses the best round of each ceiling. */
static double time_at_limit(const struct roof_ceilings *c, const struct roof_work *w, bool best,
                            enum roof_bound *bound)
{
    const enum roof_way way = w->kind == ROOF_UPDATES ? ROOF_ALONE : ROOF_AT_ONCE;
    double rate[ROOF_RATES];

    for (int r = 0; r < ROOF_RATES; ++r)
        rate[r] = best ? c->rate[r][way].hi : c->rate[r][way].middle;
    /* A copy reads and also writes its bytes. */
    const double moving = w->bytes / fmax(rate[ROOF_READ], 2 * rate[ROOF_COPY]);
    const double computing = w->flops / rate[ROOF_FMA];

    if (!(w->bytes > 0) && !(w->flops > 0)) {
        *bound = ROOF_UNKNOWN;
        return 0;
    }
    if (w->kind == ROOF_CARRIES) {
        *bound = ROOF_BY_COPIES;
        return w->bytes / (c->devices * rate[ROOF_COPY]);
    }
    *bound = computing > moving ? ROOF_BY_FMA : ROOF_BY_MEMORY;
    return fmax(computing, moving);
}

struct roof_share roof_share(const struct roof_ceilings *ceilings, const struct roof_work *work)
{
    struct roof_share share = {ROOF_UNKNOWN, (double)NAN, (double)NAN};
    enum roof_bound ignored;
    const double ns = time_at_limit(ceilings, work, false, &share.bound);

    if (share.bound == ROOF_UNKNOWN || !(work->ns.middle > 0)) {
        share.bound = ROOF_UNKNOWN;
        return share;
    }
    share.share = ns / work->ns.middle;
    share.least = time_at_limit(ceilings, work, true, &ignored) / work->ns.hi;
    return share;
}

/* ---- a file --------------------------------------------------------------------------------- */

enum { FILE_BYTES_MOST = 16 << 20 };
/* The range of any time in ns, any rate per ns, and any number of operations or bytes of a step. It
 * is much wider than real values, and no quotient of two values in it is infinite. */
static const double LEAST = 1e-9, MOST = 1e21;

/* Reads [middle, lo, hi], and checks that lo <= middle <= hi. */
static struct roof_range read_roof_range(const json_t *object, const char *key,
                                         struct text_error *err)
{
    const json_t *list;
    double number[3] = {0};

    if (member_list(object, key, 3, 3, &list, err) == 3)
        for (size_t i = 0; i < 3; ++i)
            number[i] = member_number(json_array_get(list, i), key, LEAST, MOST, err);
    if (number[1] > number[0] || number[0] > number[2])
        member_fault(err, "'%s' is %g, outside its range %g to %g", key, number[0], number[1],
                     number[2]);
    return (struct roof_range){number[0], number[1], number[2]};
}

static void read_roof_workload(const json_t *object, struct roof_workload *w,
                               struct text_error *err)
{
    static const char *const keys[] = {"phases", "products"};
    static const enum roof_kind kinds[RECORD_PHASES + 1] = {
        [RECORD_SCATTER] = ROOF_CARRIES, [RECORD_REPLICATE] = ROOF_CARRIES,
        [RECORD_GATHER] = ROOF_CARRIES,  [RECORD_REDUCE] = ROOF_CARRIES,
        [RECORD_UPDATE] = ROOF_UPDATES,  [RECORD_PHASES] = ROOF_COMPUTES};

    w->line = cli_alloc(ROOF_MOST_LINES, sizeof *w->line);
    member_text(object, "workload", w->name, sizeof w->name, err);
    w->batch = member_count(object, "batch", 1, RECORD_EXACT_MAX, err);
    w->rows = member_count(object, "rows", 1, RECORD_EXACT_MAX, err);
    w->step_ns = member_number(json_object_get(object, "step_ns"), "step_ns", LEAST, MOST, err);
    for (int k = 0; k < 2; ++k) {
        const json_t *list;
        const size_t n = member_list(object, keys[k], 0, ROOF_MOST_LINES - w->n, &list, err);

        for (size_t i = 0; i < n && err->text[0] == '\0'; ++i) {
            const json_t *one = json_array_get(list, i);
            struct roof_line *line = &w->line[w->n++];
            char phase[32];

            line->product = k == 1;
            member_text(one, "phase", phase, sizeof phase, err);
            while (line->phase < RECORD_PHASES &&
                   strcmp(phase, record_phase_names[line->phase]) != 0)
                ++line->phase;
            /* Only a product may belong to no phase. */
            if (line->phase == RECORD_PHASES && (!line->product || phase[0] != '\0'))
                member_fault(err, "there is no phase '%s'", phase);
            line->work.ns = read_roof_range(one, "ns", err);
            line->work.flops = member_number(json_object_get(one, "flops"), "flops", 0, MOST, err);
            line->work.bytes = member_number(json_object_get(one, "bytes"), "bytes", 0, MOST, err);
            line->work.kind = line->product ? ROOF_COMPUTES : kinds[line->phase];
            if (line->product) {
                member_text(one, "shape", line->name, sizeof line->name, err);
                line->count = member_count(one, "count", 1, RECORD_EXACT_MAX, err);
            } else if (line->phase < RECORD_PHASES)
                snprintf(line->name, sizeof line->name, "%s", record_phase_names[line->phase]);
        }
    }
}

#define ROOF_TEXT(member) MEMBER_TEXT(#member, roof, member)
static const struct member_text roof_texts[] = {
    ROOF_TEXT(node_hash),   ROOF_TEXT(machine_class), ROOF_TEXT(cpu_model),   ROOF_TEXT(blas),
    ROOF_TEXT(created_utc), ROOF_TEXT(devices),       ROOF_TEXT(instructions)};

struct roof *roof_read(const char *path, struct text_error *err)
{
    struct text_error why = {""};
    json_t *root = record_json_file(path, FILE_BYTES_MOST, &why);
    const json_t *ceilings = json_object_get(root, "ceilings"), *list;
    struct roof *roof = cli_alloc(1, sizeof *roof);

    if (root && record_json_schema(root, "limits", &why) == 0) {
        roof->oversubscribed = member_flag(root, "oversubscribed", &why);
        MEMBER_TEXTS(root, roof_texts, roof, &why);
        roof->rounds = member_count(root, "rounds", 1, RECORD_EXACT_MAX, &why);
        roof->ceilings.devices = (int)member_count(root, "n_devices", 1, RECORD_MAX_RANKS, &why);
        for (int r = 0; r < ROOF_RATES; ++r) {
            const json_t *rate = json_object_get(ceilings, roof_rate_keys[r]);

            if (!json_is_object(rate))
                member_fault(&why, "'%s' is missing or no object", roof_rate_keys[r]);
            for (int way = 0; way < ROOF_WAYS; ++way)
                roof->ceilings.rate[r][way] = read_roof_range(rate, roof_way_keys[way], &why);
        }
        const size_t n = member_list(root, "workloads", 1, ROOF_MOST_WORKLOADS, &list, &why);

        roof->workload = cli_alloc(n, sizeof *roof->workload);
        while (roof->n < n && why.text[0] == '\0') {
            read_roof_workload(json_array_get(list, roof->n), &roof->workload[roof->n], &why);
            ++roof->n;
        }
    }
    json_decref(root);
    if (why.text[0] == '\0')
        return roof;
    record_fail(err, "%.100s: %.150s", path, why.text);
    roof_free(roof);
    return NULL;
}

void roof_free(struct roof *roof)
{
    for (size_t i = 0; roof && i < roof->n; ++i)
        free(roof->workload[i].line);
    if (roof)
        free(roof->workload);
    free(roof);
}
