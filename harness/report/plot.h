/* report/plot.h: what the writers of figures share; for the plot*.c files only.
 *
 * A figure is a picture of panels. Its writer fills a panel with numbers and words and hands it
 * over; ranges, ticks and places of labels are computed here, in pixels of the SVG (the PNG has
 * twice as many). plots/draw.gp and the figure's own script only draw what they are told. */
#ifndef HARNESS_REPORT_PLOT_H
#define HARNESS_REPORT_PLOT_H

#include "report/report.h"

enum {
    PLOT_MAX_TICKS = 64,
    PLOT_MAX_MARKS = 512,
    PLOT_MAX_STYLES = 6, /* lines in a panel: more cannot be told apart in grey */
    PLOT_PLAIN = 7,      /* the style of the plain program, which comes on top of these */
    PLOT_MAX_LINES = PLOT_MAX_STYLES + 1,
    PLOT_MAX_PANELS = 64,
    PLOT_MAX_ROWS = 16, /* of panels, one below the other */
    PLOT_DDP = 1 << 20  /* added to a device count: ranks, once more for each further bucket */
};

/* ---- axes: report/axis.c ------------------------------------------------------------------ */

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

/* ---- figures: report/plot.c --------------------------------------------------------------- */

/* A figure while its files are written. */
struct plot {
    const struct report *report;
    const void *subject; /* of a figure that belongs to no report */
    const char *directory, *name;
    struct text_error *err;
    struct text_out layout, text;
    int panels, texts;
    double width, height;          /* pixels */
    size_t left_out;               /* groups for which there was no room */
    char why[192];                 /* if there is nothing to draw */
    char footer[REPORT_CELL_TEXT]; /* instead of the words about the first run */
};

/* Words over and beside a panel. */
enum { PLOT_TITLE, PLOT_NOTE, PLOT_X, PLOT_Y, PLOT_WORDS };

/* Where a panel is and what is written around it. From the left and from the top, in pixels. */
struct plot_frame {
    double left, right, top, bottom;
    double at, title, note; /* words above it: x of both, y of each */
    double below;           /* from the bottom to the words of the x axis; 0: as always */
    char words[PLOT_WORDS][REPORT_CELL_TEXT];
    struct plot_axis x, y;
};

/* Writes the inputs of a figure: 1 when there is something to draw, 0 when not (plot->why), or -1.
 */
typedef int plot_writer_fn(struct plot *plot);
plot_writer_fn report_plot_throughput, report_plot_scaling, report_plot_phases, report_plot_shards,
    report_plot_distribution, report_plot_modes, report_plot_overlap, report_plot_peer;

/* A figure of its own, without a report: DIR, which is made if need be, gets NAME.svg, NAME.png and
 * what they are made from. The writer fills in plot->footer. */
enum report_plot_status plot_alone(const char *directory, const char *name,
                                   const unsigned char *script, plot_writer_fn *write,
                                   const void *subject, struct text_error *err);

/* The next panel, plot->panels: its place, words and axes. */
void plot_frame_write(struct plot *plot, const struct plot_frame *frame);
/* A number of this panel for the script. */
void plot_number(struct plot *plot, const char *name, double value);
/* NAME-P.tsv of this panel. */
int plot_data_open(struct plot *plot, struct text_out *out);
/* Cuts text to so many pixels at a size of font, with an ellipsis. */
void plot_fit(char text[REPORT_CELL_TEXT], double pixels, double font);
/* Text for a data file: gnuplot knows two special characters in data, which are replaced. */
void plot_plain_text(char *text);
/* The title of a group's panels, cut to fit. */
void plot_title(const struct plot *plot, const struct report_group *group, double pixels,
                char text[REPORT_CELL_TEXT]);

/* Rows of a step as the axes have them: global, or per device for weak scaling. */
size_t plot_batch(const struct report_group *group, const struct report_point *point);
bool plot_is_weak(const struct report_group *group);
bool plot_hollow(const struct report_point *point);
/* The different batches of verified points, and the device counts of those that are not plain,
 * ascending, with PLOT_DDP in mode ddp; at most capacity. Their number. */
size_t plot_batches(const struct plot *plot, const struct report_group *group, size_t list[],
                    size_t capacity);
size_t plot_counts(const struct plot *plot, const struct report_group *group, size_t list[],
                   size_t capacity);
size_t plot_devices(size_t count); /* without PLOT_DDP */
/* How often PLOT_DDP is in the count of a point: 0 DataParallel, 1.. ranks with bucket 0.. */
size_t plot_mode(const struct report_point *point);
/* " 256Ki" of a count with a bucket that somebody asked for, else "". */
void plot_bucket(const struct plot *plot, size_t count, char text[32]);
/* The verified point of that count, 0: the plain program, at that batch; or NULL. */
const struct report_point *plot_find(const struct plot *plot, const struct report_group *group,
                                     size_t count, size_t batch);

/* A time unit in which numbers up to max_ns are handy: its size in ns, and its name. */
double plot_unit(double max_ns, const char **name);

/* ---- bars: report/plot_bars.c ------------------------------------------------------------- */

/* A panel of bars at x = 1, 2, .., n. */
struct plot_bars {
    bool first;     /* of the two in a row, with the key */
    bool two_lines; /* the names below the bars */
    double row;     /* height of a row with names of one line, pixels */
    double key;     /* from the left to the key, pixels */
    size_t n;
    double highest, unit; /* what the y axis must hold, and its unit: ns */
};

/* Places the panel and writes it; the caller has filled in the words of frame, and no more. */
void plot_bars_write(struct plot *plot, const struct plot_bars *bars, struct plot_frame *frame);
/* The height of a row, with room for the second lines. */
double plot_bars_height(double row, bool two_lines);

/* ---- lines: report/plot_lines.c ----------------------------------------------------------- */

struct plot_mark {
    double x, y, lo, hi; /* lo, hi NaN: no range */
    double bound;        /* NaN: none */
    bool hollow, bare;   /* bare: no marker */
    bool gap;            /* no line to the mark before */
};

struct plot_line {
    int style; /* 1.. */
    char label[REPORT_CELL_TEXT];
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

/* Calls write for each group, with room for the lines of a panel; the height grows by the footer.
 * 1 when there is a panel, 0 when not, or -1. */
typedef int plot_group_fn(struct plot *plot, const struct report_group *group,
                          struct plot_lines *lines);
int plot_each_group(struct plot *plot, plot_group_fn *write);

/* Another line, empty. */
struct plot_line *plot_lines_add(struct plot_lines *lines, int style);
/* Ranges from the marks; the caller sets ticks and limits of its own after that. */
void plot_lines_measure(struct plot_lines *lines);
/* Writes the panel and its data. */
int plot_lines_write(struct plot *plot, struct plot_lines *lines);

#endif
