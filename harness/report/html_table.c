/* report/html_table.c: a table of the page and the link to the same as CSV (RFC 4180). */
#include "report/html_table.h"

#include <stdlib.h>
#include <string.h>

/* A spreadsheet takes what begins like a formula for one. */
static void csv_text(struct html_table *table, const char *text, const char *before)
{
    if (!table->csv.to)
        return;
    fprintf(table->csv.to, "%s\"%s", before, text[0] != '\0' && strchr("=+-@", text[0]) ? "'" : "");
    for (; *text != '\0'; ++text)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, table->csv.to);
    fputc('"', table->csv.to);
}

void html_table_begin(struct html_table *table, struct text_out *out, enum html_fold fold,
                      const char *id, const char *title, const char *contents)
{
    *table = (struct html_table){.out = out, .id = id, .folded = fold != HTML_PLAIN};
    (void)memory_file_open(&table->csv); /* html_table_end says it */
    text_print(out, "<section class=\"tables\" id=\"%s\">\n", id);
    if (table->folded) {
        fputs(fold == HTML_OPEN ? "<details open=\"open\">\n" : "<details>\n", out->file);
        text_print(out, "<summary><h3>%s</h3> <span class=\"count\">%s</span></summary>\n", title,
                   contents);
    } else
        text_print(out, "<h2>%s</h2>\n", title);
    text_print(out, "<div class=\"scroll%s\" tabindex=\"0\">\n<table>\n<thead><tr>",
               table->folded ? " long" : "");
    csv_text(table, "Setting", "");
}

void html_table_heading(struct html_table *table, const char *class, const char *name)
{
    if (!table->folded && table->columns < HTML_TABLE_NAMES)
        table->name[table->columns] = name;
    ++table->columns;
    text_print(table->out, "<th scope=\"col\" class=\"%s\">%s</th>", class, name);
    csv_text(table, name, ",");
}

/* The head ends where the first rows begin; later ones end those before. */
static void begin_body(struct html_table *table)
{
    fputs(table->begun ? "</tbody>\n<tbody>\n" : "</tr></thead>\n<tbody>\n", table->out->file);
    table->begun = true;
}

void html_table_group(struct html_table *table, const char *words)
{
    begin_body(table);
    snprintf(table->group, sizeof table->group, "%s", words);
    text_print(table->out,
               "<tr><th class=\"group\" scope=\"rowgroup\" colspan=\"%d\">"
               "<span>%s</span></th></tr>\n",
               table->columns, words);
}

void html_table_line(struct html_table *table)
{
    begin_body(table);
}

void html_table_row(struct html_table *table, const char *class)
{
    if (!table->begun)
        begin_body(table);
    if (class[0] != '\0')
        text_print(table->out, "<tr class=\"%s\">", class);
    else
        fputs("<tr>", table->out->file);
    table->column = 0;
    csv_text(table, table->group, "\r\n");
}

void html_table_cell(struct html_table *table, const char *class, const char *words)
{
    const char *name = table->column < HTML_TABLE_NAMES ? table->name[table->column] : NULL;

    ++table->column;
    if (name)
        text_print(table->out, "<td class=\"%s\" data-name=\"%s\">%s</td>", class, name, words);
    else
        text_print(table->out, "<td class=\"%s\">%s</td>", class, words);
    csv_text(table, words, ",");
}

void html_table_row_end(struct html_table *table)
{
    fputs("</tr>\n", table->out->file);
}

/* Letters and digits stand for themselves in a URI; all else as its code. */
static void write_link(struct html_table *table)
{
    FILE *to = table->out->file;

    text_print(table->out,
               "<p class=\"csv\"><a download=\"%s.csv\" href=\"data:text/csv;charset=utf-8,",
               table->id);
    for (size_t i = 0; i < table->csv.bytes; ++i) {
        const unsigned char byte = (unsigned char)table->csv.text[i];
        const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                           (byte >= 'a' && byte <= 'z');

        fprintf(to, plain ? "%c" : "%%%02X", byte);
    }
    fputs("\">CSV of this table</a></p>\n", to);
}

int html_table_end(struct html_table *table, const char *note)
{
    if (!table->begun)
        begin_body(table);
    fputs("</tbody>\n</table>\n</div>\n", table->out->file);
    if (note[0] != '\0')
        text_print(table->out, "<p class=\"remark\">%s</p>\n", note);
    if (table->csv.to)
        fputs("\r\n", table->csv.to);

    const int status = memory_file_close(&table->csv);

    if (status == 0)
        write_link(table);
    free(table->csv.text);
    fputs(table->folded ? "</details>\n</section>\n" : "</section>\n", table->out->file);
    return status;
}
