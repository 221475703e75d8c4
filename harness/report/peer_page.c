/* report/peer_page.c: prints a comparison with PyTorch: as a part of the page and of
 * summary.md. */
#include "report/peer.h"

#include <math.h>
#include <string.h>

#include "descriptor.h"

/* With a higher load when the comparison started, the machine was busy: so many other processes
 * ran. */
static const double BUSY = 0.5;

/* ---- names -------------------------------------------------------------------------------- */

const char *peer_version_words(const struct peer_record *record, char text[REPORT_CELL_TEXT])
{
    snprintf(text, REPORT_CELL_TEXT, "PyTorch %s", record->pytorch[0].torch);
    for (size_t i = 1; i < record->n_pytorch; ++i)
        report_add(text, "%s%s", i + 1 < record->n_pytorch ? ", " : " and ",
                   record->pytorch[i].torch);
    return text;
}

static const char *peer_title(const struct peer_record *record, char text[REPORT_CELL_TEXT])
{
    snprintf(text, REPORT_CELL_TEXT, "Next to %s, %s%s", peer_version_words(record, PHRASE),
             !peer_is_on_gpus(record) ? "DistributedDataParallel over gloo"
             : strcmp(peer_parallel_name(&record->cell[0]), "DP") == 0
                 ? "DataParallel on GPUs"
                 : "DataParallel, and DistributedDataParallel over NCCL, on GPUs",
             record->tf32 ? ", in TF32" : "");
    return text;
}

/* "lockstep DataParallel, 2 devices". The rows of a device are those of the first one. */
static const char *arm_words(const struct peer_arm *arm, const struct peer_cell *cell,
                             char text[REPORT_CELL_TEXT])
{
    const struct peer_kind_row *kind = &peer_kinds[arm->kind];
    const size_t n = (size_t)arm->devices, rows = cell->batch / n + (cell->batch % n != 0);
    const char *first = NULL;
    bool several = false; /* there are several versions of PyTorch */

    snprintf(text, REPORT_CELL_TEXT, "%s, ", kind->name);
    if (arm->kind == PEER_PYTORCH_PRODUCTS)
        report_add(text, "%zu x ", n);
    if (kind->on)
        report_add(text, "%zu %s%s", n, kind->on,
                   n == 1                             ? ""
                   : strcmp(kind->on, "process") == 0 ? "es"
                                                      : "s");
    else
        report_add(text, "%zu row%s", rows, text_s(rows));
    for (size_t a = 0; a < cell->n_arms; ++a) {
        const char *torch = cell->arm[a].torch;

        several = several || (torch[0] != '\0' && first && strcmp(torch, first) != 0);
        first = torch[0] != '\0' ? torch : first;
    }
    if (arm->torch[0] != '\0' && several)
        report_add(text, " (%s)", arm->torch);
    return text;
}

/* ---- tables ------------------------------------------------------------------------------- */

static void name_peer_cell(struct grid *grid, const struct peer_cell *cell)
{
    char text[REPORT_CELL_TEXT] = "";

    report_add(text, "%s, batch %zu", cell->workload, cell->batch);
    grid_group(grid, text);
    grid_name(grid, text);
}

void report_fill_peer_steps(struct grid *grid, const struct report *report)
{
    const struct peer_record *record = report->peer;

    grid_headings(grid, "text", "Program");
    grid_headings(grid, "number",
                  "Median step|[interval] or range|Outside matrix products|Launches");
    for (size_t c = 0; c < record->n_cells; ++c) {
        const struct peer_cell *cell = &record->cell[c];

        name_peer_cell(grid, cell);
        for (size_t a = 0; a < cell->n_arms; ++a) {
            const struct peer_arm *arm = &cell->arm[a];

            grid_row(grid, arm->failed > 0 ? "failed" : "good");
            grid_cell(grid, "text", "%s", arm_words(arm, cell, PHRASE));
            report_cell_metric(grid, arm->point, REPORT_STEP);
            report_cell_range(grid, &arm->point->value[REPORT_STEP], report_time);
            report_cell_metric(grid, arm->point, REPORT_OUTSIDE);
            if (arm->absent[0] != '\0')
                grid_cell(grid, "number status", "absent: %s", arm->absent);
            else if (arm->wrong)
                grid_cell(grid, "number status", "%zu, WRONG NUMBERS, not reported: %s",
                          arm->point->n - arm->failed, arm->reason);
            else
                grid_cell(grid, "number status", arm->failed > 0 ? "%zu, %zu FAILED: %s" : "%zu",
                          arm->point->n - arm->failed, arm->failed, arm->reason);
        }
    }
}

void report_fill_peer_ratios(struct grid *grid, const struct report *report)
{
    const struct peer_record *record = report->peer;
    struct peer_comparison list[PEER_COMPARISONS];

    grid_headings(grid, "text", "Ratio of steps");
    grid_headings(grid, "number", "Median|[interval] or range|Pairs");
    grid_headings(grid, "text", "Fastest of several");
    for (size_t c = 0; c < record->n_cells; ++c) {
        const struct peer_cell *cell = &record->cell[c];
        const size_t n = peer_compare(record, cell, list);

        name_peer_cell(grid, cell);
        for (size_t i = 0; i < n; ++i) {
            const struct peer_comparison *one = &list[i];
            char text[REPORT_CELL_TEXT] = "";

            grid_row(grid, "");
            grid_cell(grid, "text", "%s", one->name);
            report_cell_number(grid, one->value.middle, report_ratio);
            report_cell_range(grid, &one->value, report_ratio);
            grid_cell(grid, "number", "%zu", one->value.n);
            if (one->of > 0 && one->fastest && peer_is_lockstep(one->fastest))
                report_add(text, "those of ");
            if (one->fastest)
                report_add(text, "%s", arm_words(one->fastest, cell, PHRASE));
            if (one->of > 0)
                report_add(text, ", in %zu of %zu", one->rounds, one->of);
            grid_cell(grid, "text", "%s", one->fastest ? text : "-");
        }
    }
    snprintf(grid->contents, sizeof grid->contents,
             "below 1, lockstep is faster; for a speed-up, higher is better");
}

/* ---- sentences ---------------------------------------------------------------------------- */

/* Whether an earlier cell lacks the same arm for the same reason. */
static bool lacked_before(const struct peer_record *record, size_t cells,
                          const struct peer_arm *arm)
{
    for (size_t c = 0; c < cells; ++c)
        for (size_t a = 0; a < record->cell[c].n_arms; ++a) {
            const struct peer_arm *other = &record->cell[c].arm[a];

            if (other->kind == arm->kind && strcmp(other->torch, arm->torch) == 0 &&
                strcmp(other->absent, arm->absent) == 0)
                return true;
        }
    return false;
}

void report_peer_verdict(struct text_out *out, const struct peer_record *record)
{
    const size_t failed = peer_failed(record);
    struct peer_comparison list[PEER_COMPARISONS];

    text_print(out, "on %d device%s of the same machine%s, a step of lockstep takes ",
               record->devices, text_s((size_t)record->devices),
               record->tf32 ? ", in TF32 on both sides" : "");
    for (size_t c = 0; c < record->n_cells; ++c) {
        const struct report_value *ratio = &list[0].value;

        peer_compare(record, &record->cell[c], list);
        text_print(out, "%s%s%s (%s, batch %zu)", c == 0 ? "" : ", ",
                   isfinite(ratio->middle) ? report_ratio_range_words(ratio, "", PHRASE)
                                           : "an unknown part",
                   c == 0 ? " of the time of PyTorch's fastest program" : "",
                   record->cell[c].workload, record->cell[c].batch);
    }
    text_print(out, ".");
    for (size_t c = 0; c < record->n_cells; ++c)
        for (size_t a = 0; a < record->cell[c].n_arms; ++a) {
            const struct peer_arm *arm = &record->cell[c].arm[a];

            if (arm->absent[0] != '\0' && !lacked_before(record, c, arm))
                text_print(out, " Absent: %s: %s.", arm_words(arm, &record->cell[c], PHRASE),
                           arm->absent);
        }
    if (failed > 0)
        text_print(out, " %zu launch%s FAILED.", failed, failed == 1 ? "" : "es");
    if (record->run.load_avg[0] > BUSY)
        text_print(out, " The machine was busy at the start (see its load): these times say "
                        "little, and PyTorch's processes suffer more from it.");
    if (record->oversubscribed)
        text_print(out, " There are more devices than cores: no evidence of scaling.");
    if (!record->complete)
        text_print(out, " The comparison was not finished.");
}

const char *peer_short_words(const struct peer_record *record, char text[REPORT_CELL_TEXT])
{
    double least = INFINITY, most = 0;
    size_t faster = 0;

    for (size_t c = 0; c < record->n_cells; ++c) {
        struct peer_comparison list[PEER_COMPARISONS];

        peer_compare(record, &record->cell[c], list);
        const struct report_value *ratio = &list[0].value;

        faster += ratio->range == REPORT_INTERVAL && ratio->hi < 1;
        least = fmin(least, ratio->middle);
        most = fmax(most, ratio->middle);
    }
    snprintf(text, REPORT_CELL_TEXT, "Lockstep is faster than %s in %zu of %zu settings",
             peer_version_words(record, PHRASE), faster, record->n_cells);
    if (least <= most)
        report_add(text, ": a step takes %s%s%s of the time of its fastest program",
                   report_ratio(least, WORD), least < most ? " to " : "",
                   least < most ? report_ratio(most, WORD) : "");
    report_add(text, "%s%s.",
               record->run.load_avg[0] > BUSY ? "; the machine was busy at the start" : "",
               record->complete ? "" : "; the comparison was not finished");
    return text;
}

static bool rounds_in_peers(const struct workload *workload)
{
    return workload->is->peer && !workload_is_exact(workload);
}

/* The checks that a launch passed before it counted. */
static const char *checks_words(const struct peer_record *record, char text[REPORT_CELL_TEXT])
{
    char names[160];

    workload_names(rounds_in_peers, names, sizeof names);
    snprintf(text, REPORT_CELL_TEXT,
             "Every step of every launch was checked, PyTorch's against a float64 model of its "
             "own on the same data: models that round (%s) within derived bounds, the others bit "
             "for bit; an arm that left a wrong number is not reported. Launches are fresh "
             "processes, in rounds of random order; ratios are paired by round.",
             names);
    if (record->tf32)
        report_add(text, " In TF32 numbers of exact models fit its 11 bits, and bounds are wider "
                         "by what that model changes when operands are moved by the most that TF32 "
                         "may move them.");
    return text;
}

/* ---- settings ----------------------------------------------------------------------------- */

static void say_settings(struct text_out *out, const struct peer_record *record)
{
    const struct record_run *run = &record->run;
    char torches[REPORT_CELL_TEXT] = "";

    report_fact(out, "Machine",
                "%s; %d cores, %d processing units (%d usable); node %s; %s; governor %s; load "
                "%.2f at the start, %.2f at the end",
                run->cpu_model, run->cores, run->pus, run->usable_pus, run->node_hash, run->kernel,
                run->governor, run->load_avg[0], record->load_end);
    for (size_t i = 0; i < record->n_pytorch; ++i) {
        const struct peer_versions *of = &record->pytorch[i];

        report_add(torches, "%s%s, python %s, %s%s%s", i > 0 ? "; next to it " : "", of->torch,
                   of->python, of->torch_blas, of->gloo[0] != '\0' ? ", " : "", of->gloo);
    }
    report_fact(out, "PyTorch", "%s", torches);
    report_fact(out, "Lockstep", "%s (%s build), commit %s%s, %s", run->program_version,
                run->build_type, run->git_sha, run->git_dirty ? " with uncommitted changes" : "",
                run->blas);
    report_fact(out, "Settings", "%s%s%s%s%s%s",
                peer_is_on_gpus(record) ? "" : "DDP tuned: ", record->ddp,
                record->sgd[0] != '\0' ? "; SGD " : "", record->sgd,
                record->environment[0] != '\0' ? "; " : "", record->environment);
    report_fact(out, "Time of a step", "%s (%s)", record->step_time, record->clock);
    report_fact(out, "Rounds", "%s; %g s or more measured; %s; seed %s, %zu launches%s",
                record->warmup_rule, record->seconds, run->created_utc, record->seed,
                record->launches, record->complete ? "" : ", NOT FINISHED");
}

/* ---- parts of the page and of the summary ------------------------------------------------- */

void report_peer_head(struct text_out *out, const struct peer_record *record)
{
    text_print(out, "<section id=\"peer\">\n<h2>%s</h2>\n<p class=\"lead\">%s</p>\n",
               peer_title(record, PHRASE), checks_words(record, PHRASE));
}

void report_peer_tables(struct text_out *out, const struct report *report)
{
    report_table(out, report, REPORT_TABLE_PEER_STEPS);
    report_table(out, report, REPORT_TABLE_PEER_RATIOS);
    fputs("<p class=\"remark\">", out->file);
    report_bars(out, &report->peer->points);
    fputs("</p>\n<section class=\"tables\">\n<details>\n<summary><h3>How it was measured</h3> "
          "<span class=\"count\">next to PyTorch</span></summary>\n<dl>\n",
          out->file);
    say_settings(out, report->peer);
    fputs("</dl>\n</details>\n</section>\n</section>\n", out->file);
}

void report_peer_markdown(struct text_out *out, const struct report *report)
{
    const struct peer_record *record = report->peer;

    text_print(out, "\n## %s\n\nNext to %s, ", peer_title(record, PHRASE),
               peer_version_words(record, PHRASE));
    report_peer_verdict(out, record);
    text_print(out, " %s\n", checks_words(record, PHRASE));
    report_table(out, report, REPORT_TABLE_PEER_RATIOS);
    report_table(out, report, REPORT_TABLE_PEER_STEPS);
    fputs("\n", out->file);
    say_settings(out, record);
}
