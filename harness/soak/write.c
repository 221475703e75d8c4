/* soak/write.c: the findings of a run in words and as JSON (lockstep/soak/1.0), and the command
 * that computes an iteration again. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "record/json.h"
#include "soak/soak.h"

static const char *given(const char *text, const char *option)
{
    return text[0] == '\0' ? "" : option;
}

void soak_replay(const struct soak_options *options, uint64_t iteration, char text[SOAK_REPLAY])
{
    const struct soak_options *o = options;
    const bool counts_steps = strstr(o->devices, "+fault:") != NULL;
    const uint64_t first = counts_steps ? o->first : iteration > 1 ? iteration - 1 : 1;

    snprintf(text, SOAK_REPLAY,
             "lockstep soak --devices %s%s%s%s%s --mode %s --workload %s --batch %zu --seed "
             "%" PRIu64 " --timeout %g --first %" PRIu64 " --iterations %" PRIu64,
             o->devices, given(o->backend, " --backend "), o->backend,
             given(o->communicator, " --communicator "), o->communicator, soak_mode_words[o->mode],
             o->workload.name, o->rows, o->seed, o->limit, first, iteration - first + 1);
}

/* ---- text ------------------------------------------------------------------------------------ */

enum { COLUMNS = 80, INDENT = 2 };

/* "virt:1", or "not told" of -1. */
static const char *device_name(const struct soak *soak, int device)
{
    return device < 0 ? "device not told" : dp_slot_name(dp_group_slot(soak->ranks.group, device));
}

/* A device that is slow, or whose clock dropped. */
static bool has_slow(const struct soak *soak)
{
    for (int r = 0; r < soak->ranks.n; ++r)
        if (soak->rate[r].speed >= SOAK_SLOW)
            return true;
    return false;
}

static void put_rate(const struct soak *soak, double ns)
{
    const double flops = workload_flops(&soak->options->workload, soak->options->rows);

    if (isnan(ns))
        printf("%12s", "-");
    else
        printf("%12.2f", flops / ns);
}

static void print_text(const struct soak *soak)
{
    char text[512];

    snprintf(text, sizeof text,
             "%s %s, %zu row%s on each of %d device%s, %s: %" PRIu64 " iteration%s in %.1f s",
             soak->options->workload.name, soak_mode_words[soak->options->mode],
             soak->options->rows, text_s(soak->options->rows), soak->ranks.n,
             text_s((size_t)soak->ranks.n), dp_group_backend(soak->ranks.group), soak->iterations,
             text_s(soak->iterations), soak->seconds);
    command_wrap(stdout, text, 0, INDENT, COLUMNS);
    printf("%-12s%12s%12s   step against the others\n", "GFLOP/s", "burst", "sustained");
    for (int r = 0; r < soak->ranks.n; ++r) {
        const struct soak_rate *rate = &soak->rate[r];

        printf("%-12s", device_name(soak, r));
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
        printf("overlap: %zu of %zu buckets %s launched while backward went on\n",
               soak->ranks.beside, soak->ranks.buckets, text_were(soak->ranks.beside));
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
        printf("FOUND: %zu finding%s in %" PRIu64 " iteration%s\nreplay of iteration %" PRIu64 ": ",
               n, text_s(n), soak->iterations, text_s(soak->iterations),
               soak->found.finding[0].iteration);
        text_write(stdout, TEXT_PLAIN, replay, sizeof replay);
        putchar('\n');
    } else if (has_slow(soak))
        printf("FOUND: a slow device\n");
    else {
        int r = 0;

        while (r + 1 < soak->ranks.n && soak->rate[r].speed != SOAK_UNJUDGED)
            ++r;
        const bool judged = soak->rate[r].speed != SOAK_UNJUDGED;

        printf("nothing found in %" PRIu64 " iteration%s%s%s\n", soak->iterations,
               text_s(soak->iterations),
               judged ? "" : "; speed not judged: ", judged ? "" : soak->rate[r].why);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *bits(uint32_t value)
{
    char text[16];

    snprintf(text, sizeof text, "0x%08" PRIx32, value);
    return json_string(text);
}

static json_t *device_of(const struct soak *soak, int device)
{
    return device < 0 ? json_null() : value_text(device_name(soak, device));
}

static void print_json(const struct soak *soak)
{
    const double flops = workload_flops(&soak->options->workload, soak->options->rows);
    json_t *devices = json_array(), *findings = json_array(), *root;
    char blas[160], replay[SOAK_REPLAY];

    if (soak->found.n > 0)
        soak_replay(soak->options, soak->found.finding[0].iteration, replay);
    dp_group_blas(soak->ranks.group, blas, sizeof blas);
    for (int r = 0; r < soak->ranks.n; ++r) {
        const struct soak_rate *rate = &soak->rate[r];

        json_array_append_new(
            devices, value_object("device:o findings:n burst_gflops:r sustained_gflops:r beside:r "
                                  "lo:r hi:r speed:t drop:r since:n",
                                  device_of(soak, r), soak->found.of[r], flops / rate->burst_ns,
                                  flops / rate->sustained_ns, rate->ratio, rate->lo, rate->hi,
                                  soak_speed_words[rate->speed],
                                  rate->drop > 0 ? rate->drop : (double)NAN, (size_t)rate->since));
    }
    for (size_t i = 0; i < soak->found.kept; ++i) {
        const struct soak_finding *f = &soak->found.finding[i];
        const char *param = f->param >= 0 ? soak->ranks.name[f->param] : "";
        json_t *object =
            value_object("iteration:n device:o device_index:i what:t tensor:t part:t text:t",
                         (size_t)f->iteration, device_of(soak, f->device), f->device,
                         soak_what_words[f->what], param, soak_part_words[f->part], f->text);

        if (f->what != SOAK_DEAD && f->what != SOAK_HUNG)
            object =
                value_add(object, "index:n actual:o expected:o xor:o differ:n of:n", f->index,
                          bits(f->got), bits(f->want), bits(f->got ^ f->want), f->differ, f->of);
        json_array_append_new(findings, object);
    }
    root = value_object(
        "schema:t workload:t mode:t rows:n backend:t blas:t first:n iterations:n seconds:r "
        "checking_frac:r interrupted:b compared:n found:n replay:t devices:o findings:o",
        "lockstep/soak/1.0", soak->options->workload.name, soak_mode_words[soak->options->mode],
        soak->options->rows, dp_group_backend(soak->ranks.group), blas,
        (size_t)soak->options->first, (size_t)soak->iterations, soak->seconds,
        soak->check_seconds / soak->seconds, soak->interrupted, soak->found.compared, soak->found.n,
        soak->found.n > 0 ? replay : NULL, devices, findings);
    if (soak->ranks.overlap)
        root =
            value_add(root, "buckets:n buckets_beside:n", soak->ranks.buckets, soak->ranks.beside);
    (void)document_print(stdout, root); /* all of its texts are UTF-8 */
}

/* ---- a finding, and the end -------------------------------------------------------------------
 */

void soak_progress(struct soak *soak, bool clear)
{
    const struct soak_options *o = soak->options;
    const bool terminal = isatty(STDERR_FILENO);

    if (clear && terminal && soak->told > 0)
        fputs("\r\033[K", stderr);
    if (clear || soak->seconds - soak->told < (terminal ? 1 : 60))
        return;
    soak->told = soak->seconds;
    fprintf(stderr, "%ssoak: %.1f", terminal ? "\r\033[K" : "", soak->seconds / 60);
    if (o->minutes > 0)
        fprintf(stderr, " of %g", o->minutes);
    fprintf(stderr, " minutes, %" PRIu64, soak->iterations);
    if (o->iterations > 0)
        fprintf(stderr, " of %zu", o->iterations);
    fprintf(stderr, " iterations, findings: %zu%s", soak->found.n, terminal ? "" : "\n");
}

void soak_note(struct soak *soak, const struct soak_finding *finding)
{
    struct soak_found *found = &soak->found;
    char text[640] = "";

    if (finding->device >= 0)
        ++found->of[finding->device];
    if (found->kept < SOAK_KEPT)
        found->finding[found->kept++] = *finding;
    if (found->n++ >= soak->options->shown || soak->options->format != SOAK_TEXT)
        return;
    soak_progress(soak, true);
    text_add(text, sizeof text, "iteration %" PRIu64 ", %s: %s", finding->iteration,
             device_name(soak, finding->device), soak_what_words[finding->what]);
    if (finding->what == SOAK_DEAD || finding->what == SOAK_HUNG)
        text_add(text, sizeof text, ": %s", finding->text);
    else
        text_add(text, sizeof text,
                 "%s%s: index %zu is 0x%08" PRIx32 ", must be 0x%08" PRIx32 ", xor 0x%08" PRIx32
                 "; %zu of %zu differ",
                 finding->param >= 0 ? " of " : "",
                 finding->param >= 0 ? soak->ranks.name[finding->param] : "", finding->index,
                 finding->got, finding->want, finding->got ^ finding->want, finding->differ,
                 finding->of);
    if (finding->what == SOAK_REDUCED && finding->part != SOAK_RIGHT)
        text_add(text, sizeof text, "; %s", soak_part_words[finding->part]);
    command_wrap(stdout, text, 0, INDENT, COLUMNS);
    fflush(stdout);
}

int soak_conclude(struct soak *soak)
{
    struct dp_slot_info info;

    soak_rates_judge(&soak->rates, soak->options->spread, soak->rate);
    soak_progress(soak, true);
    /* Several slots on one GPU take turns: their times say nothing of a device. On a core it is the
     * time of a thread. */
    dp_slot_describe(dp_group_slot(soak->ranks.group, 0), &info);
    if (!(info.flags & DP_KIND_CORES) && dp_group_oversubscribed(soak->ranks.group))
        for (int r = 0; r < soak->ranks.n; ++r) {
            soak->rate[r].speed = SOAK_UNJUDGED;
            snprintf(soak->rate[r].why, sizeof soak->rate[r].why, "devices share a GPU");
        }
    if (soak->options->format == SOAK_JSON)
        print_json(soak);
    else
        print_text(soak);
    if (soak->starved.status)
        return command_core_error(soak->command, &soak->starved);
    if (soak->interrupted)
        return EXIT_INTERRUPTED;
    if (soak->found.n > 0 || has_slow(soak) || soak->iterations == 0)
        return EXIT_FAILED;
    if (!soak->ranks.overlap || soak->ranks.beside > 0)
        return EXIT_PASSED;
    command_complain(soak->command, "no bucket was launched while backward went on: nothing was "
                                    "overlapped, so this shows nothing of it");
    return EXIT_FAILED;
}
