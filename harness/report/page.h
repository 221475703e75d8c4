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

/* Columns of the table of cells: what a point is, each metric and its range, and the rest. */
enum {
    REPORT_DEVICES_COLUMN,
    REPORT_BUCKET_COLUMN,
    REPORT_BATCH_COLUMN,
    REPORT_SHARDS_COLUMN,
    REPORT_LAUNCHES_COLUMN,
    REPORT_METRIC_COLUMNS,
    REPORT_PHASES_COLUMN = REPORT_METRIC_COLUMNS + 2 * REPORT_PHASE,
    REPORT_STATUS_COLUMN,
    REPORT_COLUMNS
};
int report_metric_column(enum report_metric_id metric, bool range);
/* Heading; what a range is depends on the launches. */
const char *report_column_name(const struct report *report, int column);
/* Whether it is shown: whether any point has something to say there. */
bool report_column_used(const struct report *report, int column);
/* "number range", for the page; a text is aligned to the left. */
const char *report_column_class(int column);
bool report_column_is_text(int column);

enum report_base_column {
    REPORT_BASE_BATCH,
    REPORT_BASE_PLAIN,
    REPORT_BASE_PLAIN_RANGE,
    REPORT_BASE_SINGLE,
    REPORT_BASE_SINGLE_RANGE,
    REPORT_BASE_WRAPPER,
    REPORT_BASE_WRAPPER_RANGE,
    REPORT_BASE_RANK,
    REPORT_BASE_RANK_RANGE,
    REPORT_BASE_COLUMNS
};
/* Whether any base case has something to say there. */
bool report_base_column_used(const struct report *report, enum report_base_column column);
const char *report_base_column_name(const struct report *report, enum report_base_column column);

/* Tables whose rows are points: of language models their tokens, and the memory that they are
 * planned to take (report/tokens.c); of DistributedDataParallel DataParallel next to it, how much
 * of the reduction overlaps backward, and which rank is the slowest. report/ranks.c */
enum report_ranks {
    REPORT_RANKS_TOKENS,
    REPORT_RANKS_HELD,
    REPORT_RANKS_BESIDE,
    REPORT_RANKS_OVERLAP,
    REPORT_RANKS_SLOWEST,
    REPORT_RANKS_TABLES
};
struct report_ranks_table {
    const char *id, *title, *rows, *note; /* rows: what they are */
    int n;                                /* columns */
    const struct report_ranks_column *column;
};
extern const struct report_ranks_table report_ranks_tables[REPORT_RANKS_TABLES];
/* Columns of it in this report, which are the first ones; and its note there. */
enum { REPORT_NOTE_TEXT = 2048 };
int report_ranks_columns(const struct report *report, enum report_ranks table);
void report_ranks_note(const struct report *report, enum report_ranks table,
                       char note[REPORT_NOTE_TEXT]);
void report_ranks_name(enum report_ranks table, int column, char text[REPORT_CELL_TEXT]);
bool report_ranks_has(enum report_ranks table, const struct report_point *point);
void report_ranks_words(enum report_ranks table, const struct report_point *point, int column,
                        char text[REPORT_CELL_TEXT]);
/* Of a column of the two of language models, where the last one of tokens is of a stated peak. */
enum { REPORT_TOKENS_COLUMNS = 9, REPORT_HELD_COLUMNS = 6 };
const char *report_tokens_name(enum report_ranks table, int column);
bool report_tokens_has(enum report_ranks table, const struct report_point *point);
void report_tokens_words(enum report_ranks table, const struct report_point *point, int column,
                         char text[REPORT_CELL_TEXT]);
/* Whether it is of a language model, verified or not. */
bool report_is_of_tokens(const struct report_point *point);
/* Whether one stated peak can be that of all of them; else why has the reason. report/tokens.c */
bool report_peak_fits(const struct report *report, char why[REPORT_CELL_TEXT]);
const char *report_peak_words(double peak, char text[QUANTITY_TEXT]); /* "494.5 TFLOP/s" */
/* What is to be said of a peak below what was measured, or "". */
void report_peak_caution(const struct report *report, char text[REPORT_CELL_TEXT]);
/* Where the rates in the table of tokens are from, to be said behind its note. */
void report_rates_note(const struct report *report, char text[REPORT_CELL_TEXT]);
/* Appends the share of the product rate that so many operations per second are, and whether that
 * rate is of `sweep --parts`: "14 % (parts)". */
void report_add_rate_share(char text[REPORT_CELL_TEXT], const struct report_point *point,
                           double rate);
/* The columns of the slowest rank. */
enum { REPORT_SLOWEST_COLUMNS = 6 };
extern const char *const report_slowest_names[REPORT_SLOWEST_COLUMNS];
void report_slowest_words(const struct report_point *point, int column,
                          char text[REPORT_CELL_TEXT]);
/* The table of collectives, a row each. report/collectives.c */
enum { REPORT_COLLECTIVES_COLUMNS = 11 };
extern const char *const report_collectives_names[REPORT_COLLECTIVES_COLUMNS];
void report_collectives_words(const struct report_point *point, int column,
                              char text[REPORT_CELL_TEXT]);
/* All of them as the table of nccl-tests; how many have a line there. report/nccl_tests.c */
size_t report_nccl_tests(FILE *to, const struct report *report);
/* Whether one is verified. */
bool report_collectives_any(const struct report *report);
/* "256Ki"; of 0, PyTorch's, "1Mi, 25Mi". */
void report_bucket_name(size_t bytes, char text[32]);

void report_point_words(const struct report *report, const struct report_point *point, int column,
                        char text[REPORT_CELL_TEXT]);
void report_base_words(const struct report_base *base, enum report_base_column column,
                       char text[REPORT_CELL_TEXT]);
/* Whether a launch failed; a skipped one did not. */
bool report_point_failed(const struct report_point *point);
/* What the GPUs of launches, and of the nodes, said about themselves. report/gpus.c */
void report_gpu_cautions(struct text_out *out, const struct report *report, const char *before,
                         const char *after);
/* The picture of the node, as preformatted text of the page. */
void report_node(struct text_out *out, const struct record_run *run);
/* "mlp:8,8", and the communicator where the report has several: "mlp:8,8, staged". */
void report_workload_words(const struct report *report, const struct report_row *row,
                           char text[REPORT_CELL_TEXT]);
void report_group_words(const struct report *report, const struct report_group *group,
                        char text[REPORT_CELL_TEXT]);
/* Appends what these say behind the workload: "strong scaling, f32, cpu/threads on virt". */
void report_setting_words(const struct report *report, const struct report_group *group,
                          char text[REPORT_CELL_TEXT]);
/* What was verified; then in a sentence how it scales and what limits it. */
void report_verdict(struct text_out *out, const struct report *report);
void report_lead(struct text_out *out, const struct report *report);
/* "2 devices (oversubscribed)"; "1.86x [1.84, 1.88]"; "93 % of the bound 2.00"; "2048 rows". */
void report_add_devices(char text[REPORT_CELL_TEXT], const struct report_point *point);
void report_add_speedup(char text[REPORT_CELL_TEXT], const struct report_point *point);
void report_add_bound(char text[REPORT_CELL_TEXT], const struct report_point *point);
void report_add_batch(char text[REPORT_CELL_TEXT], const struct report_point *point);
const char *report_base_name(const struct report_point *base);

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
/* The short report of a job. figures: to be shown beside it; NULL: none are there, and no page. 0,
 * or -1: memory is short. */
int report_summary(struct text_out *out, const struct report *report,
                   const struct report_figures *figures);
/* Says that so many of all lines are in the page only; nothing where all are shown. */
void report_left(struct text_out *out, size_t all, size_t shown, const char *what);
/* The same as summary.md. */
int report_markdown(const char *directory, const struct report *report,
                    const struct report_figures *figures, struct text_error *err);

/* ---- lines of collectives, and copies ----------------------------------------------------- */

/* The table of lines, a row each. report/fits_words.c */
enum { REPORT_FITS_COLUMNS = 10, REPORT_FITS_TEXTS = 4 };
extern const char *const report_fits_names[REPORT_FITS_COLUMNS];
extern const char report_fits_title[], report_fits_note[];
void report_fits_words(const struct report_fit *fit, int column, char text[REPORT_CELL_TEXT]);

/* What nvbandwidth says of such a copy, of that which the receiving device starts or of the other
 * kind; NaN: nothing, or it was not measured here. A device is that with the number in its name.
 * report/copies_beside.c */
double copies_beside(const struct report *report, const struct copies_set *set, int from, int to,
                     bool read);
/* What a reader must know of its file: errors, no end, numbers without a counterpart. "": nothing.
 */
void report_copies_remarks(const struct report *report, char text[REPORT_CELL_TEXT]);

/* The table, a line for each end that copies come from, and below it what nvbandwidth says and the
 * ratio: on the page, or in the summary. Nothing without copies. 0, or -1: memory was short. */
int report_copies_table(struct text_out *out, const struct report *report);

/* ---- page --------------------------------------------------------------------------------- */

/* Puts the figures that were made inside. */
int report_page(const char *directory, const struct report *report,
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
/* The table of answers; nothing where no cell has a base. 0, or -1: memory was short.
 * report/answers.c */
int report_answers(struct text_out *out, const struct report *report);

/* Counts, base cases, failed launches and all points, as HTML; and what the summary has of them. 0,
 * or -1: memory was short. report/tables.c */
int report_tables(struct text_out *out, const struct report *report);
int report_brief_tables(struct text_out *out, const struct report *report);
/* The words that the next rows have in common. */
void report_table_group(struct grid *grid, const struct report *report,
                        const struct report_group *group);

/* Which batch would fill the machine; no rows where that is not known. report/memory.c */
void report_memory(struct grid *grid, const struct report *report);

/* What pages begin with, up to <main>. */
void report_head(struct text_out *out, const char *title);
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
