/* bench/limits_print.c: the limits and what is done of them, in lines of 80 columns. */
#include <stdio.h>
#include <string.h>

#include "bench/limits.h"
#include "command/command.h"

/* ms, GFLOP/s and its part of the peak. */
static void print_product(const struct limits *l, const struct limits_steps *s, int part,
                          enum limits_way way)
{
    const double rate = part < 0 ? 0 : limits_product_rate(s, part);

    if (part < 0)
        printf(" %9s %8s %5s", "-", "-", "-");
    else
        printf(" %9.3f %8.1f %5.1f", s->mean[LIMITS_PART + part] / 1e6, rate,
               100 * rate / l->summary[LIMITS_FMA][way].median);
}

/* Kernels that are not in both ways are in the list, too. */
static void print_products(const struct limits *l, const struct limits_workload *w,
                           enum limits_way list)
{
    const struct limits_steps *s = &w->way[list];

    for (int i = 0; i < s->n_parts; ++i) {
        const struct dp_kernel_row *r = &s->part[i];
        const int other = limits_find(&w->way[1 - list], r, s->lane[i]);
        char shape[40];

        if (!r->product || (list == LIMITS_ALONE && other >= 0))
            continue;
        snprintf(shape, sizeof shape, "%zux%zux%zu %s", r->m, r->n, r->k, limits_transposes(r));
        printf("%-22s %5zu", shape, (size_t)s->count[i]);
        print_product(l, &w->way[LIMITS_ALONE], list == LIMITS_ALONE ? i : other, LIMITS_ALONE);
        print_product(l, &w->way[LIMITS_AT_ONCE], list == LIMITS_ALONE ? other : i, LIMITS_AT_ONCE);
        printf("\n");
    }
}

/* There is no number of the last column of a way. */
enum { LAST_COLUMN = 6 };

static void print_time(const struct limits_workload *w, int way, double ns)
{
    printf("%*s %9.3f %8.1f", way * LAST_COLUMN, "", ns / 1e6,
           100 * ns / w->way[way].mean[LIMITS_STEP]);
}

static void print_others(const struct limits_workload *w, enum limits_way list)
{
    const struct limits_steps *s = &w->way[list];

    for (int i = 0; i < s->n_parts; ++i) {
        const int other = limits_find(&w->way[1 - list], &s->part[i], s->lane[i]);

        if (s->part[i].product || (list == LIMITS_ALONE && other >= 0))
            continue;
        printf("%-22.22s %5zu", s->part[i].words, (size_t)s->count[i]);
        for (int way = 0; way < LIMITS_WAYS; ++way) {
            const int at = way == (int)list ? i : other;

            if (at < 0)
                printf("%*s %9s %8s", way * LAST_COLUMN, "", "-", "-");
            else
                print_time(w, way, w->way[way].mean[LIMITS_PART + at]);
        }
        printf("\n");
    }
}

static void print_workload(const struct limits *l, const struct limits_workload *w)
{
    printf("\n%s, batch %zu; alone %zu rows\n", w->workload.name, w->rows,
           w->way[LIMITS_ALONE].config.rows);
    printf("%-22s %5s %9s %8s %5s %9s %8s %5s\n", "Product m x n x k", "count", "ms alone",
           "GFLOP/s", "%", "at once", "GFLOP/s", "%");
    print_products(l, w, LIMITS_AT_ONCE);
    print_products(l, w, LIMITS_ALONE);
    printf("%-22s %5s %9s %8s %5s %9s %8s\n", "Other kernel", "", "", "% step", "", "", "% step");
    print_others(w, LIMITS_AT_ONCE);
    print_others(w, LIMITS_ALONE);
    for (int way = 0; way < LIMITS_WAYS; ++way)
        if (w->way[way].mean[LIMITS_LOST] > 0)
            printf("More kinds of kernels than are kept %s: %.3f ms among the other kernels\n",
                   way == LIMITS_ALONE ? "alone" : "at once", w->way[way].mean[LIMITS_LOST] / 1e6);
    /* GFLOP/s of a phase with products, GB/s of one that moves, and the part of its limit. */
    const struct roof_ceilings ceilings = limits_ceilings(l);
    const double step = w->way[LIMITS_AT_ONCE].mean[LIMITS_STEP];

    printf("\n%-13s %9s %8s %9s %8s %8s %5s %s\n", "Phase at once", "ms", "% step", "MB", "GFLOP/s",
           "GB/s", "%", "of");
    for (int p = 0; p < DP_PHASES; ++p) {
        const struct roof_work work = limits_phase_work(w, (enum dp_phase)p);
        const struct roof_share share = roof_share(&ceilings, &work);
        const double ns = work.ns.middle;

        printf("%-13s %9.3f %8.1f", limits_phase_names[p], ns / 1e6, 100 * ns / step);
        if (share.bound != ROOF_UNKNOWN && work.flops > 0)
            printf(" %9.3f %8.1f %8s", work.bytes / 1e6, work.flops / ns, "");
        else if (share.bound != ROOF_UNKNOWN)
            printf(" %9.3f %8s %8.1f", work.bytes / 1e6, "", work.bytes / ns);
        if (share.bound != ROOF_UNKNOWN)
            printf(" %5.0f %s", 100 * share.share, roof_bound_words[share.bound]);
        printf("\n");
    }
    printf("\n%-22s %5s", "Step", "");
    for (int way = 0; way < LIMITS_WAYS; ++way)
        print_time(w, way, w->way[way].mean[LIMITS_STEP]);
    printf("\n");
    for (int share = 0; share < LIMITS_SHARES; ++share) {
        printf("  %-20s %5s", limits_share_names[share], "");
        for (int way = 0; way < LIMITS_WAYS; ++way)
            print_time(w, way, limits_share(&w->way[way], (enum limits_share)share));
        printf("\n");
    }
    printf("  %-20s %5s", "step / products", "");
    for (int way = 0; way < LIMITS_WAYS; ++way) {
        const double products = limits_share(&w->way[way], LIMITS_PRODUCTS);

        printf("%*s %9.3f", way * (LAST_COLUMN + 9), "",
               products > 0 ? w->way[way].mean[LIMITS_STEP] / products : 0);
    }
    printf("\n");
}

void limits_print(const struct limits *l)
{
    size_t values = 0;

    char text[640], blas[160];

    dp_group_blas(l->group, blas, sizeof blas);
    snprintf(text, sizeof text, "%s, %s; products by %s", l->machine.cpu_model,
             l->ceilings.peak->name, blas);
    command_wrap(stdout, text, 0, 2, 80);
    snprintf(
        text, sizeof text, "%s, backend %s, communicator %s; %zu rounds%s", l->options->devices,
        l->options->backend, dp_group_communicator(l->group), l->options->rounds,
        dp_group_oversubscribed(l->group) ? "; more devices than cores: times mean little" : "");
    command_wrap(stdout, text, 0, 2, 80);
    printf("\nOf a core                 alone        (range)      at once        (range)\n");
    for (int r = 0; r < LIMITS_RATES; ++r) {
        printf("%-13s %7s", limits_rate_names[r], r == LIMITS_FMA ? "GFLOP/s" : "GB/s");
        for (int way = 0; way < LIMITS_WAYS; ++way) {
            const struct stats_summary *s = &l->summary[r][way];

            printf("  %8.1f (%6.1f .. %6.1f)", s->median, s->min, s->max);
        }
        printf("\n");
    }
    for (int i = 0; i < l->n; ++i) {
        print_workload(l, &l->workload[i]);
        for (int way = 0; way < LIMITS_WAYS; ++way)
            values += l->workload[i].way[way].values;
    }
    printf("\nAlone: the model on the first device, with its shard of the batch. At once: in\n"
           "the wrapper on all devices; times of the first one, of phases the longest. A\n"
           "step: the mean of the middle half. %% of products: of the multiply-adds of a\n"
           "core; of phases: of the limit named, above 100 where caches hold the data. MB:\n"
           "operands and results of products, of an update 12 or 28 bytes a parameter, else\n"
           "what crossed devices. None of them: waiting, dispatch.\n"
           "%zu values compared, all right.\n",
           values);
}
