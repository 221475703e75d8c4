/* report/peer_page.c: prints a comparison with PyTorch: as a part of the page and of summary.md,
 * and as a page of the comparison alone. */
#include "report/peer.h"

#include <math.h>
#include <string.h>

#include "descriptor.h"

/* With a higher load when the comparison started, the machine was busy: so many other processes
 * ran. */
static const double BUSY = 0.5;

/* ---- names -------------------------------------------------------------------------------- */

void peer_version_names(const struct peer_record *record, char text[REPORT_CELL_TEXT])
{
    snprintf(text, REPORT_CELL_TEXT, "PyTorch %s", record->pytorch.torch);
    for (size_t i = 0; i < record->n_beside; ++i)
        report_add(text, "%s%s", i + 1 < record->n_beside ? ", " : " and ",
                   record->beside[i].torch);
}

static void peer_title(const struct peer_record *record, char text[REPORT_CELL_TEXT])
{
    char names[REPORT_CELL_TEXT];

    peer_version_names(record, names);
    text[0] = '\0';
    report_add(text, "Beside %s, %s%s", names,
               !peer_is_on_gpus(record) ? "DistributedDataParallel over gloo"
               : strcmp(peer_parallel_name(&record->cell[0]), "DP") == 0
                   ? "DataParallel on GPUs"
                   : "DataParallel, and DistributedDataParallel over NCCL, on GPUs",
               peer_is_tf32(record) ? ", in TF32" : "");
}

/* Appends "lockstep DataParallel, 2 devices". The rows of a device are those of the first one. */
static void add_arm(char text[REPORT_CELL_TEXT], const struct peer_arm *arm,
                    const struct peer_cell *cell)
{
    const struct peer_kind_row *kind = &peer_kinds[arm->kind];
    const size_t n = (size_t)arm->devices, rows = cell->batch / n + (cell->batch % n != 0);
    const char *first = NULL;
    bool several = false; /* there are several versions of PyTorch */

    report_add(text, "%s, ", kind->name);
    if (arm->kind == PEER_PYTORCH_PRODUCTS)
        report_add(text, "%zu x ", n);
    if (kind->on)
        report_add(text, "%zu %s%s", n, kind->on,
                   n == 1                             ? ""
                   : strcmp(kind->on, "process") == 0 ? "es"
                                                      : "s");
    else
        report_add(text, "%zu rows", rows);
    for (size_t a = 0; a < cell->n_arms; ++a) {
        const char *torch = cell->arm[a].torch;

        several = several || (torch[0] != '\0' && first && strcmp(torch, first) != 0);
        first = torch[0] != '\0' ? torch : first;
    }
    if (arm->torch[0] != '\0' && several)
        report_add(text, " (%s)", arm->torch);
}

/* ---- tables ------------------------------------------------------------------------------- */

static void add_cell(struct grid *grid, const struct peer_cell *cell)
{
    char text[REPORT_CELL_TEXT] = "";

    report_add(text, "%s, batch %zu", cell->workload, cell->batch);
    grid_group(grid, text);
    grid_name(grid, text);
}

static void step_row(struct grid *grid, const struct peer_cell *cell, const struct peer_arm *arm)
{
    const struct report_value step = peer_step(arm);
    char text[REPORT_CELL_TEXT] = "";

    grid_row(grid, arm->failed > 0 ? "failed" : "good");
    add_arm(text, arm, cell);
    grid_cell(grid, "text", "%s", text);
    report_cell_number(grid, step.middle, report_time);
    report_cell_range(grid, &step, report_time);
    report_cell_number(grid, peer_outside(arm).middle, report_share);
    text[0] = '\0';
    if (arm->absent[0] != '\0')
        report_add(text, "absent: %s", arm->absent);
    else
        report_add(text, "%zu", arm->n - arm->failed);
    if (arm->absent[0] == '\0' && arm->wrong)
        report_add(text, ", WRONG NUMBERS, not reported: %s", arm->reason);
    else if (arm->absent[0] == '\0' && arm->failed > 0)
        report_add(text, ", %zu FAILED: %s", arm->failed, arm->reason);
    grid_cell(grid, "number status", "%s", text);
}

static void fill_steps(struct grid *grid, const struct peer_record *record)
{
    grid_headings(grid, "text", "Program");
    grid_headings(grid, "number",
                  "Median step|[interval] or range|Outside matrix products|Launches");
    for (size_t c = 0; c < record->n_cells; ++c) {
        add_cell(grid, &record->cell[c]);
        for (size_t a = 0; a < record->cell[c].n_arms; ++a)
            step_row(grid, &record->cell[c], &record->cell[c].arm[a]);
    }
}

static void ratio_row(struct grid *grid, const struct peer_cell *cell,
                      const struct peer_comparison *one)
{
    char text[REPORT_CELL_TEXT] = "";

    grid_row(grid, "");
    grid_cell(grid, "text", "%s", one->name);
    report_cell_number(grid, one->value.middle, report_ratio);
    report_cell_range(grid, &one->value, report_ratio);
    grid_cell(grid, "number", "%zu", one->value.n);
    if (one->of > 0 && one->fastest && peer_is_lockstep(one->fastest))
        report_add(text, "those of ");
    if (one->fastest)
        add_arm(text, one->fastest, cell);
    if (one->of > 0)
        report_add(text, ", in %zu of %zu", one->rounds, one->of);
    grid_cell(grid, "text", "%s", one->fastest ? text : "-");
}

static void fill_ratios(struct grid *grid, const struct peer_record *record)
{
    struct peer_comparison list[PEER_COMPARISONS];

    grid_headings(grid, "text", "Ratio of steps");
    grid_headings(grid, "number", "Median|[interval] or range|Pairs");
    grid_headings(grid, "text", "Fastest of several");
    for (size_t c = 0; c < record->n_cells; ++c) {
        const size_t n = peer_compare(record, &record->cell[c], list);

        add_cell(grid, &record->cell[c]);
        for (size_t i = 0; i < n; ++i)
            ratio_row(grid, &record->cell[c], &list[i]);
    }
    snprintf(grid->contents, sizeof grid->contents,
             "below 1, lockstep is faster; for a speed-up, higher is better");
}

static int peer_table(struct text_out *out, const struct peer_record *record, bool ratios)
{
    struct grid grid;
    int status;

    if (ratios)
        grid_open(&grid, out, "peer-ratios", "Ratios beside PyTorch");
    else
        grid_open(&grid, out, "peer-steps", "Step times beside PyTorch");
    grid.names = "Workload";
    grid.right = true;
    if (ratios)
        fill_ratios(&grid, record);
    else
        fill_steps(&grid, record);
    if (grid.brief)
        fputs("\n", out->file);
    status = grid.brief ? grid_markdown(&grid, grid.rows) : grid_html(&grid);
    grid_close(&grid);
    return status;
}

/* ---- sentences ---------------------------------------------------------------------------- */

/* Appends "0.45 [0.44, 0.47]". */
static void add_ratio_range(char text[REPORT_CELL_TEXT], const struct report_value *ratio)
{
    const bool interval = ratio->range == REPORT_INTERVAL;

    if (!isfinite(ratio->middle)) {
        report_add(text, "an unknown part");
        return;
    }
    report_add_ratio(text, ratio->middle);
    if (ratio->range == REPORT_NONE)
        return;
    report_add(text, interval ? " " : " (");
    report_add_range(text, ratio, report_ratio);
    report_add(text, interval ? "" : ")");
}

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
               record->devices, record->devices == 1 ? "" : "s",
               peer_is_tf32(record) ? ", in TF32 on both sides" : "");
    for (size_t c = 0; c < record->n_cells; ++c) {
        char text[REPORT_CELL_TEXT] = "";

        peer_compare(record, &record->cell[c], list);
        add_ratio_range(text, &list[0].value);
        text_print(out, "%s%s%s (%s, batch %zu)", c == 0 ? "" : ", ", text,
                   c == 0 ? " of the time of PyTorch's fastest program" : "",
                   record->cell[c].workload, record->cell[c].batch);
    }
    text_print(out, ".");
    for (size_t c = 0; c < record->n_cells; ++c)
        for (size_t a = 0; a < record->cell[c].n_arms; ++a) {
            const struct peer_arm *arm = &record->cell[c].arm[a];
            char text[REPORT_CELL_TEXT] = "";

            if (arm->absent[0] == '\0' || lacked_before(record, c, arm))
                continue;
            add_arm(text, arm, &record->cell[c]);
            text_print(out, " Absent: %s: %s.", text, arm->absent);
        }
    if (failed > 0)
        text_print(out, " %zu launches FAILED.", failed);
    if (record->load_start > BUSY)
        text_print(out, " The machine was busy at the start (see its load): these times say "
                        "little, and PyTorch's processes suffer more from it.");
    if (record->oversubscribed)
        text_print(out, " There are more devices than cores: no evidence of scaling.");
    if (!record->complete)
        text_print(out, " The comparison was not finished.");
}

void report_peer_caption(struct text_out *out, const struct peer_record *record)
{
    struct report_span interval = {0}, range = {0};
    double coverage = 1.0; /* the smallest of all */
    char text[REPORT_CELL_TEXT] = "";

    for (size_t c = 0; c < record->n_cells; ++c)
        for (size_t a = 0; a < record->cell[c].n_arms; ++a) {
            const struct report_value step = peer_step(&record->cell[c].arm[a]);

            if (step.range == REPORT_INTERVAL) {
                report_span_add(&interval, step.n);
                coverage = fmin(coverage, step.coverage);
            } else if (step.range == REPORT_LAUNCHES)
                report_span_add(&range, step.n);
        }
    text_print(out, "Ratios of step times, lockstep over PyTorch, a panel per workload and batch: "
                    "the median over rounds of the ratio of the median steps of two launches");
    if (interval.hi > 0) {
        report_add(
            text,
            ", with its interval by order statistics (%.1f\u00a0%% or more, of launches that are "
            "independent, in this sitting; ",
            100 * coverage);
        report_add_span(text, interval);
        report_add(text, " launches)");
    }
    if (range.hi > 0) {
        report_add(text, "%s with the range of ", interval.hi > 0 ? ", or" : ",");
        report_add_span(text, range);
        report_add(text, " launches, too few for an interval");
    }
    if (interval.hi + range.hi == 0)
        report_add(text, "; one launch shows no spread");
    text_print(
        out,
        "%s. Left of 1 lockstep's step is the shorter one. Ticks: limits, which a ratio "
        "keeps (MET) or not (MISSED) only where its whole interval does; else it is OPEN. Of "
        "PyTorch's programs that do the same the fastest counts: the table of ratios names it.",
        text);
}

static bool rounds_in_peers(const struct workload *workload)
{
    return workload->is->peer && !workload_is_exact(workload);
}

/* Writes the checks that a launch passed before it counted. */
static void checks_words(const struct peer_record *record, char text[REPORT_CELL_TEXT])
{
    char names[160];

    workload_names(rounds_in_peers, names, sizeof names);
    text[0] = '\0';
    report_add(text,
               "Every step of every launch was checked, PyTorch's against a float64 model of its "
               "own on the same data: models that round (%s) within derived bounds, the others bit "
               "for bit; an arm that left a wrong number is not reported. Launches are fresh "
               "processes, in rounds of random order; ratios are paired by round.",
               names);
    if (peer_is_tf32(record))
        report_add(text, " In TF32 numbers of exact models fit its 11 bits, and bounds are wider "
                         "by what that model changes when operands are moved by the most that TF32 "
                         "may move them.");
}

/* ---- settings ----------------------------------------------------------------------------- */

static const char *const setting_names[] = {"Machine",  "PyTorch",        "Lockstep",
                                            "Settings", "Time of a step", "Rounds"};
enum { SETTINGS = sizeof setting_names / sizeof setting_names[0] };

static void add_versions(char text[REPORT_CELL_TEXT], const struct peer_versions *of)
{
    report_add(text, "%s, python %s, %s%s%s", of->torch, of->python, of->torch_blas,
               of->gloo[0] != '\0' ? ", " : "", of->gloo);
}

static void setting_words(const struct peer_record *record, int which, char text[REPORT_CELL_TEXT])
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
        add_versions(text, &record->pytorch);
        for (size_t i = 0; i < record->n_beside; ++i) {
            report_add(text, "; beside it ");
            add_versions(text, &record->beside[i]);
        }
        break;
    case 2:
        report_add(text, "%s (%s build), commit %s%s, %s", record->lockstep, record->build_type,
                   record->git_sha, record->git_dirty ? " with uncommitted changes" : "",
                   record->lockstep_blas);
        break;
    case 3:
        report_add(text, "%s%s%s%s%s%s", peer_is_on_gpus(record) ? "" : "DDP tuned: ", record->ddp,
                   record->sgd[0] != '\0' ? "; SGD " : "", record->sgd,
                   record->environment[0] != '\0' ? "; " : "", record->environment);
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

/* ---- parts of the page and of the summary ------------------------------------------------- */

void report_peer_head(struct text_out *out, const struct peer_record *record)
{
    char text[REPORT_CELL_TEXT];

    peer_title(record, text);
    text_print(out, "<section id=\"peer\">\n<h2>%s</h2>\n", text);
    checks_words(record, text);
    text_print(out, "<p class=\"lead\">%s</p>\n", text);
}

int report_peer_tables(struct text_out *out, const struct peer_record *record)
{
    char text[REPORT_CELL_TEXT];
    const int steps = peer_table(out, record, false), ratios = peer_table(out, record, true);

    fputs("<section class=\"tables\">\n<details>\n<summary><h3>How it was measured</h3> "
          "<span class=\"count\">beside PyTorch</span></summary>\n<dl>\n",
          out->file);
    for (int s = 0; s < SETTINGS; ++s) {
        setting_words(record, s, text);
        text_print(out, "<dt>%s</dt><dd>%s</dd>\n", setting_names[s], text);
    }
    fputs("</dl>\n</details>\n</section>\n</section>\n", out->file);
    return steps | ratios;
}

int report_peer_markdown(struct text_out *out, const struct peer_record *record)
{
    char text[REPORT_CELL_TEXT], names[REPORT_CELL_TEXT];

    peer_title(record, text);
    peer_version_names(record, names);
    text_print(out, "\n## %s\n\nBeside %s, ", text, names);
    report_peer_verdict(out, record);
    checks_words(record, text);
    text_print(out, " %s\n", text);
    const int ratios = peer_table(out, record, true), steps = peer_table(out, record, false);

    fputs("\n", out->file);
    for (int s = 0; s < SETTINGS; ++s) {
        setting_words(record, s, text);
        text_print(out, "- %s: %s\n", setting_names[s], text);
    }
    return ratios | steps;
}

/* ---- a page of nothing else --------------------------------------------------------------- */

/* Returns 0, or -1 and why. */
static int write_body(struct text_out *out, const char *directory, const struct report *report,
                      const struct report_figures *figures, struct text_error *err)
{
    const bool good = peer_is_good(report->peer);
    char names[REPORT_CELL_TEXT];

    report_head(out, "Lockstep beside PyTorch");
    text_print(out,
               "<header>\n<h1>Lockstep report</h1>\n<p class=\"verdict %s\">"
               "<span aria-hidden=\"true\">%s</span> ",
               good ? "good" : "bad", good ? "\u2713" : "\u2717");
    if (good)
        text_print(out, "All launches of lockstep and of PyTorch were checked, and right.");
    else if (peer_failed(report->peer) > 0)
        text_print(out, "Launches that FAILED: %zu.", peer_failed(report->peer));
    else
        text_print(out, "The comparison was not finished.");
    peer_version_names(report->peer, names);
    text_print(out, "</p>\n<p class=\"lead\">Beside %s, ", names);
    report_peer_verdict(out, report->peer);
    fputs("</p>\n", out->file);
    if (report->conformance)
        fputs("<p><a href=\"" REPORT_CONFORMANCE "\">Conformance</a></p>\n", out->file);
    fputs("</header>\n", out->file);
    report_peer_head(out, report->peer);
    if (report_figure(out, directory, report, figures, REPORT_FIGURE_PEER, err) != 0)
        return -1;
    if (report_peer_tables(out, report->peer) != 0)
        return text_fail(err, "no memory for the tables");
    fputs("</main>\n</body>\n</html>\n", out->file);
    return 0;
}

int report_peer_page(const char *directory, const struct report *report,
                     const struct report_figures *figures, struct text_error *err)
{
    struct text_out out;

    if (text_open(&out, directory, "index.html", TEXT_HTML, err) != 0)
        return -1;
    if (write_body(&out, directory, report, figures, err) != 0) {
        text_discard(&out);
        return -1;
    }
    if (text_close(&out, err) != 0 ||
        text_open(&out, directory, "summary.md", TEXT_MARKDOWN, err) != 0)
        return -1;
    fputs("# Lockstep report\n", out.file);
    if (report_peer_markdown(&out, report->peer) != 0) {
        text_discard(&out);
        return text_fail(err, "no memory for the tables");
    }
    if (figures->status[REPORT_FIGURE_PEER] == PLOT_OK)
        fputs("\n![Step times beside PyTorch](peer.png)\n", out.file);
    return text_close(&out, err);
}
