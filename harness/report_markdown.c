/* report_markdown.c: summary.md, for pull requests and job summaries. */
#include "report.h"

static void header(struct report_out *out)
{
    fputs("| Workload |", out->file);
    for (int c = 0; c < REPORT_COLUMNS; c++)
        report_print(out, " %s |", report_column_names[c]);
    fputs("\n| :--- |", out->file);
    for (int c = 0; c < REPORT_COLUMNS; c++)
        fputs(c == REPORT_STATUS || c == REPORT_PHASES || c == REPORT_SHARDS ? " :--- |"
                                                                             : " ---: |",
              out->file);
    fputs("\n", out->file);
}

static void table(struct report_out *out, const struct report *report)
{
    char text[REPORT_CELL_TEXT];

    header(out);
    for (size_t i = 0; i < report->n_points; i++) {
        report_print(out, "| %s |", report->point[i].row->cell->key.workload);
        for (int c = 0; c < REPORT_COLUMNS; c++) {
            report_point_words(report, &report->point[i], (enum report_column)c, text);
            report_print(out, " %s |", text);
        }
        fputs("\n", out->file);
    }
}

static void provenance(struct report_out *out, const struct report *report)
{
    for (size_t f = 0; f < report->n_files; f++) {
        const struct record_run *run = &report->file[f].run;

        report_print(out, "- Run %s (%s), %s, commit %s%s, lockstep %s, %s, %s/%s on %s, %s\n",
                     run->run_id, run->created_utc, run->cpu_model,
                     run->git_sha[0] != '\0' ? run->git_sha : "unknown",
                     run->git_dirty ? " with uncommitted changes" : "", run->program_version,
                     run->blas, run->backend, run->communicator, run->devices, run->source);
        report_print(out, "  - options: %s\n", run->command);
    }
}

int report_markdown(const char *directory, const struct report *report,
                    const struct report_figures *figures, struct record_error *err)
{
    struct report_out out;
    char text[REPORT_CELL_TEXT];

    if (report_open(&out, directory, "summary.md", report_escape_markdown, err) != 0)
        return -1;
    fputs("# Lockstep report\n\n**", out.file);
    report_verdict(&out, report);
    fputs("**\n\n", out.file);
    for (size_t g = 0; g < report->n_groups; g++) {
        report_group_words(report, &report->group[g], text);
        report_print(&out, "- **%s**: ", text);
        report_scaling(&out, report, &report->group[g]);
        fputs("\n", out.file);
    }
    if (figures->status[REPORT_FIGURE_THROUGHPUT] == REPORT_PLOT_OK) {
        fputs("\n![Throughput against global batch](throughput.png)\n\n", out.file);
        report_caption(&out, report, REPORT_FIGURE_THROUGHPUT);
        fputs("\n", out.file);
    }
    fputs("\n", out.file);
    table(&out, report);
    fputs("\nBase step: mean step of the verified one-device cell of the same batch. Efficiency: "
          "speed-up over devices, of its bound N / (K ceil(N/K)) for N rows on K devices.\n\n"
          "## Provenance\n\n",
          out.file);
    provenance(&out, report);
    return report_close(&out, err);
}
