/* report/html.c: the page. It is also well-formed XML, which is how the tests know that nothing
 * went through unescaped; it loads nothing and runs nothing. */
#include "report/report.h"

#include <errno.h>
#include <string.h>

#include "check/record.h"
#include "report/peer_report.h"

/* More settings than this are folded up. */
enum { MANY_GROUPS = 6 };

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

/* A setting after the other; many of them are folded up. */
static void scaling(struct text_out *out, const struct report *report)
{
    static const struct report_fact_style style = {"<dt>", "</dt><dd>", "</dd>\n"};
    const bool folded = report->n_groups > MANY_GROUPS;
    char text[REPORT_CELL_TEXT];

    if (folded)
        text_print(out, "<details>\n<summary>%zu settings, one by one</summary>\n",
                   report->n_groups);
    for (size_t g = 0; g < report->n_groups; ++g) {
        report_group_words(report, &report->group[g], text);
        text_print(out, "<section class=\"setting\">\n<h3>%s</h3>\n<dl>\n", text);
        report_facts(out, &style, report, &report->group[g]);
        fputs("</dl>\n</section>\n", out->file);
    }
    fputs(folded ? "</details>\n" : "", out->file);
}

static void header(struct text_out *out, const struct report *report)
{
    bool good = report->counts.verified == report->counts.planned;

    fputs("<header>\n<h1>Lockstep report</h1>\n", out->file);
    text_print(out, "<p class=\"verdict %s\"><span aria-hidden=\"true\">%s</span> ",
               good ? "good" : "bad", good ? "\u2713" : "\u2717");
    report_verdict(out, report);
    fputs("</p>\n<p class=\"lead\">", out->file);
    report_lead(out, report);
    fputs("</p>\n<ul class=\"cautions\">\n", out->file);
    report_cautions(out, report, "<li>", "</li>\n");
    fputs("</ul>\n", out->file);
    scaling(out, report);
    if (report->peer) {
        fputs("<p><a href=\"#peer\">Beside PyTorch</a>: ", out->file);
        report_peer_verdict(out, report->peer);
        fputs("</p>\n", out->file);
    }
    if (report->conformance)
        text_print(out, "<p><a href=\"" REPORT_CONFORMANCE "\">Conformance</a>: %s of %s</p>\n",
                   check_record_words[report->conformance->verdict],
                   report->conformance->name[0] != '\0' ? report->conformance->name
                                                        : report->conformance->spec);
    fputs("</header>\n", out->file);
}

/* Copies from "<svg" on: the XML declaration and DOCTYPE have no place inside a page. */
static int inline_svg(struct text_out *out, const char *directory, const char *name,
                      struct text_error *err)
{
    char path[1024], line[4096];
    bool inside = false;
    FILE *svg = NULL;

    if (snprintf(path, sizeof path, "%s/%s", directory, name) < (int)sizeof path)
        svg = fopen(path, "r");
    if (!svg) {
        snprintf(err->text, sizeof err->text, "cannot read '%.180s': %s", path, strerror(errno));
        return -1;
    }
    while (fgets(line, sizeof line, svg)) {
        const char *start = inside ? line : strstr(line, "<svg");

        inside = start != NULL;
        if (inside)
            fputs(start, out->file);
    }
    fclose(svg);
    return 0;
}

static const char *const titles[REPORT_FIGURES] = {
    [REPORT_FIGURE_THROUGHPUT] = "Throughput",
    [REPORT_FIGURE_SCALING] = "Scaling",
    [REPORT_FIGURE_PHASES] = "Where a step goes",
    [REPORT_FIGURE_SHARDS] = "Shards",
    [REPORT_FIGURE_DISTRIBUTION] = "Step times",
    [REPORT_FIGURE_PEER] = "Side by side",
    [REPORT_FIGURE_MODES] = "DataParallel and DistributedDataParallel",
    [REPORT_FIGURE_OVERLAP] = "Communication and what is hidden of it",
};

int report_figure(struct text_out *out, const char *directory, const struct report *report,
                  const struct report_figures *figures, enum report_figure which,
                  struct text_error *err)
{
    const char *name = report_figure_names[which];
    char file[32];

    if (figures->status[which] != PLOT_OK) {
        if (figures->why[which][0] != '\0')
            text_print(out, "<p class=\"note\">No figure of %s: %s.</p>\n", name,
                       figures->why[which]);
        return 0;
    }
    snprintf(file, sizeof file, "%s.svg", name);
    text_print(out,
               "<figure id=\"figure-%s\">\n<h2>%s</h2>\n<div class=\"scroll\" tabindex=\"0\">"
               "<div class=\"drawing\" role=\"img\" aria-label=\"Figure of %s; the tables below "
               "have the numbers\">\n",
               name, titles[which], name);
    if (inline_svg(out, directory, file, err) != 0)
        return -1;
    fputs("</div></div>\n<figcaption>", out->file);
    report_caption(out, report, which);
    fputs("</figcaption>\n</figure>\n", out->file);
    return 0;
}

static void fact(struct text_out *out, const char *name, const char *value)
{
    if (value[0] != '\0')
        text_print(out, "<dt>%s</dt><dd>%s</dd>\n", name, value);
}

/* "Model (cuda:0 to cuda:3); driver 13.0, ...": neighbours of one model in one word. */
static void gpus(struct text_out *out, const struct record_run *run)
{
    char text[REPORT_CELL_TEXT] = "";

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
    if (text[0] == '\0')
        return;
    report_add(text, "%s", run->gpu_software);
    text_clean(text, ' ');
    fact(out, "GPUs", text);
}

static void machine(struct text_out *out, const struct record_run *run)
{
    char text[REPORT_CELL_TEXT];

    snprintf(text, sizeof text,
             "%s; packages %d, NUMA nodes %d, cores %d, processing units %d (%d usable), "
             "%.1f GiB; node %s, class %.12s",
             run->cpu_model, run->packages, run->numa_nodes, run->cores, run->pus, run->usable_pus,
             (double)run->mem_bytes / (double)(1 << 30), run->node_hash,
             run->machine_class[0] != '\0' ? run->machine_class : "unknown");
    fact(out, "Machine", text);
    snprintf(text, sizeof text, "%s, %s, governor %s, load %.2f %.2f %.2f at start", run->kernel,
             run->libc, run->governor[0] != '\0' ? run->governor : "unknown", run->load_avg[0],
             run->load_avg[1], run->load_avg[2]);
    fact(out, "System", text);
    snprintf(text, sizeof text, "%s, backend %s, communicator %s", run->devices, run->backend,
             run->communicator);
    fact(out, "Devices", text);
    gpus(out, run);
    snprintf(text, sizeof text, "%s%stick %.0f ns, one reading %.0f ns", run->clock,
             run->clock[0] != '\0' ? ", " : "", run->timer_tick_ns, run->timer_overhead_ns);
    fact(out, "Clock", text);
    fact(out, "Start of a step", run->sync_method);
    fact(out, "Time of a step", run->rank_reduction);
}

static void provenance(struct text_out *out, const struct record_run *run)
{
    char text[REPORT_CELL_TEXT];

    text_print(out, "<h3>Run %s, %s</h3>\n<dl>\n", run->run_id, run->created_utc);
    fact(out, "Source", run->source);
    machine(out, run);
    snprintf(text, sizeof text, "%s%s, lockstep %s",
             run->git_sha[0] != '\0' ? run->git_sha : "unknown",
             run->git_dirty ? " with uncommitted changes" : "", run->program_version);
    fact(out, "Commit", text);
    snprintf(text, sizeof text, "%s, %s %s%s%s", run->compiler, run->build_type, run->cflags,
             run->sanitizers[0] != '\0' ? ", sanitizers " : "", run->sanitizers);
    fact(out, "Build", text);
    snprintf(text, sizeof text, "%s; hwloc %s", run->blas, run->hwloc_version);
    fact(out, "Libraries", text);
    fact(out, "Environment", run->environment);
    fact(out, "Options", run->command);
    snprintf(text, sizeof text, "%llu", (unsigned long long)run->seed);
    fact(out, "Seed", text);
    fact(out, "Base case",
         "the plain program, or else DataParallel on one device, of the same workload, "
         "setting and batch, if verified");
    fputs("</dl>\n", out->file);
}

/* Where a long page goes on. */
static void contents(struct text_out *out, const struct report *report,
                     const struct report_figures *figures)
{
    fputs("<nav aria-label=\"Contents\">\n", out->file);
    for (int f = 0; f < REPORT_FIGURES; ++f)
        if (figures->status[f] == PLOT_OK)
            text_print(out, "<a href=\"#figure-%s\">%s</a>\n", report_figure_names[f], titles[f]);
    fputs("<a href=\"#counts\">Counts</a>\n<a href=\"#bases\">Base cases</a>\n", out->file);
    for (int t = 0; t < REPORT_RANKS_TABLES; ++t)
        if (report_ranks_count(report, (enum report_ranks)t) > 0)
            text_print(out, "<a href=\"#%s\">%s</a>\n", report_ranks_tables[t].id,
                       report_ranks_tables[t].title);
    if (report->counts.verified < report->n_rows)
        fputs("<a href=\"#failures\">Failed and skipped</a>\n", out->file);
    fputs("<a href=\"#cells\">Cells</a>\n<a href=\"#reading\">How to read this</a>\n"
          "<a href=\"#provenance\">Provenance</a>\n</nav>\n",
          out->file);
}

static int peer_section(struct text_out *out, const char *directory, const struct report *report,
                        const struct report_figures *figures, struct text_error *err)
{
    report_peer_head(out, report->peer);
    if (report_figure(out, directory, report, figures, REPORT_FIGURE_PEER, err) != 0)
        return -1;
    report_peer_tables(out, report->peer);
    return 0;
}

int report_page(const char *directory, const struct report *report,
                const struct report_figures *figures, struct text_error *err)
{
    struct text_out out;
    int status = 0;

    if (text_open(&out, directory, "index.html", TEXT_HTML, err) != 0)
        return -1;
    report_head(&out, "Lockstep report");
    header(&out, report);
    contents(&out, report, figures);
    for (int f = 0; f < REPORT_FIGURE_PEER && status == 0; ++f)
        status = report_figure(&out, directory, report, figures, (enum report_figure)f, err);
    report_tables(&out, report);
    if (status == 0 && report->peer)
        status = peer_section(&out, directory, report, figures, err);
    if (status != 0) {
        text_discard(&out);
        return -1;
    }
    fputs((const char *)report_asset_reading, out.file);
    fputs("<footer id=\"provenance\">\n<h2>Provenance</h2>\n", out.file);
    for (size_t f = 0; f < report->n_files; ++f)
        provenance(&out, &report->file[f].run);
    fputs("</footer>\n</main>\n</body>\n</html>\n", out.file);
    return text_close(&out, err);
}
