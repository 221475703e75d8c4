/* compare/markdown.c: the comparison for the page of a CI job: what was found, in short. */
#include "compare/exact.h"

#include "files/text_out.h"

#include <math.h>

enum { SHOWN = 50 };

static void notes(struct text_out *out, const char *before, const struct compare_notes *notes)
{
    for (size_t i = 0; i < notes->n; ++i)
        text_print(out, "* %s%s\n", before, notes->text[i]);
}

static void cell_row(struct text_out *out, const struct compare *compare,
                     const struct compare_cell *cell)
{
    char name[COMPARE_TEXT], ratio[64] = "", p[32] = "", cost[32] = "";

    compare_cell_words(cell->key, name);
    if (!isnan(cell->floor.ratio)) {
        compare_ratio_words(&cell->floor, ratio);
        snprintf(p, sizeof p, "%.2g", cell->adjusted);
        snprintf(cost, sizeof cost, "%.3f", cell->cost.ratio);
    }
    text_print(out, "| %s | %s | %s | %s | %s | %s |\n", compare_verdict_words[cell->verdict], name,
               ratio, p, cost,
               cell->verdict == COMPARE_INVALID && compare->invalid.n == 0 ? cell->reason : "");
}

static void cells(struct text_out *out, const struct compare *compare)
{
    size_t n = 0;

    for (size_t c = 0; c < compare->n_cells; ++c) {
        const struct compare_cell *cell = &compare->cell[c];
        const bool told = compare->invalid.n > 0 && cell->verdict == COMPARE_INVALID;

        if (cell->verdict == COMPARE_NO_EVIDENCE || told)
            continue;
        if (n == 0)
            text_print(out, "\n| verdict | cell | ratio B/A | p | cost | reason |\n"
                            "|---|---|--:|--:|--:|---|\n");
        if (n++ < SHOWN)
            cell_row(out, compare, cell);
    }
    if (n > SHOWN)
        text_print(out, "\n%zu more are not shown.\n", n - SHOWN);
}

int compare_markdown(FILE *stream, const struct compare *compare)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    const struct exact_names names = compare_exact_names(compare);
    const size_t *count = compare->count;
    char medians[128];
    double ratio, half;

    if (compare_common(compare, &ratio, &half) != 0)
        return -1;
    text_print(&out,
               "### Comparison of two files: %zu SUSPECT, %zu NO EVIDENCE, %zu INVALID, %zu "
               "changed\n\n%s\n\n",
               count[COMPARE_SUSPECT], count[COMPARE_NO_EVIDENCE], count[COMPARE_INVALID],
               compare->changes->n, compare_class_words);
    text_print(&out, "* A: %s; B: %s. Only in A: %zu cells, only in B: %zu\n",
               compare->path[COMPARE_A], compare->path[COMPARE_B], compare->only[COMPARE_A],
               compare->only[COMPARE_B]);
    if (!isnan(half)) {
        snprintf(medians, sizeof medians, "ratios %.3f, half-widths of their intervals %.1f %%",
                 ratio, 100 * half);
        text_print(&out, "* Medians over the cells: %s\n", medians);
    }
    notes(&out, "INVALID: ", &compare->invalid);
    notes(&out, "Differs: ", &compare->differs);
    notes(&out, "", &compare->remarks);
    cells(&out, compare);
    exact_markdown(&out, compare->changes, &names);
    return 0;
}
