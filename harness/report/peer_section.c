/* report/peer_section.c: a comparison with PyTorch as a part of the page and of summary.md; its
 * words come from report/peer_words.c, so that both say the same. */
#include "report/html_table.h"
#include "report/peer_report.h"

/* ---- page --------------------------------------------------------------------------------- */

static void table_group(struct html_table *table, const struct peer_cell *cell)
{
    char text[REPORT_CELL_TEXT];

    peer_cell_words(cell, text);
    html_table_group(table, text);
}

static void step_row(struct html_table *table, const struct peer_cell *cell,
                     const struct peer_arm *arm)
{
    char text[REPORT_CELL_TEXT];

    html_table_row(table, arm->failed > 0 ? "failed" : "good");
    for (int column = 0; column < PEER_STEP_COLUMNS; ++column) {
        peer_step_words(cell, arm, column, text);
        html_table_cell(table,
                        column == 0                       ? "text"
                        : column == PEER_STEP_COLUMNS - 1 ? "number status"
                                                          : "number",
                        text);
    }
    html_table_row_end(table);
}

static int step_table(struct text_out *out, const struct peer_record *record)
{
    struct html_table table;

    html_table_begin(&table, out, HTML_FOLDED, "peer-steps", "Step times beside PyTorch", "");
    for (int c = 0; c < PEER_STEP_COLUMNS; ++c)
        html_table_heading(&table, c == 0 ? "text" : "number", peer_step_names[c]);
    for (size_t c = 0; c < record->n_cells; ++c) {
        table_group(&table, &record->cell[c]);
        for (size_t a = 0; a < record->cell[c].n_arms; ++a)
            step_row(&table, &record->cell[c], &record->cell[c].arm[a]);
    }
    return html_table_end(&table, "");
}

/* Of the columns of ratios: what is compared, and which arm. */
static bool is_text(int column)
{
    return column == 0 || column == PEER_RATIO_COLUMNS - 1;
}

static int ratio_table(struct text_out *out, const struct peer_record *record)
{
    struct peer_comparison list[PEER_COMPARISONS];
    struct html_table table;
    char text[REPORT_CELL_TEXT];

    html_table_begin(&table, out, HTML_FOLDED, "peer-ratios", "Ratios beside PyTorch",
                     "below 1, lockstep is faster; for a speed-up, higher is better");
    for (int c = 0; c < PEER_RATIO_COLUMNS; ++c)
        html_table_heading(&table, is_text(c) ? "text" : "number", peer_ratio_names[c]);
    for (size_t c = 0; c < record->n_cells; ++c) {
        const size_t n = peer_compare(record, &record->cell[c], list);

        table_group(&table, &record->cell[c]);
        for (size_t i = 0; i < n; ++i) {
            html_table_row(&table, "");
            for (int column = 0; column < PEER_RATIO_COLUMNS; ++column) {
                peer_ratio_words(&record->cell[c], &list[i], column, text);
                html_table_cell(&table, is_text(column) ? "text" : "number", text);
            }
            html_table_row_end(&table);
        }
    }
    return html_table_end(&table, "");
}

void report_peer_head(struct text_out *out, const struct peer_record *record)
{
    char text[REPORT_CELL_TEXT];

    peer_title_words(record, text);
    text_print(out, "<section id=\"peer\">\n<h2>%s</h2>\n", text);
    peer_checked_words(record, text);
    text_print(out, "<p class=\"lead\">%s</p>\n", text);
}

int report_peer_tables(struct text_out *out, const struct peer_record *record)
{
    char text[REPORT_CELL_TEXT];
    int status = step_table(out, record);

    status |= ratio_table(out, record);
    fputs("<section class=\"tables\">\n<details>\n<summary><h3>How it was measured</h3> "
          "<span class=\"count\">beside PyTorch</span></summary>\n<dl>\n",
          out->file);
    for (int s = 0; s < PEER_SETTINGS; ++s) {
        peer_setting_words(record, s, text);
        text_print(out, "<dt>%s</dt><dd>%s</dd>\n", peer_setting_names[s], text);
    }
    fputs("</dl>\n</details>\n</section>\n</section>\n", out->file);
    return status;
}

/* ---- summary ------------------------------------------------------------------------------ */

static void markdown_head(struct text_out *out, const char *const columns[], int n)
{
    fputs("\n| Workload |", out->file);
    for (int c = 0; c < n; ++c)
        text_print(out, " %s |", columns[c]);
    fputs("\n| :--- | :--- |", out->file);
    for (int c = 1; c < n; ++c)
        fputs(" ---: |", out->file);
    fputs("\n", out->file);
}

static void markdown_steps(struct text_out *out, const struct peer_cell *cell)
{
    char text[REPORT_CELL_TEXT];

    for (size_t a = 0; a < cell->n_arms; ++a) {
        peer_cell_words(cell, text);
        text_print(out, "| %s |", text);
        for (int column = 0; column < PEER_STEP_COLUMNS; ++column) {
            peer_step_words(cell, &cell->arm[a], column, text);
            text_print(out, " %s |", text);
        }
        fputs("\n", out->file);
    }
}

static void markdown_ratios(struct text_out *out, const struct peer_record *record,
                            const struct peer_cell *cell)
{
    struct peer_comparison list[PEER_COMPARISONS];
    const size_t n = peer_compare(record, cell, list);
    char text[REPORT_CELL_TEXT];

    for (size_t i = 0; i < n; ++i) {
        peer_cell_words(cell, text);
        text_print(out, "| %s |", text);
        for (int column = 0; column < PEER_RATIO_COLUMNS; ++column) {
            peer_ratio_words(cell, &list[i], column, text);
            text_print(out, " %s |", text);
        }
        fputs("\n", out->file);
    }
}

void report_peer_markdown(struct text_out *out, const struct peer_record *record)
{
    char text[REPORT_CELL_TEXT], names[REPORT_CELL_TEXT];

    peer_title_words(record, text);
    peer_version_names(record, names);
    text_print(out, "\n## %s\n\nBeside %s, ", text, names);
    report_peer_verdict(out, record);
    peer_checked_words(record, text);
    text_print(out, " %s\n", text);
    markdown_head(out, peer_ratio_names, PEER_RATIO_COLUMNS);
    for (size_t c = 0; c < record->n_cells; ++c)
        markdown_ratios(out, record, &record->cell[c]);
    markdown_head(out, peer_step_names, PEER_STEP_COLUMNS);
    for (size_t c = 0; c < record->n_cells; ++c)
        markdown_steps(out, &record->cell[c]);
    fputs("\n", out->file);
    for (int s = 0; s < PEER_SETTINGS; ++s) {
        peer_setting_words(record, s, text);
        text_print(out, "- %s: %s\n", peer_setting_names[s], text);
    }
}
