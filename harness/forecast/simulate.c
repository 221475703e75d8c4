/* forecast/simulate.c: starts SMPI for each line, and takes a number from its last line only.
 *
 * Under SMPI a program that gave up, and one that never ran, may end with status 0: the status says
 * nothing. Nothing goes through a shell of ours, and each start has an end. */
#include "forecast/forecast.h"

#include "files/stop.h"
#include "launch/program.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION_SECONDS = 20, NUMBERS = 6, NUMBER_BYTES = 32, PROGRAM_BYTES = 4096 + 64 };
static const char SMPIRUN[] = "smpirun", PROGRAM[] = "lockstep-smpi";
/* As PyTorch's: core/ddp.h. */
static const double FIRST_BUCKET = 1 << 20, NEXT_BUCKET = 25 << 20;

/* Options of all starts: a message takes latency and bytes over bandwidth, and nothing
 * else; ranks are small and share what they do not write. */
static const char *const options[] = {"-no-privatize",
                                      "--cfg=smpi/simulate-computation:no",
                                      "--cfg=smpi/wtime:0",
                                      "--cfg=network/model:CM02",
                                      "--cfg=network/TCP-gamma:0",
                                      "--cfg=network/crosstraffic:0",
                                      "--cfg=network/latency-factor:1",
                                      "--cfg=network/bandwidth-factor:1",
                                      "--cfg=contexts/stack-size:128"};
enum { OPTIONS = sizeof options / sizeof options[0], ARGUMENTS = OPTIONS + 7 + NUMBERS };

/* ---- what was printed ------------------------------------------------------------------------ */

int simulate_read(const char *printed, int ranks, struct simulated *simulated, char why[],
                  size_t bytes)
{
    static const char refuses[] = "lockstep-smpi refuses: ";
    const char *line = printed, *const reason = strstr(printed, refuses);
    int ran = 0, length = 0;

    for (const char *end = strchr(line, '\n'); end && end[1] != '\0'; end = strchr(line, '\n'))
        line = end + 1;

    *simulated = (struct simulated){.step_ns = NAN};
    if (reason) {
        const char *const words = reason + strlen(refuses);

        snprintf(why, bytes, "%.*s", (int)strcspn(words, "\n"), words);
        return -1;
    }
    const int read = sscanf(line, "lockstep-smpi: ranks=%d step_ns=%lf rounds=%d of=%d.%n", &ran,
                            &simulated->step_ns, &simulated->rounds, &simulated->of, &length);

    if (read == 4 && length > 0 && strcmp(line + length, "\n") == 0 && ran == ranks &&
        isfinite(simulated->step_ns) && simulated->step_ns >= 0)
        return 0;
    simulated->step_ns = NAN;
    snprintf(why, bytes,
             read == 4 && ran != ranks ? "it simulated %d ranks" : "it ended without its last line",
             ran);
    return -1;
}

/* ---- a line ---------------------------------------------------------------------------------- */

/* Next to this program where it was built, or where it is installed. 0, or -1. */
static int find_program(char path[PROGRAM_BYTES])
{
    static const char *const places[] = {"/%s", "/../" DP_SMPI_FOLDER "/%s"};
    const ssize_t n = readlink("/proc/self/exe", path, PROGRAM_BYTES - 64);
    char *end;

    path[n > 0 ? n : 0] = '\0';
    end = strrchr(path, '/');
    for (size_t i = 0; end && i < sizeof places / sizeof places[0]; ++i) {
        snprintf(end, 64, i == 0 ? places[0] : places[1], PROGRAM);
        if (access(path, R_OK) == 0)
            return 0;
    }
    return -1;
}

/* smpirun takes its arguments as they are, up to those of the program, which are numbers. */
static int start_smpi(const struct forecast_simulation *simulation, char *platform, int ranks,
                      char number[NUMBERS][NUMBER_BYTES], struct launch_output *output)
{
    char *argument[ARGUMENTS], program[PROGRAM_BYTES], count[16];
    char words[][16] = {"smpirun", "-np", "-platform"};
    char room[OPTIONS][64];
    int n = 0;

    if (find_program(program) != 0)
        return -1;
    snprintf(count, sizeof count, "%d", ranks);
    argument[n++] = words[0];
    argument[n++] = words[1];
    argument[n++] = count;
    argument[n++] = words[2];
    argument[n++] = platform;
    for (int i = 0; i < OPTIONS; ++i) {
        snprintf(room[i], sizeof room[i], "%s", options[i]);
        argument[n++] = room[i];
    }
    argument[n++] = program;
    for (int i = 0; i < NUMBERS; ++i)
        argument[n++] = number[i];
    argument[n] = NULL;
    return launch_program(&(struct launch_how){.program = SMPIRUN,
                                               .argument = argument,
                                               .heard = LAUNCH_OUTPUT_ALONE,
                                               .seconds = simulation->timeout},
                          output);
}

static void simulate_line(const struct forecast_simulation *simulation, char *platform,
                          const struct forecast_series *series, struct forecast_line *line)
{
    char number[NUMBERS][NUMBER_BYTES];
    struct launch_output output;

    /* The parts of the step's computation, by measured phases; else backward is twice forward.
     */
    const struct record_cell *cell = series->point->row->cell;
    const double forward = report_middle(series->point, REPORT_PHASE + RECORD_FORWARD) +
                           report_middle(series->point, REPORT_PHASE + RECORD_LOSS);
    const double backward = report_middle(series->point, REPORT_PHASE + RECORD_BACKWARD);
    const double update = report_middle(series->point, REPORT_PHASE + RECORD_UPDATE);
    const double all = forward + backward + update, size = (double)cell->key.bucket_bytes;
    const bool known = isfinite(all) && all > 0;
    const double values[NUMBERS] = {line->compute * (known ? forward / all : 1.0 / 3),
                                    line->compute * (known ? backward / all : 2.0 / 3),
                                    line->compute * (known ? update / all : 0),
                                    (double)sizeof(float) * (double)cell->model_params,
                                    size > 0 ? size : FIRST_BUCKET,
                                    size > 0 ? size : NEXT_BUCKET};

    for (int i = 0; i < NUMBERS; ++i)
        snprintf(number[i], NUMBER_BYTES, "%.3f", values[i]);
    if (start_smpi(simulation, platform, line->ranks, number, &output) != 0) {
        snprintf(line->why, sizeof line->why, "smpirun: %.40s", strerror(errno));
        return;
    }
    struct simulated simulated;

    if (output.interrupted)
        snprintf(line->why, sizeof line->why, "interrupted");
    else if (output.timed_out)
        snprintf(line->why, sizeof line->why, "ended after %g s (--timeout)", simulation->timeout);
    else if (simulate_read(output.text ? output.text : "", line->ranks, &simulated, line->why,
                           sizeof line->why) == 0) {
        line->simulated = simulated.step_ns;
        line->rounds = simulated.rounds;
        line->of = simulated.of;
        if (simulation->fitted && line->point)
            line->simulated_error = line->simulated / report_middle(line->point, REPORT_STEP) - 1;
    }
    free(output.text);
}

/* ---- all ------------------------------------------------------------------------------------- */

static int check_version(struct forecast_simulation *simulation, struct text_error *why)
{
    char name[] = "smpirun", option[] = "-version", program[PROGRAM_BYTES];
    char *const argument[] = {name, option, NULL};
    const struct launch_how how = {.program = SMPIRUN,
                                   .argument = argument,
                                   .heard = LAUNCH_OUTPUT_ALONE,
                                   .seconds = VERSION_SECONDS};
    struct launch_output output;
    const int status = launch_program(&how, &output);

    if (status == 0 && output.status == 0 && output.text && !output.timed_out)
        snprintf(simulation->version, sizeof simulation->version, "%.*s",
                 (int)strcspn(output.text, "\n"), output.text);
    free(output.text);
    if (simulation->version[0] != '\0' && find_program(program) == 0)
        return 0;
    return text_fail(
        why, "--simulate: %s",
        simulation->version[0] == '\0'
            ? "no smpirun that runs: it is of SimGrid (libsimgrid-dev)"
            : "this build has no lockstep-smpi: SimGrid was not there (libsimgrid-dev), or "
              "DP_SMPI=OFF");
}

int forecast_simulate(struct forecast *forecast, struct text_error *why)
{
    struct forecast_simulation *const simulation = &forecast->simulation;
    char path[PLATFORM_PATH] = "";
    size_t simulated = 0;

    simulation->fitted = strcmp(simulation->platform, "fitted") == 0;
    if ((!simulation->fitted && platform_find(simulation->platform, path, why) != 0) ||
        check_version(simulation, why) != 0)
        return -1;
    stop_watch_signals();
    for (size_t i = 0; i < forecast->n_series; ++i) {
        struct forecast_series *const series = &forecast->series[i];
        FILE *file = NULL;

        if (!forecast_of_processes(&series->point->row->cell->key))
            continue;
        ++simulated;
        if (simulation->fitted) {
            file = platform_fitted(forecast->to, series->alpha.middle, series->beta.middle, path);
            if (!file)
                return text_fail(why, "--simulate: no room for the platform: %s", strerror(errno));
        }
        for (size_t k = 0; k < series->n && !stop_requested(); ++k)
            if (isfinite(series->line[k].compute) && series->line[k].state != FORECAST_NO_ROWS)
                simulate_line(simulation, path, series, &series->line[k]);
        if (file)
            fclose(file);
    }
    if (simulated > 0)
        return 0;
    return text_fail(
        why,
        "--simulate: the ranks of these records are no processes (communicator '%.32s'), and "
        "what is simulated is that",
        forecast->series[0].point->row->cell->key.communicator);
}
