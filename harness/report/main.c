/* report/main.c: `lockstep report`: it reads files, refuses wrong ones, and writes the report.
 *
 * Everything is read and judged before the first byte is written. */
#include "check/record.h"
#include "command/command.h"
#include "files/files.h"
#include "record/files.h"
#include "report/page.h"
#include "report/peer.h"
#include "text/alloc.h"

#include <stdlib.h>
#include <string.h>

/* EXIT_PARTLY: a launch or the figure is missing; EXIT_INVALID: no result can be believed. */
enum { EXIT_PARTLY = 1, EXIT_INVALID = 3 };

static const char NAME[] = "lockstep report";

/* The option for a file of another kind. */
static const char *const belongs[INPUT_KINDS] = {[INPUT_RECORDS] = "; name it without an option",
                                                 [INPUT_CHECK] = "; name it by --check",
                                                 [INPUT_PEER] = "; name it by --peer",
                                                 [INPUT_LIMITS] = "; name it by --limits"};

static const char *class_of(const char *machine_class)
{
    return machine_class[0] != '\0' ? machine_class : "unknown";
}

/* Checks that a file that is shown with the records is from the same machine. */
static int check_machine(bool same, const char *path, const char *node_hash,
                         const char *machine_class, const char *other, const struct record_run *run)
{
    if (same)
        return 0;
    command_complain(NAME,
                     "the machines differ: %s is of node %s, class %.12s, %s of node %s, class "
                     "%.12s",
                     path, node_hash, class_of(machine_class), other, run->node_hash,
                     class_of(run->machine_class));
    return EXIT_INVALID;
}

/* Checks that all files are from one machine, with one GPU software. */
static int check_files(const struct report *report, const struct report_arguments *arguments)
{
    static const char nccl[] = ", NCCL ";
    char *const *paths = arguments->files;
    const struct record_run *run = &report->file[0].run;
    const struct peer_record *peer = report->peer;
    const struct roof *roof = report->roof;
    size_t cells = 0, with = 0; /* with: the file that names the most of the GPU software */
    int status = 0;

    for (size_t f = 0; f < report->n_files; ++f) {
        const struct record_run *other = &report->file[f].run;

        cells += report->file[f].n_cells;
        if (report_same_machine(run, other))
            continue;
        command_complain(NAME,
                         "the machines differ and cannot be compared: %s is of node %s, class "
                         "%.12s (%s, %d of %d processing units), %s of node %s, class %.12s (%s, "
                         "%d of %d)",
                         paths[0], run->node_hash, class_of(run->machine_class), run->cpu_model,
                         run->usable_pus, run->pus, paths[f], other->node_hash,
                         class_of(other->machine_class), other->cpu_model, other->usable_pus,
                         other->pus);
        return EXIT_INVALID;
    }
    if (cells == 0)
        return command_refuse(NAME, "%s: no cells, so there is nothing to report", paths[0]);
    for (size_t f = 0; f < report->n_files; ++f) {
        const char *there = report->file[with].run.gpu_software;
        const char *here = report->file[f].run.gpu_software;
        const size_t x = strlen(here), y = strlen(there), both = x < y ? x : y;
        const char *rest = x > y ? here + both : there + both;

        /* Records without a GPU have no software, and fit any. The version of NCCL is the last, and
         * is there only if NCCL was used. */
        if (both > 0 && (memcmp(here, there, both) != 0 ||
                         (rest[0] != '\0' && strncmp(rest, nccl, strlen(nccl)) != 0))) {
            command_complain(
                NAME, "the GPU software differs and cannot be compared: %s has %s, %s has %s",
                paths[with], there, paths[f], here);
            return EXIT_INVALID;
        }
        with = x > y ? f : with;
    }
    if (peer)
        status = check_machine(peer_same_machine(peer, run), arguments->peer, peer->run.node_hash,
                               peer->run.machine_class, paths[0], run);
    if (status == 0 && roof)
        status =
            check_machine(strcmp(roof->node_hash, run->node_hash) == 0 &&
                              strcmp(roof->machine_class, run->machine_class) == 0,
                          arguments->limits, roof->node_hash, roof->machine_class, paths[0], run);
    return status;
}

/* Returns EXIT_PARTLY if the conformance is not PASS, after a complaint. */
static int judge_conformance(const struct check_record *check)
{
    if (!check || check->verdict == CHECK_PASS)
        return 0;
    command_complain(NAME, "the conformance of %s is %s",
                     check->name[0] != '\0' ? check->name : check->options.impl, check->word);
    return EXIT_PARTLY;
}

static int write_report(const char *directory, const struct report *report)
{
    struct report_figures figures;
    struct text_error err = {{0}};
    enum plot_status status;

    status = text_folder_own(directory, &err) == 0 ? report_plot(directory, report, &figures, &err)
                                                   : PLOT_WRITE;
    if (status == PLOT_WRITE)
        return command_refuse(NAME, "%s", err.text);
    if (report->n_files == 0)
        status = figures.status[REPORT_FIGURE_PEER];
    struct text_error wrong = {{0}};
    int written = 0;

    if (report->conformance)
        written = report_conformance(directory, report->conformance, true, &wrong);
    else
        text_remove(directory, REPORT_CONFORMANCE);
    if (written == 0)
        written = report_page(directory, report, &figures, &wrong) != 0
                      ? -1
                      : report_markdown(directory, report, &figures, &wrong);
    if (written != 0)
        return command_refuse(NAME, "%s", wrong.text);
    printf("%s/index.html\n", directory);
    if (report->n_files > 0)
        command_say_each(stdout, report_answer_words(report, PHRASE));
    if (status != PLOT_OK)
        command_complain(NAME, "no figure: %s", err.text);
    if (status == PLOT_NONE)
        return EXIT_INVALID;
    if (report->counts.verified < report->counts.planned)
        command_complain(NAME, "%zu of %zu planned launches %s verified", report->counts.verified,
                         report->counts.planned, text_are(report->counts.verified));
    const bool slide = figures.status[REPORT_FIGURE_SLIDE] == PLOT_OK || !report->slide;

    if (!slide && status == PLOT_OK)
        command_complain(NAME, "no slide: %s", figures.why[REPORT_FIGURE_SLIDE]);
    /* Everything that is shown with the records is judged in the same way. */
    const struct peer_record *peer = report->peer;
    bool good = judge_conformance(report->conformance) == 0 && status == PLOT_OK && slide &&
                report->counts.verified == report->counts.planned;
    char text[REPORT_CELL_TEXT];

    if (peer && peer_failed(peer) > 0)
        command_complain(NAME, "launches of the comparison with PyTorch that failed: %zu",
                         peer_failed(peer));
    if (peer && !peer->complete)
        command_complain(NAME, "the comparison with PyTorch was not finished");
    nccl_tests_remarks(report, text);
    if (text[0] != '\0')
        command_complain(NAME, "--beside: %s", text);
    report_copies_remarks(report, text);
    if (text[0] != '\0')
        command_complain(NAME, "--beside: %s", text);
    for (size_t b = 0; b < report->n_external; ++b)
        good = good && !nccl_tests_is_wrong(report->external[b]);
    good = good && (!peer || peer_is_good(peer)) &&
           !(report->nvbandwidth && nvbandwidth_is_wrong(report->nvbandwidth));
    return good ? 0 : EXIT_PARTLY;
}

int report_print(const char *command, const struct report *report, size_t format,
                 size_t *with_numbers)
{
    struct text_error err;
    struct text_out out = {.file = stdout, .form = TEXT_MARKDOWN};
    struct export_set set;

    export_report(report, &set);
    int status = 0;

    if (format == REPORT_SUMMARY)
        report_summary(&out, report, NULL);
    else
        status = export_write(stdout, (enum export_format)format, &set, &err);
    *with_numbers = export_count(&set);
    export_close(&set);
    if (status == 0)
        return 0;
    return command_refuse(command, "%s", err.text);
}

/* Prints the numbers, or with nccl-tests those of collectives. */
static int print_numbers(size_t format, const struct report *report)
{
    const bool nccl = format == REPORT_NCCL_TESTS;
    const size_t all = report->collectives->n_points + (nccl ? 0 : report->n_points);
    size_t n = nccl ? report_nccl_tests(stdout, report) : 0;
    const int status = nccl ? 0 : report_print(NAME, report, format, &n);

    if (status != 0)
        return status;
    if (nccl && all == 0)
        return command_refuse(NAME, "--format nccl-tests is of collectives, and there are none");
    if (n == all && report->counts.missing == 0)
        return 0;
    if (nccl)
        command_complain(NAME, "collectives without a line: %zu of %zu; launches missing: %zu",
                         all - n, all, report->counts.missing);
    else
        command_complain(NAME,
                         "%zu of %zu cells %s not complete: a planned launch is not measured and "
                         "verified; launches missing: %zu",
                         all - n, all, text_are(all - n), report->counts.missing);
    return n > 0 ? EXIT_PARTLY : EXIT_INVALID;
}

static int report_files(const struct report_arguments *arguments, const struct check_record *check,
                        const struct peer_record *peer, const struct roof *roof)
{
    struct nccl_tests *external[REPORT_EXTERNAL_MOST];
    struct report report = {.file = cli_alloc(arguments->n_files, sizeof *report.file),
                            .conformance = check,
                            .peer = peer,
                            .roof = roof,
                            .external = external,
                            .peak = arguments->peak,
                            .slide = arguments->slide};
    struct text_error err = {{0}};
    char why[REPORT_CELL_TEXT];
    int status = 0;

    while (status == 0 && report.n_files < arguments->n_files) {
        status = input_records(NAME, arguments->files[report.n_files], false, belongs,
                               &report.file[report.n_files]);
        report.n_files += status == 0;
    }
    if (status == 0 && report.n_files > 0)
        status = check_files(&report, arguments);
    if (status == 0)
        status = report_rows_make(NAME, &report);
    if (status == 0 && report.peak > 0.0 && !report_peak_fits(&report, why))
        status = command_refuse(NAME, "--peak: %s", why);
    for (size_t i = 0; i < arguments->n_external && status == 0; ++i)
        if (external_add(arguments->external[i], &report, &err) != 0)
            status = command_refuse(NAME, "%s: %s", arguments->external[i], err.text);
    /* The records must have cells that these results can be shown with. */
    if (status == 0 && report.n_external > 0 && report.collectives->n_points == 0)
        status = command_refuse(NAME, "--beside is of collectives, and there are none");
    if (status == 0 && report.nvbandwidth && report.n_copies == 0)
        status = command_refuse(NAME, "--beside is of copies, which `lockstep sweep --parts` "
                                      "measures, and there are none");
    if (status == 0)
        status = arguments->format < REPORT_PAGE ? print_numbers(arguments->format, &report)
                                                 : write_report(arguments->out, &report);
    if (status == 0 && arguments->strict && !report_answer_is_certain(&report)) {
        command_complain(NAME, "--strict: the answer is not certain");
        status = EXIT_PARTLY;
    }
    external_free(&report);
    report_rows_free(&report);
    for (size_t f = 0; f < report.n_files; ++f)
        record_file_free(&report.file[f]);
    free(report.file);
    return status;
}

int report_main(int argc, char **argv)
{
    struct report_arguments arguments;
    struct check_record *check = NULL;
    struct peer_record *peer = NULL;
    struct roof *roof = NULL;
    struct text_error err = {{0}};
    int status = 0;

    if (report_options(argc, argv, &arguments) != 0)
        return EXIT_MISUSE;
    stop_watch_signals(); /* without this, an interrupt could leave a temporary file */

    /* The files that are no records are read first. */
    if (arguments.check && !(check = check_record_read(arguments.check, &err)))
        status = input_refuse(NAME, arguments.check, INPUT_CHECK, err.text, belongs);
    if (status == 0 && arguments.peer && !(peer = peer_record_read(arguments.peer, &err)))
        status = input_refuse(NAME, arguments.peer, INPUT_PEER, err.text, belongs);
    if (status == 0 && arguments.limits && !(roof = roof_read(arguments.limits, &err)))
        status = input_refuse(NAME, arguments.limits, INPUT_LIMITS, err.text, belongs);
    if (status == 0 && (arguments.n_files > 0 || peer))
        status = report_files(&arguments, check, peer, roof);
    else if (status == 0 && (text_folder_own(arguments.out, &err) != 0 ||
                             report_conformance(arguments.out, check, false, &err) != 0))
        status = command_refuse(NAME, "%s", err.text);
    else if (status == 0) {
        printf("%s/%s\n", arguments.out, REPORT_CONFORMANCE);
        status = judge_conformance(check);
    }
    roof_free(roof);
    peer_record_free(peer);
    check_record_free(check);
    return status == EXIT_MISUSE && stop_requested() ? EXIT_INTERRUPTED : status;
}
