/* report/page.h: what is said of a report, and drawn: words, columns of tables, figures, the page
 * and the summary. What they are about is in report/report.h. */
#ifndef HARNESS_REPORT_PAGE_H
#define HARNESS_REPORT_PAGE_H

#include "analysis/words.h"
#include "export/grid.h"
#include "files/text_out.h"
#include "plot/plot.h"
#include "report/figure_list.h"
#include "report/report.h"
#include "text/quantity.h"

/* ---- figures ------------------------------------------------------------------------------ */

#define REPORT_FIGURE_ENUM(id, name, write, title) REPORT_FIGURE_##id,
enum report_figure { REPORT_FIGURE_LIST(REPORT_FIGURE_ENUM) REPORT_FIGURES };
/* "batch": NAME.svg, NAME.png, NAME.gp and its data. */
extern const char *const report_figure_names[REPORT_FIGURES];
extern const char *const report_figure_titles[REPORT_FIGURES];

/* Each is OK, NONE or FAILED, and but for OK says why. */
struct report_figures {
    enum plot_status status[REPORT_FIGURES];
    char why[REPORT_FIGURES][192];
};

/* Draws all figures. WRITE: err says what; FAILED: one figure at least has failed, and err is the
 * first reason; NONE: no verified point; OK: all that the data have. Removes what an earlier report
 * left of figures that are not made. */
enum plot_status report_plot(const char *directory, const struct report *report,
                             struct report_figures *made, struct text_error *err);

/* ---- words -------------------------------------------------------------------------------- */

/* "256Ki"; of 0, PyTorch's, "1Mi, 25Mi". */
void report_bucket_name(size_t bytes, char text[32]);
/* "mlp:8,8", and the communicator where the report has several: "mlp:8,8, staged". */
void report_workload_words(const struct report *report, const struct report_row *row,
                           char text[REPORT_CELL_TEXT]);
void report_group_words(const struct report *report, const struct report_group *group,
                        char text[REPORT_CELL_TEXT]);
/* Appends what these say after the workload: "strong scaling, f32, cpu/threads on virt". */
void report_setting_words(const struct report *report, const struct report_group *group,
                          char text[REPORT_CELL_TEXT]);
/* Appends "plain", "2", "2 ddp"; "2 devices (oversubscribed)"; "1.86x [1.84, 1.88]"; "93 % of the
 * bound 2.00"; "2048 rows". */
void report_add_mode(char text[REPORT_CELL_TEXT], const struct report_point *point);
void report_add_devices(char text[REPORT_CELL_TEXT], const struct report_point *point);
void report_add_speedup(char text[REPORT_CELL_TEXT], const struct report_point *point);
void report_add_bound(char text[REPORT_CELL_TEXT], const struct report_point *point);
void report_add_batch(char text[REPORT_CELL_TEXT], const struct report_point *point);
const char *report_base_name(const struct report_point *base);
/* Appends the share of the product rate that so many operations per second are, and whether that
 * rate is of `sweep --parts`: "14 % (parts)". */
void report_add_rate_share(char text[REPORT_CELL_TEXT], const struct report_point *point,
                           double rate);

/* The fewest and the most of numbers; hi 0: there are none. Appends "6", or "3 to 6". */
struct report_span {
    size_t lo, hi;
};
void report_span_add(struct report_span *span, size_t n);
void report_add_span(char text[REPORT_CELL_TEXT], struct report_span span);

/* What was verified; then in a sentence how it scales and what limits it. */
void report_verdict(struct text_out *out, const struct report *report);
void report_lead(struct text_out *out, const struct report *report);
/* The numbers of a group: base, speed-ups, losses; each fact has a name. */
struct report_fact_style {
    const char *before, *between, *after;
};
void report_facts(struct text_out *out, const struct report_fact_style *style,
                  const struct report *report, const struct report_group *group);
/* What to keep in mind with these numbers; each caution is put between before and after. */
void report_cautions(struct text_out *out, const struct report *report, const char *before,
                     const char *after);
/* In the same way: the share of each run's time that was timed. The page has it in a table. */
void report_shares(struct text_out *out, const struct report *report, const char *before,
                   const char *after);
/* What is drawn, and what points, bars and n are. */
void report_caption(struct text_out *out, const struct report *report, enum report_figure figure);

/* ---- tables ------------------------------------------------------------------------------- */

enum report_table_id {
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
    REPORT_TABLES
};
/* Cells in summary.md. */
enum { REPORT_SUMMARY_CELLS = 30 };

/* As HTML with all rows, or as Markdown with as many as a summary has; nothing where there are no
 * rows. 0, or -1: memory was short. report/tables.c */
int report_table(struct text_out *out, const struct report *report, enum report_table_id which);
/* Those of the page; and those of a summary. */
int report_tables(struct text_out *out, const struct report *report);
int report_brief_tables(struct text_out *out, const struct report *report);
/* Says that so many of all lines are in the page only; nothing where all are shown. */
void report_left(struct text_out *out, size_t all, size_t shown, const char *what);

/* Each fills one of them: report/cells.c, point_tables.c, collectives.c, roof_table.c. */
typedef void report_fill_fn(struct grid *grid, const struct report *report);
report_fill_fn report_fill_bases, report_fill_cells, report_fill_tokens, report_fill_held,
    report_fill_ranks, report_fill_overlap, report_fill_slowest, report_fill_memory,
    report_fill_collectives, report_fill_fits, report_fill_nccl_tests, report_fill_limits;
/* The words that the next rows have in common. */
void report_table_group(struct grid *grid, const struct report *report,
                        const struct report_group *group);
/* A cell with a number, with the range of one, or with a number of a point. */
void report_cell_number(struct grid *grid, double value, report_number_fn *number);
void report_cell_range(struct grid *grid, const struct report_value *value,
                       report_number_fn *number);
void report_cell_metric(struct grid *grid, const struct report_point *point, int metric);
/* Whether rows of both stand without a line between them: same mode, devices and bucket. */
bool report_same_line(const struct report_point *a, const struct report_point *b);
/* Whether a launch failed; a skipped one did not. */
bool report_point_failed(const struct report_point *point);
/* Whether it is of a language model, verified or not; and whether it has a row in the table of
 * overlap. */
bool report_is_of_tokens(const struct report_point *point);
bool report_has_overlap(const struct report_point *point);

/* Whether one stated peak can be that of all of them; else why has the reason. */
bool report_peak_fits(const struct report *report, char why[REPORT_CELL_TEXT]);
const char *report_peak_words(double peak, char text[QUANTITY_TEXT]); /* "494.5 TFLOP/s" */
/* What is to be said of a peak below what was measured, or "". */
void report_peak_caution(const struct report *report, char text[REPORT_CELL_TEXT]);
/* Where the rates in the table of tokens are from, to be said after its note. */
void report_rates_note(const struct report *report, char text[REPORT_CELL_TEXT]);

/* The table of copies, a line for each end that copies come from, and below it what nvbandwidth
 * says and the ratio. 0, or -1: memory was short. report/copies_table.c */
int report_copies_table(struct text_out *out, const struct report *report);
/* What a reader must know of its file: errors, no end, numbers without a counterpart. "": nothing.
 */
void report_copies_remarks(const struct report *report, char text[REPORT_CELL_TEXT]);
/* The table of answers; nothing where no cell has a base. 0, or -1: memory was short.
 * report/answers.c */
int report_answers(struct text_out *out, const struct report *report);
/* Whether a collective is verified; and all of them as the table of nccl-tests: how many have a
 * line there. report/nccl_tests.c */
bool report_collectives_any(const struct report *report);
size_t report_nccl_tests(FILE *to, const struct report *report);

/* ---- page and summary --------------------------------------------------------------------- */

/* Puts the figures that were made inside. */
int report_page(const char *directory, const struct report *report,
                const struct report_figures *figures, struct text_error *err);
/* The short report of a job. figures: to be shown next to it; NULL: none are there, and no page. 0,
 * or -1: memory is short. */
int report_summary(struct text_out *out, const struct report *report,
                   const struct report_figures *figures);
/* The same as summary.md. */
int report_markdown(const char *directory, const struct report *report,
                    const struct report_figures *figures, struct text_error *err);

/* A badge on top of a page; good: the numbers show what it says. */
enum report_tone { REPORT_GOOD, REPORT_AMBER, REPORT_RED };
struct report_badge {
    enum report_tone tone;
    char head[REPORT_CELL_TEXT], words[REPORT_CELL_TEXT];
};
void report_badge_print(struct text_out *out, const struct report_badge *badge);
/* The top of the page. report/strip.c */
void report_strip(struct text_out *out, const struct report *report);
/* What pages begin with, up to <main>. */
void report_head(struct text_out *out, const char *title);
/* A line of a list of facts; nothing where the value is "". */
void report_fact(struct text_out *out, const char *name, const char *value);
/* One figure, or why there is none. */
int report_figure(struct text_out *out, const char *directory, const struct report *report,
                  const struct report_figures *figures, enum report_figure which,
                  struct text_error *err);
/* The page of a result of `lockstep check`; index: there is a page of measurements to link to. */
#define REPORT_CONFORMANCE "conformance.html"
int report_conformance(const char *directory, const struct check_record *record, bool index,
                       struct text_error *err);

/* Embedded by plots/Embed.cmake; zero-terminated. */
extern const unsigned char report_asset_css[], report_asset_reading[];

#endif
