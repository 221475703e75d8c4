/* bench/limits_json.c: the same for programs: lockstep/limits/1.0, which `lockstep report --limits`
 * reads. Only what was measured and counted: shares are made by who reads it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/limits.h"
#include "machine/provenance.h"
#include "record/json.h"
#include "record/memory.h"

static json_t *range(struct roof_range r)
{
    return json_pack("[f, f, f]", r.middle, r.lo, r.hi);
}

static json_t *ceilings(const struct roof_ceilings *c)
{
    json_t *object = json_object();

    for (int r = 0; r < ROOF_RATES; ++r)
        json_object_set_new(object, roof_rate_keys[r],
                            json_pack("{s:o, s:o}", roof_way_keys[ROOF_ALONE],
                                      range(c->rate[r][ROOF_ALONE]), roof_way_keys[ROOF_AT_ONCE],
                                      range(c->rate[r][ROOF_AT_ONCE])));
    return object;
}

static json_t *phases(const struct limits_workload *w)
{
    json_t *list = json_array();

    for (int p = 0; p < DP_PHASES; ++p) {
        const struct roof_work work = limits_phase_work(w, (enum dp_phase)p);

        if (work.ns.lo > 0) /* of one device some phases do not take place */
            json_array_append_new(list, json_pack("{s:s, s:o, s:f, s:f}", "phase",
                                                  limits_phase_names[p], "ns", range(work.ns),
                                                  "flops", work.flops, "bytes", work.bytes));
    }
    return list;
}

static json_t *products(const struct limits_steps *s)
{
    json_t *list = json_array();

    for (int i = 0; i < s->n_parts; ++i) {
        const struct dp_kernel_row *r = &s->part[i];
        const struct roof_work work = limits_product_work(s, i);
        char shape[64];

        if (!r->product || !(work.ns.lo > 0))
            continue;
        snprintf(shape, sizeof shape, "%zux%zux%zu %s", r->m, r->n, r->k, limits_transposes(r));
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:I, s:o, s:f, s:f}", "shape", shape, "phase",
                                        r->phase < DP_PHASES ? limits_phase_names[r->phase] : "",
                                        "count", (json_int_t)s->count[i], "ns", range(work.ns),
                                        "flops", work.flops, "bytes", work.bytes));
    }
    return list;
}

static json_t *workloads(const struct limits *l)
{
    json_t *list = json_array();

    for (int i = 0; i < l->n; ++i) {
        const struct limits_workload *w = &l->workload[i];
        const struct limits_steps *s = &w->way[LIMITS_AT_ONCE];

        json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:f, s:o, s:o}", "workload",
                                              w->workload.name, "batch", (json_int_t)w->rows,
                                              "rows", (json_int_t)w->way[LIMITS_ALONE].config.rows,
                                              "step_ns", s->mean[LIMITS_STEP], "phases", phases(w),
                                              "products", products(s)));
    }
    return list;
}

int limits_print_json(const struct limits *l)
{
    const struct roof_ceilings c = limits_ceilings(l);
    struct record_run *run = calloc(1, sizeof *run);
    char *document = NULL;

    if (run && provenance_read(l->group, &l->machine, run) == 0)
        document = record_memory_text(
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:b, s:o, s:o}",
                      "schema", "lockstep/limits/1.0", "created_utc", run->created_utc, "git_sha",
                      run->git_sha, "node_hash", run->node_hash, "machine_class",
                      run->machine_class, "cpu_model", run->cpu_model, "blas", run->blas, "devices",
                      l->options->devices, "backend", l->options->backend, "instructions",
                      l->ceilings.peak->name, "n_devices", c.devices, "rounds",
                      (json_int_t)l->options->rounds, "oversubscribed",
                      dp_group_oversubscribed(l->group) ? 1 : 0, "ceilings", ceilings(&c),
                      "workloads", workloads(l)),
            JSON_REAL_PRECISION(9));
    free(run);
    if (!document)
        return -1;
    printf("%s\n", document);
    free(document);
    return 0;
}
