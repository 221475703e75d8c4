/* prove/slowed.c: lockstep with a change that is known: what scripts/prove looks for.
 *
 * The program is the product, but for three functions that the linker puts in front of its own. The
 * environment says what they do; without it they do nothing.
 *
 *   PROVE_SLOW=1.05     each step takes so many times as long, within what is timed
 *   PROVE_TAIL=50:3     every 50th step does
 *   PROVE_BYTES=1       so many bytes more are said to be moved in a step */
#include <stdint.h>
#include <stdlib.h>

#include "measure/session.h"

int __real_session_step(struct session *session, int k, struct session_times *times,
                        struct dp_error *err);
int __wrap_session_step(struct session *session, int k, struct session_times *times,
                        struct dp_error *err);
double __real_session_bytes(const struct session *session);
double __wrap_session_bytes(const struct session *session);

static double number_of(const char *name, double otherwise)
{
    const char *const text = getenv(name);

    return text ? strtod(text, NULL) : otherwise;
}

/* How many times as long the step of that number takes. */
static double slowness(size_t step)
{
    const char *const tail = getenv("PROVE_TAIL");
    char *times = NULL;
    const unsigned long every = tail ? strtoul(tail, &times, 10) : 0;

    if (every > 0 && *times == ':' && step % every == every - 1)
        return strtod(times + 1, NULL);
    return number_of("PROVE_SLOW", 1);
}

int __wrap_session_step(struct session *session, int k, struct session_times *times,
                        struct dp_error *err)
{
    static size_t steps;
    const double slow = slowness(steps++);
    const int status = __real_session_step(session, k, times, err);
    const uint64_t until =
        times->start_ns + (uint64_t)(slow * (double)(status == 0 ? times->step_ns : 0));

    if (status != 0 || !(slow > 1))
        return status;
    while (session_clock_ns() < until)
        ;
    times->step_ns = session_clock_ns() - times->start_ns;
    return 0;
}

double __wrap_session_bytes(const struct session *session)
{
    return __real_session_bytes(session) + number_of("PROVE_BYTES", 0);
}
