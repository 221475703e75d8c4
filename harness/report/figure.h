/* report/figure.h: functions that the writers of figures share. Only these include it. */
#ifndef HARNESS_REPORT_FIGURE_H
#define HARNESS_REPORT_FIGURE_H

#include "plot/plot.h"
#include "report/page.h"

/* Words of the report are written into the frames of panels. */
_Static_assert((int)PLOT_TEXT == (int)REPORT_CELL_TEXT, "words of one length");

enum { FIGURE_WIDTH = 1320 };

/* A figure: what its writer makes of it, and how gnuplot lays out its panels (plot_table). */
struct figure_row {
    struct plot_grid grid;
    const char *why, *columns; /* why there may be nothing to draw; the columns of its data */
    bool collectives;          /* its groups are those of collectives */
    /* Sets the layout, why and the words at the foot, if they depend on the report. */
    void (*prepare)(struct plot *plot, struct plot_grid *grid);
    /* Writes the panel of a group, or if that is NULL all panels. */
    void (*write_group)(struct plot_table *table, const struct report_group *group);
    void (*write_panels)(struct plot_table *table);
};

/* Declares the figures, and plots/NAME.gp, which plots/Embed.cmake embeds with a closing 0. */
#define FIGURE_DECLARE(id, name, title)                                                            \
    extern const struct figure_row figure_##name;                                                  \
    extern const unsigned char figure_asset_##name[];
REPORT_FIGURE_LIST(FIGURE_DECLARE)

const struct report *figure_report(const struct plot *plot);

bool figure_hollow(const struct report_point *point);
/* Lists the different batches of verified points, ascending. It writes at most capacity numbers,
 * and returns how many. */
size_t figure_batches(const struct report_group *group, size_t list[], size_t capacity);

/* A style is the kind of a series, and its colour in all figures (plots/grid.gp): the plain
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
const struct report_point *figure_next(const struct report_group *group, size_t style,
                                       size_t devices, size_t *at);
/* The largest number of devices with a verified point in that style. Points whose devices had
 * separate cores are preferred. 0: there is no point. */
size_t figure_most_devices(const struct report_group *group, size_t style);
/* Begins a panel for that group. hollow: it has points that say nothing about speed. False: there
 * is no space for it. */
bool figure_panel(struct plot_table *table, const struct report_group *group, bool hollow,
                  const char *more);

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
