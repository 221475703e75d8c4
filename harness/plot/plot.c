/* plot/plot.c: the files of a figure: layout, words, data, script and pictures.
 *
 * gnuplot gets static scripts, numbers made here, and data files. Text from records is only ever
 * data, in the last column of a file. */
#include "plot/plot.h"

#include <string.h>

/* ---- what writers share ------------------------------------------------------------------- */

void plot_plain_text(char *text)
{
    for (; *text != '\0'; ++text)
        *text = *text == '"' ? '\'' : *text == '\\' ? '/' : *text;
}

void plot_words(struct plot *plot, const char *text)
{
    char words[PLOT_TEXT];

    snprintf(words, sizeof words, "%s", text[0] != '\0' ? text : " ");
    plot_plain_text(words);
    text_print(&plot->text, "%d\t%s\n", plot->texts++, words);
}

void plot_number(struct plot *plot, const char *name, double value)
{
    fprintf(plot->layout.file, "%s_%d = %.9g\n", name, plot->panels, value);
}

static void write_axis(struct plot *plot, char letter, const struct plot_axis *axis)
{
    const int p = plot->panels;
    FILE *file = plot->layout.file;

    fprintf(file, "%cbase_%d = %g; %clo_%d = %.9g; %chi_%d = %.9g\n", letter, p, axis->base, letter,
            p, axis->lo, letter, p, axis->hi);
    for (int bare = 0; bare < 2; ++bare) {
        fprintf(file, "%c%s_%d = '", letter, bare ? "bare" : "ticks", p);
        for (int i = 0; i < axis->n; ++i)
            if (axis->bare[i] == (bare != 0))
                fprintf(file, "%.9g ", axis->tick[i]);
        fprintf(file, "'\n");
    }
}

void plot_frame_write(struct plot *plot, const struct plot_frame *frame)
{
    ++plot->panels;
    plot_number(plot, "left", frame->left);
    plot_number(plot, "right", frame->right);
    plot_number(plot, "top", frame->top);
    plot_number(plot, "bottom", frame->bottom);
    plot_number(plot, "at", frame->at);
    plot_number(plot, "title", frame->title);
    plot_number(plot, "note", frame->note);
    plot_number(plot, "below", frame->below > 0 ? frame->below : 44);
    plot_number(plot, "text", plot->texts);
    for (int w = 0; w < PLOT_WORDS; ++w)
        plot_words(plot, frame->words[w]);
    write_axis(plot, 'x', &frame->x);
    write_axis(plot, 'y', &frame->y);
}

int plot_data_open(struct plot *plot, struct text_out *out)
{
    char name[64];

    snprintf(name, sizeof name, "%s-%d.tsv", plot->name, plot->panels);
    return text_open(out, plot->directory, name, TEXT_PLAIN, plot->err);
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

static int close_inputs(struct plot *plot, int result)
{
    plot_fit(plot->footer, plot->width - 30, 11);
    plot_words(plot, plot->footer);
    fprintf(plot->layout.file, "panels = %d; texts = %d; width = %.1f; height = %.1f\n",
            plot->panels, plot->texts, plot->width, plot->height);
    if (result != 1) {
        text_discard(&plot->layout);
        text_discard(&plot->text);
        return result;
    }
    if (text_close(&plot->layout, plot->err) != 0) {
        text_discard(&plot->text);
        return -1;
    }
    return text_close(&plot->text, plot->err) == 0 ? 1 : -1;
}

/* Layout, text and data of one figure: 1 when there is something to draw, 0 when not, or -1. */
static int write_inputs(struct plot *plot, plot_writer_fn *write)
{
    char name[64];

    snprintf(name, sizeof name, "%s-layout.gp", plot->name);
    if (text_open(&plot->layout, plot->directory, name, TEXT_PLAIN, plot->err) != 0)
        return -1;
    fprintf(plot->layout.file, "# %s: numbers for %s.gp, made by `lockstep report`.\n", name,
            plot->name);
    snprintf(name, sizeof name, "%s-text.tsv", plot->name);
    if (text_open(&plot->text, plot->directory, name, TEXT_PLAIN, plot->err) != 0) {
        text_discard(&plot->layout);
        return -1;
    }
    return close_inputs(plot, write(plot));
}

/* Also the files that pictures are made from; other reports have other numbers of panels. */
void plot_remove(const char *directory, const char *name)
{
    static const char *const endings[] = {".svg", ".png",       PLOT_NARROW_SVG, ".gp",
                                          ".tsv", "-layout.gp", "-text.tsv"};
    char file[64];

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; ++i) {
        snprintf(file, sizeof file, "%s%s", name, endings[i]);
        text_remove(directory, file);
    }
    for (int p = 1; p <= PLOT_MAX_PANELS; ++p) {
        snprintf(file, sizeof file, "%s-%d.tsv", name, p);
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

enum plot_status plot_make(struct plot *plot, const unsigned char *script, plot_writer_fn *write)
{
    char name[64];
    const int inputs = write_inputs(plot, write);

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
    } scripts[] = {{"draw.gp", plot_asset_draw},   {"frame.gp", plot_asset_frame},
                   {"lines.gp", plot_asset_lines}, {"grid.gp", plot_asset_grid},
                   {"panel.gp", plot_asset_panel}, {"ends.gp", plot_asset_ends}};
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
