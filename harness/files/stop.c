/* files/stop.c: signals: what they do from the start, and the request to stop. Any thread may run
 * the handler (a BLAS library may start some), so a blocked mask and signalfd would not
 * do.
 */
#include "files/files.h"

#include <signal.h>
#include <stddef.h>

/* The only thing a signal handler can reach. */
static volatile sig_atomic_t requested;

static void request(int number)
{
    (void)number;
    requested = 1;
}

void stop_set_signals(void)
{
    /* A reader that went away and a file that may not grow are errors of a write, not of the
     * program. Who ignores SIGCHLD never sees a child end. */
    static const struct {
        int number;
        void (*handler)(int);
    } signals[] = {{SIGPIPE, SIG_IGN}, {SIGXFSZ, SIG_IGN}, {SIGCHLD, SIG_DFL}, {SIGALRM, SIG_DFL}};
    sigset_t none;

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i) {
        struct sigaction before;

        /* A handler is that of a library, such as a profiler, not of who started the program. */
        if (sigaction(signals[i].number, NULL, &before) == 0 &&
            (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN))
            sigaction(signals[i].number, &(struct sigaction){.sa_handler = signals[i].handler},
                      NULL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void stop_watch_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    const struct sigaction action = {.sa_handler = request};

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i) {
        struct sigaction before;

        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

bool stop_requested(void)
{
    return requested != 0;
}
