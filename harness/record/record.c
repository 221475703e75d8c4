/* record/record.c: memory and derived fields of a cell.
 *
 * There is no JSON here. The fields that record_derive fills are a function of the raw samples
 * alone, so that anyone can compute them again. */
#include "record/record.h"

#include <math.h>
#include <stdlib.h>

#include "numbers/stats.h"
#include "text/alloc.h"

#define NAME_ROW(index, name) [RECORD_##index] = #name,
const char *const record_phase_names[RECORD_PHASES] = {RECORD_EACH_PHASE(NAME_ROW)};
const char *const record_part_names[RECORD_PARTS] = {RECORD_EACH_PART(NAME_ROW)};

const char *const record_status_names[RECORD_STATUSES] = {
    "ok", "failed", "broken", "crashed", "timeout", "oom", "skipped",
};

int record_cell_alloc(struct record_cell *cell, size_t n_samples, int n_ranks)
{
    if (n_ranks < 0 || n_ranks > RECORD_MAX_RANKS || n_samples > SIZE_MAX / 8 / RECORD_MAX_RANKS)
        return -1;
    /* It allocates at least one element: calloc(0) may return NULL, which means "not measured". */
    const size_t n = n_samples > 0 ? n_samples : 1;

    cell->n_samples = n_samples;
    cell->n_ranks = n_ranks;
    cell->t_start_ns = calloc(n, sizeof cell->t_start_ns[0]);
    cell->t_step_ns = calloc(n, sizeof cell->t_step_ns[0]);
    cell->flags = calloc(n, sizeof cell->flags[0]);
    bool complete = cell->t_start_ns && cell->t_step_ns && cell->flags;

    for (int p = 0; p < RECORD_PHASES; ++p) {
        cell->phase_ns[p] =
            n_ranks == 0 ? NULL : calloc(n * (size_t)n_ranks, sizeof cell->phase_ns[p][0]);
        complete = complete && (n_ranks == 0 || cell->phase_ns[p]);
    }
    cell->matmul_ns = n_ranks == 0 ? NULL : calloc(n * (size_t)n_ranks, sizeof cell->matmul_ns[0]);
    complete = complete && (n_ranks == 0 || cell->matmul_ns);
    if (!complete) {
        record_cell_free(cell);
        return -1;
    }
    return 0;
}

size_t record_part_rows(enum record_part part, int devices)
{
    const size_t n = devices > 0 ? (size_t)devices : 0;

    return part == RECORD_COPY ? n * n : n;
}

void record_part_alloc(struct record_cell *cell, enum record_part part, size_t n)
{
    struct record_part_times *times = &cell->part[part];

    times->rows = record_part_rows(part, cell->key.n_devices);
    times->n = n;
    times->ns = cli_alloc(times->rows * n, sizeof times->ns[0]);
}

void record_parts_free(struct record_cell *cell)
{
    for (int p = 0; p < RECORD_PARTS; ++p) {
        free(cell->part[p].ns);
        cell->part[p] = (struct record_part_times){.ns = NULL};
    }
}

void record_watched_free(struct record_watched *watched, int n)
{
    for (int i = 0; watched && i < n; ++i)
        for (const struct record_field *f = record_during_fields; f->name; ++f)
            free(((struct record_series *)(void *)((char *)&watched[i].during + f->offset))->value);
    free(watched);
}

void record_cell_keep_steps(struct record_cell *cell)
{
    free(cell->t_start_ns);
    free(cell->phased_ns);
    free(cell->matmul_ns);
    cell->t_start_ns = NULL;
    cell->phased_ns = NULL;
    cell->matmul_ns = NULL;
    for (int p = 0; p < RECORD_PHASES; ++p) {
        free(cell->phase_ns[p]);
        cell->phase_ns[p] = NULL;
    }
}

void record_cell_free(struct record_cell *cell)
{
    record_cell_keep_steps(cell);
    record_parts_free(cell);
    record_watched_free(cell->gpu, cell->n_gpus);
    cell->gpu = NULL;
    cell->n_gpus = 0;
    free(cell->t_step_ns);
    free(cell->flags);
    cell->t_step_ns = NULL;
    cell->flags = NULL;
    cell->n_samples = 0;
    cell->n_ranks = 0;
}

static bool sample_counts(const struct record_cell *cell, size_t i)
{
    return (cell->flags[i] & (RECORD_WARMUP | RECORD_BAD_VALUES)) == 0;
}

/* Takes the slowest rank of each counted step, and then the median; the other order would hide
 * stragglers. */
static double phase_median(const struct record_cell *cell, enum record_phase phase, double x[])
{
    const uint64_t *ns = cell->phase_ns[phase];
    size_t n = 0;

    for (size_t i = 0; ns && i < cell->n_samples; ++i) {
        uint64_t slowest = 0;

        for (int rank = 0; rank < cell->n_ranks; ++rank) {
            const uint64_t time = ns[(size_t)rank * cell->n_samples + i];

            slowest = time > slowest ? time : slowest;
        }
        if (sample_counts(cell, i))
            x[n++] = (double)slowest;
    }
    return cell->n_ranks == 0 ? NAN : stats_median(x, n);
}

/* Takes the mean over the ranks with rows. The time that one of them waits for the others is also
 * outside. */
static double outside_median(const struct record_cell *cell, double x[])
{
    size_t n = 0;

    for (size_t i = 0; cell->matmul_ns && cell->n_shards > 0 && i < cell->n_samples; ++i) {
        double inside = 0;

        for (int rank = 0; rank < cell->n_shards && rank < cell->n_ranks; ++rank)
            inside += (double)cell->matmul_ns[(size_t)rank * cell->n_samples + i];
        if (sample_counts(cell, i))
            x[n++] = 1 - inside / cell->n_shards / (double)record_phased_ns(cell, i);
    }
    return stats_median(x, n);
}

uint64_t record_sample_ns(const struct record_cell *cell, size_t i)
{
    const bool chain = cell->key.chain > 0 && i >= cell->warmup_steps;

    return cell->t_step_ns[i] * (chain ? cell->key.chain : 1);
}

uint64_t record_phased_ns(const struct record_cell *cell, size_t i)
{
    return cell->phased_ns ? cell->phased_ns[i] : cell->t_step_ns[i];
}

void record_derive_rounds(struct record_cell *cell)
{
    double *const medians[RECORD_TURNS] = {&cell->compute_alone_ns, &cell->comm_alone_ns,
                                           &cell->whole_ns};
    double x[RECORD_MOST_ROUNDS];

    for (int turn = 0; turn < RECORD_TURNS && cell->n_rounds > 0; ++turn) {
        for (int i = 0; i < cell->n_rounds; ++i)
            x[i] = (double)cell->round_ns[turn][i];
        *medians[turn] = stats_median(x, (size_t)cell->n_rounds);
    }
}

void record_derive(struct record_cell *cell)
{
    const bool has_rows = isnan(cell->bus_factor);
    double *x = cli_alloc(cell->n_samples, sizeof x[0]);
    double *scratch = cli_alloc(cell->n_samples, sizeof scratch[0]);
    size_t n = 0;

    for (size_t i = 0; i < cell->n_samples; ++i) {
        cell->flags[i] &= ~(unsigned)(RECORD_MILD | RECORD_SEVERE);
        cell->flags[i] |= i < cell->warmup_steps ? RECORD_WARMUP : 0U;
        if (sample_counts(cell, i))
            x[n++] = (double)cell->t_step_ns[i];
    }
    const struct stats_summary s = stats_summarise(x, n, scratch);

    cell->n_valid = n;
    cell->median_ns = s.median;
    cell->mean_ns = s.mean;
    cell->min_ns = s.min;
    cell->max_ns = s.max;
    cell->p05_ns = s.p05;
    cell->p25_ns = s.p25;
    cell->p75_ns = s.p75;
    cell->p95_ns = s.p95;
    cell->has_ci = s.ci.valid;
    cell->ci_lo_ns = s.ci.lo;
    cell->ci_hi_ns = s.ci.hi;
    cell->ci_coverage = s.ci.coverage;
    cell->cv = s.cv;
    cell->rho1 = s.rho1;
    cell->n_eff = s.n_eff;
    /* The throughput is total work over total time: the mean already is total time over steps. */
    cell->throughput_samples_per_s =
        has_rows ? (double)cell->key.global_batch * 1e9 / s.mean : (double)NAN;
    cell->algbw_bytes_per_s =
        has_rows ? (double)NAN : (double)cell->key.size_bytes * 1e9 / s.median;
    cell->busbw_bytes_per_s = cell->algbw_bytes_per_s * cell->bus_factor;

    const struct stats_fences f = stats_tukey_fences(s.p25, s.p75);

    for (size_t i = 0; i < cell->n_samples; ++i) {
        const double t = (double)cell->t_step_ns[i];
        const bool severe = t < f.severe_lo || t > f.severe_hi;
        const bool outside = t < f.mild_lo || t > f.mild_hi;

        if (sample_counts(cell, i) && outside)
            cell->flags[i] |= severe ? RECORD_SEVERE : RECORD_MILD;
    }
    for (int p = 0; p < RECORD_PHASES; ++p)
        cell->phase_median_ns[p] = phase_median(cell, (enum record_phase)p, x);
    cell->outside_frac = outside_median(cell, x);
    /* The time that recording phases adds to a step. Each step with phases is compared with its own
     * sample, so that a change of the machine in between affects both. */
    n = 0;
    for (size_t i = 0; cell->phased_ns && i < cell->n_samples; ++i)
        if (sample_counts(cell, i))
            x[n++] = (double)cell->phased_ns[i] - (double)cell->t_step_ns[i];
    cell->tracing_ns = stats_median(x, n);
    /* The share of the measured samples in the time from the first to the last; the rest is between
     * them. */
    const size_t first = cell->warmup_steps, end = cell->n_samples;
    double ran = 0;

    for (size_t i = first; i < end; ++i)
        ran += (double)record_sample_ns(cell, i);
    cell->duty = NAN;
    if (cell->key.chain > 0 && first < end && cell->t_start_ns)
        cell->duty = ran / ((double)(cell->t_start_ns[end - 1] - cell->t_start_ns[first]) +
                            (double)record_sample_ns(cell, end - 1));
    free(x);
    free(scratch);
}
