/* analysis/export.c: exports the cells of records for other programs.
 *
 * A cell has numbers there only if each of its planned launches was measured and verified. Any
 * other cell has none, and is an error if the format has errors, so that a program that draws these
 * numbers cannot take it for a good one. CSV alone has the numbers of a cell whose launches are
 * verified so far, and says that they are not certain. */
#include "analysis/analysis.h"

#include <math.h>
#include <string.h>

#include "command/command.h"
#include "plan/plan.h"

_Static_assert((int)EXPORT_TEXT >= (int)REPORT_CELL_TEXT, "words of a cell fit");

/* ---- a key ----------------------------------------------------------------------------------- */

/* The parts that are texts. The axes that are numbers follow them. */
static const struct {
    struct export_part part;
    size_t text; /* offset of a text in a key */
} key_parts[] = {
    {{.name = "workload"}, offsetof(struct record_key, workload)},
    {{.name = "mode"}, offsetof(struct record_key, mode)},
    {{.name = "devices"}, offsetof(struct record_key, devices)},
    {{.name = "n_devices", .number = true, .column = true}, 0},
    {{.name = "batch", .number = true}, 0},
    {{.name = "backend"}, offsetof(struct record_key, backend)},
    {{.name = "communicator"}, offsetof(struct record_key, communicator)},
    {{.name = "math"}, offsetof(struct record_key, dtype)},
};

enum { KEY_PARTS = sizeof key_parts / sizeof key_parts[0] };

static struct export_part key_part(size_t which)
{
    const struct plan_axis *axis;

    if (which < KEY_PARTS)
        return key_parts[which].part;
    axis = &plan_option_table[which - KEY_PARTS].axis;
    return (struct export_part){.name = plan_axis_has_numbers(axis) ? axis->field : NULL,
                                .number = true};
}

static void key_text(const void *of, size_t which, char text[EXPORT_KEY_BYTES])
{
    const struct record_key *key = of;

    if (which >= KEY_PARTS) {
        const struct plan_axis *axis = &plan_option_table[which - KEY_PARTS].axis;

        plan_axis_text(axis, key, axis->in_key, text, EXPORT_KEY_BYTES);
        return;
    }
    const struct export_part *part = &key_parts[which].part;

    if (part->number)
        snprintf(text, EXPORT_KEY_BYTES, "%zu",
                 part->column ? (size_t)key->n_devices : key->global_batch);
    else
        snprintf(text, EXPORT_KEY_BYTES, "%s", (const char *)of + key_parts[which].text);
}

const struct export_parts export_record_parts = {KEY_PARTS + PLAN_OPTIONS, key_part, key_text};

struct export_cell *export_add_record(struct export_set *set, const struct record_key *key)
{
    struct export_cell *cell;
    char axes[PLAN_AXES_TEXT], name[EXPORT_NAME_BYTES];

    plan_axes_words(key, "/", true, axes);
    snprintf(name, sizeof name, "%s/%s/%s/batch %zu/%s/%s/%s%s", key->workload, key->mode,
             key->devices, key->global_batch, key->backend, key->communicator, key->dtype, axes);
    cell = export_add(set, name);
    cell->key = key;
    cell->group = key->workload;
    return cell;
}

/* ---- points ---------------------------------------------------------------------------------- */

/* Times of the catalogue are in ns. */
static const enum report_metric_id sources[] = {
    REPORT_STEP,  REPORT_THROUGHPUT, REPORT_SPEEDUP, REPORT_EFFICIENCY,
    REPORT_MOVED, REPORT_PEAK,       REPORT_ALGBW,   REPORT_BUSBW,
    REPORT_ALPHA, REPORT_BETA,       REPORT_TOKENS,  REPORT_OF_CORES};

enum { METRICS = sizeof sources / sizeof sources[0] };

static const struct export_metric metrics[METRICS] = {
    {"step_time", "seconds", "latency", 1e9, false},
    {"throughput", "samples_per_second", "throughput", 1, false},
    {"speedup", "ratio", "speed-up", 1, false},
    {"efficiency", "ratio", "efficiency", 1, false},
    {"moved_per_step", "bytes", "moved-per-step", 1, false},
    {"peak_memory", "bytes", "peak-memory", 1, false},
    {"algbw", "bytes_per_second", "algorithm-bandwidth", 1, false},
    {"busbw", "bytes_per_second", "bus-bandwidth", 1, false},
    {"alpha", "seconds", "alpha", 1e9, false},
    {"inverse_beta", "bytes_per_second", "inverse-beta", 1, false},
    {"token_rate", "tokens_per_second", "token-rate", 1, false},
    {"of_best_process", "ratio", "of-best-process", 1, false},
};

static const char *const doubts[] = {[REPORT_DOUBT_FAILED] = "a launch failed",
                                     [REPORT_DOUBT_FEW] = "too few launches",
                                     [REPORT_DOUBT_BEYOND] = "more than is possible",
                                     [REPORT_DOUBT_DISTURBED] = "launches were disturbed",
                                     [REPORT_DOUBT_WIDE] = "too noisy"};

static void add_point(struct export_set *set, const struct report_point *point)
{
    struct export_cell *cell = export_add_record(set, point->key);
    const size_t planned = (size_t)point->row->run->launches;
    const struct report_row *bad = NULL;
    double wall_ns = 0;

    /* A point without numbers has a reason. */
    for (size_t i = 0; i < point->n && !bad; ++i)
        bad = point->row[i].verified ? NULL : &point->row[i];
    if (bad)
        report_add(cell->why, "%zu of %zu launches %s not verified: %s", point->n - point->verified,
                   point->n, text_are(point->n - point->verified),
                   report_failure_words(bad, PHRASE));
    else if (point->n < planned)
        report_add(cell->why, "%zu of %zu planned launches %s missing", planned - point->n, planned,
                   text_are(planned - point->n));
    else if (report_simulated(point->row))
        report_add(cell->why, "SIMULATED, not measured");
    cell->has_numbers = cell->why[0] == '\0';
    cell->partly = !bad && point->n < planned && !report_simulated(point->row);
    if (cell->partly)
        text_add(cell->doubt, EXPORT_DOUBT, "%s", cell->why);
    cell->state = cell->has_numbers ? EXPORT_PASSED : EXPORT_FAILED;
    cell->launches = point->n;
    for (size_t l = 0; l < point->n; ++l)
        wall_ns += (double)point->row[l].cell->wall_ns;
    cell->seconds = wall_ns / 1e9;
    for (size_t m = 0; m < METRICS; ++m) {
        const int metric = sources[m] == REPORT_OF_CORES ? report_rival(point) : (int)sources[m];
        const struct report_value *value = &point->value[metric];
        const double scale = strcmp(metrics[m].unit, "seconds") == 0 ? 1e-9 : 1;
        const bool interval = value->range == REPORT_INTERVAL;

        cell->value[m] = (struct export_value){
            .middle = value->middle * scale,
            .lo = interval ? value->lo * scale : (double)NAN,
            .hi = interval ? value->hi * scale : (double)NAN,
        };
        /* The ratio to the best process is said once, where it is the speed-up. */
        if ((m == 0 || sources[m] == REPORT_SPEEDUP || metric == REPORT_OF_CORES) &&
            report_doubt_mark(point, metric)[0] != '\0')
            text_add(cell->doubt, EXPORT_DOUBT, "%s%s: %s", cell->doubt[0] != '\0' ? "; " : "",
                     metrics[m].name, doubts[report_doubt_of(point, metric)]);
    }
    if (report_oversubscribed(point))
        text_add(cell->doubt, EXPORT_DOUBT, "%s%s", cell->doubt[0] != '\0' ? "; " : "",
                 report_crowding(point->row));
}

void export_report(const struct report *report, struct export_set *set)
{
    const char *const interrupted = report->interrupted ? ": the sweep was interrupted" : "";

    *set = (struct export_set){
        .title = "lockstep sweep",
        .launches = true,
        .judged = true,
        .prefix = "lockstep_",
        .flag = "verified",
        .flag_help = "1: all launches of the cell were measured and verified.",
        .parts = &export_record_parts,
        .metric = metrics,
        .n_metrics = METRICS,
        .github_unit = "ms",
        .in_github = 1e3,
        .counted = "missing_launches",
        .count = report->counts.missing,
    };
    const struct report *collectives = report->collectives;
    const size_t cells = report->n_points + collectives->n_points;

    export_open(set, cells + 1);
    for (size_t i = 0; i < report->n_points; ++i)
        add_point(set, &report->point[i]);
    for (size_t i = 0; i < collectives->n_points; ++i)
        add_point(set, &collectives->point[i]);
    snprintf(set->summary, sizeof set->summary, "%s %zu of %zu cells %s measured and verified%s",
             report_answer_words(report, PHRASE), export_count(set), cells,
             text_are(export_count(set)), interrupted);
    if (report->counts.missing > 0) {
        struct export_cell *missing = export_add(set, "planned launches");

        missing->state = EXPORT_BROKEN;
        snprintf(missing->why, sizeof missing->why, "%zu of %zu planned launches %s missing%s",
                 report->counts.missing, report->counts.planned, text_are(report->counts.missing),
                 interrupted);
    }
}

const char *report_format_name(size_t format)
{
    return format == REPORT_SUMMARY ? "md" : export_name(format);
}
