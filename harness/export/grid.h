/* export/grid.h: a table of words, filled once, and written as HTML with a link to the same as CSV,
 * or as Markdown.
 *
 * Words are escaped where they are written. The link is a data: URI, so that a page stays one file.
 */
#ifndef HARNESS_EXPORT_GRID_H
#define HARNESS_EXPORT_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "files/files.h"

enum { GRID_NOTE = 4096 };

/* On a page: folded up below its title, open to be folded up, or without a fold. */
enum grid_fold { GRID_FOLDED, GRID_OPEN, GRID_PLAIN };

struct grid {
    struct text_out *out;
    bool brief;             /* it becomes Markdown */
    const char *id, *title; /* of a page */
    enum grid_fold fold;
    char contents[96];    /* of a page, next to the title: "80 cells" */
    char note[GRID_NOTE]; /* below the table; "": none. Markdown: the caller writes it */
    /* Markdown: the heading of a first column, which has the name of each row; NULL: none. */
    const char *names;
    bool right;   /* Markdown: all headings but the first are aligned to the right */
    bool compact; /* Markdown: "---|" instead of " :--- |" */
    size_t rows;  /* counted, written or not */
    size_t shown; /* by the last writer */
    int columns;
    struct memory_file pieces; /* see export/grid.c */
};

/* Memory that is short shows when the table is written. Close it in any case. */
void grid_open(struct grid *grid, struct text_out *out, const char *id, const char *title);
void grid_close(struct grid *grid);

/* All headings come before the first row. class: of HTML; one that begins with "text" is aligned to
 * the left in Markdown, too. */
void grid_heading(struct grid *grid, const char *class, const char *name);
/* Several of one class, with "|" between their names. */
void grid_headings(struct grid *grid, const char *class, const char *names);
/* Rows that follow, if any, are of this group, on a page and in CSV. */
void grid_group(struct grid *grid, const char *words);
/* The name of the rows that follow, in Markdown. */
void grid_name(struct grid *grid, const char *words);
/* A thin line; rows follow. */
void grid_line(struct grid *grid);
/* A cell for each heading follows. class: "": none. With "names" in it, the words are names with
 * blanks between them, and many are folded up; with "linked" an address in brackets is a link.
 * Words may be of several lines. */
void grid_row(struct grid *grid, const char *class);
/* On a page, the cell that follows leads to this file. "": to none. */
void grid_link(struct grid *grid, const char *file);
void grid_cell(struct grid *grid, const char *class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A cell with a number, which is empty if it is not finite. */
void grid_number(struct grid *grid, double number);

/* Nothing can be added to a table that was written. */
void grid_html(struct grid *grid);
/* Without title and note, and so many rows at most. */
void grid_markdown(struct grid *grid, size_t most);
/* As a file of CSV (RFC 4180). Headings, and cells of class "number", stand in no quotes. */
void grid_csv(struct grid *grid);
/* Markdown after an empty line, which says how many rows are not shown; the table is closed
 * then. */
void grid_part(struct grid *grid, size_t most);

#endif
