/* forecast/simulate.c: starts SMPI for each line, and takes a number from its last line only.
 *
 * Under SMPI a program that gave up, and one that never ran, may end with status 0: the status says
 * nothing. Nothing goes through a shell of ours, and each start has an end. */
#include "forecast/forecast.h"

#include "files/files.h"
#include "launch/child.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION_SECONDS = 20, NUMBERS = 6, NUMBER_BYTES = 32, PROGRAM_BYTES = 4096 + 64 };
static const char SMPIRUN[] = "smpirun", PROGRAM[] = "lockstep-smpi";
/* As PyTorch's: core/ddp.h. */
static const double FIRST_BUCKET = 1 << 20, NEXT_BUCKET = 25 << 20;

/* ---- what was printed ------------------------------------------------------------------------ */

/* Takes the time of a step of so many ranks from the last line that was printed; else the line says
 * why not. */
static void read_step(const char *printed, struct forecast_line *line)
{
    static const char refuses[] = "lockstep-smpi refuses: ";
    const char *last = printed, *const reason = strstr(printed, refuses);
    int ran = 0, rounds = 0, of = 0, length = 0;
    double ns = NAN;

    for (const char *end = strchr(last, '\n'); end && end[1] != '\0'; end = strchr(last, '\n'))
        last = end + 1;
    const int read = sscanf(last, "lockstep-smpi: ranks=%d step_ns=%lf rounds=%d of=%d.%n", &ran,
                            &ns, &rounds, &of, &length);

    if (reason) {
        const char *const words = reason + strlen(refuses);

        snprintf(line->why, sizeof line->why, "%.*s", (int)strcspn(words, "\n"), words);
    } else if (read == 4 && length > 0 && strcmp(last + length, "\n") == 0 && ran == line->ranks &&
               isfinite(ns) && ns >= 0) {
        line->simulated = ns;
        line->rounds = rounds;
        line->of = of;
    } else if (read == 4 && ran != line->ranks) {
        snprintf(line->why, sizeof line->why, "it simulated %d ranks", ran);
    } else {
        snprintf(line->why, sizeof line->why, "it ended without its last line");
    }
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

static void simulate_line(const struct forecast_simulation *simulation, char *platform,
                          const struct forecast_series *series, struct forecast_line *line)
{
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
    char ranks[16], program[PROGRAM_BYTES], number[NUMBERS][NUMBER_BYTES];
    /* smpirun takes its arguments as they are, up to those of the program, which are numbers. A
     * message takes latency and bytes over bandwidth, and nothing else; ranks are small and share
     * what they do not write. */
    char *argument[] = {"smpirun",
                        "-np",
                        ranks,
                        "-platform",
                        platform,
                        "-no-privatize",
                        "--cfg=smpi/simulate-computation:no",
                        "--cfg=smpi/wtime:0",
                        "--cfg=network/model:CM02",
                        "--cfg=network/TCP-gamma:0",
                        "--cfg=network/crosstraffic:0",
                        "--cfg=network/latency-factor:1",
                        "--cfg=network/bandwidth-factor:1",
                        "--cfg=contexts/stack-size:128",
                        program,
                        number[0],
                        number[1],
                        number[2],
                        number[3],
                        number[4],
                        number[5],
                        NULL};
    struct program output;

    snprintf(ranks, sizeof ranks, "%d", line->ranks);
    for (int i = 0; i < NUMBERS; ++i)
        snprintf(number[i], NUMBER_BYTES, "%.3f", values[i]);
    const struct launch_how how = {.program = SMPIRUN,
                                   .argument = argument,
                                   .heard = LAUNCH_OUTPUT_ALONE,
                                   .seconds = simulation->timeout};

    if (find_program(program) != 0 || launch_program(&how, &output) != 0) {
        snprintf(line->why, sizeof line->why, "smpirun: %.40s", strerror(errno));
        return;
    }
    if (output.interrupted)
        snprintf(line->why, sizeof line->why, "interrupted");
    else if (output.timed_out)
        snprintf(line->why, sizeof line->why, "ended after %g s (--timeout)", simulation->timeout);
    else
        read_step(output.text ? output.text : "", line);
    if (simulation->fitted)
        line->simulated_error = line->simulated / line->measured - 1;
    free(output.text);
}

/* ---- all ------------------------------------------------------------------------------------- */

int forecast_simulate(struct forecast *forecast, struct text_error *why)
{
    struct forecast_simulation *const simulation = &forecast->simulation;
    char program[PROGRAM_BYTES], *const argument[] = {"smpirun", "-version", NULL};
    const struct launch_how how = {.program = SMPIRUN,
                                   .argument = argument,
                                   .heard = LAUNCH_OUTPUT_ALONE,
                                   .seconds = VERSION_SECONDS};
    char path[PLATFORM_PATH] = "";
    struct program output;
    size_t simulated = 0;

    simulation->fitted = strcmp(simulation->platform, "fitted") == 0;
    if (!simulation->fitted && platform_find(simulation->platform, path, why) != 0)
        return -1;
    if (launch_program(&how, &output) == 0 && output.status == 0 && output.text &&
        !output.timed_out)
        snprintf(simulation->version, sizeof simulation->version, "%.*s",
                 (int)strcspn(output.text, "\n"), output.text);
    free(output.text);
    if (simulation->version[0] == '\0')
        return text_fail(why,
                         "--simulate: no smpirun that runs: it is of SimGrid (libsimgrid-dev)");
    if (find_program(program) != 0)
        return text_fail(why, "--simulate: this build has no lockstep-smpi: SimGrid was not there "
                              "(libsimgrid-dev), or DP_SMPI=OFF");
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
