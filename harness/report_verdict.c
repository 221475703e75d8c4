/* report_verdict.c: the sentences on top of a report: what was verified, how it scales, and what
 * limits it. Nothing is claimed that the records do not carry. */
#include "report.h"

#include <math.h>
#include <string.h>

void report_verdict(struct report_out *out, const struct report *report)
{
    if (report->verified == report->planned && report->planned > 0) {
        report_print(out, "All %zu planned cells were measured and verified.", report->planned);
        return;
    }
    report_print(out, "Of %zu planned cells, %zu were measured and %zu verified", report->planned,
                 report->measured, report->verified);
    if (report->failed > 0)
        report_print(out, "; %zu FAILED", report->failed);
    if (report->skipped > 0)
        report_print(out, "; %zu skipped", report->skipped);
    if (report->missing > 0)
        report_print(out, "; %zu not run", report->missing);
    report_print(out, ".");
}

void report_scaling(struct report_out *out, const struct report *report,
                    const struct report_group *group)
{
    const struct report_point *best = NULL;
    char rate[32];

    for (size_t i = group->first; i < group->first + group->n; i++) {
        const struct report_point *point = &report->point[i];

        if (point->verified > 0 &&
            (best == NULL || point->throughput.middle > best->throughput.middle))
            best = point;
    }
    if (best == NULL) {
        report_print(out, "no verified cell.");
        return;
    }
    report_rate(best->throughput.middle, rate);
    report_print(out, "best %s rows/s, with %d device%s%s at batch %zu.", rate,
                 best->row->cell->key.n_devices, best->row->cell->key.n_devices == 1 ? "" : "s",
                 report_oversubscribed(best->row) ? " (oversubscribed)" : "",
                 best->row->cell->key.global_batch);
}
