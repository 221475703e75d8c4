/* soak/text.c: what was found, in words. */
#include "soak/soak.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "command/command.h"
#include "text/units.h"

enum { COLUMNS = 80, INDENT = 2 };

const char *soak_device(const struct soak *soak, int device)
{
    return device < 0 ? "device not told" : dp_slot_name(dp_group_slot(soak->ranks.group, device));
}

bool soak_has_slow(const struct soak *soak)
{
    for (int r = 0; r < soak->ranks.n; ++r)
        if (soak->rate[r].speed >= SOAK_SLOW)
            return true;
    return false;
}

void soak_text_finding(const struct soak *soak, const struct soak_finding *f)
{
    char text[640] = "";

    text_add(text, sizeof text, "iteration %" PRIu64 ", %s: %s", f->iteration,
             soak_device(soak, f->device), soak_what_words[f->what]);
    if (f->what == SOAK_DEAD || f->what == SOAK_HUNG)
        text_add(text, sizeof text, ": %s", f->text);
    else
        text_add(text, sizeof text,
                 "%s%s: index %zu is 0x%08" PRIx32 ", must be 0x%08" PRIx32 ", xor 0x%08" PRIx32
                 "; %zu of %zu differ",
                 f->param >= 0 ? " of " : "", f->param >= 0 ? soak->ranks.name[f->param] : "",
                 f->index, f->got, f->want, f->got ^ f->want, f->differ, f->of);
    if (f->what == SOAK_REDUCED && f->part != SOAK_RIGHT)
        text_add(text, sizeof text, "; %s", soak_part_words[f->part]);
    command_wrap(stdout, text, 0, INDENT, COLUMNS);
    fflush(stdout);
}

static void put_rate(const struct soak *soak, double ns)
{
    const double flops = workload_flops(&soak->options->workload, soak->options->rows);

    if (isnan(ns))
        printf("%12s", "-");
    else
        printf("%12.2f", flops / ns);
}

void soak_text(const struct soak *soak)
{
    char text[512];

    snprintf(text, sizeof text,
             "%s %s, %zu rows on each of %d devices, %s: %" PRIu64 " iterations in %.1f s",
             soak->options->workload.name, soak_mode_words[soak->options->mode],
             soak->options->rows, soak->ranks.n, dp_group_backend(soak->ranks.group),
             soak->iterations, soak->seconds);
    command_wrap(stdout, text, 0, INDENT, COLUMNS);
    printf("%-12s%12s%12s   step beside the others\n", "GFLOP/s", "burst", "sustained");
    for (int r = 0; r < soak->ranks.n; ++r) {
        const struct soak_rate *rate = &soak->rate[r];

        printf("%-12s", soak_device(soak, r));
        put_rate(soak, rate->burst_ns);
        put_rate(soak, rate->sustained_ns);
        if (rate->speed == SOAK_UNJUDGED)
            printf("   %s", soak_speed_words[rate->speed]);
        else
            printf("   %.3f x [%.3f, %.3f]   %s", rate->ratio, rate->lo, rate->hi,
                   soak_speed_words[rate->speed]);
        if (rate->speed == SOAK_DROPPED_CLOCK)
            printf(", %.2f times as long since about iteration %" PRIu64, rate->drop, rate->since);
        putchar('\n');
    }
    printf("compared: %zu values with their known answers\n", soak->found.compared);
    if (soak->ranks.overlap)
        printf("overlap: %zu of %zu buckets were launched while backward went on\n",
               soak->ranks.beside, soak->ranks.buckets);
    if (soak->seconds > 0)
        printf("checking: %.1f %% of the time\n", 100 * soak->check_seconds / soak->seconds);
    const struct soak_found *found = &soak->found;

    if (found->n > soak->options->shown)
        printf("and %zu more\n", found->n - soak->options->shown);
    if (soak->interrupted)
        printf("interrupted: ");
    if (found->n > 0) {
        const size_t n = soak->found.n;
        char replay[SOAK_REPLAY];

        soak_replay(soak->options, soak->found.finding[0].iteration, replay);
        printf("FOUND: %zu finding%s in %" PRIu64 " iterations\nreplay of iteration %" PRIu64 ": ",
               n, n == 1 ? "" : "s", soak->iterations, soak->found.finding[0].iteration);
        text_write(stdout, TEXT_PLAIN, replay, sizeof replay);
        putchar('\n');
    } else if (soak_has_slow(soak))
        printf("FOUND: a slow device\n");
    else
        printf("nothing found in %" PRIu64 " iterations\n", soak->iterations);
}
