/* compare/rows.c: cells as pairs and baselines judge them, in each form for people, and how many
 * there are of each verdict. */
#include "compare/pairs.h"

#include "analysis/words.h"
#include "files/text_out.h"

enum { SHOWN = 50, NUMBERS = 2 * REPORT_CELL_TEXT };

/* "NEW/OLD 1.050 [1.041, 1.060], p 0.0024; cost 1.051; finds 2.1 %", or why it is INVALID. */
static void add_numbers(const struct pairs_rows *rows, const struct pairs_row *row, char *text,
                        size_t bytes)
{
    if (row->ratio[0] == '\0')
        text_add(text, bytes, "%s", row->rest);
    else
        text_add(text, bytes, "%s %s; cost %s; %s%s", rows->ratio, row->ratio, row->cost,
                 row->spread, row->rest);
}

static struct pairs_row row_of(const struct pairs_rows *rows, size_t cell)
{
    struct pairs_row row = {.few = ""};

    rows->fill(rows->of, cell, &row);
    return row;
}

static size_t cell_at(const struct pairs_rows *rows, size_t i)
{
    return rows->sorted ? rows->sorted[i].cell : i;
}

void pairs_rows_text(FILE *stream, const struct pairs_rows *rows)
{
    for (size_t i = 0; i < rows->n; ++i) {
        const struct pairs_row row = row_of(rows, cell_at(rows, i));
        char numbers[NUMBERS] = "";

        add_numbers(rows, &row, numbers, sizeof numbers);
        compare_say(stream, 4, "%-12s  %s%s", row.verdict, row.name, rows->gate);
        if (row.against[0] != '\0')
            compare_say(stream, 4, "  against %s", row.against);
        compare_say(stream, 4, "  %s%s", numbers, row.few);
    }
}

void pairs_rows_markdown(struct text_out *out, const struct pairs_rows *rows)
{
    text_print(out,
               "| verdict | cell | %s | cost | can find, or why not |\n|---|---|--:|--:|---|\n",
               rows->ratio);
    for (size_t i = 0; i < rows->n && i < SHOWN; ++i) {
        const struct pairs_row row = row_of(rows, cell_at(rows, i));

        text_print(out, "| %s | %s | %s | %s | %s |\n", row.verdict,
                   row.against[0] != '\0' ? row.against : row.name, row.ratio, row.cost, row.rest);
    }
    if (rows->n > SHOWN)
        text_print(out, "\n%zu more are not shown.\n", rows->n - SHOWN);
}

void pairs_rows_verdict(const struct pairs_rows *rows, size_t cell, char text[REPORT_CELL_TEXT])
{
    const struct pairs_row row = row_of(rows, cell);

    report_add(text, "%s%s: ", row.verdict, row.ratio[0] == '\0' ? "" : rows->gate);
    add_numbers(rows, &row, text, REPORT_CELL_TEXT);
}

void pairs_counts(const size_t count[PAIRS_VERDICTS], char text[REPORT_CELL_TEXT])
{
    report_add(text, "%zu REGRESSED, %zu INCONCLUSIVE, %zu EQUIVALENT, %zu IMPROVED, %zu INVALID",
               count[PAIRS_REGRESSED], count[PAIRS_INCONCLUSIVE], count[PAIRS_EQUIVALENT],
               count[PAIRS_IMPROVED], count[PAIRS_INVALID]);
}

void pairs_say_open(FILE *stream, const size_t count[PAIRS_VERDICTS])
{
    if (count[PAIRS_INCONCLUSIVE] > 0)
        compare_say(stream, 2,
                    "INCONCLUSIVE: a change is not shown. That is no evidence that there is none.");
}
