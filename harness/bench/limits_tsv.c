/* bench/limits_tsv.c: the same as tab-separated values, a line for each fact. */
#include <math.h>
#include <stdio.h>

#include "bench/limits.h"

/* What stands in front of the numbers of a line. */
struct front {
    const struct limits *limits;
    const struct limits_workload *workload; /* NULL: a ceiling */
    const char *section, *name;
    const struct dp_kernel_row *row; /* NULL: no kernel */
};

static void print_front(const struct front *f, size_t count, double bytes)
{
    const struct bench_options *o = f->limits->options;
    const bool product = f->row && f->row->product;

    printf("%s\t%s\t%s\t%s\t%s\t%zu\t%zu\t%s\t", f->section, o->devices, o->backend,
           f->limits->ceilings.peak->name, f->workload ? f->workload->workload.name : "",
           f->workload ? f->workload->rows : 0, o->rounds, f->name);
    if (product)
        printf("%zux%zux%zu\t%s", f->row->m, f->row->n, f->row->k, limits_transposes(f->row));
    else
        printf("\t");
    printf("\t%zu\t%.0f", count, bytes);
}

/* What is said of each way; a number that is not known is NaN. */
struct numbers {
    double ns, rate, lo, hi, part;
};

static void print_numbers(const struct numbers way[LIMITS_WAYS])
{
    for (int i = 0; i < LIMITS_WAYS; ++i)
        printf("\t%.1f\t%.9g\t%.9g\t%.9g\t%.6f", way[i].ns, way[i].rate, way[i].lo, way[i].hi,
               way[i].part);
    printf("\n");
}

static const struct numbers unknown = {(double)NAN, (double)NAN, (double)NAN, (double)NAN,
                                       (double)NAN};

static struct numbers numbers_of(const struct limits *l, const struct limits_steps *s, int part,
                                 enum limits_way way)
{
    struct numbers numbers = unknown;

    if (part < 0)
        return numbers;
    numbers.ns = s->mean[LIMITS_PART + part];
    numbers.part = numbers.ns / s->mean[LIMITS_STEP];
    if (s->part[part].product) {
        numbers.rate = limits_product_rate(s, part);
        numbers.part = numbers.rate / l->summary[LIMITS_FMA][way].median;
    }
    return numbers;
}

static void print_kernels(const struct limits *l, const struct limits_workload *w,
                          enum limits_way list)
{
    const struct limits_steps *s = &w->way[list];

    for (int i = 0; i < s->n_parts; ++i) {
        const struct dp_kernel_row *row = &s->part[i];
        const int other = limits_find(&w->way[1 - list], row, s->lane[i]);
        const char *section = row->product                     ? "product"
                              : s->lane[i] == DP_LANE_TRANSFER ? "transfer"
                                                               : "kernel";
        const struct front front = {l, w, section, row->name, row};
        struct numbers numbers[LIMITS_WAYS];

        if (list == LIMITS_ALONE && other >= 0)
            continue;
        for (int way = 0; way < LIMITS_WAYS; ++way)
            numbers[way] =
                numbers_of(l, &w->way[way], way == (int)list ? i : other, (enum limits_way)way);
        print_front(&front, (size_t)s->count[i], 0);
        print_numbers(numbers);
    }
}

void limits_print_tsv(const struct limits *l)
{
    printf("section\tdevices\tbackend\tinstructions\tworkload\tbatch\trounds\tname\tshape\t"
           "transposes\tcount\tbytes");
    for (int way = 0; way < LIMITS_WAYS; ++way) {
        const char *name = way == LIMITS_ALONE ? "alone" : "once";

        printf("\t%s_ns\t%s_rate\t%s_lo\t%s_hi\t%s_part", name, name, name, name, name);
    }
    printf("\n");
    for (int r = 0; r < LIMITS_RATES; ++r) {
        const struct front front = {l, NULL, "ceiling", limits_rate_names[r], NULL};
        struct numbers numbers[LIMITS_WAYS] = {unknown, unknown};

        for (int way = 0; way < LIMITS_WAYS; ++way) {
            numbers[way].rate = l->summary[r][way].median;
            numbers[way].lo = l->summary[r][way].min;
            numbers[way].hi = l->summary[r][way].max;
        }
        print_front(&front, 0, r == LIMITS_FMA ? 0 : (double)l->ceilings.bytes);
        print_numbers(numbers);
    }
    for (int i = 0; i < l->n; ++i) {
        const struct limits_workload *w = &l->workload[i];

        print_kernels(l, w, LIMITS_AT_ONCE);
        print_kernels(l, w, LIMITS_ALONE);
        const struct roof_ceilings ceilings = limits_ceilings(l);

        for (int p = 0; p < DP_PHASES; ++p) {
            const struct front front = {l, w, "phase", limits_phase_names[p], NULL};
            struct numbers numbers[LIMITS_WAYS] = {unknown, unknown};
            const struct roof_work work = limits_phase_work(w, (enum dp_phase)p);
            const struct roof_share share = roof_share(&ceilings, &work);

            numbers[LIMITS_AT_ONCE].ns = work.ns.middle;
            if (share.bound != ROOF_UNKNOWN) {
                numbers[LIMITS_AT_ONCE].rate =
                    (work.flops > 0 ? work.flops : work.bytes) / work.ns.middle;
                numbers[LIMITS_AT_ONCE].part = share.share;
            }
            print_front(&front, 0, work.bytes);
            print_numbers(numbers);
        }
        for (int share = -1; share < LIMITS_SHARES; ++share) {
            const struct front front = {l, w, "step",
                                        share < 0 ? "step" : limits_share_names[share], NULL};
            struct numbers numbers[LIMITS_WAYS] = {unknown, unknown};

            for (int way = 0; way < LIMITS_WAYS; ++way) {
                const struct limits_steps *s = &w->way[way];

                numbers[way].ns =
                    share < 0 ? s->mean[LIMITS_STEP] : limits_share(s, (enum limits_share)share);
                numbers[way].part = numbers[way].ns / s->mean[LIMITS_STEP];
            }
            print_front(&front, 0, 0);
            print_numbers(numbers);
        }
    }
}
