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

/* How much was verified. The second prints which setting loses most, and why, after the answer
 * (report_answer_words). */
const char *report_verdict_words(const struct report *report, char text[REPORT_CELL_TEXT]);
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

/* ---- results of other programs: report/external.c ----------------------------------------- */

/* The results of nccl-tests are for collectives, and those of nvbandwidth for copies. They are
 * shown next to our measurements, and never mixed with them.
 *
 * A file is untrusted: types and ranges are checked before anything is stored, and text is cleaned.
 * A file of nccl-tests has one collective: either what src/util.cu of NVIDIA's nccl-tests 2.19
 * prints, or versions 1 to 3 of its JSON. nvbandwidth writes JSON with -j: json_output.cpp and
 * testcases_ce.cpp of NVIDIA's nvbandwidth 0.5 to 0.8. Its GB/s are 10^9 bytes per second, and it
 * numbers devices as CUDA does. */
struct collective;
struct collective_type;

/* Reads one such file. The program that wrote it decides whether it goes to the list of nccl-tests
 * in report, which has capacity for it, or to report->nvbandwidth. Returns 0, or -1 and why. */
int external_add(const char *path, struct report *report, struct text_error *err);
void external_free(struct report *report);

/* ---- nccl-tests --------------------------------------------------------------------------- */

/* The result for one size, in place or out of place. */
struct nccl_tests_line {
    const struct collective_type *type;
    bool out_of_place;
    size_t bytes;
    double ns, algbw, busbw; /* bytes per second */
    double wrong;            /* wrong numbers; NaN: they were not checked */
};

enum { NCCL_TESTS_LINES = 10000 };

struct nccl_tests {
    const struct collective *collective;
    int ranks;
    struct nccl_tests_line line[NCCL_TESTS_LINES];
    size_t n;
    size_t others; /* lines of a type or an operation that is not measured here */
    bool finished; /* the program came to its end */
    bool failed;   /* the program found values out of bounds */
};

/* Whether the program found wrong numbers, or values out of bounds. */
bool nccl_tests_is_wrong(const struct nccl_tests *file);
/* Finds the line of that file about the same collective, type, number of devices, place and bytes;
 * NULL: it has none. */
const struct nccl_tests_line *nccl_tests_find(const struct nccl_tests *file,
                                              const struct report_point *point);
/* Writes what a reader must know about the files: wrong numbers, no end, lines without a cell. "":
 * nothing. */
void nccl_tests_remarks(const struct report *report, char text[REPORT_CELL_TEXT]);

/* ---- nvbandwidth -------------------------------------------------------------------------- */

enum { NVBANDWIDTH_HOST = -1, NVBANDWIDTH_NAME = 64, NVBANDWIDTH_DEVICES = 256 };

/* Where a GPU is on the PCI bus. */
struct nvbandwidth_place {
    bool known;
    unsigned domain, bus, device;
};

struct nvbandwidth {
    /* The tests that measure the same as `sweep --parts`: a bit for each that has passed, and the
     * devices of these; 0: none has. */
    unsigned passed;
    int devices;
    /* Bytes per second; 0: none. Place 0 is the host, and device d is d + 1. [1]: between devices,
     * started by the receiving device, and not by the sending one. */
    double rate[2][NVBANDWIDTH_DEVICES + 1][NVBANDWIDTH_DEVICES + 1];
    size_t others;                  /* how many numbers the file has of anything else */
    size_t failed, idle;            /* numbers of tests; idle: waived, or not found */
    char first[NVBANDWIDTH_NAME];   /* the first test that failed, in the order of the file */
    char running[NVBANDWIDTH_NAME]; /* a test that did not come to its end; "": none */
    bool stopped;                   /* the whole program ended with this error: */
    char error[200];
    struct nvbandwidth_place place[NVBANDWIDTH_DEVICES]; /* of its devices, since version 0.8 */
};

/* The rate of a copy; from and to are numbers of devices, or NVBANDWIDTH_HOST. read: the receiving
 * device starts it. NaN: the file has none, also for any other number. */
double nvbandwidth_rate(const struct nvbandwidth *nvbandwidth, int from, int to, bool read);
/* Whether one of its tests failed, or the whole program. */
bool nvbandwidth_is_wrong(const struct nvbandwidth *nvbandwidth);

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
