/* plot/plot.h: figures, and nothing of what they show.
 *
 * A figure is a picture of panels. Its writer gives a table of numbers and the words of each panel.
 * plots/draw.gp, plots/grid.gp and the script of the figure lay them out. */
#ifndef HARNESS_PLOT_H
#define HARNESS_PLOT_H

#include "files/files.h"
#include "text/text.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PLOT_MAX_TICKS = 64, /* numbers of devices, or batches, of a figure */
    PLOT_MAX_PANELS = 64,
    PLOT_MAX_SERIES = 16, /* of a panel */
    PLOT_TEXT = 896       /* bytes of any words */
};

/* After the name of a figure: its picture for a page that is no wider than a telephone. */
#define PLOT_NARROW_SVG "-narrow.svg"

/* ---- figures: plot/plot.c --------------------------------------------------------------- */

/* A figure while its files are written. The writer fills in width, height, why and footer. */
struct plot {
    const void *subject; /* the writer's */
    const char *directory, *name;
    struct text_error *err;
    struct text_out layout, text;
    int panels, texts;
    double width;           /* pixels */
    bool narrow;            /* it is drawn for narrow pages, too */
    size_t left_out;        /* panels for which there was no room */
    unsigned marks;         /* the writer's: what it has drawn that a caption explains */
    char why[192];          /* if there is nothing to draw */
    char footer[PLOT_TEXT]; /* cut to fit */
};

/* Writes the inputs of a figure: 1 when there is something to draw, 0 when not (plot->why), or -1.
 */
typedef int plot_writer_fn(struct plot *plot);

enum plot_status {
    PLOT_OK,
    PLOT_NONE,   /* the data have nothing for it */
    PLOT_FAILED, /* gnuplot is missing or failed */
    PLOT_WRITE   /* a file could not be written */
};

/* Writes the files that all figures of a directory use. 0, or -1. */
int plot_scripts(const char *directory, struct text_error *err);
/* Removes the files of a figure, which may be an earlier one's with more panels. */
void plot_remove(const char *directory, const char *name);
/* NAME.svg, NAME.png and what they are made from, with plot_scripts there; the caller has filled in
 * subject, directory, name and err. NONE: plot->why says why; FAILED, WRITE: err does. */
enum plot_status plot_make(struct plot *plot, const unsigned char *script, plot_writer_fn *write);
/* All of this for a figure on its own; the directory is made if need be. */
enum plot_status plot_alone(const char *directory, const char *name, const unsigned char *script,
                            plot_writer_fn *write, const void *subject, struct text_error *err);

/* A number of this panel for the script. */
void plot_number(struct plot *plot, const char *name, double value);
/* Cuts text to so many pixels at a size of font, with an ellipsis. */
void plot_fit(char text[PLOT_TEXT], double pixels, double font);

/* ---- tables ------------------------------------------------------------------------ */

/* How gnuplot lays out panels: as many in a row as are that wide, with room for labels. Pixels. */
struct plot_grid {
    int least, height, room;
    int columns; /* so many in a row, if there is room; 0: as it comes */
};

/* A table while it is written: plots/grid.gp says how a script reads it. */
struct plot_table {
    struct plot *plot;
    struct text_out out;
    int blocks;                    /* written so far */
    size_t style[PLOT_MAX_SERIES]; /* of the series of this panel: what the script makes of it */
    size_t series;
    bool begins;           /* a series, with its first row */
    char label[PLOT_TEXT]; /* of that series */
};

int plot_table_open(struct plot_table *table, struct plot *plot, const struct plot_grid *grid,
                    const char *columns);
/* The next panel. False: there are too many, and it is counted as left out. */
bool plot_table_panel(struct plot_table *table, const char *title, const char *setting,
                      const char *note);
/* The next series of the panel; one without a row is left out. False: too many. */
bool plot_table_series(struct plot_table *table, size_t style, const char *label);
void plot_table_row(struct plot_table *table, const double number[], size_t n);
#define PLOT_ROW(table, ...)                                                                       \
    plot_table_row(table, (const double[]){__VA_ARGS__},                                           \
                   sizeof((const double[]){__VA_ARGS__}) / sizeof(double))
/* No line is drawn from the row before to the next. */
void plot_table_gap(struct plot_table *table);
/* 1 when there is a panel, 0 when not, or -1: what a plot_writer_fn returns. */
int plot_table_close(struct plot_table *table);
/* Numbers of this panel for the script, as a string of words. */
void plot_list(struct plot *plot, const char *name, const size_t list[], size_t n);

/* ---- gnuplot: plot/gnuplot.c ------------------------------------------------------------ */

/* Runs gnuplot in directory on one of our scripts, `variables` in front, for so many seconds at
 * most. 0, or -1. */
int plot_gnuplot(const char *directory, const char *variables, const char *script, unsigned seconds,
                 struct text_error *err);
/* The pictures of a figure, from the scripts and the data in directory: NAME.svg, NAME.png, and
 * with narrow NAME-narrow.svg. 0, or -1 and none. */
int plot_draw(const char *directory, const char *name, bool narrow, struct text_error *err);

/* Embedded by plots/Embed.cmake; zero-terminated. */
extern const unsigned char plot_asset_draw[], plot_asset_grid[], plot_asset_panel[],
    plot_asset_ends[];

#endif
