/* measure/process.c: one of several processes that measure a cell together.
 *
 * Who is silent at the end is the one that died: so each of the others has the last word, whatever
 * ends it. A thread of its own waits for signals, since the others may be inside of MPI. */
#include "measure/process.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "build_info.h"
#include "command/command.h"
#include "dp_mpi.h"
#include "files/said.h"
#include "measure/measure.h"
#include "measure/watch.h"

enum { LOOK_NS = 200000000, LATE_SECONDS = 5 };

struct process {
    const struct cell_config *config;
    struct dp_mpi *mpi;
    struct said_speaker speaker; /* behind the lock */
    pthread_mutex_t lock;
    pthread_t guard;
    pid_t parent;
};

/* A launcher that does not listen any more is found out by the guard. */
static int say(struct process *p, enum said_word word, const char *text)
{
    pthread_mutex_lock(&p->lock);
    const int status = said_write(&p->speaker, word, text);
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* ---- the guard ------------------------------------------------------------------------------- */

static _Noreturn void end_now(struct process *p, const char *why)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    ++until.tv_sec;
    if (pthread_mutex_timedlock(&p->lock, &until) == 0)
        (void)said_write(&p->speaker, SAID_TOLD, why);
    _exit(EXIT_FAILED);
}

/* Without its launcher nobody would end it. */
static void *guard(void *arg)
{
    struct process *p = arg;
    const struct timespec look = {.tv_nsec = LOOK_NS};
    const double seconds = p->config->timeout;
    struct watch watch;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    watch_start(&watch);
    for (;;) {
        if (sigtimedwait(&set, NULL, &look) == SIGTERM)
            end_now(p, "by SIGTERM");
        if (getppid() != p->parent)
            end_now(p, "its launcher is gone");
        if (seconds > 0 && watch_seconds(&watch) > seconds + LATE_SECONDS)
            end_now(p, "its time is over");
    }
}

/* The mask is that of all threads that follow. */
static int start_guard(struct process *p)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    p->parent = getppid();
    if (pthread_mutex_init(&p->lock, NULL) != 0)
        return -1;
    return pthread_sigmask(SIG_BLOCK, &set, NULL) == 0 &&
                   pthread_create(&p->guard, NULL, guard, p) == 0
               ? 0
               : -1;
}

/* ---- the cell -------------------------------------------------------------------------------- */

/* All must be the same program with the same cell. */
static int open_mpi(struct process *p, struct dp_error *err)
{
    const struct cell_config *config = p->config;
    char plan[128];
    struct record_cell cell;

    cell_identify(config, &cell);
    snprintf(plan, sizeof plan, "run %s, cell %s, seed %llu", config->run_id, cell.cell_id,
             (unsigned long long)config->seed);
    const struct dp_mpi_config how = {
        .processes = cell_processes(config),
        .deadline_ms = config->timeout > 0 ? (unsigned)(config->timeout * 500) : 0,
        .start_ms = config->timeout > 0 ? (unsigned)(config->timeout * 500) : 0,
        .build = BUILD_VERSION " " BUILD_SOURCE,
        .plan = plan};
    return dp_mpi_open(&how, &p->mpi, err);
}

static int say_begun(struct process *p)
{
    const int rank = dp_mpi_rank(p->mpi);
    char text[SAID_TEXT];

    p->speaker.process = rank;
    snprintf(text, sizeof text, "%s %ld %s", dp_mpi_host(p->mpi, rank), dp_mpi_pid(p->mpi, rank),
             dp_mpi_library(p->mpi));
    return say(p, SAID_BEGUN, text);
}

/* The first one has the record, which is that of all. */
static int say_ended(struct process *p, const struct record_cell *cell)
{
    char *record = dp_mpi_rank(p->mpi) == 0 ? record_cell_text(cell) : NULL;
    char text[SAID_TEXT];
    int status = 0;

    if (dp_mpi_rank(p->mpi) == 0) {
        pthread_mutex_lock(&p->lock);
        status = record ? said_write_parts(&p->speaker, record) : -1;
        pthread_mutex_unlock(&p->lock);
    }
    free(record);
    snprintf(text, sizeof text, "%s %s", record_status_names[cell->status], cell->reason);
    return status || say(p, SAID_ENDED, text) ? -1 : 0;
}

/* MPI is ended only where all have come to the end; else it would wait. */
static _Noreturn void leave(struct process *p, int status)
{
    struct dp_error err = {0};

    if (dp_mpi_close(p->mpi, &err) != 0 && status == EXIT_PASSED)
        status = EXIT_FAILED;
    fflush(NULL);
    _exit(status);
}

int process_run(const struct cell_config *config)
{
    struct process p = {.config = config, .speaker = {.fd = STDOUT_FILENO, .process = SAID_NOBODY}};
    struct record_cell cell = {.status = RECORD_BROKEN};
    struct dp_error err = {0};

    if (start_guard(&p)) {
        (void)said_write(&p.speaker, SAID_ENDED, "broken: a process cannot start a thread");
        return EXIT_FAILED;
    }
    if (open_mpi(&p, &err)) {
        (void)say(&p, SAID_ENDED, err.text);
        _exit(EXIT_FAILED);
    }
    int status = say_begun(&p);

    if (status == 0) {
        cell_measure(config, NULL, p.mpi, &cell);
        status = say_ended(&p, &cell);
    } else {
        dp_mpi_abort(p.mpi);
    }
    const bool ok = status == 0 && cell.status == RECORD_OK;

    record_cell_free(&cell);
    leave(&p, ok ? EXIT_PASSED : EXIT_FAILED);
}
