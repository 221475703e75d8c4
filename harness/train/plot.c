/* train/plot.c: the figure of a training: the losses by epoch, and the test accuracy below; for a
 * text the losses by tokens. */
#include "train/train.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "plot/plot.h"

enum { WIDTH = 1000, PANEL = 420, LABELS = 150, SEEDS = PLOT_MAX_STYLES };

struct subject {
    const struct train_options *options;
    const struct train_model *model;
    const struct train_epoch *epoch;
    size_t n;
    double median;
};

enum curve { CURVE_TRAIN, CURVE_TEST, CURVE_OTHER_TEST, CURVE_ACCURACY, CURVE_OTHER };

static double value_of(const struct train_epoch *epoch, enum curve curve)
{
    switch (curve) {
    case CURVE_TRAIN:
        return epoch->train_loss;
    case CURVE_TEST:
        return epoch->test_loss;
    case CURVE_OTHER_TEST:
        return epoch->other_loss;
    case CURVE_ACCURACY:
        return epoch->accuracy;
    default:
        return epoch->other_accuracy;
    }
}

/* The position of an epoch on the x axis: its number, or for a text the millions of tokens so
 * far. */
static double place_of(const struct train_epoch *epoch)
{
    return epoch->context > 0 ? (double)epoch->tokens / 1e6 : (double)epoch->epoch;
}

/* Adds one curve of a seed. If there are more epochs than marks, it has every n-th of them, and the
 * last. */
static void add_curve(struct plot_lines *lines, const struct subject *subject, uint64_t seed,
                      enum curve curve, const char *label)
{
    const size_t every = subject->options->epochs / (PLOT_MAX_MARKS - 2) + 1;
    struct plot_line *line = plot_lines_add(lines, lines->n + 1);

    for (size_t i = 0; i < subject->n; ++i) {
        const struct train_epoch *epoch = &subject->epoch[i];
        const double y = value_of(epoch, curve);

        if (epoch->seed != seed || !isfinite(y) ||
            (epoch->epoch % every != 0 && epoch->epoch != subject->options->epochs) ||
            line->n == PLOT_MAX_MARKS)
            continue;
        line->mark[line->n++] = (struct plot_mark){.x = place_of(epoch),
                                                   .y = y,
                                                   .lo = NAN,
                                                   .hi = NAN,
                                                   .bound = NAN,
                                                   .bare = subject->options->epochs > 40};
    }
    snprintf(line->label, sizeof line->label, "%s", label);
}

static void add_curves(struct plot_lines *lines, const struct subject *subject, bool accuracy)
{
    const struct train_options *o = subject->options;
    const size_t seeds = o->seeds < SEEDS ? o->seeds : SEEDS;

    for (size_t i = 0; i < seeds; ++i) {
        const unsigned long long seed = o->seed + i;
        char label[64];

        snprintf(label, sizeof label, "seed %llu", seed);
        if (o->seeds > 1)
            add_curve(lines, subject, seed, accuracy ? CURVE_ACCURACY : CURVE_TEST, label);
    }
    if (o->seeds > 1)
        return;
    if (!accuracy) {
        add_curve(lines, subject, o->seed, CURVE_TRAIN, "training");
        add_curve(lines, subject, o->seed, CURVE_TEST, "test");
        if (subject->model->text && o->against[0] != '\0')
            add_curve(lines, subject, o->seed, CURVE_OTHER_TEST, o->against);
        return;
    }
    add_curve(lines, subject, o->seed, CURVE_ACCURACY, o->devices);
    if (o->against[0] != '\0')
        add_curve(lines, subject, o->seed, CURVE_OTHER, o->against);
}

/* Writes the note of a panel: what was trained; for the accuracy, and for a text, also the
 * result. */
static void write_note(const struct subject *subject, bool accuracy, char *text, size_t bytes)
{
    const struct train_options *o = subject->options;
    const bool loss = subject->model->text, results = accuracy || loss;
    char result[96] = "", required[48] = "";

    if (o->seeds > 1)
        snprintf(result, sizeof result, "; median of %zu seeds %.*f%s", o->seeds, loss ? 4 : 2,
                 subject->median, loss ? "" : " %");
    if (o->require >= 0)
        snprintf(required, sizeof required, "; required %g%s", o->require, loss ? "" : " %");
    snprintf(text, bytes, "%.90s on %.60s, batch %zu, %.60s%s%s%s", subject->model->name, o->data,
             o->batch, o->devices, o->ddp ? ", DistributedDataParallel" : "", results ? result : "",
             results ? required : "");
}

/* Sets the ticks of the epochs, which are whole numbers. */
static void tick_epochs(struct plot_axis *x, size_t epochs)
{
    if (epochs > 7)
        plot_axis_round(x);
    for (size_t e = 1; e <= epochs && epochs <= 7; ++e)
        plot_axis_tick(x, (double)e);
}

static int write_panel(struct plot *plot, struct plot_lines *lines, bool accuracy)
{
    const struct subject *subject = plot->subject;
    const struct train_options *o = subject->options;
    struct plot_frame *frame = &lines->frame;
    const bool text = subject->model->text;

    *lines = (struct plot_lines){.label_pixels = LABELS};
    *frame = (struct plot_frame){.left = 88, .right = WIDTH - 20, .at = 20};
    frame->x = plot_axis_make(0);
    frame->y = plot_axis_make(accuracy ? 0 : 10);
    add_curves(lines, subject, accuracy);
    plot_lines_measure(lines);
    if (text)
        plot_axis_add(&frame->x, 0);
    plot_axis_pad(&frame->x, text ? 0.0 : 0.02, 0.0, text ? 1e-6 : 1.0);
    plot_axis_pad(&frame->y, 0.06, 0.06, accuracy ? 1.0 : 5.0);
    if (accuracy && frame->y.hi > 100)
        frame->y.hi = 100.5;
    if (text)
        plot_axis_round(&frame->x);
    else
        tick_epochs(&frame->x, o->epochs);
    plot_axis_round(&frame->y);
    /* The label is in the title, since words along the axis would overlap numbers like 0.0001. */
    snprintf(frame->words[PLOT_TITLE], PLOT_TEXT, "%s",
             accuracy       ? "Test accuracy (%)"
             : o->seeds > 1 ? "Test loss: cross-entropy (logarithmic)"
                            : "Loss: cross-entropy (logarithmic)");
    write_note(subject, accuracy, frame->words[PLOT_NOTE], PLOT_TEXT);
    plot_fit(frame->words[PLOT_NOTE], WIDTH - 40, 13);
    snprintf(frame->words[PLOT_X], PLOT_TEXT, text ? "million tokens" : "epoch");
    frame->title = plot->height + 24;
    frame->note = plot->height + 46;
    frame->top = plot->height + 66;
    frame->bottom = plot->height + PANEL - 70;
    plot->height += PANEL;
    return plot_lines_write(plot, lines);
}

static void write_footer(const struct train_options *o, char *text, size_t bytes)
{
    const unsigned long long first = o->seed, last = o->seed + o->seeds - 1;
    char seeds[64];

    if (o->seeds > 1)
        snprintf(seeds, sizeof seeds, "seeds %llu to %llu%s", first, last,
                 o->seeds > SEEDS ? " (the first six are drawn)" : "");
    else
        snprintf(seeds, sizeof seeds, "seed %llu", first);
    if (o->update.kind == TRAIN_ADAMW)
        snprintf(text, bytes, "AdamW, lr %g, decay %g, %s", o->update.lr, o->update.decay, seeds);
    else
        snprintf(text, bytes, "lr %g, momentum %g, %s", o->update.lr, o->update.momentum, seeds);
}

static int write_panels(struct plot *plot)
{
    const struct subject *subject = plot->subject;
    struct plot_lines *lines = malloc(sizeof *lines);
    int status = -1;

    plot->width = WIDTH;
    if (!lines)
        snprintf(plot->err->text, sizeof plot->err->text, "no memory for the figure");
    else if ((status = write_panel(plot, lines, false)) == 0 && !subject->model->text)
        status = write_panel(plot, lines, true);
    plot->height += 40;
    write_footer(subject->options, plot->footer, sizeof plot->footer);
    free(lines);
    return status == 0 ? 1 : -1;
}

int train_plot(const char *directory, const struct train_options *options,
               const struct train_model *model, const struct train_epoch epoch[], size_t n,
               double median, char *why, size_t bytes)
{
    const struct subject subject = {options, model, epoch, n, median};
    struct text_error err = {""};
    const enum plot_status status =
        plot_alone(directory, "train", train_asset_figure, write_panels, &subject, &err);

    snprintf(why, bytes, "%s", err.text);
    return status == PLOT_OK ? EXIT_PASSED : status == PLOT_WRITE ? EXIT_MISUSE : EXIT_FAILED;
}
