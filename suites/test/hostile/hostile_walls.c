/* hostile_walls.c: habits that no value shows: state that is left in the thread and the machine,
 * and accesses next to an array or in the suite itself. */
#define _GNU_SOURCE /* feenableexcept */

#include "hostile.h"

#include "check/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the thread ------------------------------------------------------------------------------ */

#if defined(__x86_64__)
static void flush_to_zero(void)
{
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8000U);
}
#else
static void flush_to_zero(void)
{
}
#endif

static void round_and_back(void)
{
    const int before = fegetround();

    fesetround(FE_UPWARD);
    fesetround(before);
}

/* The locale must have a comma, or this shows nothing. */
static void take_locale(bool back)
{
    if (!setlocale(LC_ALL, "") || strcmp(localeconv()->decimal_point, ",") != 0) {
        fprintf(stderr, "no locale with a comma\n");
        exit(9);
    }
    if (back)
        setlocale(LC_ALL, "C");
}

static void block_signal(void)
{
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, SIGINT);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
}

/* ---- a process stays ------------------------------------------------------------------------- */

/* Leaves a grandchild outside of the group and of the session. Its number is for the test. */
static void leave_somebody(void)
{
    const pid_t pid = fork();
    FILE *file;

    if (pid != 0)
        return;
    setsid();
    if (fork() != 0)
        _exit(0);
    file = fopen("stayed", "a");
    if (file) {
        fprintf(file, "%ld\n", (long)getpid());
        fclose(file);
    }
    act_hang();
}

/* ---- a forged pass --------------------------------------------------------------------------- */

/* Asks the kernel whether memory can be read. */
static bool can_read(const void *at, size_t bytes)
{
    int ends[2];
    bool can;

    if (pipe(ends) != 0)
        return false;
    can = write(ends[1], at, bytes) == (ssize_t)bytes;
    close(ends[0]);
    close(ends[1]);
    return can;
}

/* Returns whether check/child.c keeps the pipe, its token and the memory of both here. */
static bool is_server(const uint64_t *at, int pipe_end)
{
    const struct runner_shared *shared = NULL;
    int file;

    memcpy(&file, &at[0], sizeof file);
    if (file != pipe_end || at[1] == 0)
        return false;
    memcpy(&shared, &at[2], sizeof shared);
    return shared && can_read(shared, sizeof shared->doing) &&
           strcmp(shared->doing, "scatter") == 0;
}

/* Searches up the stack from here. */
static bool find_token(int pipe_end, uint64_t *token)
{
    enum { WORDS = 1 << 15 };
    uint64_t here = 0;
    volatile uintptr_t place = (uintptr_t)&here; /* no compiler sees where this leads */
    const uint64_t *at = (const uint64_t *)place;

    for (int i = 0; i < WORDS; ++i) {
        if (((uintptr_t)&at[i + 3] & 0xFF8) == 0 && !can_read(&at[i + 3], 8))
            return false;
        if (is_server(&at[i], pipe_end)) {
            *token = at[i + 1];
            return true;
        }
    }
    return false;
}

static void write_pass(int pipe_end, uint64_t token)
{
    const struct runner_message message = {
        .token = token, .kind = RUNNER_VERDICT, .outcome = {.verdict = CHECK_PASS, .compared = 7}};

    if (write(pipe_end, &message, sizeof message) == (ssize_t)sizeof message)
        _exit(0); /* before any other process can report something else */
}

/* Searches the files and the memory of the process that judges. */
static void reach_out(FILE *messages)
{
    char path[64];
    int file, reached = 0;

    for (int i = 0; i < 1024; ++i) {
        snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getppid(), i);
        file = open(path, O_WRONLY | O_NONBLOCK);
        reached += file >= 0;
        if (file >= 0)
            close(file);
    }
    snprintf(path, sizeof path, "/proc/%ld/mem", (long)getppid());
    file = open(path, O_RDWR);
    fprintf(messages, "files %d, memory %s\n", reached, file >= 0 ? "open" : strerror(errno));
}

static void forge(void)
{
    FILE *messages = fopen("forged", "w");
    struct stat kind;
    uint64_t token;

    for (int file = 3; file < 1024; ++file)
        if (fstat(file, &kind) == 0 && S_ISFIFO(kind.st_mode) && find_token(file, &token))
            write_pass(file, token);
    if (messages) {
        reach_out(messages);
        fclose(messages);
    }
    _exit(0);
}

/* ---- all ------------------------------------------------------------------------------------- */

void act_on_walls(enum habit habit, const struct impl_scatter *op)
{
    const struct impl_array *input = op->input;
    const size_t width = input->dtype == IMPL_F64 || input->dtype == IMPL_I64 ? 8 : 4;
    const intptr_t end = (intptr_t)(width * act_elements(input));

    if (habit == WALL_ROUNDS)
        fesetround(FE_UPWARD);
    if (habit == WALL_ROUNDS_BACK)
        round_and_back();
    if (habit == WALL_FLUSHES)
        flush_to_zero();
    if (habit == WALL_TRAPS)
        feenableexcept(FE_DIVBYZERO);
    if (habit == WALL_LOCALE || habit == WALL_LOCALE_INSIDE)
        take_locale(habit == WALL_LOCALE_INSIDE);
    if (habit == WALL_SIGNALS)
        block_signal();
    if (habit == WALL_BEHIND)
        act_add_one(input->data, end);
    if (habit == WALL_BEFORE)
        act_add_one(input->data, -1);
    if (habit == WALL_READS_FAR)
        fprintf(stderr, "%d\n", *act_byte(input->data, end + 4096));
    if (habit == WALL_STAYS)
        leave_somebody();
    if (habit == WALL_FORGES)
        forge();
}
