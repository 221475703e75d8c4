/* stop.c: the request to stop, by a signal. Any thread may run the handler (a BLAS library may have
 * some of its own), so a blocked mask and signalfd would not do. */
#include "stop.h"

#include <signal.h>
#include <stddef.h>

/* The only thing a signal handler can reach. */
static volatile sig_atomic_t requested;

static void request(int number)
{
    (void)number;
    requested = 1;
}

void stop_watch_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    const struct sigaction action = {.sa_handler = request};

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction before;

        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

bool stop_requested(void)
{
    return requested != 0;
}
