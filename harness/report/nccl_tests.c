/* report/nccl_tests.c: collectives as the table that nccl-tests prints, for what reads that: a
 * table for each collective, type, number of devices and communicator. All are in place. */
#include "report/report.h"

#include "verify/collective.h"

#include <string.h>

static void head(FILE *to, const struct report_point *point)
{
    const struct record_key *key = &point->row->cell->key;

    fprintf(to, "# %s, %d devices of %s, %s/%s; time: median of launches of lockstep sweep\n#\n",
            key->workload, key->n_devices, key->devices, key->backend, key->communicator);
    fprintf(to, "# %10s  %12s  %8s  %6s  %6s           %-35s%-18s\n", "", "", "", "", "",
            "out-of-place", "in-place");
    fprintf(to, "# %10s  %12s  %8s  %6s  %6s", "size", "count", "type", "redop", "root");
    for (int place = 0; place < 2; ++place)
        fprintf(to, "  %7s  %6s  %6s %6s", "time", "algbw", "busbw", "#wrong");
    fprintf(to, "\n# %10s  %12s  %8s  %6s  %6s", "(B)", "(elements)", "", "", "");
    for (int place = 0; place < 2; ++place)
        fprintf(to, "  %7s  %6s  %6s %6s", "(us)", "(GB/s)", "(GB/s)", "");
    fputc('\n', to);
}

/* As many digits as nccl-tests gives a time. */
static int digits_of(double us)
{
    return us >= 10000.0 ? 0 : us >= 100.0 ? 1 : 2;
}

static void line(FILE *to, const struct report_point *point)
{
    const struct record_key *key = &point->row->cell->key;
    const struct collective *collective = collective_find(key->workload);
    const struct collective_type *type = collective_type_find(key->dtype);
    const double us = report_middle(point, REPORT_STEP) / 1e3;

    if (!collective || !type || point->verified < point->n) {
        fprintf(to, "# %zu bytes: %zu of %zu launches are verified\n", key->size_bytes,
                point->verified, point->n);
        return;
    }
    fprintf(to, "%12zu  %12zu  %8s  %6s  %6d  %7s  %6s  %6s  %5s  %7.*f  %6.2f  %6.2f  %5d\n",
            key->size_bytes, key->size_bytes / type->bytes, type->nccl_name, collective->nccl_op,
            collective->nccl_root, "N/A", "N/A", "N/A", "N/A", digits_of(us), us,
            report_middle(point, REPORT_ALGBW) / 1e9, report_middle(point, REPORT_BUSBW) / 1e9, 0);
}

/* Of one group all but the devices is the same. */
static bool is_next(const struct report *report, size_t i)
{
    const struct report_row *a = report->point[i - 1].row, *b = report->point[i].row;

    return !report_same_group(a, b) || a->cell->key.n_devices != b->cell->key.n_devices;
}

size_t report_nccl_tests(FILE *to, const struct report *report)
{
    const struct report *own = report->collectives;
    size_t verified = 0;

    for (size_t i = 0; i < own->n_points; ++i) {
        if (i == 0 || is_next(own, i))
            head(to, &own->point[i]);
        line(to, &own->point[i]);
        verified += own->point[i].verified == own->point[i].n;
    }
    return verified;
}
