/* prove/slowed.c: lockstep with a known change, which scripts/prove must find.
 *
 * The program is the product, except for functions that the linker puts in front of some of it. The
 * environment says what they do; without it they do nothing.
 *
 *   PROVE_SLOW=1.05     each step takes this many times as long, within the measured time
 *   PROVE_TAIL=50:3     every 50th step does
 *   PROVE_BYTES=1       this many more bytes are reported as moved in a step
 *   PROVE_PRODUCTS=40   a matrix product takes this many ns more for each of its multiplications,
 *                       asleep: so all devices compute at the same time, on any number of cores
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "measure/session.h"

int __real_session_step(struct session *session, int k, struct session_times *times,
                        struct dp_error *err);
int __wrap_session_step(struct session *session, int k, struct session_times *times,
                        struct dp_error *err);
double __real_session_bytes(const struct session *session);
double __wrap_session_bytes(const struct session *session);

/* The declaration of cblas.h; enumerations are ints. */
void __real_cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k,
                        float alpha, const float *a, int lda, const float *b, int ldb, float beta,
                        float *c, int ldc);
void __wrap_cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k,
                        float alpha, const float *a, int lda, const float *b, int ldb, float beta,
                        float *c, int ldc);

static double slowed_number_of(const char *name, double otherwise)
{
    const char *const text = getenv(name);

    return text ? strtod(text, NULL) : otherwise;
}

/* Returns how many times as long the step with that number takes. */
static double slowness(size_t step)
{
    const char *const tail = getenv("PROVE_TAIL");
    char *times = NULL;
    const unsigned long every = tail ? strtoul(tail, &times, 10) : 0;

    if (every > 0 && *times == ':' && step % every == every - 1)
        return strtod(times + 1, NULL);
    return slowed_number_of("PROVE_SLOW", 1);
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
    while (watch_clock_ns() < until)
        ;
    times->step_ns = watch_clock_ns() - times->start_ns;
    return 0;
}

double __wrap_session_bytes(const struct session *session)
{
    return __real_session_bytes(session) + slowed_number_of("PROVE_BYTES", 0);
}

void __wrap_cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k,
                        float alpha, const float *a, int lda, const float *b, int ldb, float beta,
                        float *c, int ldc)
{
    const uint64_t ns =
        (uint64_t)(slowed_number_of("PROVE_PRODUCTS", 0) * (double)m * (double)n * (double)k);
    struct timespec left = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

    while (ns > 0 && nanosleep(&left, &left) != 0)
        ;
    __real_cblas_sgemm(order, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                       ldc);
}
