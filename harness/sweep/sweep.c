/* sweep/sweep.c: makes the launches of a plan one after the other and keeps their records.
 *
 * Only this process writes the file, one fsynced line per launch: whatever happens, at most
 * the current launch is lost, and --resume makes those that are missing or not verified. */
#include "sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "build_info.h"
#include "command/command.h"
#include "files/files.h"
#include "launch/watch.h"
#include "machine/machine.h"
#include "record/files.h"
#include "record/record.h"
#include "report/page.h"
#include "text/alloc.h"

struct sweep {
    const char *command; /* "lockstep sweep", for messages */
    struct sweep_options options;
    struct record_run run;
    struct output output;
    struct core_locks locks;
    struct trace_file trace;
    struct cell_config *cell; /* a launch each, in the order they run */
    enum record_status *status;
    bool *done;     /* status is known */
    bool *measured; /* it has samples */
    size_t n;
    int sitting;    /* session of this process; earlier ones have made launches, too */
    double writing; /* seconds */
    double seconds; /* in all */
};

static int complain(const struct sweep *sweep, const char *text)
{
    return command_refuse(sweep->command, "%s", text);
}

/* Makes the header from the plan. If a file is resumed, its header must describe the same sweep on
 * the same build and processor. */
static int describe(struct sweep *sweep)
{
    const struct plan_options *plan = &sweep->options.plan;
    const struct record_run *there = &sweep->output.file.run;
    struct record_run *run = &sweep->run;
    struct text_error why = {""};
    char text[1024];

    run->seed = plan->seed;
    run->planned = plan_cells(plan);
    snprintf(run->scaling, sizeof run->scaling, "%s", plan->weak ? "weak" : "strong");
    run->launches = (int)plan->launches;
    memcpy(run->devices, plan->devices, sizeof run->devices);
    memcpy(run->launcher, sweep->options.launcher, sizeof run->launcher);
    if (plan_command(plan, run->command, sizeof run->command, &why))
        return complain(sweep, why.text);
    if (!sweep->output.resumed)
        return 0;
    if (plan_compare(run->command, there->command, &why) == 0 &&
        provenance_compare(run, there, why.text, sizeof why.text) == 0) {
        memcpy(run->run_id, there->run_id, sizeof run->run_id);
        return 0;
    }
    snprintf(text, sizeof text, "cannot resume %.400s: %s", sweep->output.path, why.text);
    return complain(sweep, text);
}

static int open_output(struct sweep *sweep)
{
    const struct sweep_options *options = &sweep->options;
    struct plan_options *plan = &sweep->options.plan;
    struct text_error err = {""};
    struct timespec now;

    if (output_open(&sweep->output, options->out[0] != '\0' ? options->out : NULL, options->resume,
                    &err))
        return complain(sweep, err.text);
    clock_gettime(CLOCK_REALTIME, &now);
    if (!plan->has_seed)
        plan->seed =
            sweep->output.resumed
                ? sweep->output.file.run.seed
                : ((uint64_t)now.tv_nsec / 1000 + (uint64_t)now.tv_sec * 1000003U) % 1000000000U;

    int status = describe(sweep);

    if (status)
        return status;
    /* Cores are locked before anything is written: a sweep that is refused, or stops waiting,
     * leaves no files. The description of the machine is outdated after the wait. */
    status = core_locks_take("", sweep->command, &sweep->run, options->wait, &sweep->locks);
    if (status == 0 && sweep->locks.waited &&
        (status = sweep_devices(sweep->command, options, &sweep->run)) == 0)
        status = describe(sweep);
    if (status == 0 && trace_file_open(&sweep->trace, options->trace, &err))
        status = complain(sweep, err.text);
    if (status) {
        output_abandon(&sweep->output);
        return status;
    }
    return output_repair(&sweep->output, &err) || output_begin(&sweep->output, &sweep->run, &err)
               ? complain(sweep, err.text)
               : 0;
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(a, b);
}

static size_t count_status(const struct sweep *sweep, enum record_status status)
{
    size_t count = 0;

    for (size_t i = 0; i < sweep->n; ++i)
        count += sweep->done[i] && sweep->status[i] == status;
    return count;
}

static size_t count_true(const bool flags[], size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; ++i)
        count += flags[i];
    return count;
}

static void open_plan(struct sweep *sweep)
{
    sweep->n = plan_cells(&sweep->options.plan);
    sweep->cell = plan_make(&sweep->options.plan, sweep->run.communicator, sweep->run.run_id);
    sweep->status = cli_alloc(sweep->n, sizeof *sweep->status);
    sweep->done = cli_alloc(sweep->n, sizeof *sweep->done);
    sweep->measured = cli_alloc(sweep->n, sizeof *sweep->measured);
    for (size_t i = 0; i < sweep->n; ++i)
        sweep->cell[i].trace = sweep->trace.out.file && sweep->cell[i].launch == 0;
    if (!sweep->output.resumed)
        return;
    /* Marks the launches that earlier sessions have verified, and frees their samples: these are
     * not needed any more, and every worker would begin as a copy of them. */
    struct record_file *file = &sweep->output.file;
    char(*earlier)[sizeof file->cell->cell_id] = cli_alloc(file->n_cells, sizeof *earlier);
    size_t n = 0;

    for (size_t i = 0; i < file->n_cells; ++i) {
        const struct record_cell *cell = &file->cell[i];

        sweep->sitting = cell->sitting >= sweep->sitting ? cell->sitting + 1 : sweep->sitting;
        if (cell->status == RECORD_OK)
            memcpy(earlier[n++], cell->cell_id, sizeof *earlier);
    }
    qsort(earlier, n, sizeof *earlier, compare_ids);
    for (size_t i = 0; i < sweep->n; ++i) {
        struct record_cell planned;

        cell_identify(&sweep->cell[i], &planned);
        if (bsearch(planned.cell_id, earlier, n, sizeof *earlier, compare_ids)) {
            sweep->done[i] = sweep->measured[i] = true;
            sweep->status[i] = RECORD_OK;
        }
    }
    free(earlier);
    record_file_free(file);
}

/* Makes a launch. Returns 0, or the exit status that ends the sweep. */
static int run_cell(struct sweep *sweep, size_t i, struct progress *progress)
{
    const struct cell_config *config = &sweep->cell[i];
    const double timeout = sweep->options.timeout;
    struct text_error err = {""};
    struct record_cell cell;
    char *trace = NULL;
    double ns, begin;
    int saved, interrupted;

    progress_begin(progress, config);
    begin = watch_now();
    if (config->per_process > 0)
        interrupted = launched_cell(sweep->options.launcher, config, timeout, &cell);
    else
        interrupted = launch_cell(NULL, config, timeout, &cell, config->trace ? &trace : NULL);
    ns = (watch_now() - begin) * 1e9;
    if (interrupted)
        return EXIT_INTERRUPTED;
    cell.sitting = sweep->sitting;
    begin = watch_now();
    saved = output_cell(&sweep->output, config, ns, &cell, &err);
    sweep->writing += watch_now() - begin;
    if (trace && cell.status == RECORD_OK)
        trace_file_add(&sweep->trace, trace);
    free(trace);
    if (saved == 0) {
        sweep->status[i] = cell.status;
        sweep->done[i] = true;
        sweep->measured[i] = cell.n_samples > 0;
        progress_cell(progress, &cell);
    }
    record_cell_free(&cell);
    if (saved == 0)
        return 0;
    progress_close(progress);
    return complain(sweep, err.text);
}

static void print_summary(struct sweep *sweep, int status)
{
    const bool named = sweep->options.out[0] != '\0';
    const size_t cells = plan_block(&sweep->options.plan);

    fprintf(stderr, "\n  planned   %5zu launch%s of %zu cell%s\n", sweep->n,
            sweep->n == 1 ? "" : "es", cells, cells == 1 ? "" : "s");
    fprintf(stderr, "  measured  %5zu\n  verified  %5zu\n", count_true(sweep->measured, sweep->n),
            count_status(sweep, RECORD_OK));
    for (int s = RECORD_FAILED; s < RECORD_STATUSES; ++s) {
        const size_t count = count_status(sweep, (enum record_status)s);

        if (count > 0 || s == RECORD_FAILED)
            fprintf(stderr, "  %-9s %5zu\n", record_status_names[s], count);
    }
    fprintf(stderr, "  records   %s\n", sweep->output.path);
    if (sweep->trace.made)
        fprintf(stderr, "  trace     %s: steps of %zu cells, in Perfetto or chrome://tracing\n",
                sweep->options.trace, sweep->trace.launches);
    if (strcmp(sweep->run.source, "measured") != 0)
        fprintf(stderr, "  note      %s: not a result from a GPU\n", sweep->run.source);
    if (sweep->locks.note.text[0] != '\0')
        fprintf(stderr, "  note      %s\n", sweep->locks.note.text);
    if (strcmp(BUILD_NOTE, "") != 0)
        fprintf(stderr, "  note      %s\n", BUILD_NOTE);
    if (status == EXIT_INTERRUPTED)
        fprintf(stderr, "  interrupted; to continue, run the same command%s%s%s\n",
                sweep->options.resume ? "" : " with --resume", named ? "" : " --out ",
                named ? "" : sweep->output.path);
}

/* Says what the records mean, on standard error, and prints the name of their file, or with
 * --format their numbers as `lockstep report` does. They are read back from the file, because it
 * also has those of earlier sessions, and because it is better to notice now if something cannot be
 * read. Returns 0, EXIT_FAILED if --strict is not kept, or EXIT_MISUSE after one line: with
 * --format nothing was printed. */
static int print_result(struct sweep *sweep)
{
    struct record_file *file = &sweep->output.file;
    struct report report = {.file = file, .n_files = 1};
    const size_t format = sweep->options.format;
    size_t with_numbers = 0;

    record_file_free(file); /* of earlier sessions only */
    int status = input_records(sweep->command, sweep->output.path, false, NULL, file);

    if (status == 0)
        status = report_rows_make(sweep->command, &report);
    if (status == 0)
        sweep_result(stderr, &report, sweep->output.path, &sweep->options);
    if (format == REPORT_FORMATS)
        printf("%s\n", sweep->output.path);
    else if (status == 0)
        status = report_print(sweep->command, &report, format, &with_numbers);
    if (status == 0 && sweep->options.strict && !report_answer_is_certain(&report)) {
        command_complain(sweep->command, "--strict: the answer is not certain");
        status = EXIT_FAILED;
    }
    report_rows_free(&report);
    record_file_free(file);
    return status;
}

static int run_plan(struct sweep *sweep)
{
    const double begin = watch_now();
    struct text_error err = {""};
    struct progress progress;
    int status = 0;

    progress_open(&progress, &sweep->options.plan, sweep->cell, count_true(sweep->done, sweep->n));
    for (size_t i = 0; i < sweep->n && status == 0; ++i)
        if (!sweep->done[i])
            status = run_cell(sweep, i, &progress);
    progress_close(&progress);
    sweep->seconds = watch_now() - begin;
    if (status != EXIT_MISUSE) {
        const size_t ok = count_status(sweep, RECORD_OK);
        const struct record_end end = {.planned = sweep->n,
                                       .ok = ok,
                                       .not_ok = count_true(sweep->done, sweep->n) - ok,
                                       .interrupted = status == EXIT_INTERRUPTED,
                                       .sitting = sweep->sitting,
                                       .seconds = sweep->seconds,
                                       .writing = fmin(sweep->writing, sweep->seconds)};

        if (output_append(&sweep->output, record_end_text(sweep->run.run_id, &end), true, &err))
            status = complain(sweep, err.text);
    }
    if (status != EXIT_MISUSE && trace_file_close(&sweep->trace, &err)) {
        print_summary(sweep, status);
        return complain(sweep, err.text);
    }
    if (status == EXIT_MISUSE)
        return status;
    print_summary(sweep, status);
    const int result = print_result(sweep);

    if (result == EXIT_MISUSE || status)
        return result == EXIT_MISUSE ? result : status;
    if (count_status(sweep, RECORD_FAILED) || count_status(sweep, RECORD_CRASHED) ||
        count_status(sweep, RECORD_TIMEOUT) || count_status(sweep, RECORD_OOM))
        return EXIT_FAILED;
    return count_status(sweep, RECORD_OK) == sweep->n ? result : EXIT_MISUSE;
}

int sweep_main(int argc, char **argv)
{
    struct sweep *sweep = cli_alloc(1, sizeof *sweep);
    struct text_error why = {""};
    int status;

    sweep->command = argv[0];
    sweep->output.fd = -1;
    status = sweep_parse(argc, argv, &sweep->options);
    if (status == 0)
        status = sweep_devices(sweep->command, &sweep->options, &sweep->run);
    if (status == 0) {
        struct plan_options *plan = &sweep->options.plan, longest;

        if (plan_defaults(plan, sweep->run.n_slots, &why) ||
            plan_check_memory(plan, sweep->run.mem_bytes, &why) ||
            plan_check_models(plan, &sweep->run, &why))
            status = complain(sweep, why.text);
        /* Before there is a file: the header can hold the grid, whatever the seed will be. */
        longest = *plan;
        if (!plan->has_seed)
            longest.seed = UINT64_MAX;
        if (status == 0 &&
            plan_command(&longest, sweep->run.command, sizeof sweep->run.command, &why))
            status = complain(sweep, why.text);
    }
    stop_watch_signals(); /* before a file exists that an interrupt would leave unfinished */
    if (status == 0)
        status = open_output(sweep);
    if (status == 0) {
        open_plan(sweep);
        status = run_plan(sweep);
    }
    trace_file_discard(&sweep->trace);
    output_close(&sweep->output);
    core_locks_release(&sweep->locks);
    free(sweep->cell);
    free(sweep->status);
    free(sweep->done);
    free(sweep->measured);
    free(sweep);
    return status;
}
