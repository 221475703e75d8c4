/* report/peer_page.c: a report of a comparison with PyTorch and nothing else. */
#include "report/page.h"
#include "report/peer_report.h"

static int write_page(const char *directory, const struct report *report,
                      const struct report_figures *figures, struct text_error *err)
{
    const bool good = peer_is_good(report->peer);
    char names[REPORT_CELL_TEXT];
    struct text_out out;

    if (text_open(&out, directory, "index.html", TEXT_HTML, err) != 0)
        return -1;
    report_head(&out, "Lockstep beside PyTorch");
    text_print(&out,
               "<header>\n<h1>Lockstep report</h1>\n<p class=\"verdict %s\">"
               "<span aria-hidden=\"true\">%s</span> ",
               good ? "good" : "bad", good ? "\u2713" : "\u2717");
    if (good)
        text_print(&out, "All launches of lockstep and of PyTorch were checked, and right.");
    else if (peer_failed(report->peer) > 0)
        text_print(&out, "Launches that FAILED: %zu.", peer_failed(report->peer));
    else
        text_print(&out, "The comparison was not finished.");
    peer_version_names(report->peer, names);
    text_print(&out, "</p>\n<p class=\"lead\">Beside %s, ", names);
    report_peer_verdict(&out, report->peer);
    fputs("</p>\n", out.file);
    if (report->conformance)
        fputs("<p><a href=\"" REPORT_CONFORMANCE "\">Conformance</a></p>\n", out.file);
    fputs("</header>\n", out.file);
    report_peer_head(&out, report->peer);
    if (report_figure(&out, directory, report, figures, REPORT_FIGURE_PEER, err) != 0) {
        text_discard(&out);
        return -1;
    }
    if (report_peer_tables(&out, report->peer) != 0) {
        snprintf(err->text, sizeof err->text, "no memory for the tables");
        text_discard(&out);
        return -1;
    }
    fputs("</main>\n</body>\n</html>\n", out.file);
    return text_close(&out, err);
}

int report_peer_page(const char *directory, const struct report *report,
                     const struct report_figures *figures, struct text_error *err)
{
    struct text_out out;

    if (write_page(directory, report, figures, err) != 0 ||
        text_open(&out, directory, "summary.md", TEXT_MARKDOWN, err) != 0)
        return -1;
    fputs("# Lockstep report\n", out.file);
    if (report_peer_markdown(&out, report->peer) != 0) {
        snprintf(err->text, sizeof err->text, "no memory for the tables");
        text_discard(&out);
        return -1;
    }
    if (figures->status[REPORT_FIGURE_PEER] == PLOT_OK)
        fputs("\n![Step times beside PyTorch](peer.png)\n", out.file);
    return text_close(&out, err);
}
