/* train/plot.c: the figure of a training: the losses by epoch, and the test accuracy below; for a
 * text the losses by tokens. */
#include "train/train.h"

#include <math.h>

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

/* The places of numbers of an epoch that are drawn. */
#define CURVE(member) offsetof(struct train_epoch, member)

/* Adds one curve of a seed. If there are more epochs than marks, it has every n-th of them, and the
 * last. */
static void add_curve(struct plot_table *table, const struct subject *subject, uint64_t seed,
                      size_t curve, const char *label)
{
    const size_t every = subject->options->epochs / (MARKS - 2) + 1;

    if (!plot_table_series(table, table->series + 1, label))
        return;
    for (size_t i = 0; i < subject->n; ++i) {
        const struct train_epoch *epoch = &subject->epoch[i];
        const double y = *(const double *)(const void *)((const char *)epoch + curve);
        /* A text has the millions of tokens so far on the x axis. */
        const double x = epoch->context > 0 ? (double)epoch->tokens / 1e6 : (double)epoch->epoch;

        if (epoch->seed == seed && isfinite(y) &&
            (epoch->epoch % every == 0 || epoch->epoch == subject->options->epochs))
            plot_table_row(table, (const double[]){x, y}, 2);
    }
}

static void write_panel(struct plot_table *table, bool accuracy)
{
    const struct subject *subject = table->plot->subject;
    const struct train_options *o = subject->options;
    const bool loss = subject->model->text, results = accuracy || loss;
    char note[PLOT_TEXT], result[96] = "", required[48] = "";

    /* What was trained; for the accuracy, and for a text, also the result. */
    if (o->seeds > 1)
        snprintf(result, sizeof result, "; median of %zu seeds %.*f%s", o->seeds, loss ? 4 : 2,
                 subject->median, loss ? "" : " %");
    if (o->require >= 0)
        snprintf(required, sizeof required, "; required %g%s", o->require, loss ? "" : " %");
    snprintf(note, sizeof note, "%.90s on %.60s, batch %zu, %.60s%s%s%s", subject->model->name,
             o->data, o->batch, o->devices, o->ddp ? ", DistributedDataParallel" : "",
             results ? result : "", results ? required : "");
    if (!plot_table_panel(table,
                          accuracy       ? "Test accuracy (%)"
                          : o->seeds > 1 ? "Test loss: cross-entropy (logarithmic)"
                                         : "Loss: cross-entropy (logarithmic)",
                          note, ""))
        return;
    plot_number(table->plot, "accuracy", accuracy);
    plot_number(table->plot, "epochs", subject->model->text ? 0 : (double)o->epochs);
    plot_number(table->plot, "bare", o->epochs > 40);
    for (size_t i = 0; o->seeds > 1 && i < o->seeds && i < SEEDS; ++i) {
        const unsigned long long seed = o->seed + i;
        char label[64];

        snprintf(label, sizeof label, "seed %llu", seed);
        add_curve(table, subject, seed, accuracy ? CURVE(accuracy) : CURVE(test_loss), label);
    }
    if (o->seeds > 1)
        return;
    if (!accuracy) {
        add_curve(table, subject, o->seed, CURVE(train_loss), "training");
        add_curve(table, subject, o->seed, CURVE(test_loss), "test");
        if (subject->model->text && o->against[0] != '\0')
            add_curve(table, subject, o->seed, CURVE(other_loss), o->against);
        return;
    }
    add_curve(table, subject, o->seed, CURVE(accuracy), o->devices);
    if (o->against[0] != '\0')
        add_curve(table, subject, o->seed, CURVE(other_accuracy), o->against);
}

static int write_panels(struct plot *plot)
{
    static const struct plot_grid grid = {.least = 900, .height = 284, .room = 150, .columns = 1};
    const struct subject *subject = plot->subject;
    const struct train_options *o = subject->options;
    const unsigned long long first = o->seed, last = o->seed + o->seeds - 1;
    struct plot_table table;
    char seeds[64];

    plot->width = WIDTH;
    if (o->seeds > 1)
        snprintf(seeds, sizeof seeds, "seeds %llu to %llu%s", first, last,
                 o->seeds > SEEDS ? " (the first six are drawn)" : "");
    else
        snprintf(seeds, sizeof seeds, "seed %llu", first);
    if (o->update.kind == TRAIN_ADAMW)
        snprintf(plot->footer, sizeof plot->footer, "AdamW, lr %g, decay %g, %s", o->update.lr,
                 o->update.decay, seeds);
    else
        snprintf(plot->footer, sizeof plot->footer, "lr %g, momentum %g, %s", o->update.lr,
                 o->update.momentum, seeds);
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
