/* around.c: the state of a thread before and after a call (around.h).
 *
 * How numbers are rounded, and whether small ones are kept, is found by computing, so that no unit
 * of the CPU is forgotten: the functions of C look at only one of two. */
#define _GNU_SOURCE /* fegetexcept */

#include "around.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SIGNALS = 64 };

/* ---- floating point -------------------------------------------------------------------------- */

#if defined(__x86_64__)
static int simd_traps(const fenv_t *environment)
{
    return (int)(~environment->__mxcsr >> 7 & 0x3F);
}
#else
static int simd_traps(const fenv_t *environment)
{
    (void)environment;
    return 0;
}
#endif

/* Rounds 1 and a little more, of either sign. */
static int rounding_now(void)
{
    volatile float one = 1, little = FLT_EPSILON / 8, much = FLT_EPSILON * 0.75F;
    volatile float above = one + little, below = -one - little, nearest = one + much;

    if (above > one)
        return FE_UPWARD;
    if (below < -one)
        return FE_DOWNWARD;
    return nearest > one ? FE_TONEAREST : FE_TOWARDZERO;
}

static bool flushes_now(void)
{
    volatile float smallest = FLT_MIN, result = smallest / 2;

    return result == 0;
}

static bool zeroes_now(void)
{
    volatile float denormal = FLT_TRUE_MIN, large = 1 / FLT_EPSILON, result = denormal * large;
    volatile float larger = result * large;

    return larger == 0;
}

/* No operation may raise a signal here, even if it was unmasked. */
static void read_floats(struct around_floats *now)
{
    now->traps = fegetexcept();
    now->x87_rounding = fegetround();
    feholdexcept(&now->environment);
    now->traps |= simd_traps(&now->environment);
    now->rounding = rounding_now();
    now->flushes = flushes_now();
    now->zeroes = zeroes_now();
    fesetenv(&now->environment);
}

static const char *rounding_word(int rounding)
{
    switch (rounding) {
    case FE_TONEAREST:
        return "to nearest";
    case FE_UPWARD:
        return "upward";
    case FE_DOWNWARD:
        return "downward";
    default:
        return "toward zero";
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

static void add_change(char words[AROUND_WORDS], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_change(char words[AROUND_WORDS], const char *format, ...)
{
    const size_t used = strlen(words);
    va_list args;
    int n = 0;

    if (used > 0)
        n = snprintf(words + used, AROUND_WORDS - used, "; ");
    if (used + (size_t)n >= AROUND_WORDS)
        return;
    va_start(args, format);
    vsnprintf(words + used + n, AROUND_WORDS - used - (size_t)n, format, args);
    va_end(args);
}

static const char *on_or_off(bool on)
{
    return on ? "on" : "off";
}

static void compare_floats(const struct around_floats *before, char words[AROUND_WORDS])
{
    struct around_floats now;

    read_floats(&now);
    if (now.rounding != before->rounding)
        add_change(words, "the rounding mode: it was %s, it is %s", rounding_word(before->rounding),
                   rounding_word(now.rounding));
    else if (now.x87_rounding != before->x87_rounding)
        add_change(words, "the rounding mode of long double: it was %s, it is %s",
                   rounding_word(before->x87_rounding), rounding_word(now.x87_rounding));
    if (now.flushes != before->flushes)
        add_change(words, "flush-to-zero: it is %s", on_or_off(now.flushes));
    if (now.zeroes != before->zeroes)
        add_change(words, "denormals-are-zero: it is %s", on_or_off(now.zeroes));
    if (now.traps != before->traps)
        add_change(words,
                   "the floating-point exceptions that raise a signal: they were 0x%x, they are "
                   "0x%x",
                   (unsigned)before->traps, (unsigned)now.traps);
    if (words[0] != '\0')
        fesetenv(&before->environment);
}

/* ---- locale and signals ---------------------------------------------------------------------- */

static void read_locale(char name[AROUND_LOCALE])
{
    const char *now = setlocale(LC_ALL, NULL);

    snprintf(name, AROUND_LOCALE, "%s", now ? now : "");
}

static void compare_signals(const struct around *before, char words[AROUND_WORDS])
{
    sigset_t now;
    bool same = true;

    if (pthread_sigmask(SIG_SETMASK, NULL, &now) != 0)
        return;
    for (int number = 1; number <= SIGNALS; ++number) {
        const int blocked = sigismember(&now, number);

        if (blocked < 0 || blocked == sigismember(&before->signals, number))
            continue;
        if (same)
            add_change(words, "the signal mask: signal %d (%s) is %s", number, strsignal(number),
                       blocked == 1 ? "blocked" : "no longer blocked");
        same = false;
    }
    if (!same)
        pthread_sigmask(SIG_SETMASK, &before->signals, NULL);
}

void around_begin(struct around *before)
{
    read_floats(&before->floats);
    read_locale(before->locale);
    before->thread_locale = uselocale((locale_t)0);
    sigemptyset(&before->signals);
    pthread_sigmask(SIG_SETMASK, NULL, &before->signals);
}

void around_end(const struct around *before, char words[AROUND_WORDS])
{
    words[0] = '\0';
    compare_floats(&before->floats, words);
    char now[AROUND_LOCALE];

    read_locale(now);
    if (strcmp(now, before->locale) != 0) {
        add_change(words, "the locale: it was '%.40s', it is '%.80s'", before->locale, now);
        setlocale(LC_ALL, before->locale);
    }
    if (uselocale((locale_t)0) != before->thread_locale) {
        add_change(words, "the locale of its thread (uselocale)");
        uselocale(before->thread_locale);
    }
    compare_signals(before, words);
}
