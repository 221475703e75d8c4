/* around.h: the state that a call into an implementation must leave as it found it: the
 * floating-point environment and the signal mask of the calling thread, and the locale.
 *
 * Expected values are computed and numbers are printed after such a call, so a change is undone,
 * and reported. */
#ifndef WALL_AROUND_H
#define WALL_AROUND_H

#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

enum { AROUND_LOCALE = 512, AROUND_WORDS = 240 };

struct around_floats {
    fenv_t environment;
    int x87_rounding, rounding; /* FE_TONEAREST ..; of float additions */
    int traps;                  /* exceptions that raise a signal, in any unit */
    bool flushes, zeroes;       /* denormal results, and operands, become 0 */
};

struct around {
    struct around_floats floats;
    char locale[AROUND_LOCALE];
    locale_t thread_locale;
    sigset_t signals;
};

void around_begin(struct around *before);
/* Undoes all changes, and says in words what was changed: "" if nothing was. */
void around_end(const struct around *before, char words[AROUND_WORDS]);

#endif
