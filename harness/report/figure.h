/* report/figure.h: functions that the writers of figures share. Only these include it. */
#ifndef HARNESS_REPORT_FIGURE_H
#define HARNESS_REPORT_FIGURE_H

#include "plot/plot.h"
#include "report/page.h"

/* Words of the report are written into the frames of panels. */
_Static_assert((int)PLOT_TEXT == (int)REPORT_CELL_TEXT, "words of one length");

enum { FIGURE_WIDTH = 1160 };

/* Declares the writers of figures, and plots/NAME.gp, which plots/Embed.cmake embeds with a closing
 * 0. */
#define FIGURE_DECLARE(id, name, write, title)                                                     \
    extern plot_writer_fn write;                                                                   \
    extern const unsigned char figure_asset_##name[];
REPORT_FIGURE_LIST(FIGURE_DECLARE)

const struct report *figure_report(const struct plot *plot);

/* The batch as axes show it: that of all devices, or with weak scaling that of one device. */
size_t figure_batch(const struct report_group *group, const struct report_point *point);
bool figure_is_weak(const struct report_group *group);
bool figure_hollow(const struct report_point *point);
/* Lists the different batches of verified points, ascending. It writes at most capacity numbers,
 * and returns how many. */
size_t figure_batches(const struct plot *plot, const struct report_group *group, size_t list[],
                      size_t capacity);
/* Inserts a number into an ascending list of n, if it is not in it and there is capacity. Returns
 * the new n. */
size_t figure_insert(size_t list[], size_t n, size_t capacity, size_t number);

/* ---- figures that gnuplot lays out (plot_table) ----
 *
 * A style is the kind of a series, and its colour in all figures (plots/grid.gp): the plain
 * program, DataParallel, ranks, PyTorch. Ranks with the next bucket have a number that is 4 higher.
 */
enum { FIGURE_PLAIN = 1, FIGURE_DP, FIGURE_RANKS, FIGURE_PYTORCH, FIGURE_STYLES = 4 };
size_t figure_style(const struct report_point *point);
/* The styles that records can have: their number, and each of them. */
size_t figure_styles(const struct plot *plot);
size_t figure_nth_style(size_t i);
/* "plain" or "DDP 256Ki". Returns text. */
const char *figure_style_words(const struct plot *plot, size_t style, char text[PLOT_TEXT]);
/* Finds the next verified point of a group in that style, on so many devices (0: on any number);
 * *at begins at 0. NULL: there are no more. */
const struct report_point *figure_next(const struct plot *plot, const struct report_group *group,
                                       size_t style, size_t devices, size_t *at);
/* The largest number of devices with a verified point in that style. Points whose devices had
 * separate cores are preferred. 0: there is no point. */
size_t figure_most_devices(const struct plot *plot, const struct report_group *group, size_t style);
/* Begins a panel for that group. hollow: it has points that say nothing about speed. False: there
 * is no space for it. */
bool figure_panel(struct plot_table *table, const struct report_group *group, bool hollow,
                  const char *more);

/* Writes a figure with one panel per group: sets its width and why there may be none, opens the
 * table with these columns, and calls write_panel for each group. It returns like plot_writer_fn.
 */
int figure_of_groups(struct plot *plot, const struct report *of, const struct plot_grid *grid,
                     const char *why, const char *columns,
                     void (*write_panel)(struct plot_table *table,
                                         const struct report_group *group));
/* A value and its range, each times scale. A value without a range has no bar: lo and hi are the
 * value. */
struct figure_value {
    double middle, lo, hi;
};
struct figure_value figure_value(const struct report_value *value, double scale);

/* The same with a separate title. */
bool figure_panel_titled(struct plot_table *table, const struct report_group *group,
                         const char *title, const char *note);

#endif
