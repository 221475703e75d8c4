/* bench/print.c: what was timed, as a table of 80 columns or as tab-separated values. */
#include <stdio.h>

#include "bench/bench.h"
#include "numbers/stats.h"

/* Of one line: rates in bytes per ns, which is GB/s, and the ratio to the peer. */
struct shown {
    struct stats_summary ns, peer_ns, ratio;
};

static void summarise(const struct bench_line *line, size_t n, double scratch[], double ratio[],
                      struct shown *shown)
{
    for (size_t r = 0; r < n; ++r)
        ratio[r] = line->work / line->ns[r] / (line->peer_work / line->peer_ns[r]);
    shown->ns = stats_summarise(line->ns, n, scratch);
    shown->peer_ns = stats_summarise(line->peer_ns, n, scratch);
    shown->ratio = stats_summarise(ratio, n, scratch);
}

/* Below six rounds there is no interval: the range is shown, under its own name. */
static void bounds(const struct stats_summary *s, double *lo, double *hi)
{
    *lo = s->ci.valid ? s->ci.lo : s->min;
    *hi = s->ci.valid ? s->ci.hi : s->max;
}

static void print_tsv(const struct bench_options *o, const struct bench_line *line,
                      const struct shown *s, size_t compared)
{
    double lo, hi;

    bounds(&s->ratio, &lo, &hi);
    printf("%s\t%s\t%s\t%s\t%zu\t%zu\t%zu\t", line->name, line->peer, o->devices, o->backend,
           o->bytes, o->rounds, compared);
    printf("%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t", line->work, s->ns.median, s->ns.min,
           line->peer_work, s->peer_ns.median, s->peer_ns.min);
    printf("%.6f\t%.6f\t%.6f\t%s\t%.4f\t%s\n", s->ratio.median, lo, hi,
           s->ratio.ci.valid ? "interval" : "range", s->ratio.ci.valid ? s->ratio.ci.coverage : 0,
           o->simulated ? "simulated" : "measured");
}

static void print_text(const struct bench_line *line, const struct shown *s)
{
    double lo, hi;

    bounds(&s->ratio, &lo, &hi);
    printf("%-10s %9.3f %8.2f %9.3f %8.2f %8.3f  %.3f .. %.3f\n", line->name, s->ns.median / 1e6,
           line->work / s->ns.median, s->peer_ns.median / 1e6, line->peer_work / s->peer_ns.median,
           s->ratio.median, lo, hi);
}

static void print_head(const struct bench_options *o, const struct bench_line line[],
                       const struct shown *s)
{
    if (o->format == BENCH_TSV) {
        printf("name\tpeer\tdevices\tbackend\tmodel_bytes\trounds\tcompared\twork_bytes\t"
               "median_ns\tmin_ns\tpeer_work_bytes\tpeer_median_ns\tpeer_min_ns\t"
               "ratio\tratio_lo\tratio_hi\tbounds\tcoverage\tsource\n");
        return;
    }
    if (o->simulated)
        printf("SIMULATED on fake GPUs: no time here means anything\n");
    printf("Model of %zu bytes on %s, %zu rounds; %s %s\n", o->bytes, o->devices, o->rounds,
           line[0].peer, o->gpus ? "between the same slots" : "by the same threads");
    printf("%-10s %9s %8s %9s %8s %8s  %s\n", "", "ms", "GB/s", line[0].peer, "GB/s", "ratio",
           s->ratio.ci.valid ? "95 % interval" : "range");
}

void bench_print(const struct bench_options *options, const struct bench_line line[], size_t n,
                 size_t compared, double scratch[])
{
    for (size_t i = 0; i < n; ++i) {
        struct shown shown;

        summarise(&line[i], options->rounds, scratch, scratch + options->rounds, &shown);
        if (i == 0)
            print_head(options, line, &shown);
        if (options->format == BENCH_TSV)
            print_tsv(options, &line[i], &shown, compared);
        else
            print_text(&line[i], &shown);
    }
    if (options->format == BENCH_TEXT)
        printf("Medians of rounds, which alternate who is first. Bytes read and bytes written\n"
               "both count; the ratio is of GB/s, round by round. %zu numbers\ncompared, all "
               "equal.\n",
               compared);
}
