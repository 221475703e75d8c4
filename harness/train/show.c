/* train/show.c: shows a training on stderr: a bar on a terminal, and a line per epoch. */
#include "train/train.h"

#include <math.h>
#include <unistd.h>

#include "text/quantity.h"

enum { BAR = 20, LOSS_BYTES = 32 };

/* Writes a loss. Losses of a training that diverges have dozens of digits. */
static void loss_text(double loss, char text[LOSS_BYTES])
{
    snprintf(text, LOSS_BYTES, loss < 1e5 ? "%.4f" : "%.4g", loss);
}

/* Prints a rate like "  6.2 k samples/s". */
static void show_rate(const struct train_epoch *epoch)
{
    char rate[UNITS_BYTES];

    units_rate(epoch->samples_per_s * (epoch->context > 0 ? (double)epoch->context : 1), rate);
    fprintf(stderr, " %6s %s/s", rate, epoch->context > 0 ? "tokens" : "samples");
}

void train_show_clear(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

void train_show_gaps(const struct dataset *data)
{
    const int shown = data->gaps < DATASET_GAPS ? data->gaps : DATASET_GAPS;
    char list[DATASET_GAPS * 8] = "";
    size_t used = 0;

    for (int i = 0; i < shown; ++i)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%d",
                                 i == 0                                  ? ""
                                 : i + 1 == shown && data->gaps <= shown ? " or "
                                                                         : ", ",
                                 data->gap[i]);
    if (data->gaps > shown)
        fprintf(stderr, "data: no row of %s has class %s or one of %d more, of %d\n", data->path,
                list, data->gaps - shown, data->classes);
    else if (data->gaps > 0)
        fprintf(stderr, "data: no row of %s has class %s, of %d\n", data->path, list,
                data->classes);
}

void train_show_step(const struct train_epoch *epoch, size_t steps, double loss)
{
    char bar[BAR + 1], mean[LOSS_BYTES];
    /* About a hundred updates per epoch are enough. */
    const size_t every = steps / 100 + 1;

    if (!isatty(STDERR_FILENO) || epoch->steps % every != 0)
        return;
    for (size_t i = 0; i < BAR; ++i)
        bar[i] = i * steps < epoch->steps * BAR ? '#' : '.';
    bar[BAR] = '\0';
    loss_text(loss, mean);
    fprintf(stderr, "\r\033[Kepoch %4zu [%s] loss %s", epoch->epoch, bar, mean);
    show_rate(epoch);
    fflush(stderr);
}

void train_show_result(const struct train_model *model, double result, char text[], size_t bytes)
{
    char loss[LOSS_BYTES];

    loss_text(result, loss);
    if (model->text)
        snprintf(text, bytes, "test loss %s", loss);
    else
        snprintf(text, bytes, "test accuracy %.2f %%", result);
}

void train_show_epoch(const struct train_options *options, const struct train_epoch *epoch)
{
    char seed[48] = "", train[LOSS_BYTES], test[LOSS_BYTES];

    train_show_clear();
    loss_text(epoch->train_loss, train);
    loss_text(epoch->test_loss, test);
    if (options->seeds > 1)
        snprintf(seed, sizeof seed, "seed %llu ", (unsigned long long)epoch->seed);
    fprintf(stderr, "%sepoch %*zu/%zu", seed, snprintf(NULL, 0, "%zu", options->epochs),
            epoch->epoch, options->epochs);
    if (epoch->steps > 0)
        fprintf(stderr, " loss %s", train);
    fprintf(stderr, " test %s", test);
    if (isfinite(epoch->accuracy))
        fprintf(stderr, " %6.2f %%", epoch->accuracy);
    else if (isfinite(epoch->other_loss))
        fprintf(stderr, " (%.4f)", epoch->other_loss);
    if (isfinite(epoch->other_accuracy))
        fprintf(stderr, " (%.2f %%)", epoch->other_accuracy);
    if (epoch->steps > 0)
        show_rate(epoch);
    fputc('\n', stderr);
}

void train_show_against(FILE *stream, const struct train_against *against)
{
    if (against->inexact.here)
        fprintf(stream, "exact steps: THEY DIFFER, first in step %zu of %zu: %s\n",
                against->inexact.step, against->exact_steps, against->inexact.where);
    else if (against->exact_steps > 0)
        fprintf(stream, "exact steps: %zu on whole numbers, all bits equal\n",
                against->exact_steps);
    if (against->reference_steps > 0 && !against->inexact.here)
        fprintf(stream, "             %zu of them equal those of a float64 model\n",
                against->reference_steps);
    if (against->exact_why[0] != '\0')
        fprintf(stream, "exact steps: %s: %s\n", against->exact_steps > 0 ? "no more" : "none",
                against->exact_why);
    if (!against->diverged.here) {
        fprintf(stream, "real data: all bits equal after each of %zu steps\n", against->steps);
        return;
    }
    fprintf(stream, "real data: they diverge in step %zu of %zu:\n           %s\n",
            against->diverged.step, against->steps, against->diverged.where);
    fprintf(stream, "real data: %s by at most %.3g, in the last step by %.3g\n",
            against->mean ? "parameters differ in the mean" : "a parameter differs", against->most,
            against->last);
    if (against->beyond.here)
        fprintf(stream, "real data: BEYOND THE BOUND from step %zu on: %s\n", against->beyond.step,
                against->beyond.where);
    else if (against->judged > 0)
        fprintf(stream, "real data: within the bound in steps 1 to %zu, which is %.3g there\n",
                against->judged, against->judged_bound);
    if (against->loose)
        fprintf(stream, "real data: from step %zu on not judged: rounding alone moves parameters\n",
                against->judged + 1);
}
