/* plot/plot.c: the files of a figure: layout, words, data, script and pictures.
 *
 * gnuplot gets static scripts, numbers made here, and data files. Text from records is only ever
 * data, in the last column of a file. */
#include "plot/plot.h"

#include <math.h>
#include <string.h>

/* ---- what writers share ------------------------------------------------------------------- */

/* The next words of this panel. gnuplot knows two special characters in data, which are replaced.
 */
static void add_words(struct plot *plot, const char *text)
{
    char words[PLOT_TEXT];

    snprintf(words, sizeof words, "%s", text[0] != '\0' ? text : " ");
    for (char *c = words; *c != '\0'; ++c)
        *c = *c == '"' ? '\'' : *c == '\\' ? '/' : *c;
    text_print(&plot->text, "%d\t%s\n", plot->texts++, words);
}

void plot_number(struct plot *plot, const char *name, double value)
{
    fprintf(plot->layout.file, "%s_%d = %.9g\n", name, plot->panels, value);
}

/* A font's letters are about 0.58 of its size wide; those of east Asia are twice that. */
void plot_fit(char text[PLOT_TEXT], double pixels, double font)
{
    double used = 0.0;
    size_t end = 0; /* where the ellipsis still fits */

    for (size_t i = 0; text[i] != '\0'; ++i) {
        if (((unsigned char)text[i] & 0xc0) == 0x80)
            continue;
        if (used + 1.2 * font <= pixels && i + 4 < PLOT_TEXT)
            end = i;
        used += ((unsigned char)text[i] >= 0xe1 ? 1.16 : 0.58) * font;
    }
    if (used > pixels)
        memcpy(text + end, "\u2026", sizeof "\u2026");
}

/* ---- a figure ----------------------------------------------------------------------------- */

void plot_remove(const char *directory, const char *name)
{
    static const char *const endings[] = {".svg", ".png",       PLOT_NARROW_SVG, ".gp",
                                          ".tsv", "-layout.gp", "-text.tsv"};
    char file[64];

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; ++i) {
        snprintf(file, sizeof file, "%s%s", name, endings[i]);
        text_remove(directory, file);
    }
}

static int write_text_file(const char *directory, const char *name, const unsigned char *text,
                           struct text_error *err)
{
    struct text_out out;

    if (text_open(&out, directory, name, TEXT_PLAIN, err) != 0)
        return -1;
    fputs((const char *)text, out.file);
    return text_close(&out, err);
}

/* Closes a file of inputs, or discards it where result is not 1. */
static int close_input(struct text_out *out, int result, struct text_error *err)
{
    if (result == 1)
        return text_close(out, err) == 0 ? 1 : -1;
    text_discard(out);
    return result;
}

enum plot_status plot_make(struct plot *plot, const unsigned char *script, plot_writer_fn *write)
{
    char name[64];
    int inputs;

    snprintf(name, sizeof name, "%s-layout.gp", plot->name);
    if (text_open(&plot->layout, plot->directory, name, TEXT_PLAIN, plot->err) != 0)
        return PLOT_WRITE;
    fprintf(plot->layout.file, "# %s: numbers for %s.gp, made by `lockstep report`.\n", name,
            plot->name);
    snprintf(name, sizeof name, "%s-text.tsv", plot->name);
    if (text_open(&plot->text, plot->directory, name, TEXT_PLAIN, plot->err) != 0) {
        text_discard(&plot->layout);
        return PLOT_WRITE;
    }
    inputs = write(plot);
    plot_fit(plot->footer, plot->width - 30, 11);
    add_words(plot, plot->footer);
    fprintf(plot->layout.file, "panels = %d; texts = %d; width = %.1f\n", plot->panels, plot->texts,
            plot->width);
    inputs = close_input(&plot->layout, inputs, plot->err);
    inputs = close_input(&plot->text, inputs, plot->err);
    if (inputs == 0)
        plot_remove(plot->directory, plot->name);
    if (inputs <= 0)
        return inputs == 0 ? PLOT_NONE : PLOT_WRITE;
    snprintf(name, sizeof name, "%s.gp", plot->name);
    if (write_text_file(plot->directory, name, script, plot->err) != 0)
        return PLOT_WRITE;
    return plot_draw(plot->directory, plot->name, plot->narrow, plot->err) == 0 ? PLOT_OK
                                                                                : PLOT_FAILED;
}

int plot_scripts(const char *directory, struct text_error *err)
{
    static const struct {
        const char *name;
        const unsigned char *text;
    } scripts[] = {{"draw.gp", plot_asset_draw},
                   {"grid.gp", plot_asset_grid},
                   {"panel.gp", plot_asset_panel},
                   {"ends.gp", plot_asset_ends}};
    int status = 0;

    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0] && status == 0; ++i)
        status = write_text_file(directory, scripts[i].name, scripts[i].text, err);
    return status;
}

enum plot_status plot_alone(const char *directory, const char *name, const unsigned char *script,
                            plot_writer_fn *write, const void *subject, struct text_error *err)
{
    struct plot plot = {.subject = subject, .directory = directory, .name = name, .err = err};

    if (text_folder_own(directory, err) != 0 || plot_scripts(directory, err) != 0)
        return PLOT_WRITE;
    plot_remove(directory, name);
    return plot_make(&plot, script, write);
}

/* ---- tables: gnuplot lays out their panels, by plots/grid.gp and plots/panel.gp ------------- */

int plot_table_open(struct plot_table *table, struct plot *plot, const struct plot_grid *grid,
                    const char *columns)
{
    char name[64];

    *table = (struct plot_table){.plot = plot};
    plot->narrow = true;
    fprintf(plot->layout.file,
            "panel_least = %d; panel_height = %d; panel_room = %d; panel_columns = %d\n",
            grid->least, grid->height, grid->room, grid->columns);
    snprintf(name, sizeof name, "%s.tsv", plot->name);
    if (text_open(&table->out, plot->directory, name, TEXT_PLAIN, plot->err) != 0)
        return -1;
    fprintf(table->out.file, "# a block per series: %s\n", columns);
    return 0;
}

void plot_list(struct plot *plot, const char *name, const size_t list[], size_t n)
{
    fprintf(plot->layout.file, "%s_%d = '", name, plot->panels);
    for (size_t i = 0; i < n; ++i)
        fprintf(plot->layout.file, "%zu ", list[i]);
    fputs("'\n", plot->layout.file);
}

/* The series of the panel are known when the next one begins. */
static void end_table_panel(struct plot_table *table)
{
    if (table->plot->panels > 0)
        plot_list(table->plot, "styles", table->style, table->series);
    table->series = 0;
    table->begins = false;
}

bool plot_table_panel(struct plot_table *table, const char *title, const char *setting,
                      const char *note)
{
    struct plot *plot = table->plot;

    if (plot->panels == PLOT_MAX_PANELS) {
        ++plot->left_out;
        return false;
    }
    end_table_panel(table);
    ++plot->panels;
    plot_number(plot, "block", table->blocks);
    plot_number(plot, "text", plot->texts);
    add_words(plot, title);
    add_words(plot, setting);
    add_words(plot, note);
    return true;
}

bool plot_table_series(struct plot_table *table, size_t style, const char *label)
{
    table->begins = table->series < PLOT_MAX_SERIES;
    if (table->begins) {
        table->style[table->series] = style;
        snprintf(table->label, sizeof table->label, "%s", label);
    }
    return table->begins;
}

void plot_table_row(struct plot_table *table, const double number[], size_t n)
{
    if (table->begins) {
        ++table->series;
        fputs(table->blocks++ > 0 ? "\n\n" : "", table->out.file);
        add_words(table->plot, table->label);
    }
    table->begins = false;
    for (size_t i = 0; i < n; ++i) {
        if (isfinite(number[i]))
            fprintf(table->out.file, "%.9g", number[i]);
        else
            fputs("nan", table->out.file);
        fputs(i + 1 < n ? "\t" : "\n", table->out.file);
    }
}

void plot_table_gap(struct plot_table *table)
{
    fputs("\n", table->out.file);
}

int plot_table_close(struct plot_table *table)
{
    end_table_panel(table);
    if (table->plot->panels > 0)
        return text_close(&table->out, table->plot->err) == 0 ? 1 : -1;
    text_discard(&table->out);
    return 0;
}
