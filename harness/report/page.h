/* report/page.h: `lockstep report`, which makes a page, figures and tables from record files:
 * everything that it says and draws. The numbers are in analysis/analysis.h. */
#ifndef HARNESS_REPORT_PAGE_H
#define HARNESS_REPORT_PAGE_H

#include "analysis/analysis.h"
#include "export/grid.h"
#include "files/files.h"
#include "plot/plot.h"
#include "text/quantity.h"

/* Runs the subcommand; argv[0] is "lockstep report". Returns the exit status, see --help. */
int report_main(int argc, char **argv);
/* Prints the numbers on standard output. Returns 0 and how many cells have numbers, or EXIT_MISUSE
 * after it has printed one line. */
int report_print(const char *command, const struct report *report, size_t format,
                 size_t *with_numbers);

/* ---- options: report/options.c ------------------------------------------------------------ */

enum { REPORT_EXTERNAL_MOST = 32 };

/* These formats come after those that a sweep also prints. */
enum { REPORT_NCCL_TESTS = REPORT_FORMATS, REPORT_PAGE };

struct report_arguments {
    const char *out, *check, *peer, *limits;
    const char *external[REPORT_EXTERNAL_MOST];
    size_t n_external;
    bool slide, strict;
    double peak;   /* operations per second of one device; 0: not stated */
    size_t format; /* REPORT_PAGE: no format, but a page */
    char **files;
    size_t n_files;
};

/* Returns 0 if the options go together; otherwise it has printed a line that says why not. The
 * texts belong to argv. */
int report_options(int argc, char **argv, struct report_arguments *arguments);

/* ---- figures ------------------------------------------------------------------------------ */

/* The figures, in the order of the page. A row has three columns: the end of its name in enum
 * report_figure; the name of its files, of plots/NAME.gp, and of its row figure_NAME
 * (report/figure.h); its title. The slide is a figure that is not on the page. */
#define REPORT_FIGURE_LIST(F)                                                                      \
    F(MAP, map, "Where it scales")                                                                 \
    F(SCALING, scaling, "Scaling")                                                                 \
    F(WATERFALL, waterfall, "Where a step goes")                                                   \
    F(BATCH, batch, "Batch and throughput")                                                        \
    F(ROOFLINE, roofline, "Operations and bytes")                                                  \
    F(LIMITS, limits, "Each phase against its limit")                                              \
    F(TRUST, trust, "Can the launches be trusted?")                                                \
    F(PEER, peer, "Side by side")                                                                  \
    F(OVERLAP, overlap, "Communication and what is hidden of it")                                  \
    F(BANDWIDTH, bandwidth, "Bus bandwidth of collectives")                                        \
    F(SLIDE, slide, "")

#define REPORT_FIGURE_ENUM(id, name, title) REPORT_FIGURE_##id,
enum report_figure { REPORT_FIGURE_LIST(REPORT_FIGURE_ENUM) REPORT_FIGURES };
/* "batch" is the name of NAME.svg, NAME.png, NAME.gp and its data. */
extern const char *const report_figure_names[REPORT_FIGURES];
extern const char *const report_figure_titles[REPORT_FIGURES];

/* The status of each figure is OK, NONE or FAILED. If it is not OK, why has the reason. */
struct report_figures {
    unsigned marks[REPORT_FIGURES]; /* which sentences its caption needs, see report/caption.c */
    enum plot_status status[REPORT_FIGURES];
    char why[REPORT_FIGURES][192];
};

/* Draws all figures, the slide if report->slide. It returns WRITE and err if a file could not be
 * written; FAILED if one figure at least has failed, with the first reason in err; NONE if there is
 * no verified point; OK if it drew all figures that the data have. It removes files of an earlier
 * report for figures that are not made. */
enum plot_status report_plot(const char *directory, const struct report *report,
                             struct report_figures *made, struct text_error *err);

/* ---- words -------------------------------------------------------------------------------- */

/* "mlp:8,8"; if the report has several communicators, with that: "mlp:8,8, staged". */
const char *report_workload_words(const struct report *report, const struct report_row *row,
                                  char text[REPORT_CELL_TEXT]);
/* The workload and, in brackets, the other words of a setting; these alone: "strong scaling, f32,
 * cpu/threads on virt". */
const char *report_group_words(const struct report *report, const struct report_group *group,
                               char text[REPORT_CELL_TEXT]);
const char *report_setting_words(const struct report *report, const struct report_group *group,
                                 char text[REPORT_CELL_TEXT]);
/* "1.86x [1.84, 1.88]". */
const char *report_speedup_words(const struct report_point *point, char text[REPORT_CELL_TEXT]);
/* "0.45 [0.44, 0.47]", or a range as "0.45 (0.44..0.47)"; unit follows the ratio. */
const char *report_ratio_range_words(const struct report_value *ratio, const char *unit,
                                     char text[REPORT_CELL_TEXT]);
const char *report_base_name(const struct report_point *base);

/* The first prints how much was verified. The second prints which setting loses most, and why,
 * after the answer (report_answer_words). */
void report_verdict(struct text_out *out, const struct report *report);
void report_lead(struct text_out *out, const struct report *report);
/* Prints a fact, as an item of a list in HTML or in Markdown; nothing if its words are "". */
void report_fact(struct text_out *out, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints the numbers of a group as facts: base, speed-ups, rates. */
void report_facts(struct text_out *out, const struct report_group *group);
/* Prints what a reader has to keep in mind about these numbers, as items of a list. */
void report_cautions(struct text_out *out, const struct report *report);
/* Prints, in the same way, the share of the time of each run that was timed. The page has it in a
 * table. */
void report_shares(struct text_out *out, const struct report *report);
/* The first prints what bars are and how many launches they have, in all figures; the second what
 * is drawn in one figure. */
void report_bars(struct text_out *out, const struct report *report);
void report_caption(struct text_out *out, const struct report_figures *figures,
                    enum report_figure figure);

/* ---- tables ------------------------------------------------------------------------------- */

enum report_table_id {
    REPORT_TABLE_ANSWERS,
    REPORT_TABLE_COUNTS,
    REPORT_TABLE_COSTS,
    REPORT_TABLE_COLLECTIVES,
    REPORT_TABLE_FITS,
    REPORT_TABLE_NCCL_TESTS,
    REPORT_TABLE_BASES,
    REPORT_TABLE_TOKENS,
    REPORT_TABLE_HELD,
    REPORT_TABLE_RANKS,
    REPORT_TABLE_OVERLAP,
    REPORT_TABLE_SLOWEST,
    REPORT_TABLE_MEMORY,
    REPORT_TABLE_LIMITS,
    REPORT_TABLE_FAILURES,
    REPORT_TABLE_CELLS,
    REPORT_TABLE_PEER_STEPS,
    REPORT_TABLE_PEER_RATIOS,
    REPORT_TABLES
};
/* number of cells in summary.md */
enum { REPORT_SUMMARY_CELLS = 30 };

/* Prints a table, as HTML with all rows, or as Markdown with at most as many rows as a summary has;
 * nothing if it has no rows. report/tables.c */
void report_table(struct text_out *out, const struct report *report, enum report_table_id which);
/* The first prints the tables of the page, the second those of a summary. */
void report_tables(struct text_out *out, const struct report *report);
void report_brief_tables(struct text_out *out, const struct report *report);
/* Says that only the page has all rows, and how many there are; prints nothing if all are shown. */
void report_left(struct text_out *out, size_t all, size_t shown, const char *what);

/* Each of these fills one table: report/cells.c, point_tables.c, collectives.c, limits.c,
 * peer_page.c. */
typedef void report_fill_fn(struct grid *grid, const struct report *report);
report_fill_fn report_fill_bases, report_fill_cells, report_fill_tokens, report_fill_held,
    report_fill_ranks, report_fill_overlap, report_fill_slowest, report_fill_memory,
    report_fill_collectives, report_fill_fits, report_fill_nccl_tests, report_fill_limits,
    report_fill_peer_steps, report_fill_peer_ratios;
/* Sets the words that the next rows have in common. */
void report_table_group(struct grid *grid, const struct report *report,
                        const struct report_group *group);
/* These add a cell with the mode and devices of a point ("plain", "2", "2 ddp"), with a number,
 * with the range of a value, or with a metric of a point. */
void report_cell_mode(struct grid *grid, const struct report_point *point);
void report_cell_number(struct grid *grid, double value, report_number_fn *number);
void report_cell_range(struct grid *grid, const struct report_value *value,
                       report_number_fn *number);
void report_cell_metric(struct grid *grid, const struct report_point *point, int metric);
/* Whether rows of both points need no line between them: they have the same mode, devices and
 * bucket. */
bool report_same_line(const struct report_point *a, const struct report_point *b);
/* Whether the point has a row in the table of overlap. */
bool report_has_overlap(const struct report_point *point);

/* Whether one stated peak can be the peak of all devices; if not, why has the reason. */
bool report_peak_fits(const struct report *report, char why[REPORT_CELL_TEXT]);
/* Writes a caution if the peak is below a measured rate, or "". */
void report_peak_caution(const struct report *report, char text[REPORT_CELL_TEXT]);
/* Writes the source of the rates in the table of tokens, for the end of its note. */
void report_rates_note(const struct report *report, char text[REPORT_CELL_TEXT]);

/* Prints the table of copies. It has a line for each end that copies come from, and under it the
 * numbers of nvbandwidth and the ratio. report/copies_table.c */
void report_copies_table(struct text_out *out, const struct report *report);
/* Writes what a reader must know about the file of nvbandwidth: errors, no end, numbers without a
 * counterpart. "": nothing. */
void report_copies_remarks(const struct report *report, char text[REPORT_CELL_TEXT]);
/* Prints all collectives as the table of nccl-tests, and returns how many have a line there. */
size_t report_nccl_tests(FILE *to, const struct report *report);

/* ---- page and summary --------------------------------------------------------------------- */

/* Writes the page, with the figures that were made inside. */
int report_page(const char *directory, const struct report *report,
                const struct report_figures *figures, struct text_error *err);
/* Prints the short report of a job. It links to figures; NULL: there are no figures and no page.
 */
void report_summary(struct text_out *out, const struct report *report,
                    const struct report_figures *figures);
/* Writes the same to summary.md. */
int report_markdown(const char *directory, const struct report *report,
                    const struct report_figures *figures, struct text_error *err);

/* A badge at the top of a page. It is good only if the numbers show what it says. */
enum report_tone { REPORT_GOOD, REPORT_AMBER, REPORT_RED };
struct report_badge {
    enum report_tone tone;
    char head[REPORT_CELL_TEXT], words[REPORT_CELL_TEXT];
};
void report_badge_print(struct text_out *out, const struct report_badge *badge);
/* Prints the beginning of a page, up to <main>. */
void report_head(struct text_out *out, const char *title);
/* Writes the page for a result of `lockstep check`. index: there is a page of measurements, to
 * which it links. */
#define REPORT_CONFORMANCE "conformance.html"
int report_conformance(const char *directory, const struct check_record *record, bool index,
                       struct text_error *err);

/* Embedded by plots/Embed.cmake, with a closing 0. */
extern const unsigned char report_asset_css[], report_asset_reading[];

#endif
