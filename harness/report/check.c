/* report/check.c: writes the conformance page, from a result of `lockstep check --format json`. */
#include "report/page.h"

#include <string.h>

#include "check/record.h"

static void print_head(struct text_out *out, const struct check_record *record, bool index)
{
    const struct check_record_area *total = &record->total;
    const bool good = record->verdict == CHECK_RECORD_PASS;

    text_print(out,
               "<header>\n<h1>Lockstep conformance</h1>\n<p class=\"verdict %s\">"
               "<span aria-hidden=\"true\">%s</span> ",
               good ? "good" : "bad", good ? "\u2713" : "\u2717");
    if (record->name[0] == '\0')
        text_print(out, "%s could not be tested", record->spec);
    else
        text_print(out, "%s %s: %zu of %zu cases passed", record->name, record->version,
                   total->verdict[CHECK_RECORD_PASS], total->cases);
    if (total->verdict[CHECK_RECORD_FAIL] > 0)
        text_print(out, ", %zu failed", total->verdict[CHECK_RECORD_FAIL]);
    if (total->verdict[CHECK_RECORD_BROKEN] > 0)
        text_print(out, ", %zu broken", total->verdict[CHECK_RECORD_BROKEN]);
    if (total->verdict[CHECK_RECORD_SKIP] > 0)
        text_print(out, ", %zu skipped", total->verdict[CHECK_RECORD_SKIP]);
    text_print(out,
               "</p>\n<ul class=\"scaling\">\n<li><b>Rules</b>: %zu of %zu have cases, %zu "
               "pending, %zu not applicable</li>\n",
               total->covered, total->rules, total->pending, total->not_applicable);
    text_print(out,
               "<li><b>Evidence</b>: %zu rules observed by the suite, %zu only reported by the "
               "implementation, %zu not tested here</li>\n",
               total->observed, total->reported, total->untested);
    text_print(out, "<li><b>Profile</b>: %s%s</li>\n", record->profiles,
               record->partial ? " (a part: only some cases were asked for)" : "");
    if (record->blas[0] != '\0')
        text_print(out, "<li><b>Matrix products</b>: %s</li>\n", record->blas);
    if (index)
        fputs("<li><a href=\"index.html\">Measurements</a></li>\n", out->file);
    fputs("</ul>\n</header>\n", out->file);
}

/* ---- tables of three columns -------------------------------------------------------------- */

static const char end_table[] = "</tbody>\n</table>\n</div>\n</section>\n";

static void begin_table(struct text_out *out, const char *title, const char *first,
                        const char *second, const char *third)
{
    text_print(out,
               "<section>\n<h2>%s</h2>\n<div class=\"scroll\" tabindex=\"0\">\n"
               "<table class=\"cases\">\n<thead><tr><th scope=\"col\" class=\"text\">%s</th>"
               "<th scope=\"col\" class=\"text\">%s</th><th scope=\"col\" class=\"text\">%s</th>"
               "</tr></thead>\n<tbody>\n",
               title, first, second, third);
}

static void print_case_row(struct text_out *out, bool failed, const char *first, const char *second,
                           const char *third)
{
    fputs(failed ? "<tr class=\"failed\">" : "<tr>", out->file);
    text_print(out,
               "<td class=\"text\">%s</td><td class=\"text\">%s</td>"
               "<td class=\"text reason\">%s</td></tr>\n",
               first, second, third);
}

static void print_areas(struct text_out *out, const struct check_record *record)
{
    static const char *const columns[] = {"rules",  "covered",  "pending", "n/a",
                                          "cases",  "pass",     "fail",    "skip",
                                          "broken", "observed", "reported"};

    fputs("<section>\n<h2>Areas</h2>\n<div class=\"scroll\" tabindex=\"0\">\n<table>\n<thead><tr>"
          "<th scope=\"col\" class=\"text\">area</th>",
          out->file);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i)
        text_print(out, "<th scope=\"col\" class=\"number\">%s</th>", columns[i]);
    fputs("</tr></thead>\n<tbody>\n", out->file);
    for (size_t a = 0; a <= record->n_areas; ++a) {
        const bool last = a == record->n_areas;
        const struct check_record_area *area = last ? &record->total : &record->areas[a];
        const size_t *n = area->verdict;
        const size_t numbers[] = {
            area->rules,          area->covered,        area->pending,
            area->not_applicable, area->cases,          n[CHECK_RECORD_PASS],
            n[CHECK_RECORD_FAIL], n[CHECK_RECORD_SKIP], n[CHECK_RECORD_BROKEN],
            area->observed,       area->reported};

        text_print(out, "%s<tr class=\"%s\"><th scope=\"row\" class=\"text\">%s</th>",
                   last ? "</tbody>\n<tbody>\n" : "",
                   n[CHECK_RECORD_FAIL] + n[CHECK_RECORD_BROKEN] > 0 ? "failed" : "good",
                   last ? "total" : area->name);
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
            text_print(out, "<td class=\"number\">%zu</td>", numbers[i]);
        fputs("</tr>\n", out->file);
    }
    fputs(end_table, out->file);
}

int report_conformance(const char *directory, const struct check_record *record, bool index,
                       struct text_error *err)
{
    const size_t *n = record->total.verdict;
    struct text_out out;

    if (text_open(&out, directory, REPORT_CONFORMANCE, TEXT_HTML, err) != 0)
        return -1;
    report_head(&out, "Lockstep conformance");
    print_head(&out, record, index);
    /* Tables of cases and rules exist only if they have a row. */
    if (n[CHECK_RECORD_FAIL] + n[CHECK_RECORD_BROKEN] > 0) {
        begin_table(&out, "Failed and broken", "verdict", "case",
                    "what was expected and what was found");
        for (size_t i = 0; i < record->n_cases; ++i) {
            const struct check_record_case *one = &record->cases[i];
            char why[sizeof one->reason + sizeof one->obligation + sizeof one->evidence + 8];

            if (one->verdict != CHECK_RECORD_FAIL && one->verdict != CHECK_RECORD_BROKEN)
                continue;
            snprintf(why, sizeof why, "%s (%s, %s)", one->reason, one->obligation, one->evidence);
            print_case_row(&out, true, check_record_words[one->verdict], one->id, why);
        }
        fputs(end_table, out.file);
    }
    print_areas(&out, record);
    if (n[CHECK_RECORD_SKIP] > 0) {
        begin_table(&out, "Skipped", "case", "obligation", "why");
        for (size_t i = 0; i < record->n_cases; ++i)
            if (record->cases[i].verdict == CHECK_RECORD_SKIP)
                print_case_row(&out, false, record->cases[i].id, record->cases[i].obligation,
                               record->cases[i].reason);
        fputs(end_table, out.file);
    }
    if (record->n_excuses > 0) {
        begin_table(&out, "Rules without a case", "rule", "state", "why");
        for (size_t i = 0; i < record->n_excuses; ++i)
            print_case_row(&out, false, record->excuses[i].rule,
                           record->excuses[i].pending ? "pending" : "not applicable",
                           record->excuses[i].reason);
        fputs(end_table, out.file);
    }
    fputs("<footer>\n<h2>Implementation under test</h2>\n<dl>\n", out.file);
    report_fact(&out, "Name", "%s", record->name);
    report_fact(&out, "Version", "%s", record->version);
    report_fact(&out, "How it was loaded", "%s", record->spec);
    report_fact(&out, "Options", "%s", record->options);
    report_fact(&out, "Devices asked for", "%s", record->device_list);
    if (record->n_devices > 0)
        report_fact(&out, "Devices", "%zu: %.500s", record->n_devices, record->devices);
    else
        report_fact(&out, "Devices", "none: on the host");
    report_fact(&out, "Capabilities", "%s", record->capabilities);
    report_fact(&out, "Declared dialects", "%s", record->dialects);
    report_fact(&out, "Seed", "%zu", record->seed);
    report_fact(&out, "Time", "%.1f s", record->seconds);
    fputs("</dl>\n</footer>\n</main>\n</body>\n</html>\n", out.file);
    return text_close(&out, err);
}
