/* peer_words.c: what the page and summary.md say about a comparison with PyTorch. */
#include "peer_report.h"

#include <math.h>
#include <string.h>

/* Processes that ran besides the comparison. */
static const double BUSY = 0.5;

const char *const peer_step_names[PEER_STEP_COLUMNS] = {
    "Program", "Median step", "[interval] or range", "Outside matrix products", "Launches"};
const char *const peer_ratio_names[PEER_RATIO_COLUMNS] = {"Ratio of steps", "Median",
                                                          "[interval] or range", "Pairs"};

void peer_title_words(const struct peer_record *record, char text[REPORT_CELL_TEXT])
{
    snprintf(text, REPORT_CELL_TEXT, "Beside PyTorch %s, DistributedDataParallel over gloo",
             record->torch);
}

void peer_cell_words(const struct peer_cell *cell, char text[REPORT_CELL_TEXT])
{
    snprintf(text, REPORT_CELL_TEXT, "%s, batch %zu", cell->workload, cell->batch);
}

static void launch_words(const struct peer_arm *arm, char text[REPORT_CELL_TEXT])
{
    snprintf(text, REPORT_CELL_TEXT, "%zu", arm->n - arm->failed);
    if (arm->wrong)
        report_add(text, ", WRONG NUMBERS, not reported: %s", arm->reason);
    else if (arm->failed > 0)
        report_add(text, ", %zu FAILED: %s", arm->failed, arm->reason);
}

void peer_step_words(const struct peer_cell *cell, const struct peer_arm *arm, int column,
                     char text[REPORT_CELL_TEXT])
{
    const struct report_value step = peer_step(arm);
    char words[96];

    text[0] = '\0';
    switch (column) {
    case 0:
        peer_arm_words(arm, cell, words);
        report_add(text, "%s", words);
        break;
    case 1:
        report_time(step.middle, words);
        report_add(text, "%s", words);
        break;
    case 2:
        report_add_range(text, &step, report_time);
        break;
    case 3:
        report_add_share(text, peer_outside(arm).middle);
        break;
    default:
        launch_words(arm, text);
    }
}

void peer_ratio_words(const struct peer_comparison *one, int column, char text[REPORT_CELL_TEXT])
{
    text[0] = '\0';
    switch (column) {
    case 0:
        report_add(text, "%s", one->name);
        break;
    case 1:
        report_add_ratio(text, one->value.middle);
        break;
    case 2:
        report_add_range(text, &one->value, report_ratio);
        break;
    default:
        report_add(text, "%zu", one->value.n);
    }
}

void report_peer_verdict(struct report_out *out, const struct peer_record *record)
{
    const size_t failed = peer_failed(record);
    struct peer_comparison list[PEER_COMPARISONS];
    char ratio[32], batch[32];

    report_print(out, "Beside PyTorch %s on the same %d cores, a step of lockstep takes ",
                 record->torch, record->devices);
    for (size_t c = 0; c < record->n_cells; c++) {
        peer_compare(record, &record->cell[c], list);
        report_ratio(list[0].value.middle, ratio);
        snprintf(batch, sizeof batch, "%zu", record->cell[c].batch);
        report_print(out, "%s%s of DDP's (%s, batch %s)", c == 0 ? "" : ", ", ratio,
                     record->cell[c].workload, batch);
    }
    report_print(out, ".");
    if (failed > 0)
        report_print(out, " %zu launches FAILED.", failed);
    if (record->load_start > BUSY)
        report_print(out, " The machine was busy at the start (see its load): these times say "
                          "little, and PyTorch's processes suffer more from it.");
    if (record->oversubscribed)
        report_print(out, " There are more devices than cores: no evidence of scaling.");
    if (!record->complete)
        report_print(out, " The comparison was not finished.");
}

void report_peer_caption(struct report_out *out, const struct peer_record *record)
{
    struct report_value value = {.range = REPORT_NONE};
    char text[REPORT_CELL_TEXT] = "";

    for (size_t c = 0; c < record->n_cells; c++)
        for (size_t a = 0; a < record->cell[c].n_arms && value.range == REPORT_NONE; a++)
            value = peer_step(&record->cell[c].arm[a]);
    report_print(out, "Step time of each program, a panel per workload and batch: median over "
                      "launches of the median step of a launch");
    if (value.range == REPORT_INTERVAL)
        report_add(text, ", with its interval by order statistics (%.1f\u00a0%%, %zu launches).",
                   100 * value.coverage, value.n);
    else if (value.range == REPORT_LAUNCHES)
        report_add(text, ", with the range of %zu launches, too few for an interval.", value.n);
    else
        report_add(text, "; one launch shows no spread.");
    report_print(out, "%s Times are on a logarithmic axis.", text);
}

const char peer_checked[] =
    "Every step of every launch was checked, PyTorch's bit for bit against a float64 model of its "
    "own on the same exact data; an arm that left a wrong number is not reported. Launches are "
    "fresh processes, in rounds of random order; ratios are paired by round.";

void peer_setting_words(const struct peer_record *record, int which, char text[REPORT_CELL_TEXT])
{
    text[0] = '\0';
    switch (which) {
    case 0:
        report_add(
            text,
            "%s; %zu cores, %zu processing units (%zu usable); node %s; %s; governor %s; load "
            "%.2f at the start, %.2f at the end",
            record->cpu_model, record->cores, record->pus, record->usable_pus, record->node_hash,
            record->kernel, record->governor, record->load_start, record->load_end);
        break;
    case 1:
        report_add(text, "%s, python %s, %s, %s", record->torch, record->python, record->torch_blas,
                   record->gloo);
        break;
    case 2:
        report_add(text, "%s (%s build), commit %s%s, %s", record->lockstep, record->build_type,
                   record->git_sha, record->git_dirty ? " with uncommitted changes" : "",
                   record->lockstep_blas);
        break;
    case 3:
        report_add(text, "%s%s%s%s%s", record->ddp, record->sgd[0] != '\0' ? "; SGD " : "",
                   record->sgd, record->environment[0] != '\0' ? "; " : "", record->environment);
        break;
    case 4:
        report_add(text, "%s (%s)", record->step_time, record->clock);
        break;
    default:
        report_add(text, "%s; %g s or more measured; %s; seed %s, %zu launches%s",
                   record->warmup_rule, record->seconds, record->created_utc, record->seed,
                   record->launches, record->complete ? "" : ", NOT FINISHED");
    }
}

const char *const peer_setting_names[PEER_SETTINGS] = {"Machine",      "PyTorch",        "Lockstep",
                                                       "DDP settings", "Time of a step", "Rounds"};
