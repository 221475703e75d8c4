/* sweep/progress.h: what a person sees of a sweep while it runs, on stderr. */
#ifndef HARNESS_PROGRESS_H
#define HARNESS_PROGRESS_H

#include "record/plan.h"

struct progress {
    bool terminal;  /* one line that is rewritten, with time left; else a line per cell */
    int name_width; /* of the workloads */
    const struct plan_options *plan;
    size_t done, total;
    size_t launches; /* of every cell */
    bool weak;       /* batches are shown as rows per device */
    double started;  /* seconds on the monotonic clock */
    size_t finished_here;
};

/* done: cells that an earlier sitting has finished. The plan is used until the end. */
void progress_open(struct progress *progress, const struct plan_options *plan, size_t done);
void progress_begin(struct progress *progress, const struct cell_config *config);
void progress_cell(struct progress *progress, const struct record_cell *cell);
/* Leaves the rewritten line. */
void progress_close(struct progress *progress);

#endif
