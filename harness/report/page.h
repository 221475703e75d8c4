/* report/page.h: what is said of a report, and drawn: words, columns of tables, figures, the page
 * and the summary. What they are about is in report/report.h. */
#ifndef HARNESS_REPORT_PAGE_H
#define HARNESS_REPORT_PAGE_H

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

/* The middle in words, and the range. */
void report_add_metric(char text[REPORT_CELL_TEXT], const struct report_point *point, int metric);
void report_add_metric_range(char text[REPORT_CELL_TEXT], const struct report_point *point,
                             int metric);

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
/* Of a column of the two of language models, where the last one of tokens is of a stated peak. What
 * is needed for its tokens, over the product rate of its devices, and over their stated peak: NaN:
 * not known. */
enum { REPORT_TOKENS_COLUMNS = 9, REPORT_HELD_COLUMNS = 6 };
const char *report_tokens_name(enum report_ranks table, int column);
bool report_tokens_has(enum report_ranks table, const struct report_point *point);
void report_tokens_words(enum report_ranks table, const struct report_point *point, int column,
                         char text[REPORT_CELL_TEXT]);
double report_tokens_share(const struct report_point *point);
double report_peak_share(const struct report_point *point);
/* Whether it is of a language model, verified or not. */
bool report_is_of_tokens(const struct report_point *point);
/* Whether one stated peak can be that of all of them; else why has the reason. report/rates.c */
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

/* Appends to text of that capacity; what does not fit is cut, and never inside a character. */
void report_add(char text[REPORT_CELL_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends "1.86", with two digits at least: a speed-up of 0.004 is not none. "-" when not finite.
 */
void report_add_ratio(char text[REPORT_CELL_TEXT], double ratio);
/* Appends "93 %", "<1 %"; "-" when not finite. */
void report_add_share(char text[REPORT_CELL_TEXT], double share);
/* Appends "[1.21, 1.25] ms", an interval, or "1.21..1.25 ms", a range; "-" without either. */
void report_add_range(char text[REPORT_CELL_TEXT], const struct report_value *value,
                      report_number_fn *number);

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
/* "FAILED (crashed): why" of a launch that is not verified. */
void report_failure_words(const struct report_row *row, char text[REPORT_CELL_TEXT]);
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

/* ---- text --------------------------------------------------------------------------------- */

/* "12.3 ms", "845 us": three digits. "-" when not finite. */
void report_time(double ns, char text[32]);
/* "1.23 M", "845": three digits. */
void report_rate(double per_second, char text[32]);
/* "74.7 GFLOP/s". */
void report_flops(double per_second, char text[32]);
/* "1.23 GB/s". */
void report_speed(double per_second, char text[32]);
/* "1.23 MiB", "845 B": three digits. */
void report_bytes(double bytes, char text[32]);
/* "1.86": two digits at least. */
void report_ratio(double ratio, char text[32]);
/* "93 %", "<1 %"; and "0 %" of what is known to be none. */
void report_share(double share, char text[32]);
void report_percent(double share, char text[32]);

/* Embedded by plots/Embed.cmake; zero-terminated. */
extern const unsigned char report_asset_css[], report_asset_reading[];

#endif
