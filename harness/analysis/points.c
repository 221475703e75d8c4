/* analysis/points.c: launches summed up, and compared with the base case launch by launch.
 *
 * The launch is what is repeated: an interval is over launches and never over the steps of one.
 * Rows come sorted, so a pass over them is all it takes. */
#include "analysis/analysis.h"

#include "numbers/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double step_of(const struct report_row *row)
{
    return report_metrics[REPORT_STEP].of(row, 0);
}

static double rows_of(const struct report_row *row)
{
    return (double)row->cell->key.global_batch;
}

/* Over the launches that know the number, which are the first in *scratch then, in order. */
static struct report_value over_launches(const struct report_point *point, int metric,
                                         double scratch[])
{
    const struct report_metric *row = report_metric_of(metric);
    size_t n = 0;

    for (size_t i = 0; i < point->n; ++i) {
        const double number =
            point->row[i].verified ? row->of(&point->row[i], metric - REPORT_PHASE) : (double)NAN;

        if (isfinite(number))
            scratch[n++] = number;
    }
    return report_value_of(scratch, n);
}

/* The steps of the only launch are all that there is to show a spread. */
static void spread_of_steps(struct report_point *point)
{
    struct report_value *step = &point->value[REPORT_STEP];
    const struct record_cell *cell = point->middle->cell;

    step->range = REPORT_STEPS;
    step->n = cell->n_valid;
    step->lo = cell->p05_ns;
    step->hi = cell->p95_ns;
}

/* The first launch that is as slow as the lower median; *sorted are their steps. */
static const struct report_row *middle_launch(const struct report_point *point,
                                              const double sorted[])
{
    for (size_t i = 0; i < point->n; ++i)
        if (point->row[i].verified &&
            step_of(&point->row[i]) >= sorted[(point->verified - 1) / 2] &&
            step_of(&point->row[i]) <= sorted[(point->verified - 1) / 2])
            return &point->row[i];
    return NULL;
}

/* Cores that the run could use, on all hosts of its ranks as many as on the first; 0: nobody knows,
 * or the devices do not work on cores. */
static double cores_of(const struct report_row *row)
{
    const int cores = row->run->cores, usable = row->run->usable_pus;
    const double hosts = row->cell->hosts > 1 ? row->cell->hosts : 1;

    if (!report_works_on_cores(row))
        return 0;
    return hosts * (cores > 0 && (usable <= 0 || cores < usable) ? cores : usable);
}

/* Shards are whole rows, so the slowest device has ceil(N/K), and plain-mt has none; and devices
 * that share cores are together no faster than these. */
static double bound_of(const struct report_point *point)
{
    const struct report_row *row = point->row;
    const size_t rows = row->cell->key.global_batch;
    const size_t k = row->cell->key.n_devices > 0 ? (size_t)row->cell->key.n_devices : 1;
    const size_t shard = rows / k + (rows % k != 0);
    const double cores = cores_of(row);
    double speedup;

    if (rows == 0)
        return NAN;
    speedup = report_is_cores(point) ? (double)k : (double)rows / (double)shard;
    return (cores > 0 ? fmin(speedup, cores) : speedup) / (double)k;
}

/* They follow from the steps, exactly: rows of training, bytes of a collective. */
static void rates_of(struct report_point *point)
{
    const struct record_cell *cell = point->row->cell;
    const struct report_value *step = &point->value[REPORT_STEP];
    const double size = 1e9 * (double)cell->key.size_bytes;

    if (!record_is_collective(&cell->key)) {
        point->value[REPORT_THROUGHPUT] =
            report_inverse(step, 1e9 * (double)cell->key.global_batch);
        if (cell->tokens_per_row > 0)
            point->value[REPORT_TOKENS] = report_inverse(
                step, 1e9 * (double)cell->key.global_batch * (double)cell->tokens_per_row);
        return;
    }
    point->value[REPORT_THROUGHPUT] = report_unknown;
    point->value[REPORT_ALGBW] = report_inverse(step, size);
    point->value[REPORT_BUSBW] = report_inverse(step, size * cell->bus_factor);
}

/* The steps last: they are left in *scratch. */
static void sum_up(struct report_point *point, double scratch[])
{
    point->bound = bound_of(point);
    for (size_t i = 0; i < point->n; ++i)
        point->verified += point->row[i].verified;
    for (int m = REPORT_METRICS - 1; m >= REPORT_STEP; --m)
        point->value[m] =
            report_metric_of(m)->of ? over_launches(point, m, scratch) : report_unknown;
    if (point->verified > 0)
        point->middle = middle_launch(point, scratch);
    if (point->verified == 1)
        spread_of_steps(point);
    rates_of(point);
}

/* How many times as many rows in the same time as the base, by the median steps. Of strong scaling
 * both have the same rows. */
static double ratio_of(const struct report_row *row, const struct report_row *base)
{
    return step_of(base) / step_of(row) * rows_of(row) / rows_of(base);
}

static double ratio_of_medians(const struct report_point *point, const struct report_point *base)
{
    return report_middle(base, REPORT_STEP) / report_middle(point, REPORT_STEP) *
           rows_of(point->row) / rows_of(base->row);
}

/* The one estimate for two points: every ratio of them is made of it. */
static struct report_value paired(const struct report_point *point, const struct report_point *base,
                                  double scratch[])
{
    struct report_value value;
    struct report_pair pair;
    size_t n = 0;

    for (size_t at[2] = {0}; report_pair_next(point, base, at, &pair);)
        scratch[n++] = ratio_of(pair.row, pair.base);
    value = report_value_of(scratch, n);
    if (n == 0)
        value.middle = ratio_of_medians(point, base);
    return value;
}

static void compare_with_base(struct report_point *point, double scratch[])
{
    const double devices = (double)point->row->cell->key.n_devices;
    struct report_value *efficiency = &point->value[REPORT_EFFICIENCY];

    point->base = point->plain ? point->plain : point->single ? point->single : point->rank;
    if (!point->base || point->verified == 0)
        return;
    point->value[REPORT_SPEEDUP] = *efficiency = paired(point, point->base, scratch);
    efficiency->middle /= devices;
    efficiency->lo /= devices;
    efficiency->hi /= devices;
    report_limit_parts(point, scratch);
}

/* DataParallel's verified point on as many devices with as many rows, or NULL. */
static const struct report_point *find_peer(const struct report *report,
                                            const struct report_group *group,
                                            const struct report_point *point)
{
    const struct record_key *key = &point->row->cell->key;

    for (size_t i = group->first; i < group->first + group->n; ++i) {
        const struct report_point *other = &report->point[i];
        const struct record_key *of = &other->row->cell->key;

        if (other->verified > 0 && strcmp(of->mode, "dp") == 0 && of->n_devices == key->n_devices &&
            of->global_batch == key->global_batch)
            return other;
    }
    return NULL;
}

static void compare_with_peer(const struct report *report, const struct report_group *group,
                              struct report_point *point, double scratch[])
{
    struct report_value faster;

    point->beside = report_unknown;
    if (!report_is_ddp(point) || point->verified == 0)
        return;
    point->peer = find_peer(report, group, point);
    if (!point->peer)
        return;
    faster = paired(point, point->peer, scratch);
    point->beside = report_inverse(&faster, 1.0);
}

static int compare_place(const struct report_point *point, size_t bucket, size_t batch)
{
    const struct record_key *key = &point->row->cell->key;

    if (key->bucket_bytes != bucket)
        return key->bucket_bytes < bucket ? -1 : 1;
    return (key->global_batch > batch) - (key->global_batch < batch);
}

/* The points on one device in that mode come by bucket and batch. */
static const struct report_point *find_one(const struct report_point points[], size_t n,
                                           size_t bucket, size_t batch)
{
    size_t lo = 0, hi = n;

    while (lo < hi) {
        const size_t middle = lo + (hi - lo) / 2;

        if (compare_place(&points[middle], bucket, batch) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    if (lo == n || compare_place(&points[lo], bucket, batch) != 0 || points[lo].verified == 0)
        return NULL;
    return &points[lo];
}

/* The points on one device in that mode, which follow each other: n of them from *first on. */
static size_t find_ones(const struct report *report, const struct report_group *group,
                        const char *mode, size_t *first)
{
    const size_t end = group->first + group->n;
    size_t n = 0;

    for (*first = group->first; *first < end; ++*first)
        if (report_is_mode(&report->point[*first], mode))
            break;
    while (*first + n < end && report_is_mode(&report->point[*first + n], mode) &&
           report->point[*first + n].row->cell->key.n_devices == 1)
        ++n;
    return n;
}

static const struct report_point *find_cores(const struct report *report,
                                             const struct report_group *group,
                                             const struct report_point *point)
{
    const size_t end = group->first + group->n;
    const int devices = point->row->cell->key.n_devices;

    for (size_t i = end; point->base && devices > 1 && i < end + group->n_cores; ++i) {
        const struct report_point *cores = &report->point[i];

        if (cores->base == point->base && cores->row->cell->key.n_devices == devices &&
            cores->verified > 0)
            return cores;
    }
    return NULL;
}

static void find_bases(const struct report *report, struct report_group *group, double scratch[])
{
    struct report_point *point = report->point;
    const bool weak = strcmp(group->scaling, "weak") == 0;
    const size_t end = group->first + group->n;
    size_t plain;

    group->n_plain = find_ones(report, group, "plain", &plain);
    group->n_single = find_ones(report, group, "dp", &group->single);
    group->n_rank = find_ones(report, group, "ddp", &group->rank);
    for (size_t i = group->first; i < end + group->n_cores; ++i) {
        const struct record_key *key = &point[i].row->cell->key;
        const size_t batch = weak && key->n_devices > 0 ? key->global_batch / (size_t)key->n_devices
                                                        : key->global_batch;

        point[i].plain = find_one(&point[plain], group->n_plain, 0, batch);
        point[i].single = find_one(&point[group->single], group->n_single, 0, batch);
        if (report_is_ddp(&point[i]))
            point[i].rank = find_one(&point[group->rank], group->n_rank, key->bucket_bytes, batch);
        compare_with_base(&point[i], scratch);
        compare_with_peer(report, group, &point[i], scratch);
    }
    for (size_t i = group->first; i < end; ++i)
        point[i].cores = find_cores(report, group, &point[i]);
}

/* DDP on one rank, where that is what ranks are compared with, or would be. */
static const struct report_point *next_rank(const struct report *report,
                                            const struct report_group *group, size_t *at)
{
    while (*at < group->n_rank) {
        const struct report_point *point = &report->point[group->rank + (*at)++];

        if (!point->plain && !point->single)
            return point;
    }
    return NULL;
}

bool report_base_next(const struct report *report, const struct report_group *group, size_t at[3],
                      struct report_base *base)
{
    const bool plain = at[0] < group->n_plain, single = at[1] < group->n_single;
    const struct report_point *a = &report->point[group->first + at[0]];
    const struct report_point *b = &report->point[group->single + at[1]];
    const size_t x = plain ? a->row->cell->key.global_batch : 0;
    const size_t y = single ? b->row->cell->key.global_batch : 0;

    *base = (struct report_base){.plain = plain && (!single || x <= y) ? a : NULL,
                                 .single = single && (!plain || y <= x) ? b : NULL};
    at[0] += base->plain != NULL;
    at[1] += base->single != NULL;
    if (!plain && !single)
        base->rank = next_rank(report, group, &at[2]);
    return plain || single || base->rank;
}

static void find_points(struct report *report)
{
    for (size_t i = 0; i < report->n_rows; ++i) {
        const struct report_row *row = &report->row[i];
        struct report_group *group;

        if (i == 0 || !report_same_point(row - 1, row)) {
            report->point[report->n_points] = (struct report_point){.first = i, .row = row};
            if (i == 0 || !report_same_group(row - 1, row))
                report->group[report->n_groups++] =
                    (struct report_group){.first = report->n_points, .scaling = row->run->scaling};
            group = &report->group[report->n_groups - 1];
            if (report_is_cores(&report->point[report->n_points]))
                ++group->n_cores;
            else
                ++group->n;
            ++report->n_points;
        }
        ++report->point[report->n_points - 1].n;
    }
}

static int compare_sizes(const void *left, const void *right)
{
    const size_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* bucket has room for one more than points. */
static void find_buckets(struct report *report)
{
    size_t n = 1, kept = 1;

    report->bucket[0] = 0;
    for (size_t i = 0; i < report->n_points; ++i)
        report->bucket[n++] = report->point[i].row->cell->key.bucket_bytes;
    qsort(report->bucket, n, sizeof *report->bucket, compare_sizes);
    for (size_t i = 1; i < n; ++i)
        if (report->bucket[i] != report->bucket[kept - 1])
            report->bucket[kept++] = report->bucket[i];
    report->n_buckets = kept;
    for (size_t i = 0; i < report->n_points; ++i) {
        const size_t *bytes = &report->point[i].row->cell->key.bucket_bytes;
        const size_t *place =
            bsearch(bytes, report->bucket, kept, sizeof *report->bucket, compare_sizes);

        report->point[i].bucket = place ? (size_t)(place - report->bucket) : 0;
    }
}

int report_points_make(struct report *report)
{
    double *scratch = calloc(report->n_rows + 1, sizeof *scratch);

    report->bucket = calloc(report->n_rows + 1, sizeof *report->bucket);
    if (!scratch || !report->bucket) {
        free(scratch);
        return -1;
    }
    find_points(report);
    find_buckets(report);
    for (size_t i = 0; i < report->n_points; ++i)
        sum_up(&report->point[i], scratch);
    for (size_t g = 0; g < report->n_groups; ++g)
        find_bases(report, &report->group[g], scratch);
    free(scratch);
    return 0;
}
