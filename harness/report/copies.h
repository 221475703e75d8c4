/* report/copies.h: what --parts measured of copies: from the host to each device, back, within each
 * device's memory, and from device to device.
 *
 * It is one matrix for all launches on the same devices. Cells on these devices say the same of the
 * machine whatever their model is, so their launches are put together. */
#ifndef HARNESS_REPORT_COPIES_H
#define HARNESS_REPORT_COPIES_H

#include "files/text_out.h"
#include "report/report.h"

/* An end of a copy; device d is COPIES_DEVICE + d. */
enum copies_end { COPIES_HOST, COPIES_DEVICE };

struct copies_set {
    const struct report_row *row; /* the first launch: what all of them share */
    int devices;
    size_t launches; /* verified ones */
    /* [from * ends + to], ends being devices + COPIES_DEVICE: bytes copied per second, of each
     * launch its median, and of these the median. NaN: not measured. */
    double *rate;
};

double copies_rate(const struct copies_set *set, int from, int to);

/* Fills report->copies, those on most devices first. 0, or -1 when memory is short. */
int report_copies_make(struct report *report);
void report_copies_free(struct report *report);

/* What nvbandwidth says of such a copy, of that which the receiving device starts or of the other
 * kind; NaN: nothing, or it was not measured here. A device is that with the number in its name.
 * report/copies_beside.c */
double copies_beside(const struct report *report, const struct copies_set *set, int from, int to,
                     bool read);
/* What a reader must know of its file: errors, no end, numbers without a counterpart. "": nothing.
 */
void report_copies_remarks(const struct report *report, char text[REPORT_CELL_TEXT]);

/* The table, a line for each end that copies come from, and below it what nvbandwidth says and the
 * ratio: on the page, or in the summary. Nothing without copies. 0, or -1: memory was short. */
int report_copies_table(struct text_out *out, const struct report *report);

#endif
