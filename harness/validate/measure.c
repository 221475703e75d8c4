/* validate/measure.c: measures the cells that a profile needs: those of a sweep that its limits are
 * about, with the worker of a sweep, into a file like that of a sweep. */

#include "command/command.h"
#include "files/files.h"
#include "launch/watch.h"
#include "record/files.h"
#include "sweep/sweep.h"
#include "text/alloc.h"
#include "validate/validate.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- as options of a sweep ---------------------------------------------------------------- */

enum { WORDS = 16 + PLAN_MAX_WORKLOADS, LINE_BYTES = 16384 };

/* Adds an option with the values of the cells at this offset, each once. A 0 alone is the default,
 * and left out. alone: cells of mode plain have one, too. */
static void add_values(char line[LINE_BYTES], const char *option, const struct validate_need *need,
                       size_t offset, bool alone)
{
    char values[4096] = "", value[24];
    uint64_t number;

    for (size_t i = 0; i < need->n; ++i) {
        memcpy(&number, (const char *)&need->cell[i] + offset, sizeof number);
        snprintf(value, sizeof value, "%llu", (unsigned long long)number);
        if ((alone || strcmp(need->cell[i].mode, "plain") != 0) && !text_has_word(values, value))
            text_list(values, sizeof values, ",", value);
    }
    if (strcmp(values, "0") != 0)
        text_add(line, LINE_BYTES, "\n--%s=%s", option, values);
}

#define OF_CELL(member) offsetof(struct profile_place, member)

static int read_options(struct measuring *measuring, const struct validate_request *request,
                        double minutes)
{
    const struct validate_need *need = measuring->need;
    const double parts = need->parts ? 1.0 + RECORD_PARTS : 1.0; /* each takes as long as steps */
    const struct level *level = minutes > 0 ? levels : &levels[UNBOUND];
    const char *const texts[][2] = {{"devices", measuring->devices},
                                    {"backend", need->backend},
                                    {"communicator", need->communicator},
                                    {"math", need->math},
                                    {"bind", request->bind}};
    char *line = cli_alloc(1, LINE_BYTES), *argument[WORDS + 1], *rest = line, modes[64] = "";
    bool only_plain = true;
    int n = 0, status;

    while (minutes > 0 && level + 1 < levels + LEVELS &&
           (double)(need->n * need->launches * level->times) * (level->seconds * parts + AROUND) >
               0.9 * 60.0 * minutes)
        ++level;
    text_add(line, LINE_BYTES, "%s\n--launches=%zu\n--seconds=%g", measuring->command,
             need->launches * level->times, level->seconds);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i)
        if (texts[i][1])
            text_add(line, LINE_BYTES, "\n--%s=%s", texts[i][0], texts[i][1]);
    if (need->parts)
        text_add(line, LINE_BYTES, "\n--parts=%g", level->seconds);
    for (size_t i = 0; i < need->n; ++i) {
        const char *const mode = need->cell[i].mode;
        size_t first = 0;

        only_plain = only_plain && strcmp(mode, "plain") == 0;
        if (!text_has_word(modes, mode))
            text_list(modes, sizeof modes, ",", mode);
        while (strcmp(need->cell[first].workload, need->cell[i].workload) != 0)
            ++first;
        if (first == i)
            text_add(line, LINE_BYTES, "\n--workload=%s", need->cell[i].workload);
    }
    text_add(line, LINE_BYTES, "\n--mode=%s", modes);
    add_values(line, "counts", need, OF_CELL(devices), only_plain);
    add_values(line, "batch", need, OF_CELL(batch), true);
    add_values(line, "chain", need, OF_CELL(chain), true);
    add_values(line, "host-inputs", need, OF_CELL(host_inputs), true);
    while (n < WORDS && (argument[n] = strtok_r(NULL, "\n", &rest)))
        ++n;
    argument[n] = NULL;
    status = n < WORDS ? sweep_parse(n, argument, &measuring->options)
                       : command_refuse(measuring->command,
                                        "the profile names more than a sweep has: measure parts "
                                        "of it by lockstep sweep");
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
        return command_refuse(measuring->command, "%s", why.text);
    run->seed = plan->seed;
    run->planned = plan_cells(plan);
    run->launches = (int)plan->launches;
    snprintf(run->scaling, sizeof run->scaling, "strong");
    memcpy(run->devices, plan->devices, sizeof run->devices);
    measuring->n = run->planned;
    measuring->cell = cli_memory(plan_make(plan, run->communicator, run->run_id));
    if (output_open(&measuring->output, request->out, false, &why) != 0)
        return command_refuse(measuring->command, "%s", why.text);
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
        return command_refuse(measuring->command, "%s", why.text);
    return 0;
}

/* ---- the launches ------------------------------------------------------------------------- */

/* Runs the launches of the cells that are needed, each for no more than the seconds that are left.
 * A launch that has not ended when the time is over is dropped. */
static int run_launches(struct measuring *measuring)
{
    const size_t block = measuring->n / measuring->options.plan.launches;
    const double most = measuring->options.timeout;
    const bool terminal = isatty(STDERR_FILENO);
    struct text_error why = {""};
    struct record_cell cell;
    bool over = false;
    int status = 0;

    for (size_t i = 0; i < measuring->n && status == 0 && !over; ++i) {
        const struct cell_config *config = &measuring->cell[i];
        const struct profile_place planned = {.workload = config->workload.name,
                                              .mode = cell_mode_names[config->mode],
                                              .devices = (uint64_t)config->n_devices,
                                              .batch = config->rows,
                                              .chain = config->chain,
                                              .host_inputs = config->host_inputs};
        const double begin = watch_seconds(&measuring->watch), left = measuring->seconds - begin;
        const double room = measuring->seconds <= 0 || left > most ? most : left;
        bool needed = false;

        for (size_t c = 0; c < measuring->need->n && !needed; ++c)
            needed = validate_is_cell(&measuring->need->cell[c], &planned);
        over = needed && room <= 0;
        if (needed && !over) {
            if (launch_cell(NULL, config, room, &cell, NULL) != 0)
                return EXIT_INTERRUPTED;
            over = cell.status == RECORD_TIMEOUT && room < most;
            if (!over) {
                if (output_cell(&measuring->output, config,
                                (watch_seconds(&measuring->watch) - begin) * 1e9, &cell, &why) != 0)
                    status = command_refuse(measuring->command, "%s", why.text);
                ++measuring->done;
                measuring->ok += cell.status == RECORD_OK;
            }
            record_cell_free(&cell);
        }
        /* The log of a job gets a line for each tenth. */
        const size_t launch = (i + 1) / block, launches = measuring->options.plan.launches;

        if (status == 0 && !over && (i + 1) % block == 0 &&
            (terminal || 10 * launch / launches > 10 * (launch - 1) / launches))
            fprintf(stderr, "%zu of %zu launches of each cell, %.0f s\n", launch, launches,
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

static int measure_all(struct measuring *measuring, const struct validate_request *request,
                       const struct profile *profile)
{
    const struct validate_need *need = measuring->need;
    const bool limited = measuring->seconds > 0;
    char *const list = measuring->devices;
    struct text_error why = {""};
    int status, ended;

    /* The devices are those that were asked for; else those that the profile is for; else those of
     * a sweep, and more only if a cell has more. */
    command_default_devices(list, DEVICES_BYTES);
    if (request->devices)
        snprintf(list, DEVICES_BYTES, "%s", request->devices);
    else if (profile->match.gpu_model || profile->match.gpus > 0 ||
             (need->backend && strncmp(need->backend, "cuda", 4) == 0))
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
        status = command_refuse(measuring->command, "%s", why.text);
    if (status == 0 && profile->requires.conformance) {
        status = validate_check(measuring->command, profile->requires.conformance, list,
                                limited ? measuring->seconds : MOST_SECONDS, request->cases);
        /* The launches get the rest of the time, and their level is chosen again. */
        if (status == 0 && limited) {
            measuring->seconds =
                fmax(measuring->seconds - watch_seconds(&measuring->watch), LEAST_SECONDS);
            status = read_options(measuring, request, measuring->seconds / 60.0);
        }
    }
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

    ended =
        output_append(&measuring->output, record_end_text(measuring->run.run_id, &end), true, &why);
    return ended != 0 ? command_refuse(measuring->command, "%s", why.text) : status;
}

int validate_measure(const char *command, const struct validate_request *request,
                     const struct profile *profile, const struct validate_need *need)
{
    struct measuring *measuring = cli_alloc(1, sizeof *measuring);
    int status;

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
