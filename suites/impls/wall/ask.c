/* ask.c: our side of the wall: asks the other process for calls, and says how it ended.
 *
 * Whatever that process does, the result is an answer or a reason. */
#include "inside.h"

#include "launch/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 50, PATIENCE_MS = 1000, PAUSE_NS = 500000 };

/* ---- how it ended ---------------------------------------------------------------------------- */

void wall_wait(const struct wall *wall, siginfo_t *info)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};

    for (int i = 0; i < PATIENCE_MS * 1000000 / PAUSE_NS && !child_has_ended(wall->pid, info); ++i)
        nanosleep(&pause, NULL);
}

static void note_death(struct wall *wall, const char *doing)
{
    siginfo_t info;

    wall_wait(wall, &info);
    wall->fell = true;
    if (info.si_pid == 0) {
        snprintf(wall->dead, sizeof wall->dead, "the process closed its way of answering, in %s",
                 doing);
    } else if (info.si_code == CLD_EXITED) {
        snprintf(wall->dead, sizeof wall->dead,
                 "the process ended with status %d and without an answer, in %s", info.si_status,
                 doing);
    } else {
        /* Reads the address of a crash, if there was one. */
        const void *at = NULL;

        if (read(wall->fault, &at, sizeof at) == (ssize_t)sizeof at)
            wall->touched = at;
        wall->fell = !child_signal_is_foreign(info.si_status);
        snprintf(wall->dead, sizeof wall->dead, "the process died of signal %d (%s), in %s",
                 info.si_status, strsignal(info.si_status), doing);
    }
}

/* Waits until there is something to read, or the end; false: it has ended without an answer. */
static bool await(const struct wall *wall)
{
    struct pollfd end = {.fd = wall->answer, .events = POLLIN};
    siginfo_t info;

    for (;;) {
        if (poll(&end, 1, TICK_MS) > 0)
            return true;
        /* A process that it started may hold the pipe open. */
        if (child_has_ended(wall->pid, &info))
            return poll(&end, 1, 0) > 0;
    }
}

int wall_answer(struct wall *wall, const char *doing)
{
    uint64_t number = 0;
    ssize_t n = -1;

    while (await(wall)) {
        n = read(wall->answer, &number, sizeof number);
        if (n >= 0 || errno != EINTR)
            break;
    }
    if (n == (ssize_t)sizeof number && number == wall->number)
        return 0;
    if (n <= 0) {
        note_death(wall, doing);
        return -1;
    }
    wall->fell = true;
    snprintf(wall->dead, sizeof wall->dead,
             "something other than the suite wrote into the pipe for answers, in %s", doing);
    return -1;
}

void *wall_put(struct wall *wall, const void *from, size_t bytes)
{
    const size_t need = (bytes + sizeof(max_align_t)) / sizeof(max_align_t);
    void *to = &wall->box->room[wall->used];

    if (!from)
        return NULL;
    if (wall->full || need > WALL_ROOM / sizeof(max_align_t) - wall->used) {
        wall->full = true;
        return NULL;
    }
    memcpy(to, from, bytes);
    wall->used += need;
    return to;
}

static int refuse_call(struct impl_error *err, const char *text)
{
    *err = (struct impl_error){
        .status = IMPL_EBROKEN, .replica = -1, .device = IMPL_NOWHERE, .device_also = IMPL_NOWHERE};
    snprintf(err->text, sizeof err->text, "%.255s", text);
    return IMPL_EBROKEN;
}

int wall_call(struct wall *wall, enum impl_op op, struct impl_error *err)
{
    const char *doing = impl_operations[op].name;
    struct wall_box *box = wall->box;
    const bool full = wall->full;
    ssize_t sent;

    wall->changed[0] = '\0';
    wall->used = 0;
    wall->full = false;
    if (wall->dead[0] != '\0')
        return refuse_call(err, wall->dead);
    if (full)
        return refuse_call(err, "the arguments of the call need more room than there is");
    box->number = ++wall->number;
    box->op = op;
    box->error = *err;
    box->n_fresh = wall->arena.n_fresh;
    memcpy(box->fresh, wall->arena.fresh, wall->arena.n_fresh * sizeof *box->fresh);
    wall->arena.n_fresh = 0;
    do
        sent = child_write(wall->ask, &wall->number, sizeof wall->number);
    while (sent < 0 && errno == EINTR);
    if (sent != (ssize_t)sizeof wall->number) {
        note_death(wall, doing);
        return refuse_call(err, wall->dead);
    }
    if (wall_answer(wall, doing) != 0)
        return refuse_call(err, wall->dead);
    memcpy(err, &box->error, sizeof *err);
    err->text[sizeof err->text - 1] = '\0';
    memcpy(wall->changed, box->changed, sizeof wall->changed);
    wall->changed[sizeof wall->changed - 1] = '\0';
    return box->status;
}

/* ---- what is known of it --------------------------------------------------------------------- */

const char *wall_dead(const struct wall *wall)
{
    return wall->dead[0] != '\0' ? wall->dead : NULL;
}

int wall_resident(const struct wall *wall, size_t *bytes)
{
    unsigned long long total, pages = 0;
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/statm", (long)wall->pid);
    file = fopen(path, "r");
    if (!file)
        return -1;
    if (fscanf(file, "%llu %llu", &total, &pages) != 2)
        pages = 0;
    fclose(file);
    *bytes = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
    return pages > 0 ? 0 : -1;
}
