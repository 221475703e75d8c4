/* report/figure.h: what the writers of the report's figures share; for the figure*.c files only. */
#ifndef HARNESS_REPORT_FIGURE_H
#define HARNESS_REPORT_FIGURE_H

#include "plot/plot.h"
#include "report/page.h"

/* The report's words go into the frames of panels. */
_Static_assert((int)PLOT_TEXT == (int)REPORT_CELL_TEXT, "words of one length");

enum {
    FIGURE_WIDTH = 1160,
    FIGURE_DDP = 1 << 20 /* added to a device count: ranks, once more for each further bucket */
};

/* The writers of figures, and plots/NAME.gp, embedded by plots/Embed.cmake and zero-terminated. */
#define FIGURE_DECLARE(id, name, write, title)                                                     \
    extern plot_writer_fn write;                                                                   \
    extern const unsigned char figure_asset_##name[];
REPORT_FIGURE_LIST(FIGURE_DECLARE)

const struct report *figure_report(const struct plot *plot);

/* Rows of a step as the axes have them: global, or per device for weak scaling. */
size_t figure_batch(const struct report_group *group, const struct report_point *point);
bool figure_is_weak(const struct report_group *group);
bool figure_hollow(const struct report_point *point);
/* The different batches of verified points, and the device counts of those that are not plain,
 * ascending, with FIGURE_DDP in mode ddp; at most capacity. Their number. */
size_t figure_batches(const struct plot *plot, const struct report_group *group, size_t list[],
                      size_t capacity);
size_t figure_counts(const struct plot *plot, const struct report_group *group, size_t list[],
                     size_t capacity);
/* Puts a number into a list of n, ascending, if it is not there and there is room: the new n. */
size_t figure_insert(size_t list[], size_t n, size_t capacity, size_t number);
size_t figure_devices(size_t count); /* without FIGURE_DDP */
/* How often FIGURE_DDP is in the count of a point: 0 DataParallel, 1.. ranks with bucket 0.. */
size_t figure_mode(const struct report_point *point);
/* " 256Ki" of a count with a bucket that somebody asked for, else "". */
void figure_bucket(const struct plot *plot, size_t count, char text[32]);
/* The verified point of that count, 0: the plain program, at that batch; or NULL. */
const struct report_point *figure_find(const struct plot *plot, const struct report_group *group,
                                       size_t count, size_t batch);

/* ---- figures that gnuplot lays out (plot_table) ----
 * A style is what a series is, and its colour in all figures (plots/grid.gp): the plain program,
 * DataParallel, ranks, PyTorch; ranks with the next bucket are 4 more. */
enum { FIGURE_PLAIN = 1, FIGURE_DP, FIGURE_RANKS, FIGURE_PYTORCH, FIGURE_STYLES = 4 };
size_t figure_style(const struct report_point *point);
/* Those that records can have: how many, and each. */
size_t figure_styles(const struct plot *plot);
size_t figure_nth_style(size_t i);
/* "plain", "DDP 256Ki". */
void figure_style_words(const struct plot *plot, size_t style, char text[PLOT_TEXT]);
/* The most devices with a verified point in that style: with cores of their own, if there is one.
 * 0: none. */
size_t figure_most_devices(const struct plot *plot, const struct report_group *group, size_t style);
/* A panel of that group. hollow: it has points that tell nothing of how fast. False: no room. */
bool figure_panel(struct plot_table *table, const struct report_group *group, bool hollow,
                  const char *more);

/* What a figure with a panel per group does: its width, why there is none, the table with these
 * columns, and each group's panel. As plot_writer_fn. */
int figure_of_groups(struct plot *plot, const struct report *of, const struct plot_grid *grid,
                     const char *why, const char *columns,
                     void (*write_panel)(struct plot_table *table,
                                         const struct report_group *group));
/* A value and its range, each times scale; what has no range has no bar: it is the value. */
struct figure_value {
    double middle, lo, hi;
};
struct figure_value figure_value(const struct report_value *value, double scale);

/* The same with a title of its own. */
bool figure_panel_titled(struct plot_table *table, const struct report_group *group,
                         const char *title, const char *note);

#endif
