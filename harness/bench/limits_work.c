/* bench/limits_work.c: the operations and bytes of a phase, and of a product by itself. */
#include "bench/limits.h"

static struct roof_range range_of(const struct limits_steps *s, int kind)
{
    return (struct roof_range){s->mean[kind], s->lo[kind], s->hi[kind]};
}

struct roof_work limits_product_work(const struct limits_steps *s, int part)
{
    const struct dp_kernel_row *r = &s->part[part];
    const double count = (double)s->count[part];

    return (struct roof_work){.kind = ROOF_COMPUTES,
                              .flops = 2 * count * (double)r->multiplies,
                              .bytes = count * (double)r->bytes,
                              .ns = range_of(s, LIMITS_PART + part)};
}

struct roof_work limits_phase_work(const struct limits_workload *w, enum dp_phase phase)
{
    /* Value and gradient are read, and the value is written; AdamW has two states, too. */
    enum { SGD_BYTES = 12, ADAMW_BYTES = 28 };
    const struct workload_end *end = workload_end(&w->workload);
    const struct limits_steps *s = &w->way[LIMITS_AT_ONCE];
    struct roof_work work = {.kind = ROOF_COMPUTES, .ns = range_of(s, LIMITS_PHASE + (int)phase)};

    if (phase == DP_PHASE_UPDATE) {
        work.kind = ROOF_UPDATES;
        work.bytes = (double)workload_params(&w->workload) * (end->adamw ? ADAMW_BYTES : SGD_BYTES);
    } else if (phase != DP_PHASE_FORWARD && phase != DP_PHASE_BACKWARD && phase != DP_PHASE_LOSS) {
        work.kind = ROOF_CARRIES;
        work.bytes = s->phase_bytes[phase];
    }
    for (int i = 0; i < s->n_parts && work.kind == ROOF_COMPUTES; ++i)
        if (s->part[i].product && s->part[i].phase == phase) {
            const struct roof_work product = limits_product_work(s, i);

            work.flops += product.flops;
            work.bytes += product.bytes;
        }
    return work;
}

struct roof_ceilings limits_ceilings(const struct limits *l)
{
    struct roof_ceilings c = {.devices = l->ceilings.devices};

    for (int r = 0; r < LIMITS_RATES; ++r)
        for (int way = 0; way < LIMITS_WAYS; ++way) {
            const struct stats_summary *s = &l->summary[r][way];

            c.rate[r][way] = (struct roof_range){s->median, s->min, s->max};
        }
    return c;
}
