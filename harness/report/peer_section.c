/* report/peer_section.c: a comparison with PyTorch as a part of the page and of summary.md; its
 * words come from report/peer_words.c, so that both say the same. */
#include "report/peer_report.h"

/* ---- page --------------------------------------------------------------------------------- */

static void table_head(struct text_out *out, const char *const columns[], int n)
{
    fputs("<div class=\"scroll\" tabindex=\"0\">\n<table class=\"peer\">\n<thead><tr>", out->file);
    for (int c = 0; c < n; ++c)
        text_print(out, "<th scope=\"col\" class=\"%s\">%s</th>", c == 0 ? "text" : "number",
                   columns[c]);
    fputs("</tr></thead>\n", out->file);
}

static void table_group(struct text_out *out, const struct peer_cell *cell, int columns)
{
    char text[REPORT_CELL_TEXT];

    peer_cell_words(cell, text);
    text_print(out,
               "<tbody>\n<tr><th class=\"group\" scope=\"rowgroup\" colspan=\"%d\"><span>%s"
               "</span></th></tr>\n",
               columns, text);
}

static void step_table(struct text_out *out, const struct peer_record *record)
{
    char text[REPORT_CELL_TEXT];

    table_head(out, peer_step_names, PEER_STEP_COLUMNS);
    for (size_t c = 0; c < record->n_cells; ++c) {
        const struct peer_cell *cell = &record->cell[c];

        table_group(out, cell, PEER_STEP_COLUMNS);
        for (size_t a = 0; a < cell->n_arms; ++a) {
            text_print(out, "<tr class=\"%s\">", cell->arm[a].failed > 0 ? "failed" : "good");
            for (int column = 0; column < PEER_STEP_COLUMNS; ++column) {
                peer_step_words(cell, &cell->arm[a], column, text);
                text_print(out, "<td class=\"%s\">%s</td>",
                           column == 0                       ? "text"
                           : column == PEER_STEP_COLUMNS - 1 ? "number status"
                                                             : "number",
                           text);
            }
            fputs("</tr>\n", out->file);
        }
        fputs("</tbody>\n", out->file);
    }
    fputs("</table>\n</div>\n", out->file);
}

static void ratio_table(struct text_out *out, const struct peer_record *record)
{
    struct peer_comparison list[PEER_COMPARISONS];
    char text[REPORT_CELL_TEXT];

    table_head(out, peer_ratio_names, PEER_RATIO_COLUMNS);
    for (size_t c = 0; c < record->n_cells; ++c) {
        const size_t n = peer_compare(record, &record->cell[c], list);

        table_group(out, &record->cell[c], PEER_RATIO_COLUMNS);
        for (size_t i = 0; i < n; ++i) {
            fputs("<tr>", out->file);
            for (int column = 0; column < PEER_RATIO_COLUMNS; ++column) {
                peer_ratio_words(&list[i], column, text);
                text_print(out, "<td class=\"%s\">%s</td>", column == 0 ? "text" : "number", text);
            }
            fputs("</tr>\n", out->file);
        }
        fputs("</tbody>\n", out->file);
    }
    fputs("</table>\n</div>\n", out->file);
}

void report_peer_head(struct text_out *out, const struct peer_record *record)
{
    char text[REPORT_CELL_TEXT];

    peer_title_words(record, text);
    text_print(out, "<section id=\"peer\">\n<h2>%s</h2>\n<p>", text);
    report_peer_verdict(out, record);
    text_print(out, "</p>\n<p>%s</p>\n", peer_checked);
}

void report_peer_tables(struct text_out *out, const struct peer_record *record)
{
    char text[REPORT_CELL_TEXT];

    fputs("<h3>Step times</h3>\n", out->file);
    step_table(out, record);
    fputs("<h3>Ratios: below 1, lockstep is faster; for a speed-up, higher is better</h3>\n",
          out->file);
    ratio_table(out, record);
    fputs("<h3>How it was measured</h3>\n<dl>\n", out->file);
    for (int s = 0; s < PEER_SETTINGS; ++s) {
        peer_setting_words(record, s, text);
        text_print(out, "<dt>%s</dt><dd>%s</dd>\n", peer_setting_names[s], text);
    }
    fputs("</dl>\n</section>\n", out->file);
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
            peer_ratio_words(&list[i], column, text);
            text_print(out, " %s |", text);
        }
        fputs("\n", out->file);
    }
}

void report_peer_markdown(struct text_out *out, const struct peer_record *record)
{
    char text[REPORT_CELL_TEXT];

    peer_title_words(record, text);
    text_print(out, "\n## %s\n\n", text);
    report_peer_verdict(out, record);
    text_print(out, " %s\n", peer_checked);
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
