/* strays.c: a child that lives is found and killed; one that ends during the search is not
 * "unseen". */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check/runner.h"

enum { WATCHERS = 24, FIRST_MS = 194, STEP_MS = 2 };

static void nap_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

/* Watches in a separate process, which has a child that ends by itself after `ms`. */
static _Noreturn void watch_one(long ms)
{
    struct strays strays;
    pid_t child;

    strays_watch();
    child = fork();
    if (child < 0)
        _exit(2);
    if (child == 0) {
        nap_ms(ms);
        _exit(0);
    }
    strays_end(&strays);
    _exit(strays.unseen || strays.unwatched || strays.n > 1 || waitpid(child, NULL, WNOHANG) != -1);
}

/* The children end around the moment at which the wait is over: one that has just ended is not
 * found in /proc. */
Test(strays, one_ends_while_it_is_sought)
{
    pid_t watcher[WATCHERS];

    for (int i = 0; i < WATCHERS; ++i) {
        watcher[i] = fork();
        cr_assert(watcher[i] >= 0);
        if (watcher[i] == 0)
            watch_one(FIRST_MS + i * STEP_MS);
    }
    for (int i = 0; i < WATCHERS; ++i) {
        int status = -1;

        cr_assert(waitpid(watcher[i], &status, 0) == watcher[i]);
        cr_assert(status == 0, "its child ended after %d ms: status %#x", FIRST_MS + i * STEP_MS,
                  (unsigned)status);
    }
}

static void *go_on(void *unused)
{
    (void)unused;
    for (;;)
        pause();
    return NULL;
}

/* The first thread of the process has ended: /proc calls such a process a zombie, and it lives. */
Test(strays, one_whose_first_thread_has_ended)
{
    struct strays strays;
    pid_t child;

    strays_watch();
    child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, go_on, NULL))
            _exit(2);
        pthread_exit(NULL);
    }
    strays_end(&strays);
    cr_assert(!strays.unseen && strays.n == 1, "unseen %u, killed %u", strays.unseen, strays.n);
    cr_assert(waitpid(child, NULL, WNOHANG) == -1);
}
