/* report/markdown.c: writes summary.md, for pull requests and the job pages of CI. It is short,
 * whatever the size of the sweep, but it has all failures. */
#include "report/page.h"
#include "report/peer.h"

/* The page has all of them. */
enum { MAX_FAILURES = 100, MAX_RUNS = 8, MAX_GROUPS = 8 };

void report_summary(struct text_out *out, const struct report *report,
                    const struct report_figures *figures)
{
    const size_t all = report->n_all - report->counts.verified;
    const size_t runs = report->n_runs < MAX_RUNS ? report->n_runs : MAX_RUNS;
    const size_t groups = report->n_groups < MAX_GROUPS ? report->n_groups : MAX_GROUPS;
    char amount[RECORD_AMOUNT_TEXT];
    size_t shown = 0;

    text_print(out, "# Lockstep report\n\n**%s**\n\n%s ", report_answer_words(report, PHRASE),
               report_verdict_words(report, PHRASE));
    report_lead(out, report);
    fputs("\n\n", out->file);
    report_cautions(out, report);
    report_shares(out, report);
    for (size_t g = 0; g < groups; ++g) {
        text_print(out, "\n**%s**\n\n", report_group_words(report, &report->group[g], PHRASE));
        report_facts(out, &report->group[g]);
    }
    report_left(out, report->n_groups, groups, "workloads");
    if (figures && figures->status[REPORT_FIGURE_BATCH] == PLOT_OK) {
        fputs("\n![Samples/s per device against rows per device](batch.png)\n\n", out->file);
        report_caption(out, figures, REPORT_FIGURE_BATCH);
        fputs(" ", out->file);
        report_bars(out, report);
        fputs("\n", out->file);
    }
    report_brief_tables(out, report);
    if (all > 0)
        fputs("\n## Failed and skipped\n\n", out->file);
    for (size_t i = 0; i < report->n_all && shown < MAX_FAILURES; ++i) {
        const struct record_key *key = &report->row[i].cell->key;

        if (report->row[i].verified)
            continue;
        record_amount_words(key, amount);
        text_print(out, "- %s, %s, %d device%s, %s, launch %d, run %s: %s\n", key->workload,
                   key->mode, key->n_devices, text_s((size_t)key->n_devices), amount, key->launch,
                   report->row[i].run->run_id, report_failure_words(&report->row[i], PHRASE));
        ++shown;
    }
    report_left(out, all, shown, "launches without a result");
    if (report->n_points > 0)
        fputs("\nSpeed-up: the base's step over this one, launch by launch, then the median. "
              "Efficiency: speed-up per device, of what whole shards and cores allow.\n",
              out->file);
    if (report->peer)
        report_peer_markdown(out, report);
    fputs("\n## Provenance\n\n", out->file);
    for (size_t r = 0; r < runs; ++r) {
        const struct record_run *run = report->run[r].run;

        text_print(out, "- Run %s (%s), %s, commit %s%s, lockstep %s, %s, %s/%s on %s, %s\n",
                   run->run_id, run->created_utc, run->cpu_model,
                   run->git_sha[0] != '\0' ? run->git_sha : "unknown",
                   run->git_dirty ? " with uncommitted changes" : "", run->program_version,
                   run->blas, run->backend, run->communicator, run->devices, run->source);
        text_print(out, "  - options: %s\n", run->command);
    }
    report_left(out, report->n_runs, runs, "runs");
}

int report_markdown(const char *directory, const struct report *report,
                    const struct report_figures *figures, struct text_error *err)
{
    struct text_out out;

    if (text_open(&out, directory, "summary.md", TEXT_MARKDOWN, err) != 0)
        return -1;
    if (report->n_files > 0)
        report_summary(&out, report, figures);
    else {
        fputs("# Lockstep report\n", out.file);
        report_peer_markdown(&out, report);
        if (figures->status[REPORT_FIGURE_PEER] == PLOT_OK)
            fputs("\n![Step times next to PyTorch](peer.png)\n", out.file);
    }
    return text_close(&out, err);
}
