/* report/check.c: writes the conformance page, from a result of `lockstep check --format json`. */
#include "report/page.h"

#include "check/record.h"
#include "export/grid.h"

static void print_head(struct text_out *out, const struct check_record *record, bool index)
{
    const struct runner_area_sums *total = &record->sums->row[record->sums->n];
    const bool good = record->verdict == CHECK_PASS;
    size_t known = 0, few = 0;
    char counts[400];
    int most = 0;

    for (size_t i = 0; i < record->n_cases; ++i) {
        const struct runner_result *result = &record->result[i];

        known += result->known;
        few += result->few_devices > 0;
        most = result->few_devices > most ? result->few_devices : most;
    }
    text_print(out,
               "<header>\n<h1>Lockstep conformance</h1>\n<p class=\"verdict %s\">"
               "<span aria-hidden=\"true\">%s</span> ",
               good ? "good" : "bad", good ? "\u2713" : "\u2717");
    text_print(out, "%s: ", record->word);
    if (record->name[0] == '\0')
        text_print(out, "%s could not be tested", record->options.impl);
    else
        text_print(out, "%zu of %zu cases passed", total->verdict[CHECK_PASS], total->cases);
    const struct {
        size_t n;
        const char *words;
    } others[] = {
        {total->verdict[CHECK_FAIL], "failed"},
        {total->verdict[CHECK_BROKEN], record->interrupted ? "without a verdict" : "broken"},
        {total->verdict[CHECK_SKIP], "skipped"},
        {known, "of them known to fail"},
        {few, "of them because of too few devices"}};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i)
        if (others[i].n > 0)
            text_print(out, ", %zu %s", others[i].n, others[i].words);
    if (record->left_out > 0)
        text_print(out, "; %zu more were not selected", record->left_out);
    text_print(out,
               "</p>\n<ul class=\"scaling\">\n<li><b>Implementation</b>: %s "
               "%s</li>\n<li><b>Rules</b>: %zu tested: %zu observed by the "
               "suite, %zu only reported by the implementation (<code>lockstep check "
               "--rules</code> lists all)</li>\n",
               record->name, record->version,
               total->rule[RULES_OBSERVED] + total->rule[RULES_REPORTED],
               total->rule[RULES_OBSERVED], total->rule[RULES_REPORTED]);
    if (record->n_devices > 0) {
        check_counts_text(record->n_devices, record->options.seed, counts, sizeof counts);
        text_print(out, "<li><b>Devices</b>: %d. Cases use %s", record->n_devices, counts);
        text_print(out, few > 0 ? ". Those that were skipped need up to %d</li>\n" : "</li>\n",
                   most);
    }
    text_print(out, "<li><b>Profile</b>: %s%s</li>\n", record->profiles,
               record->partial ? " (a part: only some cases were asked for)" : "");
    if (record->blas[0] != '\0')
        text_print(out, "<li><b>Matrix products</b>: %s</li>\n", record->blas);
    if (index)
        fputs("<li><a href=\"index.html\">Measurements</a></li>\n", out->file);
    fputs("</ul>\n</header>\n", out->file);
}

int report_conformance(const char *directory, const struct check_record *record, bool index,
                       struct text_error *err)
{
    const struct runner_options *options = &record->options;
    struct text_out out;
    struct grid grid;

    if (text_open(&out, directory, REPORT_CONFORMANCE, TEXT_HTML, err) != 0)
        return -1;
    report_head(&out, "Lockstep conformance");
    print_head(&out, record, index);
    fputs("<div class=\"cards\">\n", out.file);
    for (int t = 0; t < RUNNER_TABLES; ++t) {
        runner_table(&grid, &out, t, options, record->result, record->n_cases, record->sums);
        grid.fold = GRID_PLAIN;
        if (grid.rows > 0)
            grid_html(&grid);
        grid_close(&grid);
    }
    fputs("</div>\n", out.file);
    fputs("<footer>\n<h2>Implementation under test</h2>\n<dl>\n", out.file);
    report_fact(&out, "Name", "%s", record->name);
    report_fact(&out, "Version", "%s", record->version);
    report_fact(&out, "How it was loaded", "%s", options->impl);
    report_fact(&out, "Options", "%s", options->impl_options);
    report_fact(&out, "Devices asked for", "%s", options->devices);
    if (record->n_devices > 0)
        report_fact(&out, "Devices", "%d: %.500s", record->n_devices, record->devices);
    else
        report_fact(&out, "Devices", "none: on the host");
    report_fact(&out, "Capabilities", "%s", record->capabilities);
    report_fact(&out, "What it declares where rules leave a choice", "%s", record->dialects);
    report_fact(&out, "Seed", "%zu", options->seed);
    report_fact(&out, "Time", "%.1f s", record->seconds);
    if (record->created[0] != '\0')
        report_fact(&out, "Ended", "%s, Lockstep %s, commit %s", record->created, record->lockstep,
                    record->git);
    fputs("</dl>\n</footer>\n</main>\n</body>\n</html>\n", out.file);
    return text_close(&out, err);
}
