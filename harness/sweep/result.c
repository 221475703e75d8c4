/* sweep/result.c: what the records of a sweep say: the table of collectives, and the sentences that
 * a sweep ends with. The numbers are those of the report. */
#include "sweep/sweep.h"

#include <math.h>
#include <string.h>

#include "command/command.h"
#include "text/quantity.h"

/* A setting that shares no cores or GPUs counts more than others, and next one that is certain. */
static int weight_of(const struct report_point *point, int metric)
{
    return 2 * !report_oversubscribed(point) + !report_doubt_of(point, metric);
}

/* Appends the setting with the largest number of a metric, of those that count most, with its
 * interval and how sure that is. */
static void add_largest(char text[REPORT_CELL_TEXT], const struct report_counts *counts,
                        const struct report *report, int metric, enum quantity_kind kind)
{
    const struct report_point *best = NULL;

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const int more = best ? weight_of(point, metric) - weight_of(best, metric) : 1;

        if (isfinite(report_middle(point, metric)) &&
            (more > 0 || (more == 0 && report_middle(point, metric) > report_middle(best, metric))))
            best = point;
    }
    if (!best)
        return;

    const struct report_value *value = &best->value[metric];
    const bool trains = metric == REPORT_THROUGHPUT;
    char amount[RECORD_AMOUNT_TEXT], number[QUANTITY_TEXT];

    record_amount_words(best->key, amount);
    report_add(text, " %s%s%s with %s on %s: %s %s",
               report_simulated(best->row) ? "SIMULATED: " : "", best->key->workload,
               trains ? report_axes_words(best->key, PHRASE) : "", amount,
               report_devices_words(best, PHRASE), trains ? "throughput" : "bus bandwidth",
               quantity_words(value->middle, kind, number));
    if (value->range == REPORT_INTERVAL) {
        report_add(text, " (%s to ", quantity_words(value->lo, kind, number));
        report_add(text, "%s)", quantity_words(value->hi, kind, number));
    }
    report_add(text, ".");
    if (report_oversubscribed(best))
        report_add(text, " This is no evidence of speed: %s.", report_crowding(best->row));
    else if (report_doubt_of(best, metric))
        report_add_doubt(text, counts, best, metric);
}

void sweep_result(FILE *to, const struct report *report, const char *path,
                  const struct sweep_options *options)
{
    const struct report *collectives = report->collectives;
    const struct report_answer answer = report_answer_of(report);
    const struct report_run *run = report->run;
    char text[REPORT_CELL_TEXT] = "", words[QUANTITY_TEXT];
    char file[4 * sizeof options->out] = "";
    double products = 0, copied = 0;
    char costs[RECORD_COSTS_TEXT];

    /* As nccl-tests orders it. */
    if (collectives->n_points > 0)
        fprintf(to,
                "\n%-13s %-4s %3s %-12s %-3s %10s %7s %7s %7s %s\n"
                "%-13s %-4s %3s %-12s %-3s %10s %7s %7s %7s\n",
                "collective", "type", "on", "communicator", "to", "size", "time", "algbw", "busbw",
                "right", "", "", "", "", "", "(B)", "", "(GB/s)", "(GB/s)");
    for (size_t i = 0; i < collectives->n_points; ++i) {
        const struct report_point *point = &collectives->point[i];
        const struct record_key *key = point->key;
        char time[UNITS_BYTES], over[32];

        snprintf(over, sizeof over, "%.12s", key->communicator);
        if (key->per_process > 0)
            snprintf(over, sizeof over, "mpi, %zu each", key->per_process);
        fprintf(to, "%-13s %-4s %3d %-12s %-3s %10zu ", key->workload, key->dtype, key->n_devices,
                over, key->out_of_place ? "out" : "in", key->size_bytes);
        if (point->verified > 0)
            fprintf(to, "%7s %7.2f %7.2f", units_time(report_middle(point, REPORT_STEP), time),
                    report_middle(point, REPORT_ALGBW) / 1e9,
                    report_middle(point, REPORT_BUSBW) / 1e9);
        else
            fprintf(to, "%7s %7s %7s", "-", "-", "-");
        fprintf(to, " %zu/%zu\n", point->verified, options->plan.launches);
    }
    if (options->verbose && isfinite(run->seconds) && run->timed.steps > 0)
        fprintf(to,
                "  timed     %5.0f %% of %.1f s, %.0f %% in measured steps and %.0f %% next to "
                "them\n",
                100 * (run->timed.steps + run->timed.beside) / run->seconds, run->seconds,
                100 * run->timed.steps / run->seconds, 100 * run->timed.beside / run->seconds);
    /* The average costs of a launch outside of its measurement. */
    if (options->verbose && record_costs_words(&run->costs, run->writing, costs)) {
        fputs("  outside   ", to);
        command_wrap(to, costs, 12, 12, 80);
    }
    for (size_t i = 0; i < report->n_points; ++i)
        products = fmax(products, report_middle(&report->point[i], REPORT_IN_PARTS));
    if (collectives->n_points == 0)
        report_add(text, "%s%s", answer.first, answer.rest[0] != '\0' ? " " : "");
    report_add(text, "%s", answer.rest);
    if (!answer.best)
        add_largest(text, &report->counts, report, REPORT_THROUGHPUT, QUANTITY_RATE);
    add_largest(text, &report->counts, collectives, REPORT_BUSBW, QUANTITY_SPEED);
    if (products > 0)
        report_add(text, " Products reached %s on a device.",
                   quantity_words(products, QUANTITY_WORK, words));
    for (size_t i = 0; i < report->n_copies; ++i) {
        const int ends = report->copies[i].devices + COPIES_DEVICE;

        for (int k = 0; k < ends * ends; ++k)
            copied = fmax(copied, report->copies[i].rate[k]);
    }
    if (copied > 0)
        report_add(text, " Copies reached %s.", quantity_words(copied, QUANTITY_SPEED, words));
    fputc('\n', to);
    command_say_each(to, text + strspn(text, " "));
    text_add_shell(file, sizeof file, path);
    fprintf(to, "Report: lockstep report %s%s --out DIR\n", file, answer.best ? " --slide" : "");
}
