/* shim_worker.c: is preloaded. The worker of one cell misbehaves, before or while it measures.
 *
 * TORTURE_ROWS names the cell by its --rows, TORTURE_ACT what its worker does. TORTURE_RECORD is a
 * file with what it is to write, TORTURE_EDIT a script of sed for what it writes. Other processes
 * are not touched. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { BLOCK = 65536, MEGABYTES = 100, LATER_US = 20000 };

static void shim_worker_put(const char *text, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t n = write(STDOUT_FILENO, text, bytes);

        if (n < 0 && errno != EINTR)
            _exit(0);
        text += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
}

static void put_much(size_t megabytes)
{
    static char block[BLOCK];

    memset(block, 'x', sizeof block);
    for (size_t i = 0; i < megabytes * 16; ++i)
        shim_worker_put(block, sizeof block);
}

static void put_record(void)
{
    const char *path = getenv("TORTURE_RECORD");
    FILE *file = !path ? NULL : fopen(path, "r");
    static char block[BLOCK];
    size_t n;

    if (!file)
        _exit(99);
    while ((n = fread(block, 1, sizeof block, file)) > 0)
        shim_worker_put(block, n);
    if (ferror(file) || fclose(file) != 0)
        _exit(99);
}

static void die_of(int number)
{
    raise(number);
}

/* Kills the worker in the middle of measuring. */
static void die_later(void (*handler)(int))
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND};
    const struct itimerval later = {.it_value = {.tv_usec = LATER_US}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &later, NULL);
}

static void segfault(int number)
{
    (void)number;
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void stop(int number)
{
    (void)number;
    raise(SIGSTOP);
}

static void shim_worker_leave(int number)
{
    (void)number;
    _exit(0);
}

static void hang(void)
{
    for (;;)
        pause();
}

/* Leaves a child that holds the pipe, outside of the worker's group if daemon is set. It ends by
 * itself after a minute. */
static void leave_child(int daemon)
{
    const char *path = getenv("TORTURE_PID");
    const pid_t pid = fork();
    FILE *file;

    if (pid != 0) {
        file = !path ? NULL : fopen(path, "w");
        if (!file || fprintf(file, "%ld\n", (long)pid) < 0 || fclose(file) != 0)
            _exit(97);
        return;
    }
    if (daemon)
        setsid();
    signal(SIGALRM, SIG_DFL);
    alarm(60);
    hang();
}

/* Replaces the record by another one: sed takes the place of this process, and a child goes on as
 * the worker. */
static void edit(const char *script)
{
    int ends[2];

    if (!script || pipe(ends) != 0)
        _exit(96);
    const pid_t pid = fork();

    if (pid < 0 || dup2(ends[pid == 0], pid == 0 ? STDOUT_FILENO : STDIN_FILENO) < 0)
        _exit(95);
    close(ends[0]);
    close(ends[1]);
    if (pid == 0)
        return;
    unsetenv("LD_PRELOAD");
    execlp("sed", "sed", script, (char *)NULL);
    _exit(94);
}

/* Acts before main; these acts end the process. */
static void act_at_once(const char *act)
{
    if (strcmp(act, "segv") == 0)
        die_of(SIGSEGV);
    else if (strcmp(act, "abort") == 0)
        die_of(SIGABRT);
    else if (strcmp(act, "oom") == 0)
        die_of(SIGKILL);
    else if (strcmp(act, "garbage") == 0)
        shim_worker_put("\0\1\xff{\"schema\":\nno record\n", 25);
    else if (strcmp(act, "line") == 0)
        shim_worker_put("{\"schema\":\"lockstep/cell/1.1\"}\n", 31);
    else if (strcmp(act, "much") == 0)
        put_much(MEGABYTES);
    else if (strcmp(act, "record") == 0 || strcmp(act, "record_fails") == 0)
        put_record();
    else if (strcmp(act, "hang") == 0 ||
             (strcmp(act, "closed_hang") == 0 && close(STDOUT_FILENO) == 0))
        hang();
    else if (strcmp(act, "stop") == 0)
        die_of(SIGSTOP);
    else if (strcmp(act, "silent") != 0)
        return;
    _exit(strcmp(act, "record_fails") == 0 ? 7 : 0);
}

/* Printed after the record, when all else is done. */
static const char *last_words;
static size_t last_bytes;

static void say_last(const char *text, size_t bytes)
{
    last_words = text;
    last_bytes = bytes;
}

__attribute__((destructor)) static void speak(void)
{
    shim_worker_put(last_words, last_bytes);
}

__attribute__((constructor)) static void misbehave(int argc, char **argv)
{
    const char *act = getenv("TORTURE_ACT"), *rows = getenv("TORTURE_ROWS");

    for (int i = 2; act && rows && i < argc; ++i) {
        if (strcmp(argv[1], "cell") != 0 || strcmp(argv[i - 1], "--rows") != 0 ||
            strcmp(argv[i], rows) != 0)
            continue;
        act_at_once(act);
        if (strcmp(act, "segv_later") == 0)
            die_later(segfault);
        else if (strcmp(act, "stop_later") == 0)
            die_later(stop);
        else if (strcmp(act, "leave_later") == 0)
            die_later(shim_worker_leave);
        else if (strcmp(act, "closed") == 0)
            close(STDOUT_FILENO);
        else if (strcmp(act, "child") == 0 || strcmp(act, "daemon") == 0)
            leave_child(strcmp(act, "daemon") == 0);
        else if (strcmp(act, "edit") == 0)
            edit(getenv("TORTURE_EDIT"));
        else if (strcmp(act, "tail") == 0)
            say_last("\0junk", 5);
        else if (strcmp(act, "twice") == 0)
            say_last("{}\n", 3);
        else
            _exit(98);
    }
}
