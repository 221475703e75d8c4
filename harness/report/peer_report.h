/* report/peer_report.h: a comparison with PyTorch in the report. */
#ifndef HARNESS_PEER_REPORT_H
#define HARNESS_PEER_REPORT_H

#include "report/page.h"
#include "report/peer_record.h"

/* ---- words: report/peer_words.c
 * ------------------------------------------------------------------ */

enum { PEER_STEP_COLUMNS = 5, PEER_RATIO_COLUMNS = 5, PEER_SETTINGS = 6 };
extern const char *const peer_step_names[PEER_STEP_COLUMNS];
extern const char *const peer_ratio_names[PEER_RATIO_COLUMNS];
extern const char *const peer_setting_names[PEER_SETTINGS];

/* What was compared before a launch counted. */
void peer_checked_words(const struct peer_record *record, char text[REPORT_CELL_TEXT]);
/* "PyTorch 2.15.0 and 1.13.0". */
void peer_version_names(const struct peer_record *record, char text[REPORT_CELL_TEXT]);
void peer_title_words(const struct peer_record *record, char text[REPORT_CELL_TEXT]);
void peer_cell_words(const struct peer_cell *cell, char text[REPORT_CELL_TEXT]);
void peer_step_words(const struct peer_cell *cell, const struct peer_arm *arm, int column,
                     char text[REPORT_CELL_TEXT]);
void peer_ratio_words(const struct peer_cell *cell, const struct peer_comparison *one, int column,
                      char text[REPORT_CELL_TEXT]);
void peer_setting_words(const struct peer_record *record, int which, char text[REPORT_CELL_TEXT]);
/* One sentence, after "Beside PyTorch 2.15, "; and what stands under the figure. */
void report_peer_verdict(struct text_out *out, const struct peer_record *record);
void report_peer_caption(struct text_out *out, const struct peer_record *record);

/* ---- parts: report/peer_section.c
 * ---------------------------------------------------------------- */

/* The section of the page, around its figure; tables: 0, or -1 when memory was short. */
void report_peer_head(struct text_out *out, const struct peer_record *record);
int report_peer_tables(struct text_out *out, const struct peer_record *record);
int report_peer_markdown(struct text_out *out, const struct peer_record *record);

/* ---- alone: report/peer_page.c
 * ------------------------------------------------------------------- */

/* A page and a summary of nothing else. report has the record and no files. */
int report_peer_page(const char *directory, const struct report *report,
                     const struct report_figures *figures, struct text_error *err);

#endif
