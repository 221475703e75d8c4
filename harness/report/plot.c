/* report/plot.c: all figures, one after the other, and what their writers share.
 *
 * gnuplot gets static scripts, numbers made here, and data files. Text from records is only ever
 * data, in the last column of a file. */
#include "report/plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const report_figure_names[REPORT_FIGURES] = {
    "throughput", "scaling", "phases", "shards", "distribution", "modes", "overlap", "peer"};

/* ---- what writers share ------------------------------------------------------------------- */

void plot_plain_text(char *text)
{
    for (; *text != '\0'; ++text)
        *text = *text == '"' ? '\'' : *text == '\\' ? '/' : *text;
}

static void add_text(struct plot *plot, const char *text)
{
    char words[REPORT_CELL_TEXT];

    snprintf(words, sizeof words, "%s", text[0] != '\0' ? text : " ");
    text_clean(words, ' '); /* a text cut short may end inside a character */
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
        add_text(plot, frame->words[w]);
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
void plot_fit(char text[REPORT_CELL_TEXT], double pixels, double font)
{
    double used = 0.0;
    size_t end = 0; /* where the ellipsis still fits */

    for (size_t i = 0; text[i] != '\0'; ++i) {
        if (((unsigned char)text[i] & 0xc0) == 0x80)
            continue;
        if (used + 1.2 * font <= pixels && i + 4 < REPORT_CELL_TEXT)
            end = i;
        used += ((unsigned char)text[i] >= 0xe1 ? 1.16 : 0.58) * font;
    }
    if (used > pixels)
        memcpy(text + end, "\u2026", sizeof "\u2026");
}

void plot_title(const struct plot *plot, const struct report_group *group, double pixels,
                char text[REPORT_CELL_TEXT])
{
    report_group_words(plot->report, group, text);
    plot_fit(text, pixels, 17);
}

bool plot_is_weak(const struct report_group *group)
{
    return strcmp(group->scaling, "weak") == 0;
}

size_t plot_batch(const struct report_group *group, const struct report_point *point)
{
    const struct record_key *key = &point->row->cell->key;

    return plot_is_weak(group) && key->n_devices > 0 ? key->global_batch / (size_t)key->n_devices
                                                     : key->global_batch;
}

bool plot_hollow(const struct report_point *point)
{
    return report_oversubscribed(point) || report_simulated(point->middle);
}

static size_t add_number(size_t list[], size_t n, size_t capacity, size_t number)
{
    size_t i = n;

    for (size_t j = 0; j < n; ++j)
        if (list[j] == number)
            return n;
    if (n == capacity)
        return n;
    for (; i > 0 && list[i - 1] > number; --i)
        list[i] = list[i - 1];
    list[i] = number;
    return n + 1;
}

size_t plot_batches(const struct plot *plot, const struct report_group *group, size_t list[],
                    size_t capacity)
{
    size_t n = 0;

    for (size_t i = group->first; i < group->first + group->n; ++i) {
        const struct report_point *point = &plot->report->point[i];

        if (point->verified > 0)
            n = add_number(list, n, capacity, plot_batch(group, point));
    }
    return n;
}

static size_t count_of(const struct report_point *point)
{
    return (size_t)point->row->cell->key.n_devices + plot_mode(point) * PLOT_DDP;
}

size_t plot_mode(const struct report_point *point)
{
    return report_is_ddp(point) ? 1 + point->bucket : 0;
}

void plot_bucket(const struct plot *plot, size_t count, char text[32])
{
    const size_t mode = count / PLOT_DDP;
    char name[32];

    text[0] = '\0';
    if (mode < 2 || mode > plot->report->n_buckets)
        return;
    report_bucket_name(plot->report->bucket[mode - 1], name);
    snprintf(text, 32, " %.24s", name);
}

size_t plot_devices(size_t count)
{
    return count % PLOT_DDP;
}

size_t plot_counts(const struct plot *plot, const struct report_group *group, size_t list[],
                   size_t capacity)
{
    size_t n = 0;

    for (size_t i = group->first; i < group->first + group->n; ++i) {
        const struct report_point *point = &plot->report->point[i];

        if (point->verified > 0 && !report_is_plain(point))
            n = add_number(list, n, capacity, count_of(point));
    }
    return n;
}

const struct report_point *plot_find(const struct plot *plot, const struct report_group *group,
                                     size_t count, size_t batch)
{
    for (size_t i = group->first; i < group->first + group->n; ++i) {
        const struct report_point *point = &plot->report->point[i];
        const bool plain = report_is_plain(point);

        if (point->verified > 0 && plot_batch(group, point) == batch &&
            (count == 0 ? plain : !plain && count_of(point) == count))
            return point;
    }
    return NULL;
}

double plot_unit(double max_ns, const char **name)
{
    *name = max_ns >= 1e9 ? "s" : max_ns >= 1e6 ? "ms" : "\u00b5s";
    return max_ns >= 1e9 ? 1e9 : max_ns >= 1e6 ? 1e6 : 1e3;
}

/* ---- a figure ----------------------------------------------------------------------------- */

/* The last text, at the foot. */
static void add_footer(struct plot *plot)
{
    const struct record_run *run = plot->report->n_files > 0 ? &plot->report->file[0].run : NULL;
    char text[REPORT_CELL_TEXT], more[64] = "";

    if (!run || plot->footer[0] != '\0') {
        plot_fit(plot->footer, plot->width - 30, 11);
        add_text(plot, plot->footer);
        return;
    }
    if (plot->left_out > 0)
        snprintf(more, sizeof more, "%zu more workload%s or setting%s not drawn; ", plot->left_out,
                 plot->left_out == 1 ? "" : "s", plot->left_out == 1 ? "" : "s");

    snprintf(
        text, sizeof text,
        "%s%srun %.8s%s, %.48s, %.10s, commit %.12s%s; base: plain program, else DataParallel, "
        "on one device",
        strcmp(run->source, "measured") != 0 ? "SIMULATED: " : "", more, run->run_id,
        plot->report->many_runs ? " and others" : "", run->cpu_model, run->created_utc,
        run->git_sha[0] != '\0' ? run->git_sha : "unknown", run->git_dirty ? " (modified)" : "");
    plot_fit(text, plot->width - 30, 11);
    add_text(plot, text);
}

static int close_inputs(struct plot *plot, int result)
{
    add_footer(plot);
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

/* What the pictures are made from; those of another report have other numbers of panels. */
static void remove_figure(const char *directory, const char *name)
{
    static const char *const endings[] = {".svg", ".png", ".gp", "-layout.gp", "-text.tsv"};
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

static enum report_plot_status make_figure(struct plot *plot, const unsigned char *script,
                                           plot_writer_fn *write)
{
    char name[64];
    const int inputs = write_inputs(plot, write);

    if (inputs == 0)
        remove_figure(plot->directory, plot->name);
    if (inputs <= 0)
        return inputs == 0 ? REPORT_PLOT_NONE : REPORT_PLOT_WRITE;
    snprintf(name, sizeof name, "%s.gp", plot->name);
    if (write_text_file(plot->directory, name, script, plot->err) != 0)
        return REPORT_PLOT_WRITE;
    return report_draw(plot->directory, plot->name, plot->err) == 0 ? REPORT_PLOT_OK
                                                                    : REPORT_PLOT_FAILED;
}

static const struct {
    const unsigned char *script;
    plot_writer_fn *write;
} figures[REPORT_FIGURES] = {
    [REPORT_FIGURE_THROUGHPUT] = {report_asset_throughput, report_plot_throughput},
    [REPORT_FIGURE_SCALING] = {report_asset_scaling, report_plot_scaling},
    [REPORT_FIGURE_PHASES] = {report_asset_phases, report_plot_phases},
    [REPORT_FIGURE_SHARDS] = {report_asset_shards, report_plot_shards},
    [REPORT_FIGURE_DISTRIBUTION] = {report_asset_distribution, report_plot_distribution},
    [REPORT_FIGURE_MODES] = {report_asset_modes, report_plot_modes},
    [REPORT_FIGURE_OVERLAP] = {report_asset_overlap, report_plot_overlap},
    [REPORT_FIGURE_PEER] = {report_asset_peer, report_plot_peer},
};

/* The worst of what happened so far and now; the first reason of a failure stays. */
static enum report_plot_status worse(enum report_plot_status sofar, enum report_plot_status now,
                                     const struct text_error *why, struct text_error *err)
{
    if (now != REPORT_PLOT_WRITE && (now != REPORT_PLOT_FAILED || sofar == REPORT_PLOT_FAILED))
        return sofar;
    *err = *why;
    return now;
}

/* What all figures use. */
static int write_scripts(const char *directory, struct text_error *err)
{
    return write_text_file(directory, "draw.gp", report_asset_draw, err) != 0 ||
                   write_text_file(directory, "frame.gp", report_asset_frame, err) != 0 ||
                   write_text_file(directory, "lines.gp", report_asset_lines, err) != 0
               ? -1
               : 0;
}

enum report_plot_status plot_alone(const char *directory, const char *name,
                                   const unsigned char *script, plot_writer_fn *write,
                                   const void *subject, struct text_error *err)
{
    const struct report none = {.n_files = 0};
    struct plot plot = {
        .report = &none, .subject = subject, .directory = directory, .name = name, .err = err};

    if (text_folder(directory) != 0) {
        snprintf(err->text, sizeof err->text, "cannot make the directory '%.100s': %s", directory,
                 strerror(errno));
        return REPORT_PLOT_WRITE;
    }
    if (write_scripts(directory, err) != 0)
        return REPORT_PLOT_WRITE;
    remove_figure(directory, name);
    return make_figure(&plot, script, write);
}

enum report_plot_status report_plot(const char *directory, const struct report *report,
                                    struct report_figures *made, struct text_error *err)
{
    enum report_plot_status status = REPORT_PLOT_OK;

    if (write_scripts(directory, err) != 0)
        return REPORT_PLOT_WRITE;
    for (int f = 0; f < REPORT_FIGURES && status != REPORT_PLOT_WRITE; ++f) {
        struct text_error why = {{0}};
        struct plot plot = {
            .report = report, .directory = directory, .name = report_figure_names[f], .err = &why};

        remove_figure(directory, plot.name);
        made->status[f] = REPORT_PLOT_NONE;
        if (figures[f].write)
            made->status[f] = make_figure(&plot, figures[f].script, figures[f].write);
        snprintf(made->why[f], sizeof made->why[f], "%.191s",
                 made->status[f] == REPORT_PLOT_NONE ? plot.why : why.text);
        status = worse(status, made->status[f], &why, err);
    }
    if (status != REPORT_PLOT_OK || made->status[REPORT_FIGURE_THROUGHPUT] != REPORT_PLOT_NONE)
        return status;
    snprintf(err->text, sizeof err->text, "%s", made->why[REPORT_FIGURE_THROUGHPUT]);
    return REPORT_PLOT_NONE;
}
