/* progress.h: what a person sees of a sweep while it runs, on stderr. */
#ifndef HARNESS_PROGRESS_H
#define HARNESS_PROGRESS_H

#include "cell.h"

struct progress {
    bool terminal; /* one line that is rewritten, with time left; else a line per cell */
    int name_width;
    size_t done, total;
    double started; /* seconds on the monotonic clock */
    size_t finished_here;
};

/* done: cells that an earlier sitting has finished; name_width: of the workloads. */
void progress_open(struct progress *progress, size_t done, size_t total, int name_width);
void progress_begin(struct progress *progress, const struct cell_config *config);
void progress_cell(struct progress *progress, const struct record_cell *cell);
/* Leaves the rewritten line. */
void progress_close(struct progress *progress);

#endif
