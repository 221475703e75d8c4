/* train/plot.c: the figure of a training: the losses by epoch, and the test accuracy below; for a
 * text the losses by tokens. */
#include "train/train.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "plot/plot.h"

/* More lines in a panel cannot be told apart. */
enum { WIDTH = 1000, SEEDS = 6, MARKS = 512 };

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

/* Adds one curve of a seed. If there are more epochs than marks, it has every n-th of them, and the
 * last. */
static void add_curve(struct plot_table *table, const struct subject *subject, uint64_t seed,
                      enum curve curve, const char *label)
{
    const size_t every = subject->options->epochs / (MARKS - 2) + 1;
    bool begun = false;

    for (size_t i = 0; i < subject->n; ++i) {
        const struct train_epoch *epoch = &subject->epoch[i];
        const double y = value_of(epoch, curve);
        /* A text has the millions of tokens so far on the x axis. */
        const double x = epoch->context > 0 ? (double)epoch->tokens / 1e6 : (double)epoch->epoch;

        if (epoch->seed != seed || !isfinite(y) ||
            (epoch->epoch % every != 0 && epoch->epoch != subject->options->epochs) ||
            (!begun && !plot_table_series(table, table->series + 1, label)))
            continue;
        begun = true;
        plot_table_row(table, (const double[]){x, y}, 2);
    }
}

static void add_curves(struct plot_table *table, const struct subject *subject, bool accuracy)
{
    const struct train_options *o = subject->options;
    const size_t seeds = o->seeds < SEEDS ? o->seeds : SEEDS;

    for (size_t i = 0; i < seeds; ++i) {
        const unsigned long long seed = o->seed + i;
        char label[64];

        snprintf(label, sizeof label, "seed %llu", seed);
        if (o->seeds > 1)
            add_curve(table, subject, seed, accuracy ? CURVE_ACCURACY : CURVE_TEST, label);
    }
    if (o->seeds > 1)
        return;
    if (!accuracy) {
        add_curve(table, subject, o->seed, CURVE_TRAIN, "training");
        add_curve(table, subject, o->seed, CURVE_TEST, "test");
        if (subject->model->text && o->against[0] != '\0')
            add_curve(table, subject, o->seed, CURVE_OTHER_TEST, o->against);
        return;
    }
    add_curve(table, subject, o->seed, CURVE_ACCURACY, o->devices);
    if (o->against[0] != '\0')
        add_curve(table, subject, o->seed, CURVE_OTHER, o->against);
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

static void write_panel(struct plot_table *table, bool accuracy)
{
    const struct subject *subject = table->plot->subject;
    const struct train_options *o = subject->options;
    char note[PLOT_TEXT];

    write_note(subject, accuracy, note, sizeof note);
    if (!plot_table_panel(table,
                          accuracy       ? "Test accuracy (%)"
                          : o->seeds > 1 ? "Test loss: cross-entropy (logarithmic)"
                                         : "Loss: cross-entropy (logarithmic)",
                          note, ""))
        return;
    plot_number(table->plot, "accuracy", accuracy);
    plot_number(table->plot, "epochs", subject->model->text ? 0 : (double)o->epochs);
    plot_number(table->plot, "bare", o->epochs > 40);
    add_curves(table, subject, accuracy);
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
    static const struct plot_grid grid = {.least = 900, .height = 284, .room = 150, .columns = 1};
    const struct subject *subject = plot->subject;
    struct plot_table table;

    plot->width = WIDTH;
    write_footer(subject->options, plot->footer, sizeof plot->footer);
    if (plot_table_open(&table, plot, &grid, "x, y") != 0)
        return -1;
    plot->narrow = false;
    write_panel(&table, false);
    if (!subject->model->text)
        write_panel(&table, true);
    return plot_table_close(&table);
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
