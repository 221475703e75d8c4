/* validate/measure.c: measures the cells that a profile needs: those of a sweep that its limits are
 * about, with the worker of a sweep, into a file like that of a sweep. */
#include "validate/measure.h"

#include "command/command.h"
#include "files/stop.h"
#include "launch/watch.h"
#include "record/files.h"
#include "sweep/core_locks.h"
#include "sweep/launch.h"
#include "sweep/sweep.h"
#include "validate/validate.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_BYTES = 1024 };

struct measuring {
    const char *command;
    const struct validate_need *need;
    struct sweep_options options;
    struct record_run run;
    struct output output;
    struct core_locks locks;
    struct cell_config *cell;
    size_t n, done, ok;
    struct watch watch;
    double seconds; /* for all of the measurement; 0: no limit */
    char devices[DEVICES_BYTES];
};

static int refuse_measuring(const struct measuring *measuring, const char *text)
{
    return command_refuse(measuring->command, "%s", text);
}

/* ---- how much there is time for ----------------------------------------------------------- */

/* The seconds of a launch for its start, its reference, its probe and its warm-up. They are only
 * used to choose a level; a clock decides which launches end in time. */
static const double AROUND = 0.5;

/* The measured seconds of a launch, and the factor on the number of launches that are needed. */
static const struct level {
    double seconds;
    size_t times;
} levels[] = {{1.0, 2}, {1.0, 1}, {0.3, 1}, {0.1, 1}};

enum { LEVELS = sizeof levels / sizeof levels[0], UNBOUND = 1 };

static const struct level *choose_level(const struct validate_need *need, double minutes)
{
    const double parts = need->parts ? 1.0 + RECORD_PARTS : 1.0; /* each takes as long as steps */
    size_t i = 0;

    if (minutes <= 0)
        return &levels[UNBOUND];
    while (i + 1 < LEVELS && (double)(need->n * need->launches * levels[i].times) *
                                     (levels[i].seconds * parts + AROUND) >
                                 0.9 * 60.0 * minutes)
        ++i;
    return &levels[i];
}

/* ---- as options of a sweep ---------------------------------------------------------------- */

enum { WORDS = 16 + PLAN_MAX_WORKLOADS, WORD_BYTES = 1024 };

struct line {
    char word[WORDS][WORD_BYTES];
    char *argument[WORDS + 1];
    int n;
    bool too_long;
};

static void add_word(struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_word(struct line *line, const char *format, ...)
{
    va_list values;
    int length;

    if (line->n == WORDS) {
        line->too_long = true;
        return;
    }
    va_start(values, format);
    length = vsnprintf(line->word[line->n], WORD_BYTES, format, values);
    va_end(values);
    line->too_long = line->too_long || length < 0 || length >= WORD_BYTES;
    line->argument[line->n] = line->word[line->n];
    line->argument[++line->n] = NULL;
}

/* Adds a value after the others of the last word, unless it is there already. */
static void add_value(struct line *line, const char *value)
{
    char *const word = line->word[line->n - 1];
    const size_t used = strlen(word), length = strlen(value);
    const char *at = strchr(word, '=') + 1;

    while (*at != '\0') {
        const size_t bytes = strcspn(at, ",");

        if (bytes == length && strncmp(at, value, length) == 0)
            return;
        at += bytes + (at[bytes] == ',');
    }
    if (snprintf(word + used, WORD_BYTES - used, "%s%s", word[used - 1] == '=' ? "" : ",", value) >=
        (int)(WORD_BYTES - used))
        line->too_long = true;
}

static void add_whole(struct line *line, uint64_t number)
{
    char value[24];

    snprintf(value, sizeof value, "%llu", (unsigned long long)number);
    add_value(line, value);
}

static void add_cells(struct line *line, const struct validate_need *need)
{
    bool only_plain = true;

    add_word(line, "--mode=");
    for (size_t i = 0; i < need->n; ++i) {
        add_value(line, need->cell[i].mode);
        only_plain = only_plain && strcmp(need->cell[i].mode, "plain") == 0;
    }
    add_word(line, "--counts=");
    for (size_t i = 0; i < need->n; ++i)
        if (only_plain || strcmp(need->cell[i].mode, "plain") != 0)
            add_whole(line, need->cell[i].devices);
    add_word(line, "--batch=");
    for (size_t i = 0; i < need->n; ++i)
        add_whole(line, need->cell[i].batch);
    add_word(line, "--chain=");
    for (size_t i = 0; i < need->n; ++i)
        add_whole(line, need->cell[i].chain);
    if (strcmp(line->word[line->n - 1], "--chain=0") == 0)
        line->argument[--line->n] = NULL; /* this is the default, so the option is left out */
    add_word(line, "--host-inputs=");
    for (size_t i = 0; i < need->n; ++i)
        add_whole(line, need->cell[i].host_inputs);
    if (strcmp(line->word[line->n - 1], "--host-inputs=0") == 0)
        line->argument[--line->n] = NULL;
    for (size_t i = 0; i < need->n; ++i) {
        size_t first = 0;

        while (strcmp(need->cell[first].workload, need->cell[i].workload) != 0)
            ++first;
        if (first == i)
            add_word(line, "--workload=%s", need->cell[i].workload);
    }
}

static int read_options(struct measuring *measuring, const struct validate_request *request,
                        double minutes)
{
    const struct validate_need *need = measuring->need;
    const struct level *level = choose_level(need, minutes);
    struct line *line = calloc(1, sizeof *line);
    int status;

    if (!line)
        return refuse_measuring(measuring, "no memory for the options");
    add_word(line, "%s", measuring->command);
    add_word(line, "--devices=%s", measuring->devices);
    if (need->backend)
        add_word(line, "--backend=%s", need->backend);
    if (need->communicator)
        add_word(line, "--communicator=%s", need->communicator);
    if (need->math)
        add_word(line, "--math=%s", need->math);
    if (request->bind)
        add_word(line, "--bind=%s", request->bind);
    add_word(line, "--launches=%zu", need->launches * level->times);
    add_word(line, "--seconds=%g", level->seconds);
    if (need->parts)
        add_word(line, "--parts=%g", level->seconds);
    add_cells(line, need);
    status = line->too_long
                 ? refuse_measuring(measuring,
                                    "the profile names more than a sweep has: measure parts of "
                                    "it by lockstep sweep")
                 : sweep_parse(line->n, line->argument, &measuring->options);
    free(line);
    return status;
}

/* ---- the file ----------------------------------------------------------------------------- */

/* Fills the part of the header that comes from the plan, and begins the file. The order of the
 * cells follows from the id of the run. */
static int begin_records(struct measuring *measuring, const struct validate_request *request)
{
    struct plan_options *plan = &measuring->options.plan;
    struct record_run *run = &measuring->run;
    struct text_error why = {""};
    int status;

    plan->seed = strtoull(run->run_id, NULL, 16) % 1000000000U;
    plan->has_seed = true;
    if (plan_defaults(plan, run->n_slots, &why) != 0 ||
        plan_command(plan, run->command, sizeof run->command, &why) != 0)
        return refuse_measuring(measuring, why.text);
    run->seed = plan->seed;
    run->planned = plan_cells(plan);
    run->launches = (int)plan->launches;
    snprintf(run->scaling, sizeof run->scaling, "strong");
    memcpy(run->devices, plan->devices, sizeof run->devices);
    measuring->n = run->planned;
    measuring->cell = plan_make(plan, run->communicator, run->run_id);
    if (!measuring->cell)
        return refuse_measuring(measuring, "no memory for the plan");
    if (output_open(&measuring->output, request->out, false, &why) != 0)
        return refuse_measuring(measuring, why.text);
    status = core_locks_take("", measuring->command, run, request->wait, &measuring->locks);
    if (status != 0) {
        output_abandon(&measuring->output);
        return status;
    }
    watch_close(&measuring->watch);
    watch_start(&measuring->watch); /* the time begins after the wait for other programs */
    if (measuring->locks.note.text[0] != '\0')
        command_complain(measuring->command, "%s", measuring->locks.note.text);
    if (output_repair(&measuring->output, &why) != 0 ||
        output_begin(&measuring->output, run, &why) != 0)
        return refuse_measuring(measuring, why.text);
    return 0;
}

/* ---- the launches ------------------------------------------------------------------------- */

/* Runs one launch, for no more than the seconds that are left. *over: the time was over before it
 * had ended. */
static int run_launch(struct measuring *measuring, const struct cell_config *config, bool *over)
{
    const double begin = watch_seconds(&measuring->watch), left = measuring->seconds - begin;
    const double most = measuring->options.timeout;
    const double room = measuring->seconds <= 0 || left > most ? most : left;
    struct text_error why = {""};
    struct record_cell cell;
    int status;

    *over = room <= 0;
    if (*over)
        return 0;
    if (launch_cell(NULL, config, room, &cell, NULL) != 0)
        return EXIT_INTERRUPTED;
    *over = cell.status == RECORD_TIMEOUT && room < most;
    status = *over ? 0
                   : output_cell(&measuring->output, config,
                                 (watch_seconds(&measuring->watch) - begin) * 1e9, &cell, &why);
    if (!*over) {
        ++measuring->done;
        measuring->ok += cell.status == RECORD_OK;
    }
    record_cell_free(&cell);
    return status == 0 ? 0 : refuse_measuring(measuring, why.text);
}

static int run_launches(struct measuring *measuring)
{
    const size_t block = measuring->n / measuring->options.plan.launches;
    bool over = false;
    int status = 0;

    for (size_t i = 0; i < measuring->n && status == 0 && !over; ++i) {
        const struct cell_config *config = &measuring->cell[i];
        const struct validate_cell planned = {config->workload.name,
                                              cell_mode_names[config->mode],
                                              (uint64_t)config->n_devices,
                                              config->rows,
                                              config->chain,
                                              config->host_inputs};
        bool needed = false;

        for (size_t c = 0; c < measuring->need->n && !needed; ++c)
            needed = validate_is_cell(&measuring->need->cell[c], &planned);
        if (needed)
            status = run_launch(measuring, config, &over);
        if (status == 0 && !over && (i + 1) % block == 0)
            fprintf(stderr, "%zu of %zu launches of each of %zu cells, %.0f s\n", (i + 1) / block,
                    measuring->options.plan.launches, measuring->need->n,
                    watch_seconds(&measuring->watch));
    }
    if (over)
        command_complain(measuring->command,
                         "the %.3g minutes were over after %zu of %zu launches of all cells",
                         measuring->seconds / 60.0, measuring->done,
                         measuring->need->n * measuring->options.plan.launches);
    return status;
}

/* MOST_SECONDS: for the cases without --minutes. LEAST_SECONDS: for the launches, if the cases took
 * all of the time. */
static const double MOST_SECONDS = 604800, LEAST_SECONDS = 0.001;

/* Runs the cases that the profile requires. The launches get the rest of the time, and their level
 * is chosen again. */
static int run_cases(struct measuring *measuring, const struct validate_request *request,
                     const char *cases)
{
    const double most = measuring->seconds > 0 ? measuring->seconds : MOST_SECONDS;
    const int status =
        validate_check(measuring->command, cases, measuring->devices, most, request->cases);
    const double left = measuring->seconds - watch_seconds(&measuring->watch);

    if (status != 0 || measuring->seconds <= 0)
        return status;
    measuring->seconds = left > LEAST_SECONDS ? left : LEAST_SECONDS;
    return read_options(measuring, request, measuring->seconds / 60.0);
}

static int measure_all(struct measuring *measuring, const struct validate_request *request,
                       const struct profile *profile)
{
    const struct validate_need *need = measuring->need;
    char *const list = measuring->devices;
    struct text_error why = {""};
    int status, ended;

    /* The devices are those that were asked for; else those that the profile is for; else those of
     * a sweep, and more only if a cell has more. */
    command_default_devices(list, DEVICES_BYTES);
    if (request->devices)
        snprintf(list, DEVICES_BYTES, "%s", request->devices);
    else if (profile->match.gpu_model || profile->match.gpus > 0)
        snprintf(list, DEVICES_BYTES, "cuda:all");
    else if (need->devices > strtoull(list + strcspn(list, ":") + 1, NULL, 10))
        snprintf(list, DEVICES_BYTES, "virt:%llu", (unsigned long long)need->devices);
    status = read_options(measuring, request, request->minutes);
    /* A machine without them is another machine: it gets no verdict, and does not count as skipped.
     */
    if (status == 0 &&
        (status = sweep_devices(measuring->command, &measuring->options, &measuring->run)) != 0 &&
        status != EXIT_INTERRUPTED)
        status = EXIT_MISUSE;
    if (status == 0 && validate_match_run(profile, &measuring->run, "this machine has", &why) != 0)
        status = refuse_measuring(measuring, why.text);
    if (status == 0 && profile->requires.conformance)
        status = run_cases(measuring, request, profile->requires.conformance);
    if (status == 0)
        status = begin_records(measuring, request);
    if (status != 0)
        return status;
    status = run_launches(measuring);
    if (status != 0 && status != EXIT_INTERRUPTED)
        return status;

    const struct record_end end = {.planned = measuring->n,
                                   .ok = measuring->ok,
                                   .not_ok = measuring->done - measuring->ok,
                                   .interrupted = measuring->done < measuring->n,
                                   .seconds = watch_seconds(&measuring->watch)};

    ended = output_end(&measuring->output, record_end_text(measuring->run.run_id, &end), &why);
    return ended != 0 ? refuse_measuring(measuring, why.text) : status;
}

int validate_measure(const char *command, const struct validate_request *request,
                     const struct profile *profile, const struct validate_need *need)
{
    struct measuring *measuring = calloc(1, sizeof *measuring);
    int status;

    if (!measuring)
        return command_refuse(command, "no memory for the measurement");
    measuring->command = command;
    measuring->need = need;
    measuring->seconds = 60.0 * request->minutes;
    measuring->output.fd = -1;
    watch_start(&measuring->watch);
    stop_watch_signals(); /* before a file exists that an interrupt would leave unfinished */
    status = measure_all(measuring, request, profile);
    watch_close(&measuring->watch);
    output_close(&measuring->output);
    core_locks_release(&measuring->locks);
    free(measuring->cell);
    free(measuring);
    return status;
}
