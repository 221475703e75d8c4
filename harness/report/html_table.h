/* report/html_table.h: a table of the page, which is folded up below its title, with a link to the
 * same as CSV; for the html*.c files and those that have tables of their own.
 *
 * Words are escaped, and the link is a data: URI, so that the page stays one file. */
#ifndef HARNESS_REPORT_HTML_TABLE_H
#define HARNESS_REPORT_HTML_TABLE_H

#include "files/memory_file.h"
#include "files/text_out.h"

#include <stdbool.h>
#include <stddef.h>

enum { HTML_TABLE_NAMES = 16 };

struct html_table {
    struct text_out *out;
    const char *id;
    struct memory_file csv; /* the same words; closed: no memory */
    char group[640];        /* what the rows of this group have in common */
    /* Without a fold: names of the columns, which cells repeat, for pages without room for heads.
     */
    const char *name[HTML_TABLE_NAMES];
    int columns, column;
    bool begun, folded;
};

/* How it begins: folded up, open to be folded up, or without a fold. */
enum html_fold { HTML_FOLDED, HTML_OPEN, HTML_PLAIN };

/* Head of a table; what is in it, "80 cells", stands beside its title. */
void html_table_begin(struct html_table *table, struct text_out *out, enum html_fold fold,
                      const char *id, const char *title, const char *contents);
/* All headings come before the first row; name lives as long as the table. */
void html_table_heading(struct html_table *table, const char *class, const char *name);
/* Rows that follow are of this group. */
void html_table_group(struct html_table *table, const char *words);
/* Cells follow. class: "": none. */
void html_table_row(struct html_table *table, const char *class);
void html_table_cell(struct html_table *table, const char *class, const char *words);
void html_table_row_end(struct html_table *table);
/* A thin line; rows follow. */
void html_table_line(struct html_table *table);
/* note: below it; "": none. 0, or -1: memory was short, and the link is missing. */
int html_table_end(struct html_table *table, const char *note);

#endif
