/* forecast/simulate.h: the steps of a forecast once more, simulated by SimGrid's SMPI. */
#ifndef HARNESS_FORECAST_SIMULATE_H
#define HARNESS_FORECAST_SIMULATE_H

#include "forecast/forecast.h"

enum { PLATFORM_PATH = 1024 };

/* Of a name or a file: where it is. 0, or -1 and why there is none. forecast/platform.c */
int platform_find(const char *name, char path[PLATFORM_PATH], struct text_error *why);
/* Whether a file says nothing but what a platform needs. 0, or -1 and its line and why.
 * forecast/platform_check.c */
int platform_check(const char *path, struct text_error *why);
/* As many hosts, between any two of which a message takes alpha and beta for a byte. It is there
 * until the stream is closed. NULL and errno: none. */
FILE *platform_fitted(int ranks, double alpha_ns, double beta_ns, char path[PLATFORM_PATH]);

/* Whether the last line that was printed is that of a step of so many ranks: its time, else NaN and
 * why. forecast/simulate.c */
struct simulated {
    double step_ns;
    int rounds, of;
};
int simulate_read(const char *printed, int ranks, struct simulated *simulated, char why[],
                  size_t bytes);

#endif
