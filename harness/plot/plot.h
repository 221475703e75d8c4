/* plot/plot.h: figures, and nothing of what they show.
 *
 * A figure is a picture of panels. Its writer fills a panel with numbers and words and hands it
 * over; ranges, ticks and places of labels are computed here, in pixels of the SVG (the PNG has
 * twice as many). plots/draw.gp and the figure's own script only draw what they are told. */
#ifndef HARNESS_PLOT_H
#define HARNESS_PLOT_H

#include "files/text_out.h"
#include "text/text.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PLOT_MAX_TICKS = 64,
    PLOT_MAX_MARKS = 512,
    PLOT_MAX_STYLES = 6, /* lines in a panel: more cannot be told apart in grey */
    PLOT_PLAIN = 7,      /* the style of the plain program, which comes on top of these */
    PLOT_MAX_LINES = PLOT_MAX_STYLES + 1,
    PLOT_MAX_PANELS = 64,
    PLOT_MAX_ROWS = 16, /* of panels, one below the other */
    PLOT_MAX_SERIES = 16,
    PLOT_TEXT = 640 /* bytes of any words */
};

/* ---- axes: plot/axis.c ------------------------------------------------------------------ */

struct plot_axis {
    double base;   /* of the logarithm; 0: linear */
    double lo, hi; /* infinite while empty */
    double tick[PLOT_MAX_TICKS];
    bool bare[PLOT_MAX_TICKS]; /* no room for its name */
    int n;
};

struct plot_axis plot_axis_make(double base);
/* Makes room for a value; one that cannot be drawn is passed over. */
void plot_axis_add(struct plot_axis *axis, double value);
/* A tick exactly there; kept in order, once. */
void plot_axis_tick(struct plot_axis *axis, double value);
bool plot_axis_empty(const struct plot_axis *axis);
/* Widens by parts of its length, after making it at least so long (a factor, or a difference). */
void plot_axis_pad(struct plot_axis *axis, double below, double above, double least);
/* Where a value is, 0..1 from lo to hi; and the value at such a place. */
double plot_axis_place(const struct plot_axis *axis, double value);
double plot_axis_value(const struct plot_axis *axis, double place);
/* Round values as ticks. */
void plot_axis_round(struct plot_axis *axis);
/* Takes the names from ticks where they would overlap on an axis of so many pixels. The first and
 * the last keep theirs, then powers of the base come first. */
void plot_axis_thin(struct plot_axis *axis, double pixels);
/* Moves places apart, to at least step from one to the next, around where they were, in lo..hi. */
void plot_spread(double place[], int n, double step, double lo, double hi);

/* After the name of a figure: its picture for a page that is no wider than a telephone. */
#define PLOT_NARROW     "-narrow"
#define PLOT_NARROW_SVG "-narrow.svg"

/* ---- figures: plot/plot.c --------------------------------------------------------------- */

/* A figure while its files are written. The writer fills in width, height, why and footer. */
struct plot {
    const void *subject; /* the writer's */
    const char *directory, *name;
    struct text_error *err;
    struct text_out layout, text;
    int panels, texts;
    double width, height;   /* pixels */
    bool narrow;            /* gnuplot lays it out, so it is drawn for narrow pages, too */
    size_t left_out;        /* panels for which there was no room */
    char why[192];          /* if there is nothing to draw */
    char footer[PLOT_TEXT]; /* cut to fit */
};

/* Words over and next to a panel. */
enum { PLOT_TITLE, PLOT_NOTE, PLOT_X, PLOT_Y, PLOT_WORDS };

/* Where a panel is and what is written around it. From the left and from the top, in pixels. */
struct plot_frame {
    double left, right, top, bottom;
    double at, title, note; /* words above it: x of both, y of each */
    double below;           /* from the bottom to the words of the x axis; 0: as always */
    char words[PLOT_WORDS][PLOT_TEXT];
    struct plot_axis x, y;
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

/* The next panel, plot->panels: its place, words and axes. */
void plot_frame_write(struct plot *plot, const struct plot_frame *frame);
/* A number of this panel for the script. */
void plot_number(struct plot *plot, const char *name, double value);
/* The next words of this panel. */
void plot_words(struct plot *plot, const char *text);
/* NAME-P.tsv of this panel. */
int plot_data_open(struct plot *plot, struct text_out *out);
/* Cuts text to so many pixels at a size of font, with an ellipsis. */
void plot_fit(char text[PLOT_TEXT], double pixels, double font);
/* Text for a data file: gnuplot knows two special characters in data, which are replaced. */
void plot_plain_text(char *text);

/* ---- lines: plot/lines.c ----------------------------------------------------------- */

struct plot_mark {
    double x, y, lo, hi; /* lo, hi NaN: no range */
    double bound;        /* NaN: none */
    bool hollow, bare;   /* bare: no marker */
    bool gap;            /* no line to the mark before */
};

struct plot_line {
    int style; /* 1.. */
    char label[PLOT_TEXT];
    size_t n;
    struct plot_mark mark[PLOT_MAX_MARKS];
    double ideal[2][2]; /* x, y of both ends, NaN: none */
    double plain[2];    /* x, y of the plain program, NaN: none */
    double label_place; /* 0..1 from the bottom; NaN: at the end of the line */
};

struct plot_lines {
    struct plot_frame frame;
    double label_pixels; /* room for labels at the right */
    double dodge;        /* pixels from a line to the next where x is equal */
    bool simulated;
    int n;
    struct plot_line line[PLOT_MAX_LINES];
};

/* Another line, empty. */
struct plot_line *plot_lines_add(struct plot_lines *lines, int style);
/* Ranges from the marks; the caller sets its ticks and limits after that. */
void plot_lines_measure(struct plot_lines *lines);
/* Writes the panel and its data. */
int plot_lines_write(struct plot *plot, struct plot_lines *lines);

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
};

int plot_table_open(struct plot_table *table, struct plot *plot, const struct plot_grid *grid,
                    const char *columns);
/* The next panel. False: there are too many, and it is counted as left out. */
bool plot_table_panel(struct plot_table *table, const char *title, const char *setting,
                      const char *note);
/* The next series of the panel, at least one row of which must follow. False: too many. */
bool plot_table_series(struct plot_table *table, size_t style, const char *label);
void plot_table_row(struct plot_table *table, const double number[], size_t n);
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
extern const unsigned char plot_asset_draw[], plot_asset_frame[], plot_asset_lines[],
    plot_asset_grid[], plot_asset_panel[], plot_asset_ends[];

#endif
