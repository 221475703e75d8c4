/* report/nccl_tests.c: prints collectives as the table of nccl-tests, for programs that read it.
 * There is one table for each collective, type, number of devices and communicator. */
#include "report/page.h"

#include "record/record.h"
#include "verify/collective.h"

#include <string.h>

static void print_heading(FILE *to, const struct report_point *point)
{
    const struct record_key *key = point->key;

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

/* Prints the columns of one place. The time has as many digits as in nccl-tests. */
static void print_place(FILE *to, const struct report_point *point)
{
    const double us = point ? report_middle(point, REPORT_STEP) / 1e3 : 0;

    if (!point || point->verified < point->n)
        fprintf(to, "  %7s  %6s  %6s  %5s", "N/A", "N/A", "N/A", "N/A");
    else
        fprintf(to, "  %7.*f  %6.2f  %6.2f  %5d",
                us >= 10000.0 ? 0
                : us >= 100.0 ? 1
                              : 2,
                us, report_middle(point, REPORT_ALGBW) / 1e9,
                report_middle(point, REPORT_BUSBW) / 1e9, 0);
}

static void print_unverified(FILE *to, const struct report_point *point)
{
    if (point && point->verified < point->n)
        fprintf(to, "# %zu bytes %s place: %zu of %zu launches are verified\n",
                point->key->size_bytes, point->key->out_of_place ? "out of" : "in", point->verified,
                point->n);
}

/* Finds the same cell, measured in the other place. */
static const struct report_point *find_other_place(const struct report *own,
                                                   const struct report_point *point)
{
    const struct record_key *key = point->key;

    for (size_t i = 0; i < own->n_points; ++i) {
        struct record_key same = *own->point[i].key;

        if (same.out_of_place == key->out_of_place || own->point[i].row->run != point->row->run)
            continue;
        same.out_of_place = key->out_of_place;
        if (record_order(record_key_fields, RECORD_APART, &same, key) == 0 &&
            same.size_bytes == key->size_bytes && same.n_devices == key->n_devices)
            return &own->point[i];
    }
    return NULL;
}

/* Both places of a cell are printed in one line, in the table of the cell in place. */
size_t report_nccl_tests(FILE *to, const struct report *report)
{
    const struct report *own = report->collectives;
    const struct report_point *headed = NULL;
    size_t verified = 0;

    for (size_t i = 0; i < own->n_points; ++i) {
        const struct report_point *point = &own->point[i], *other = find_other_place(own, point);
        const struct record_key *key = point->key;
        const struct collective *collective = collective_find(key->workload);
        const struct collective_type *type = collective_type_find(key->dtype);
        const struct report_point *in = key->out_of_place != 0 ? NULL : point;
        const struct report_point *out = in ? other : point;

        verified += point->verified == point->n;
        /* Lines of one table differ only in size and place. */
        if (i > 0 && (!report_same_group(point[-1].row, point->row) ||
                      point[-1].key->n_devices != key->n_devices))
            headed = NULL;
        if (!in && other)
            continue;
        if (!headed)
            print_heading(to, point);
        headed = point;
        print_unverified(to, out);
        print_unverified(to, in);
        if (!collective || !type ||
            ((!in || in->verified < in->n) && (!out || out->verified < out->n)))
            continue;
        fprintf(to, "%12zu  %12zu  %8s  %6s  %6d", key->size_bytes,
                key->size_bytes / collective_unit(collective, type, key->n_devices),
                type->nccl_name, collective->nccl_op, collective->nccl_root);
        print_place(to, out);
        print_place(to, in);
        fputc('\n', to);
    }
    return verified;
}
