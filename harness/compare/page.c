/* compare/page.c: prints the results of a judge in the form that was asked for: for people, for the
 * page of a CI job, and for other programs. */
#include "compare/compare.h"

#include "command/command.h"
#include "export/grid.h"
#include "files/files.h"
#include "plan/plan.h"
#include "record/json.h"
#include "text/alloc.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 50 };

const char *compare_format_name(size_t format)
{
    static const char *const forms[COMPARE_FORMS] = {"text", "json", "md"};

    return format < COMPARE_FORMS ? forms[format] : export_name(format - COMPARE_FORMS);
}

void compare_note(struct compare_notes *notes, const char *format, ...)
{
    va_list args;

    if (notes->n == COMPARE_NOTES)
        return;
    va_start(args, format);
    vsnprintf(notes->text[notes->n++], COMPARE_TEXT, format, args);
    va_end(args);
}

void compare_say(struct compare_page *page, enum compare_place place, const char *format, ...)
{
    va_list args;

    fputc('0' + (int)place, page->words.to);
    va_start(args, format);
    vfprintf(page->words.to, format, args);
    va_end(args);
    fputc(0, page->words.to);
}

struct compare_point *compare_add_point(struct compare_page *page, const struct record_key *key,
                                        size_t number, enum export_state state)
{
    struct compare_point *point = &page->point[page->n++];

    point->number = number;
    point->state = state;
    for (size_t m = 0; m < COMPARE_METRICS; ++m)
        point->value[m] = (struct export_value){NAN, NAN, NAN};
    if (key) {
        point->is_cell = true;
        point->key = *key;
        compare_cell_words(key, point->name);
    }
    return point;
}

void compare_cell_words(const struct record_key *key, char text[COMPARE_TEXT])
{
    char axes[PLAN_AXES_TEXT], amount[RECORD_AMOUNT_TEXT];

    record_amount_words(key, amount);
    plan_axes_words(key, ", ", true, axes);
    snprintf(text, COMPARE_TEXT, "%s %s %s, %s, %s, %s/%s%s", key->workload, key->mode,
             key->devices, amount, key->dtype, key->backend, key->communicator, axes);
}

/* Adds "NEW/OLD 1.050 [1.041, 1.060], p 0.0024; cost 1.051; finds 2.1 %", or why it is INVALID. */
static void add_numbers(const struct compare_page *page, const struct compare_point *point,
                        char text[REPORT_CELL_TEXT])
{
    if (point->ratio[0] != '\0')
        text_add(text, REPORT_CELL_TEXT, "%s %s; cost %s%s", page->ratio, point->ratio, point->cost,
                 point->rest[0] != '\0' ? "; " : "");
    text_add(text, REPORT_CELL_TEXT, "%s", point->rest);
}

/* Returns the name of the cell of B. */
static const char *compared_name(const struct compare_point *point)
{
    return point->against[0] != '\0' ? point->against : point->name;
}

/* ---- the answer ---------------------------------------------------------------------------- */

/* Digits after the point of a number of times. */
static int times_digits(double times)
{
    return times < 0.1 ? 3 : times < 10 ? 2 : times < 100 ? 1 : 0;
}

void compare_change_words(const struct export_value *value, char text[COMPARE_CHANGE])
{
    const double middle = value->middle;
    const bool small = middle < 2 && middle > 0.5;

    if (small)
        snprintf(text, COMPARE_CHANGE, "%.1f %% %s time", 100 * fabs(middle - 1),
                 middle < 1 ? "less" : "more");
    else
        snprintf(text, COMPARE_CHANGE, "%.*f times the time", times_digits(middle), middle);
    if (isnan(value->lo))
        text_add(text, COMPARE_CHANGE, " [no interval]");
    else if (small)
        text_add(text, COMPARE_CHANGE, " [%+.1f %%, %+.1f %%]", 100 * (value->lo - 1),
                 100 * (value->hi - 1));
    else
        text_add(text, COMPARE_CHANGE, " [%.*f, %.*f]", times_digits(value->lo), value->lo,
                 times_digits(value->hi), value->hi);
}

void compare_worst_words(const struct compare_page *page, size_t number, char text[COMPARE_TEXT])
{
    const struct compare_point *worst = NULL;
    size_t n = 0, cells = 0;
    char change[COMPARE_CHANGE];

    text[0] = '\0';
    for (size_t i = 0; i < page->n; ++i) {
        const struct compare_point *point = &page->point[i];

        cells += point->is_cell;
        if (!point->is_cell || point->number != number)
            continue;
        ++n;
        if (!worst || fabs(log(point->value[COMPARE_TIME].middle)) >
                          fabs(log(worst->value[COMPARE_TIME].middle)))
            worst = point;
    }
    if (n == 0)
        return;
    snprintf(text, COMPARE_TEXT, "%s in %zu of %zu cells", worst->verdict, n, cells);
    if (!isfinite(worst->value[COMPARE_TIME].middle))
        return;
    compare_change_words(&worst->value[COMPARE_TIME], change);
    text_add(text, COMPARE_TEXT, "%s %.200s: %s", n > 1 ? ", most in" : ":", compared_name(worst),
             change);
}

/* ---- text ---------------------------------------------------------------------------------- */

/* Lines of a terminal: without --verbose the result fits in. */
enum { SCREEN = 23 };

static void put_paragraphs(FILE *to, const struct compare_page *page, enum compare_place place)
{
    for (size_t at = 0; at < page->words.bytes; at += strlen(page->words.text + at) + 1)
        if (page->words.text[at] == '0' + (int)place) {
            command_say(to, 2, "%s", page->words.text + at + 1);
            fputc(0, to);
        }
}

/* Prints changes, then the cells, the worst verdict first. The text is made of items, each with a 0
 * after it. */
static void print_text(const struct compare_page *page, bool verbose)
{
    const size_t changes = page->changes ? page->changes->n : 0;
    size_t left = verbose ? SIZE_MAX : SCREEN, out = 0;
    struct memory_file text;

    memory_file_open(&text);
    put_paragraphs(text.to, page, COMPARE_TITLE);
    put_paragraphs(text.to, page, COMPARE_HEAD);
    fprintf(text.to, "\n%c", 0);
    for (size_t i = 0; i < changes; ++i) {
        const struct exact_change *change = &page->changes->change[i];

        command_say(text.to, 4, "%-12s  %s", "CHANGED", compared_name(&page->point[change->cell]));
        command_say(text.to, 4, "  %s%s: %s -> %s %s", change->metric->name, change->where,
                    change->value[COMPARE_A], change->value[COMPARE_B], change->metric->unit);
        fputc(0, text.to);
    }
    for (size_t i = 0; i < page->n; ++i) {
        const struct compare_point *point = page->order[i];
        char numbers[REPORT_CELL_TEXT] = "";

        if (!point->is_cell || point->hidden)
            continue;
        add_numbers(page, point, numbers);
        if (point->verdict[0] == '\0')
            command_say(text.to, 4, "%s", point->name);
        else
            command_say(text.to, 4, "%-12s  %s%s", point->verdict, point->name, page->gate);
        if (point->against[0] != '\0')
            command_say(text.to, 4, "  against %s", point->against);
        command_say(text.to, 4, "  %s%s", numbers, point->more);
        fputc(0, text.to);
    }
    if (verbose) {
        fprintf(text.to, "\n%c", 0);
        put_paragraphs(text.to, page, COMPARE_FOOT);
    }
    memory_file_close(&text);
    for (size_t at = 0; at < text.bytes; at += strlen(text.text + at) + 1) {
        size_t lines = 0;

        for (const char *c = text.text + at; *c != '\0'; ++c)
            lines += *c == '\n';
        if (lines <= left)
            fputs(text.text + at, stdout);
        out += lines > left;
        left -= lines < left ? lines : left;
    }
    free(text.text);
    if (out > 0)
        printf("%zu more: ", out);
    if (!verbose)
        printf("--verbose says all, and what was compared; --help, how it is judged.\n");
}

/* ---- Markdown ------------------------------------------------------------------------------ */

/* A table without rows is left out. */
static void print_table(struct grid *grid)
{
    if (grid->rows > 0)
        grid_part(grid, SHOWN);
    else
        grid_close(grid);
}

static void print_markdown(const struct compare_page *page)
{
    struct text_out out = {.file = stdout, .form = TEXT_MARKDOWN};
    struct grid grid;

    for (enum compare_place place = COMPARE_TITLE; place <= COMPARE_FOOT; ++place)
        for (size_t at = 0; at < page->words.bytes; at += strlen(page->words.text + at) + 1)
            if (page->words.text[at] == '0' + (int)place)
                text_print(&out, place == COMPARE_TITLE ? "### %s\n\n" : "* %s\n",
                           page->words.text + at + 1);
    grid_open(&grid, &out, "cells", "Cells");
    grid.compact = true;
    grid_headings(&grid, "text", "verdict|cell");
    grid_heading(&grid, "", page->ratio);
    grid_heading(&grid, "", "cost");
    grid_heading(&grid, "text", "remarks");
    for (size_t i = 0; i < page->n; ++i) {
        const struct compare_point *point = page->order[i];

        if (!point->is_cell || point->hidden || point->brief)
            continue;
        grid_row(&grid, "");
        grid_cell(&grid, "", "%s", point->verdict);
        grid_cell(&grid, "", "%s", compared_name(point));
        grid_cell(&grid, "", "%s", point->ratio);
        grid_cell(&grid, "", "%s", point->cost);
        grid_cell(&grid, "", "%s", point->rest);
    }
    print_table(&grid);
    grid_open(&grid, &out, "changed", "Changed");
    grid.compact = true;
    grid_headings(&grid, "text", "CHANGED|cell");
    for (int side = 0; side < COMPARE_SIDES; ++side)
        grid_heading(&grid, "", page->side[side]);
    grid_heading(&grid, "text", "unit");
    for (size_t i = 0; page->changes && i < page->changes->n; ++i) {
        const struct exact_change *change = &page->changes->change[i];

        grid_row(&grid, "");
        grid_cell(&grid, "", "%s%s", change->metric->name, change->where);
        grid_cell(&grid, "", "%s", compared_name(&page->point[change->cell]));
        for (int side = 0; side < COMPARE_SIDES; ++side)
            grid_cell(&grid, "", "%s", change->value[side]);
        grid_cell(&grid, "", "%s", change->metric->unit);
    }
    print_table(&grid);
}

/* ---- other programs ------------------------------------------------------------------------ */

static int print_export(const struct compare_page *page, size_t format, struct text_error *why)
{
    static const struct export_metric metrics[COMPARE_METRICS] = {
        [COMPARE_TIME] = {"time", "ratio", "time-ratio", 1, false},
        [COMPARE_COST] = {"cost", "ratio", "cost-ratio", 1, false},
        [COMPARE_DETECTABLE] = {"detectable", "ratio", "detectable-ratio", 1, false},
    };
    struct export_set set = {
        .title = "lockstep compare",
        .launches = true,
        .prefix = "lockstep_compare_",
        .flag = "judged",
        .flag_help = "1: all launches of the cell were verified, and it has a verdict.",
        .verdicts = page->verdicts,
        .n_verdicts = page->n_verdicts,
        .parts = &export_record_parts,
        .metric = metrics,
        .n_metrics = COMPARE_METRICS,
        .github_unit = "ratio",
        .in_github = 1,
        .counted = "changed",
        .count = page->changes->n,
    };

    export_open(&set, page->n + page->changes->n);
    for (size_t i = 0; i < page->n; ++i) {
        const struct compare_point *point = &page->point[i];
        struct export_cell *cell =
            point->is_cell ? export_add_record(&set, &point->key) : export_add(&set, point->name);

        if (point->is_cell)
            text_add(cell->why, sizeof cell->why, "%s%s: ", point->verdict,
                     point->ratio[0] != '\0' ? page->gate : "");
        add_numbers(page, point, cell->why);
        text_clean(cell->why, ' ');
        cell->launches = point->launches;
        cell->state = point->state;
        cell->verdict = point->number;
        cell->has_numbers = point->state != EXPORT_BROKEN && isfinite(point->value[0].middle);
        memcpy(cell->value, point->value, sizeof point->value);
    }
    for (size_t i = 0; i < page->changes->n; ++i) {
        const struct exact_change *change = &page->changes->change[i];
        const char *const of = compared_name(&page->point[change->cell]);
        struct export_cell *cell = export_add(&set, "");

        snprintf(cell->name, sizeof cell->name, "%s%s of %s", change->metric->name, change->where,
                 of);
        cell->state = page->exact ? EXPORT_FAILED : EXPORT_DOUBTFUL;
        snprintf(cell->why, sizeof cell->why, "CHANGED: %s%s: %s -> %s %s, of %s",
                 change->metric->name, change->where, change->value[COMPARE_A],
                 change->value[COMPARE_B], change->metric->unit, of);
        text_clean(cell->why, ' ');
    }
    memcpy(set.summary, page->summary, sizeof set.summary);
    const int status = export_write(stdout, format, &set, why);

    export_close(&set);
    return status;
}

/* Failures first; points of one state as they come. */
static int order_points(const void *left, const void *right)
{
    static const int ranks[] = {[EXPORT_FAILED] = 0,
                                [EXPORT_BROKEN] = 1,
                                [EXPORT_DOUBTFUL] = 2,
                                [EXPORT_OPEN] = 3,
                                [EXPORT_PASSED] = 3};
    const struct compare_point *const *a = left, *const *b = right;
    const int order = ranks[(*a)->state] - ranks[(*b)->state];

    return order != 0 ? order : (*a > *b) - (*a < *b);
}

int compare_print(const struct compare_judge *judge, const void *of, size_t cells, size_t format,
                  bool verbose)
{
    enum { OTHERS = 2 }; /* the points that are no cells */
    struct compare_page page = {.gate = "",
                                .point = cli_alloc(cells + OTHERS, sizeof page.point[0]),
                                .order = cli_alloc(cells + OTHERS, sizeof page.order[0])};
    struct text_error why = {""};
    int status = 0;

    if (format == COMPARE_AS_JSON) {
        document_print(stdout, judge->json(of));
    } else {
        memory_file_open(&page.words);
        judge->describe(of, &page);
        const bool sorted = page.order[0] != NULL;

        for (size_t i = 0; i < page.n; ++i)
            page.order[i] = page.order[i] ? page.order[i] : &page.point[i];
        if (!sorted)
            qsort(page.order, page.n, sizeof page.order[0], order_points);
        memory_file_close(&page.words);
        if (format == COMPARE_AS_TEXT)
            print_text(&page, verbose);
        else if (format == COMPARE_AS_MARKDOWN)
            print_markdown(&page);
        else
            status = print_export(&page, format - COMPARE_FORMS, &why);
    }
    free(page.point);
    free(page.order);
    free(page.words.text);
    return status == 0 ? 0 : command_refuse("lockstep compare", "%s", why.text);
}
