/* report/html.c: writes the page. It is also well-formed XML, so that tests can show that all text
 * was escaped. It loads nothing and runs nothing. */
#include "report/page.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "check/record.h"
#include "machine/node.h"
#include "report/peer.h"

/* ---- strip: machine, commit and date, and three badges ------------------------------------ */

/* A grade is given up to this value; the last grade has no end. */
static const struct grade {
    const char *name;
    double most;
    enum report_tone tone;
} grades[] = {{"A", 0.01, REPORT_GOOD},
              {"B", 0.03, REPORT_GOOD},
              {"C", 0.10, REPORT_AMBER},
              {"D", INFINITY, REPORT_RED}};

static const char *percent_words(double share, char text[32])
{
    snprintf(text, 32, "%.*f\u00a0%%", 100.0 * share < 9.95 ? 1 : 0, 100.0 * share);
    return text;
}

static void noise_badge(const struct report *report, struct report_badge *badge)
{
    const struct report_noise *noise = &report->noise;
    const struct grade *grade = grades;
    const bool open = noise->open + noise->open_ratios > 0;
    char launches[64];

    if (!isfinite(noise->spread)) {
        badge->tone = REPORT_AMBER;
        report_add(badge->head, "noise unknown");
        report_add(badge->words,
                   "Each cell was measured fewer than %d times, so the noise is unknown. ",
                   REPORT_LEAST_OF_CELL);
        if (report->counts.missing > 0)
            report_add(badge->words, "Go on with --resume.");
        else
            report_add(badge->words, "Use --launches %d.", REPORT_LEAST_OF_INTERVAL);
        return;
    }
    while (noise->spread > grade->most)
        ++grade;
    badge->tone = grade->tone == REPORT_GOOD && open ? REPORT_AMBER : grade->tone;
    snprintf(launches, sizeof launches, "noise %s: launches \u00b1%s", grade->name,
             percent_words(noise->spread, WORD));
    if (!open)
        report_add(badge->head, "%s", launches);
    else {
        report_add(badge->head, "%s", report_noise_words(report, PHRASE));
        report_add(badge->words,
                   "They have a ? in the tables (Certain, under How to read this). All cells "
                   "together: %s. ",
                   launches);
    }
    report_add(badge->words,
               "Two such files show a change in the step time of a cell if it is at least %s%s",
               percent_words(noise->least, WORD),
               grade->tone == REPORT_GOOD ? "." : ", because launches of one cell lie far apart.");
}

static void verified_badge(const struct report *report, struct report_badge *badge)
{
    const struct report_counts *counts = &report->counts;

    report_verdict_words(report, badge->words);
    badge->tone =
        counts->verified == counts->planned && counts->planned > 0 ? REPORT_GOOD : REPORT_RED;
    for (size_t i = 0; i < report->n_all && badge->tone == REPORT_GOOD; ++i)
        badge->tone = report_simulated(&report->row[i]) ? REPORT_AMBER : REPORT_GOOD;
    for (size_t r = 0; r < report->n_runs && badge->tone == REPORT_GOOD; ++r) {
        if (report->run[r].sealed && report->run[r].planned)
            continue;
        badge->tone = REPORT_AMBER;
        report_add(badge->words, " A file is unsealed, or its plan was not checked.");
    }
    report_add(badge->head, "verified %zu/%zu", counts->verified, counts->planned);
}

/* Shares from these values on are mentioned. */
static const double LITTLE = 0.05, DRIFTED = 0.03;

/* Shows the run whose drift is the most significant; if none is significant, a run whose drift is
 * unknown comes first. Then the share of the cores that other programs took, and the launches that
 * were disturbed. */
static void state_badge(const struct report *report, struct report_badge *badge)
{
    const struct report_drift *drift = &report->run[0].drift;
    const size_t verified = report->counts.verified;
    size_t known = 0, little = 0, disturbed = 0; /* numbers of launches */
    double least = INFINITY;

    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct report_drift *of = &report->run[r].drift;
        const double p = isnan(of->change) ? REPORT_SHOWN : of->change_p;

        drift = p < least ? of : drift;
        least = fmin(p, least);
    }
    badge->tone = REPORT_AMBER;
    if (isnan(drift->change))
        report_add(badge->head, "state: drift unknown");
    else {
        report_add(badge->head, "state: drift %s%s", drift->change < 0.0 ? "\u2212" : "+",
                   percent_words(fabs(drift->change), WORD));
        if (drift->change_p <= REPORT_SHOWN || fabs(drift->change) > DRIFTED)
            report_add(badge->words, "Steps became %s while it ran, %s by chance. ",
                       drift->change < 0.0 ? "shorter" : "longer",
                       drift->change_p <= REPORT_SHOWN ? "and not" : "perhaps");
        else
            badge->tone = REPORT_GOOD;
    }
    for (size_t i = 0; i < report->n_all; ++i) {
        const struct report_row *row = &report->row[i];

        disturbed += report_disturbed(row);
        known += row->verified && !isnan(row->cell->foreign_frac);
        little += row->verified && row->cell->foreign_frac < LITTLE;
    }
    if (10 * little < 9 * verified || disturbed > 0)
        badge->tone = 10 * disturbed > known ? REPORT_RED : REPORT_AMBER;
    if (disturbed > 0)
        report_add(badge->head, ", %zu of %zu launches disturbed", disturbed, known);
    if (known > 0)
        report_add(
            badge->words,
            "Other programs took less than %.0f\u00a0%% of the cores in %zu of %zu launches.",
            100.0 * LITTLE, little, known);
}

void report_badge_print(struct text_out *out, const struct report_badge *badge)
{
    static const char *const tones[] = {"good", "amber", "bad"};
    static const char *const signs[] = {"\u2713", "!", "\u2717"};

    text_print(out,
               "<li class=\"badge %s\"><b><span aria-hidden=\"true\">%s</span> %s</b> "
               "<span class=\"why\">%s</span></li>\n",
               tones[badge->tone], signs[badge->tone], badge->head, badge->words);
}

static void (*const badges[])(const struct report *report, struct report_badge *badge) = {
    verified_badge, noise_badge, state_badge};
enum { BADGES = sizeof badges / sizeof badges[0] };

static void print_strip(struct text_out *out, const struct report *report)
{
    const struct record_run *run = report->run[0].run;
    /* The kernels come from a text like "OpenBLAS 0.3.21 ... (Zen), oneDNN 2.6.3 brg:avx2", where
     * the second library computes large products. */
    const char *set = strrchr(run->blas, '(');
    const size_t length = set ? strcspn(set + 1, ")") : 0;
    struct report_badge badge[BADGES] = {{.tone = REPORT_GOOD}};
    char text[REPORT_CELL_TEXT] = "", more[REPORT_CELL_TEXT] = "";

    report_add(text, "%s", run->cpu_model);
    if (length > 0)
        report_add(text, ", kernels %.*s%s", (int)length, set + 1,
                   set[1 + length] == ')' ? set + length + 2 : "");
    report_add(text, ", %d core%s, %d processing unit%s, %s", run->cores,
               text_s((size_t)run->cores), run->usable_pus, text_s((size_t)run->usable_pus),
               report_bytes((double)run->mem_bytes, WORD));
    report_add(more, "%.10s, commit %.12s%s%s", run->created_utc,
               run->git_sha[0] != '\0' ? run->git_sha : "unknown",
               run->git_dirty ? " with uncommitted changes" : "",
               report->many_runs ? ", and other runs" : "");
    text_print(out,
               "<header class=\"strip\">\n<div class=\"what\"><h1>Lockstep report</h1>\n"
               "<p><b>%s</b><br/>%s</p></div>\n<ul class=\"badges\">\n",
               text, more);
    for (size_t i = 0; i < BADGES; ++i) {
        badges[i](report, &badge[i]);
        report_badge_print(out, &badge[i]);
    }
    fputs("</ul>\n</header>\n", out->file);
}

/* ---- page --------------------------------------------------------------------------------- */

void report_head(struct text_out *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'\"/>\n"
          "<title>",
          out->file);
    text_print(out, "%s</title>\n<style>\n", title);
    fputs((const char *)report_asset_css, out->file);
    fputs("</style>\n</head>\n<body>\n<main>\n", out->file);
}

/* Prints the drawing of a figure, for wide pages or for narrow ones; the style sheet shows one of
 * them. It is copied from "<svg" on, because a page must not contain an XML declaration and a
 * DOCTYPE. */
static int print_drawing(struct text_out *out, const char *path, const char *name,
                         const char *class, struct text_error *err)
{
    FILE *svg = fopen(path, "r");
    char line[4096];
    bool inside = false, whole;

    if (!svg)
        return text_fail(err, "cannot read '%.180s': %s", path, strerror(errno));
    text_print(out,
               "<div class=\"drawing %s\" role=\"img\" aria-label=\"Figure of %s; the tables below "
               "have the numbers\">\n",
               class, name);
    while (fgets(line, sizeof line, svg)) {
        const char *start = inside ? line : strstr(line, "<svg");

        inside = start != NULL;
        if (inside)
            fputs(start, out->file);
    }
    fputs("</div>\n", out->file);
    whole = inside && !ferror(svg);
    fclose(svg);
    return whole ? 0 : text_fail(err, "cannot read '%.64s.svg' again", name);
}

/* Prints one figure, or why there is none. */
static int print_figure(struct text_out *out, const char *directory, const struct report *report,
                        const struct report_figures *figures, enum report_figure which,
                        struct text_error *err)
{
    const char *name = report_figure_names[which];
    char wide[1088], narrow[1088]; /* not all figures have both */

    if (figures->status[which] != PLOT_OK) {
        if (figures->why[which][0] != '\0' && (report->n_points > 0 || report->n_all == 0))
            text_print(out, "<p class=\"%s\">No figure of %s: %s.</p>\n",
                       figures->status[which] == PLOT_NONE ? "remark" : "note", name,
                       figures->why[which]);
        return 0;
    }
    snprintf(wide, sizeof wide, "%.960s/%s.svg", directory, name);
    snprintf(narrow, sizeof narrow, "%.960s/%s" PLOT_NARROW_SVG, directory, name);
    const bool both = access(narrow, F_OK) == 0;

    text_print(out,
               "<figure id=\"figure-%s\">\n<h2>%s</h2>\n<div class=\"scroll\" "
               "tabindex=\"0\">",
               name, report_figure_titles[which]);
    if (print_drawing(out, wide, name, both ? "wide" : "only", err) != 0 ||
        (both && print_drawing(out, narrow, name, "narrow", err) != 0))
        return -1;
    fputs("</div>\n<figcaption>", out->file);
    report_caption(out, figures, which);
    fputs("</figcaption>\n</figure>\n", out->file);
    return 0;
}

static void print_run(struct text_out *out, const struct record_run *run)
{
    char text[REPORT_CELL_TEXT];

    text_print(
        out,
        "<details>\n<summary><h3>Run %s</h3> <span class=\"count\">%s</span></summary>\n<dl>\n",
        run->run_id, run->created_utc);
    report_fact(out, "Source", "%s", run->source);
    report_fact(out, "Machine",
                "%s; packages %d, NUMA nodes %d, cores %d, processing units %d (%d usable), "
                "%.1f GiB; node %s, class %.12s",
                run->cpu_model, run->packages, run->numa_nodes, run->cores, run->pus,
                run->usable_pus, (double)run->mem_bytes / (double)(1 << 30), run->node_hash,
                run->machine_class[0] != '\0' ? run->machine_class : "unknown");
    report_fact(out, "System", "%s, %s, governor %s, load %.2f %.2f %.2f at start", run->kernel,
                run->libc, run->governor[0] != '\0' ? run->governor : "unknown", run->load_avg[0],
                run->load_avg[1], run->load_avg[2]);
    report_fact(out, "Devices", "%s, backend %s, communicator %s", run->devices, run->backend,
                run->communicator);
    /* "Model (cuda:0 to cuda:3); driver 13.0, ...". Successive GPUs of one model stand together. */
    text[0] = '\0';
    for (int first = 0, next; first < run->n_slots; first = next) {
        const struct record_slot *slot = &run->slot[first];

        for (next = first + 1;
             next < run->n_slots && strcmp(run->slot[next].model, slot->model) == 0; ++next)
            ;
        if (slot->model[0] == '\0')
            continue;
        report_add(text, "%s (%s", slot->model, slot->name);
        if (next - first > 1)
            report_add(text, " to %s", run->slot[next - 1].name);
        report_add(text, "); ");
    }
    if (text[0] != '\0')
        report_add(text, "%s", run->gpu_software);
    report_fact(out, "GPUs", "%s", text);
    report_fact(out, "Facts of GPUs", "%s", run->gpu_facts);
    if (run->node.n_numa + run->node.n_gpus + run->node.n_nics > 0) {
        fputs("<dt>Node</dt><dd><pre class=\"node\">", out->file);
        node_tree(out->file, TEXT_HTML, run);
        fputs("</pre></dd>\n", out->file);
    }
    report_fact(out, "Clock", "%s%stick %.0f ns, one reading %.0f ns", run->clock,
                run->clock[0] != '\0' ? ", " : "", run->timer_tick_ns, run->timer_overhead_ns);
    report_fact(out, "Start of a step", "%s", run->sync_method);
    report_fact(out, "Time of a step", "%s", run->rank_reduction);
    report_fact(out, "Commit", "%s%s, lockstep %s",
                run->git_sha[0] != '\0' ? run->git_sha : "unknown",
                run->git_dirty ? " with uncommitted changes" : "", run->program_version);
    report_fact(out, "Build", "%s, %s %s%s%s", run->compiler, run->build_type, run->cflags,
                run->sanitizers[0] != '\0' ? ", sanitizers " : "", run->sanitizers);
    report_fact(out, "Libraries", "%s; hwloc %s", run->blas, run->hwloc_version);
    report_fact(out, "Environment", "%s", run->environment);
    report_fact(out, "Options", "%s", run->command);
    report_fact(out, "Seed", "%llu", (unsigned long long)run->seed);
    report_fact(
        out, "Base case",
        "the plain program, or else DataParallel on one device, or else for DDP itself on one "
        "rank, of the same workload, setting and batch, if verified");
    fputs("</dl>\n</details>\n", out->file);
}

/* Prints the page of a comparison with PyTorch alone, after its head. Returns 0, or -1 and why. */
static int print_peer_body(struct text_out *out, const char *directory, const struct report *report,
                           const struct report_figures *figures, struct text_error *err)
{
    const bool good = peer_is_good(report->peer);

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
    text_print(out, "</p>\n<p class=\"lead\">Next to %s, ",
               peer_version_words(report->peer, PHRASE));
    report_peer_verdict(out, report->peer);
    fputs("</p>\n", out->file);
    if (report->conformance)
        fputs("<p><a href=\"" REPORT_CONFORMANCE "\">Conformance</a></p>\n", out->file);
    fputs("</header>\n", out->file);
    report_peer_head(out, report->peer);
    if (print_figure(out, directory, report, figures, REPORT_FIGURE_PEER, err) != 0)
        return -1;
    report_peer_tables(out, report);
    return 0;
}

/* Prints the whole page after its head. Returns 0, or -1. */
static int print_body(struct text_out *out, const char *directory, const struct report *report,
                      const struct report_figures *figures, struct text_error *err)
{
    const struct check_record *check = report->conformance;
    const struct report_answer answer = report_answer_of(report);

    text_print(out, "<p class=\"answer\">%s", answer.first);
    text_print(out, answer.rest[0] != '\0' ? "<small> %s</small></p>\n" : "%s</p>\n", answer.rest);
    print_strip(out, report);
    report_table(out, report, REPORT_TABLE_ANSWERS);
    fputs("<p class=\"lead\">", out->file);
    report_lead(out, report);
    fputs("</p>\n", out->file);
    if (report->peer) {
        text_print(out, "<p class=\"lead\"><a href=\"#peer\">Next to %s</a>, ",
                   peer_version_words(report->peer, PHRASE));
        report_peer_verdict(out, report->peer);
        fputs("</p>\n", out->file);
    }
    if (check)
        text_print(out,
                   "<p class=\"lead\"><a href=\"" REPORT_CONFORMANCE "\">Conformance</a>: %s of "
                   "%s</p>\n",
                   check->word, check->name[0] != '\0' ? check->name : check->options.impl);
    fputs("<ul class=\"cautions\">\n", out->file);
    report_cautions(out, report);
    fputs("</ul>\n<nav aria-label=\"Contents\">\n", out->file);
    for (int f = 0; f < REPORT_FIGURE_SLIDE; ++f)
        if (figures->status[f] == PLOT_OK && f != REPORT_FIGURE_PEER)
            text_print(out, "<a href=\"#figure-%s\">%s</a>\n", report_figure_names[f],
                       report_figure_titles[f]);
    if (report->peer)
        fputs("<a href=\"#peer\">Next to PyTorch</a>\n", out->file);
    fputs("<a href=\"#tables\">Tables</a>\n<a href=\"#reading\">How to read this</a>\n"
          "<a href=\"#provenance\">Provenance</a>\n</nav>\n<p class=\"remark\">",
          out->file);
    report_bars(out, report);
    fputs("</p>\n", out->file);
    for (int f = 0; f < REPORT_FIGURE_SLIDE; ++f) {
        if ((f == REPORT_FIGURE_PEER && !report->peer) ||
            (f == REPORT_FIGURE_LIMITS && !report->roof))
            continue;
        if (f == REPORT_FIGURE_PEER)
            report_peer_head(out, report->peer);
        if (print_figure(out, directory, report, figures, (enum report_figure)f, err) != 0)
            return -1;
        if (f == REPORT_FIGURE_PEER)
            report_peer_tables(out, report);
    }
    fputs("<h2 id=\"tables\">Tables</h2>\n", out->file);
    if (report->n_groups > 0)
        text_print(out,
                   "<section class=\"tables\" id=\"settings\">\n<details>\n<summary><h3>Workloads"
                   "</h3> <span class=\"count\">%zu workload%s</span></summary>\n",
                   report->n_groups, text_s(report->n_groups));
    for (size_t g = 0; g < report->n_groups; ++g) {
        text_print(out, "<div class=\"setting\">\n<h4>%s</h4>\n<dl>\n",
                   report_group_words(report, &report->group[g], PHRASE));
        report_facts(out, &report->group[g]);
        fputs("</dl>\n</div>\n", out->file);
    }
    if (report->n_groups > 0)
        fputs("</details>\n</section>\n", out->file);
    report_tables(out, report);
    return 0;
}

int report_page(const char *directory, const struct report *report,
                const struct report_figures *figures, struct text_error *err)
{
    const bool records = report->n_files > 0;
    struct text_out out;

    if (text_open(&out, directory, "index.html", TEXT_HTML, err) != 0)
        return -1;
    report_head(&out, records ? "Lockstep report" : "Lockstep next to PyTorch");
    if ((records ? print_body : print_peer_body)(&out, directory, report, figures, err) != 0) {
        text_discard(&out);
        return -1;
    }
    if (records) {
        fputs((const char *)report_asset_reading, out.file);
        fputs("<footer id=\"provenance\">\n<h2>Provenance</h2>\n", out.file);
        for (size_t f = 0; f < report->n_files; ++f)
            print_run(&out, &report->file[f].run);
        text_print(
            &out,
            "<h3>To repeat this</h3>\n<pre>lockstep sweep %s <span>--out again.jsonl</span>\n"
            "lockstep report again.jsonl <span>--out again</span></pre>\n</footer>\n",
            report->run[0].run->command);
    }
    fputs("</main>\n</body>\n</html>\n", out.file);
    return text_close(&out, err);
}
