/* export/grid.c: see export/grid.h.
 *
 * A table is a list of pieces in memory, in the order in which they were added: a letter for their
 * kind, their class, and their words, which both end with a 0. */
#include "export/grid.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum kind { HEADING = 'h', GROUP = 'g', NAME = 'n', LINE = 'l', ROW = 'r', LINK = 'a', CELL = 'c' };

/* Names that cells repeat, for pages without room for headings. */
enum { REPEATED = 16 };
/* Cells with so many names show so many of them. */
enum { NAMES_FOLDED = 8, NAMES_SHOWN = 3 };

/* Characters of an address that mean nothing in HTML or Markdown. */
#define ADDRESS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:/?#=%+"

struct piece {
    enum kind kind;
    const char *class, *words;
};

static void grid_add(struct grid *grid, enum kind kind, const char *class, const char *words)
{
    fprintf(grid->pieces.to, "%c%s%c%s%c", kind, class, 0, words, 0);
}

void grid_open(struct grid *grid, struct text_out *out, const char *id, const char *title)
{
    *grid =
        (struct grid){.out = out, .brief = out->form == TEXT_MARKDOWN, .id = id, .title = title};
    memory_file_open(&grid->pieces);
}

void grid_close(struct grid *grid)
{
    free(memory_file_close(&grid->pieces));
    grid->pieces.text = NULL;
}

void grid_heading(struct grid *grid, const char *class, const char *name)
{
    ++grid->columns;
    grid_add(grid, HEADING, class, name);
}

void grid_headings(struct grid *grid, const char *class, const char *names)
{
    char name[96];

    for (size_t length; *names != '\0'; names += length + (names[length] == '|')) {
        length = strcspn(names, "|");
        snprintf(name, sizeof name, "%.*s", (int)length, names);
        grid_heading(grid, class, name);
    }
}

void grid_group(struct grid *grid, const char *words)
{
    grid_add(grid, GROUP, "", words);
}

void grid_name(struct grid *grid, const char *words)
{
    grid_add(grid, NAME, "", words);
}

void grid_line(struct grid *grid)
{
    grid_add(grid, LINE, "", "");
}

void grid_row(struct grid *grid, const char *class)
{
    ++grid->rows;
    grid_add(grid, ROW, class, "");
}

void grid_link(struct grid *grid, const char *file)
{
    if (file[0] != '\0')
        grid_add(grid, LINK, "", file);
}

void grid_cell(struct grid *grid, const char *class, const char *format, ...)
{
    va_list arguments;

    fprintf(grid->pieces.to, "%c%s%c", CELL, class, 0);
    va_start(arguments, format);
    vfprintf(grid->pieces.to, format, arguments);
    va_end(arguments);
    fputc(0, grid->pieces.to);
}

void grid_number(struct grid *grid, double number)
{
    if (isfinite(number))
        grid_cell(grid, "number", "%.9g", number);
    else
        grid_cell(grid, "number", "%s", "");
}

/* The piece at *at, which is the place of the one after it then. */
static bool grid_next(const struct grid *grid, size_t *at, struct piece *piece)
{
    const char *text = grid->pieces.text + *at;

    if (*at >= grid->pieces.bytes)
        return false;
    piece->kind = (enum kind)text[0];
    piece->class = text + 1;
    piece->words = piece->class + strlen(piece->class) + 1;
    *at = (size_t)(piece->words + strlen(piece->words) + 1 - grid->pieces.text);
    return true;
}

/* Many names are folded up, but for the first few. link: a file that the cell leads to, or NULL. */
static void write_cell(struct text_out *out, const struct piece *piece, const char *link)
{
    const char *rest = NULL, *address = strstr(piece->class, "linked") ? piece->words : NULL;
    size_t n = 0;

    if (address && (address = strchr(address, '(')) && strncmp(++address, "https://", 8) == 0) {
        const int length = (int)strspn(address, ADDRESS);

        text_write(out->file, out->form, piece->words, (size_t)(address - piece->words));
        if (out->form == TEXT_MARKDOWN)
            fprintf(out->file, "<%.*s>", length, address);
        else
            fprintf(out->file, "<a href=\"%.*s\">%.*s</a>", length, address, length, address);
        text_print(out, "%s", address + length);
        return;
    }
    if (link) {
        text_print(out, "<a href=\"%s\">%s</a>", link, piece->words);
        return;
    }
    for (const char *at = strstr(piece->class, "names") ? piece->words : NULL; at && *at != '\0';
         at += strcspn(at, " "), at += *at == ' ')
        rest = n++ == NAMES_SHOWN ? at : rest;
    if (n < NAMES_FOLDED) {
        const char *line = piece->words;

        for (size_t length; line[length = strcspn(line, "\n")] != '\0'; line += length + 1) {
            text_write(out->file, out->form, line, length);
            fputs("<br/>", out->file);
        }
        text_print(out, "%s", line);
        return;
    }
    text_write(out->file, out->form, piece->words, (size_t)(rest - piece->words));
    text_print(out, "<details><summary>and %zu more</summary>%s</details>", n - NAMES_SHOWN, rest);
}

/* ---- page --------------------------------------------------------------------------------- */

static void write_html(struct text_out *out, const struct grid *grid)
{
    const bool folds = grid->fold != GRID_PLAIN;
    const char *name[REPEATED] = {NULL}, *link = NULL;
    int column = 0, headings = 0;
    const char *group = NULL; /* a row of it may follow */
    bool begun = false;
    struct piece piece;

    text_print(out, "<div class=\"scroll%s\" tabindex=\"0\">\n<table>\n<thead><tr>",
               folds ? " long" : "");
    for (size_t at = 0; grid_next(grid, &at, &piece);) {
        if (piece.kind != HEADING)
            continue;
        text_print(out, "<th scope=\"col\" class=\"%s\">%s</th>", piece.class, piece.words);
        if (!folds && headings < REPEATED)
            name[headings++] = piece.words;
    }
    fputs("</tr></thead>\n<tbody>\n", out->file);
    for (size_t at = 0; grid_next(grid, &at, &piece);) {
        const bool opens = piece.kind == ROW && group;

        if (begun && (piece.kind == LINE || opens))
            fputs("</tbody>\n<tbody>\n", out->file);
        if (opens)
            text_print(out,
                       "<tr><th class=\"group\" scope=\"rowgroup\" colspan=\"%d\">"
                       "<span>%s</span></th></tr>\n",
                       grid->columns, group);
        if (piece.kind == GROUP)
            group = piece.words;
        else if (piece.kind == ROW) {
            group = NULL;
            text_print(out, piece.class[0] != '\0' ? "<tr class=\"%s\">" : "<tr>", piece.class);
            column = 0;
        } else if (piece.kind == LINK) {
            link = piece.words;
        } else if (piece.kind == CELL) {
            text_print(out, "<td class=\"%s\"", piece.class);
            if (column < REPEATED && name[column])
                text_print(out, " data-name=\"%s\"", name[column]);
            fputc('>', out->file);
            write_cell(out, &piece, link);
            fputs("</td>", out->file);
            fputs(++column == grid->columns ? "</tr>\n" : "", out->file);
            link = NULL;
        }
        begun |= piece.kind == ROW;
    }
    fputs("</tbody>\n</table>\n</div>\n", out->file);
}

void grid_html(struct grid *grid)
{
    struct text_out *out = grid->out;
    struct memory_file csv;
    const char *group = "";
    struct piece piece;

    memory_file_close(&grid->pieces);
    memory_file_open(&csv);
    text_write_field(csv.to, "Setting");
    for (size_t at = 0; grid_next(grid, &at, &piece);)
        if (piece.kind == GROUP)
            group = piece.words;
        else if (piece.kind == ROW) {
            fputs("\r\n", csv.to);
            text_write_field(csv.to, group);
        } else if (piece.kind == HEADING || piece.kind == CELL) {
            fputc(',', csv.to);
            text_write_field(csv.to, piece.words);
        }
    fputs("\r\n", csv.to);
    memory_file_close(&csv);
    text_print(out, "<section class=\"tables\" id=\"%s\">\n", grid->id);
    if (grid->fold == GRID_PLAIN)
        text_print(out, "<h2>%s</h2>\n", grid->title);
    else {
        fputs(grid->fold == GRID_OPEN ? "<details open=\"open\">\n" : "<details>\n", out->file);
        text_print(out, "<summary><h3>%s</h3> <span class=\"count\">%s</span></summary>\n",
                   grid->title, grid->contents);
    }
    write_html(out, grid);
    if (grid->note[0] != '\0')
        text_print(out, "<p class=\"remark\">%s</p>\n", grid->note);
    text_print(out, "<p class=\"csv\"><a download=\"%s.csv\" href=\"data:text/csv;charset=utf-8,",
               grid->id);
    /* Letters and digits stand for themselves in a URI; all else as its code. */
    for (size_t i = 0; i < csv.bytes; ++i) {
        const unsigned char byte = (unsigned char)csv.text[i];
        const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                           (byte >= 'a' && byte <= 'z');

        fprintf(out->file, plain ? "%c" : "%%%02X", byte);
    }
    fputs("\">CSV of this table</a></p>\n", out->file);
    free(csv.text);
    fputs(grid->fold == GRID_PLAIN ? "</section>\n" : "</details>\n</section>\n", out->file);
    grid->shown = grid->rows;
}

/* ---- CSV ----------------------------------------------------------------------------------- */

void grid_csv(struct grid *grid)
{
    FILE *const to = grid->out->file;
    const char *before = "";
    struct piece piece;

    memory_file_close(&grid->pieces);
    for (size_t at = 0; grid_next(grid, &at, &piece);) {
        const bool raw = piece.kind == HEADING || strcmp(piece.class, "number") == 0;

        if (piece.kind == ROW)
            before = "\r\n";
        if (piece.kind != HEADING && piece.kind != CELL)
            continue;
        fputs(before, to);
        before = ",";
        if (raw)
            fputs(piece.words, to);
        else
            text_write_field(to, piece.words);
    }
    fputs("\r\n", to);
}

/* ---- Markdown ----------------------------------------------------------------------------- */

void grid_markdown(struct grid *grid, size_t most)
{
    const char *const left = grid->compact ? "---|" : " :--- |";
    const char *const right = grid->compact ? "--:|" : " ---: |";
    struct text_out *out = grid->out;
    const char *name = "";
    struct piece piece;
    size_t row = 0;
    int column = 0;

    memory_file_close(&grid->pieces);
    fputs("|", out->file);
    if (grid->names)
        text_print(out, " %s |", grid->names);
    for (size_t at = 0; grid_next(grid, &at, &piece);)
        if (piece.kind == HEADING)
            text_print(out, " %s |", piece.words);
    fputs("\n|", out->file);
    fputs(grid->names ? left : "", out->file);
    for (size_t at = 0; grid_next(grid, &at, &piece);)
        if (piece.kind == HEADING) {
            const bool is_left = grid->right ? column == 0 : strncmp(piece.class, "text", 4) == 0;

            fputs(is_left ? left : right, out->file);
            ++column;
        }
    fputs("\n", out->file);
    for (size_t at = 0; grid_next(grid, &at, &piece) && row <= most;) {
        if (piece.kind == NAME)
            name = piece.words;
        else if (piece.kind == ROW && row++ < most) {
            fputs("|", out->file);
            if (grid->names)
                text_print(out, " %s |", name);
            column = 0;
        } else if (piece.kind == CELL) {
            fputc(' ', out->file);
            write_cell(out, &piece, NULL);
            fputs(++column < grid->columns ? " |" : " |\n", out->file);
        }
    }
    grid->shown = row < most ? row : most;
}

void grid_part(struct grid *grid, size_t most)
{
    fputc('\n', grid->out->file);
    grid_markdown(grid, most);
    if (grid->rows > grid->shown)
        text_print(grid->out, "\n%zu more %s not shown.\n", grid->rows - grid->shown,
                   text_are(grid->rows - grid->shown));
    grid_close(grid);
}
