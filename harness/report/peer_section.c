/* report/peer_section.c: a comparison with PyTorch as a part of the page and of summary.md; its
 * words come from report/peer_words.c, so that both say the same. */
#include "export/grid.h"
#include "report/peer_report.h"

static void add_group(struct grid *grid, const struct peer_cell *cell)
{
    char text[REPORT_CELL_TEXT];

    peer_cell_words(cell, text);
    grid_group(grid, text);
    grid_name(grid, text);
}

static void fill_steps(struct grid *grid, const struct peer_record *record)
{
    const struct peer_cell *const end = record->cell + record->n_cells;
    char text[REPORT_CELL_TEXT];

    for (int c = 0; c < PEER_STEP_COLUMNS; ++c)
        grid_heading(grid, c == 0 ? "text" : "number", peer_step_names[c]);
    for (const struct peer_cell *cell = record->cell; cell < end; ++cell) {
        add_group(grid, cell);
        for (size_t a = 0; a < cell->n_arms; ++a) {
            grid_row(grid, cell->arm[a].failed > 0 ? "failed" : "good");
            for (int c = 0; c < PEER_STEP_COLUMNS; ++c) {
                const char *number = c == PEER_STEP_COLUMNS - 1 ? "number status" : "number";

                peer_step_words(cell, &cell->arm[a], c, text);
                grid_cell(grid, c == 0 ? "text" : number, "%s", text);
            }
        }
    }
}

/* The first column says what is compared, the last one which arm. */
static const char *ratio_class(int column)
{
    return column == 0 || column == PEER_RATIO_COLUMNS - 1 ? "text" : "number";
}

static void fill_ratios(struct grid *grid, const struct peer_record *record)
{
    struct peer_comparison list[PEER_COMPARISONS];
    const struct peer_cell *const end = record->cell + record->n_cells;
    char text[REPORT_CELL_TEXT];

    for (int c = 0; c < PEER_RATIO_COLUMNS; ++c)
        grid_heading(grid, ratio_class(c), peer_ratio_names[c]);
    for (const struct peer_cell *cell = record->cell; cell < end; ++cell) {
        const size_t n = peer_compare(record, cell, list);

        add_group(grid, cell);
        for (size_t i = 0; i < n; ++i) {
            grid_row(grid, "");
            for (int c = 0; c < PEER_RATIO_COLUMNS; ++c) {
                peer_ratio_words(cell, &list[i], c, text);
                grid_cell(grid, ratio_class(c), "%s", text);
            }
        }
    }
    snprintf(grid->contents, sizeof grid->contents,
             "below 1, lockstep is faster; for a speed-up, higher is better");
}

static int table(struct text_out *out, const struct peer_record *record, const char *id,
                 const char *title,
                 void (*fill)(struct grid *grid, const struct peer_record *record))
{
    struct grid grid;
    int status;

    grid_open(&grid, out, id, title);
    grid.names = "Workload";
    grid.right = true;
    fill(&grid, record);
    if (grid.brief)
        fputs("\n", out->file);
    status = grid.brief ? grid_markdown(&grid, grid.rows) : grid_html(&grid);
    grid_close(&grid);
    return status;
}

static int step_table(struct text_out *out, const struct peer_record *record)
{
    return table(out, record, "peer-steps", "Step times beside PyTorch", fill_steps);
}

static int ratio_table(struct text_out *out, const struct peer_record *record)
{
    return table(out, record, "peer-ratios", "Ratios beside PyTorch", fill_ratios);
}

/* ---- page --------------------------------------------------------------------------------- */

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

int report_peer_markdown(struct text_out *out, const struct peer_record *record)
{
    char text[REPORT_CELL_TEXT], names[REPORT_CELL_TEXT];

    peer_title_words(record, text);
    peer_version_names(record, names);
    text_print(out, "\n## %s\n\nBeside %s, ", text, names);
    report_peer_verdict(out, record);
    peer_checked_words(record, text);
    text_print(out, " %s\n", text);
    const int status = ratio_table(out, record) | step_table(out, record);

    fputs("\n", out->file);
    for (int s = 0; s < PEER_SETTINGS; ++s) {
        peer_setting_words(record, s, text);
        text_print(out, "- %s: %s\n", peer_setting_names[s], text);
    }
    return status;
}
