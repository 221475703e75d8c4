/* launcher.c: what becomes of a cell whose worker or whose parent behaves badly.
 *
 * launch_cell starts this program again as "lockstep cell ..."; the workload says what the worker
 * does then. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "files/files.h"
#include "record/record.h"
#include "sweep/sweep.h"

enum { TIMEOUT_SECONDS = 3 };

static const char stops_parent[] = "mlp:4,1", closes_pipe[] = "mlp:4,2", sent[] = "of the worker";

static void wait_seconds(double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds};

    left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) != 0)
        ;
}

static struct cell_config config_of(const char *workload)
{
    struct cell_config config = {.devices = "virt:1",
                                 .n_devices = 1,
                                 .backend = "cpu",
                                 .communicator = "threads",
                                 .rows = 10,
                                 .run_id = "0123456789abcdef",
                                 .limits = {.seconds = 1, .min_steps = 1, .max_steps = 2}};
    char why[200];

    if (workload_parse(workload, &config.workload, why, sizeof why))
        abort();
    return config;
}

static int be_worker(const char *workload)
{
    const struct cell_config config = config_of(workload);
    struct record_cell cell;
    char *text;

    if (strcmp(workload, closes_pipe) == 0) {
        fclose(stdout);
        wait_seconds(60);
        return EXIT_FAILURE;
    }
    /* Its parent sleeps when the record comes, and does so beyond the deadline. */
    kill(getppid(), SIGSTOP);
    cell_identify(&config, &cell);
    snprintf(cell.reason, sizeof cell.reason, "%s", sent);
    text = record_cell_text(&cell);
    if (!text)
        return EXIT_FAILURE;
    puts(text);
    free(text);
    return EXIT_SUCCESS;
}

/* Returns 0 if the record of the worker arrived. */
static int launch_stopped(void)
{
    const struct cell_config config = config_of(stops_parent);
    struct record_cell cell;
    const int status = launch_cell(NULL, &config, TIMEOUT_SECONDS, &cell, NULL);
    const bool right = status == 0 && strcmp(cell.reason, sent) == 0;

    if (!right)
        fprintf(stderr, "status %d, %s: %s\n", status, record_status_names[cell.status],
                cell.reason);
    record_cell_free(&cell);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Returns 0 if a signal ends the wait for a worker that has closed its pipe. */
static int launch_closed(void)
{
    const struct cell_config config = config_of(closes_pipe);
    struct record_cell cell;
    int status;

    stop_watch_signals();
    status = launch_cell(NULL, &config, 60, &cell, NULL);
    if (status != 1)
        fprintf(stderr, "status %d, %s: %s\n", status, record_status_names[cell.status],
                cell.reason);
    return status == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static pid_t launcher_start(int (*run)(void))
{
    const pid_t pid = fork();

    if (pid == 0)
        _exit(run());
    return pid;
}

static int launcher_check(const char *name, bool right)
{
    printf("%s %s\n", right ? "ok" : "FAILED", name);
    return right ? 0 : 1;
}

static int test_stopped(void)
{
    const pid_t pid = launcher_start(launch_stopped);
    int status = 0;
    bool right = pid > 0 && waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status);

    if (right) {
        wait_seconds(TIMEOUT_SECONDS + 0.5);
        kill(pid, SIGCONT);
        right = waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return launcher_check("a record that came while the parent was stopped counts", right);
}

static int test_closed(int number)
{
    const time_t begin = time(NULL);
    const pid_t pid = launcher_start(launch_closed);
    int status = 0;
    bool right = pid > 0;

    if (right) {
        wait_seconds(1);
        kill(pid, number);
        right = waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return launcher_check("a signal ends the wait for a worker that hangs",
                          right && time(NULL) - begin < 20);
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "cell") == 0)
        return be_worker(argv[3]);
    return test_stopped() + test_closed(SIGHUP) + test_closed(SIGINT) + test_closed(SIGQUIT) +
           test_closed(SIGTERM);
}
