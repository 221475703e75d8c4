/* bench/overlap_print.c: how much is hidden, in lines of 80 columns or as tab-separated values. */
#include <stdio.h>

#include "bench/overlap.h"

/* Below six rounds there is no interval: the range is shown, under its own name. */
static void bounds(const struct stats_summary *s, double *lo, double *hi)
{
    *lo = s->ci.valid ? s->ci.lo : s->min;
    *hi = s->ci.valid ? s->ci.hi : s->max;
}

static void print_tsv(const struct overlap *o)
{
    const struct stats_summary *s = o->summary, *hidden = &s[OVERLAP_HIDDEN];
    double lo, hi;

    bounds(hidden, &lo, &hi);
    printf("name\tdevices\tbackend\tmodel_bytes\tbucket_bytes\trows\trounds\tcompared\tcompute_ns\t"
           "comm_ns\twhole_ns\tratio\tratio_lo\tratio_hi\tbounds\tcoverage\tprocesses\thosts\n");
    printf("overlap\t%s\t%s\t%zu\t%zu\t%zu\t%zu\t%zu\t", o->options->devices, o->options->backend,
           OVERLAP_LAYERS * o->bucket_bytes, o->bucket_bytes, o->rows, o->options->rounds,
           o->compared);
    printf("%.0f\t%.0f\t%.0f\t%.6f\t%.6f\t%.6f\t%s\t%.4f\t%d\t%d\n", s[OVERLAP_COMPUTE].median,
           s[OVERLAP_COMM].median, s[OVERLAP_WHOLE].median, hidden->median, lo, hi,
           hidden->ci.valid ? "interval" : "range", hidden->ci.valid ? hidden->ci.coverage : 0,
           o->maker->processes, o->maker->hosts);
}

static void print_head(const struct overlap *o)
{
    const struct overlap_maker *m = o->maker;

    printf("%d layers of %zu x %zu, a bucket each of %zu bytes, on %s;\n%zu rows per rank, %zu "
           "rounds\n",
           OVERLAP_LAYERS, o->workload.size[0], o->workload.size[0], o->bucket_bytes,
           o->options->devices, o->rows, o->options->rounds);
    if (o->options->processes.launcher[0] != '\0')
        printf("%d process%s on %d host%s, %d rank%s in each%s\n", m->processes,
               m->processes > 1 ? "es" : "", m->hosts, m->hosts > 1 ? "s" : "", m->each,
               m->each > 1 ? "s" : "",
               m->oversubscribed ? "; more ranks than cores: times mean little" : "");
}

static void print_text(const struct overlap *o)
{
    static const char *const names[] = {"step without reduction", "reduction alone", "whole step"};
    const struct stats_summary *s = o->summary, *hidden = &s[OVERLAP_HIDDEN];
    double lo, hi;

    print_head(o);
    printf("%-24s %9s  %s\n", "", "ms", s[OVERLAP_WHOLE].ci.valid ? "95 % interval" : "range");
    for (int i = OVERLAP_COMPUTE; i <= OVERLAP_WHOLE; ++i) {
        bounds(&s[i], &lo, &hi);
        printf("%-24s %9.3f  %.3f .. %.3f\n", names[i], s[i].median / 1e6, lo / 1e6, hi / 1e6);
    }
    bounds(hidden, &lo, &hi);
    printf("%-24s %7.1f %%  %.1f .. %.1f\n", "hidden", 100 * hidden->median, 100 * lo, 100 * hi);
    printf("Medians of rounds. Hidden, round by round: (step without + reduction - whole)\n"
           "/ reduction; %.1f %% if all but the last bucket are hidden. %zu gradients\n"
           "compared, all equal. Noise puts it below 0 and above 100 %%, too.\n",
           100.0 * (OVERLAP_LAYERS - 1) / OVERLAP_LAYERS, o->compared);
    if (o->first.unverified.text[0] != '\0')
        printf("Compared with each other only, not with the reference: %s\n",
               o->first.unverified.text);
}

void overlap_print(const struct overlap *overlap)
{
    if (overlap->options->format == BENCH_TSV)
        print_tsv(overlap);
    else
        print_text(overlap);
}
