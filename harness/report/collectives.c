/* report/collectives.c: the table of collectives. Sizes, times and bandwidths are those of
 * nccl-tests, but that a time is the median over launches of the median of a launch's iterations.
 */
#include "report/page.h"

#include "verify/collective.h"

#include <string.h>

enum column {
    COLLECTIVE,
    TYPE,
    DEVICES,
    COMMUNICATOR,
    SIZE,
    COUNT,
    TIME,
    RANGE,
    ALGBW,
    BUSBW,
    STATUS
};

const char *const report_collectives_names[REPORT_COLLECTIVES_COLUMNS] = {
    [COLLECTIVE] = "Collective", [TYPE] = "Type",      [DEVICES] = "Devices",
    [COMMUNICATOR] = "Over",     [SIZE] = "Bytes",     [COUNT] = "Numbers",
    [TIME] = "Median time",      [RANGE] = "Range",    [ALGBW] = "Algorithm bandwidth",
    [BUSBW] = "Bus bandwidth",   [STATUS] = "Verified"};

/* Numbers of a point of which no launch is verified are none. */
static void metric_words(const struct report_point *point, int column, char text[REPORT_CELL_TEXT])
{
    if (point->verified == 0)
        report_add(text, "-");
    else if (column == RANGE)
        report_add_metric_range(text, point, REPORT_STEP);
    else
        report_add_metric(text, point,
                          column == TIME    ? REPORT_STEP
                          : column == ALGBW ? REPORT_ALGBW
                                            : REPORT_BUSBW);
}

void report_collectives_words(const struct report_point *point, int column,
                              char text[REPORT_CELL_TEXT])
{
    const struct record_key *key = &point->row->cell->key;
    const struct collective_type *type = collective_type_find(key->dtype);

    text[0] = '\0';
    switch (column) {
    case COLLECTIVE:
        report_add(text, "%s%s", key->workload, key->out_of_place ? ", out of place" : "");
        break;
    case TYPE:
        report_add(text, "%s", key->dtype);
        break;
    case DEVICES:
        report_add(text, "%d %s%s", key->n_devices, point->row->kind,
                   report_oversubscribed(point) ? " (oversubscribed)" : "");
        break;
    case COMMUNICATOR:
        report_add(text, "%s/%s", key->backend, key->communicator);
        if (key->per_process > 0)
            report_add(text, ", %zu per process", key->per_process);
        break;
    case SIZE:
        report_add(text, "%zu", key->size_bytes);
        break;
    case COUNT:
        report_add(text, "%zu", type ? key->size_bytes / type->bytes : 0);
        break;
    case STATUS:
        report_add(text, "%zu of %zu launches%s", point->verified, point->n,
                   report_simulated(point->row) ? ", SIMULATED" : "");
        break;
    default:
        metric_words(point, column, text);
    }
}

bool report_collectives_any(const struct report *report)
{
    bool any = false;

    for (size_t i = 0; i < report->collectives->n_points && !any; ++i)
        any = report->collectives->point[i].verified > 0;
    return any;
}
