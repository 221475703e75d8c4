/* prove/simulate.h: pairs of launches that are made up, so that the truth is known, and what the
 * judging of `lockstep compare` and the intervals of a report make of them.
 *
 * Unit tests and the program of scripts/prove share it. The judging is the product's own: nothing
 * of it is written down here a second time. */
#ifndef PROVE_SIMULATE_H
#define PROVE_SIMULATE_H

#include <stddef.h>
#include <stdint.h>

enum {
    SIMULATE_PAIRS = 12, /* of each cell, as many as a comparison has */
    SIMULATE_CELLS = 12, /* of a comparison whose power is looked for */
    SIMULATE_CELLS_MOST = 60
};

/* Noise of a launch: the logarithm of its time. */
enum simulate_noise {
    SIMULATE_GAUSS,
    SIMULATE_T2,           /* Student's t, 2 degrees of freedom: no variance */
    SIMULATE_CONTAMINATED, /* one launch in ten is ten times as noisy */
    SIMULATE_AR8,          /* the next launch has .8 of this one's */
    SIMULATE_DRIFT,        /* the second launch of a pair is slower, by two deviations */
    SIMULATE_AR5,
    SIMULATE_NOISES
};
extern const char *const simulate_noise_names[SIMULATE_NOISES];

/* d[cell * pairs + pair] = log(new / old), where NEW takes ratio times as long. Which arm is first
 * is drawn for each pair. noise: about the deviation of a pair's d. */
void simulate_pairs(enum simulate_noise model, uint64_t seed, size_t cells, size_t pairs,
                    double ratio, double noise, double d[]);

/* Comparisons of a program with itself in which it was shown to be slower, in a cell or in all
 * together: without a margin, and beyond the margin in either direction. */
struct simulate_alarms {
    size_t without, beyond;
};
/* 0, or -1 when memory is short. */
int simulate_alarms(enum simulate_noise model, size_t cells, size_t runs,
                    struct simulate_alarms *found);

/* Comparisons with two looks, after SIMULATE_PAIRS pairs and after twice as many, of programs that
 * differ by the margin and no more: how many say at a look that they differ by more, in a cell or
 * in all together. 0, or -1 when memory is short. */
int simulate_looks(enum simulate_noise model, size_t cells, size_t runs, size_t *alarmed);

/* Comparisons of SIMULATE_CELLS cells at 2 % noise, all of which take ratio times as long. */
struct simulate_power {
    size_t slower, faster, alike; /* cells by their verdict */
    size_t global_slower, global_faster;
    size_t near; /* comparisons: the estimate within .01 of ratio, and the interval around it */
};
int simulate_power(double ratio, size_t runs, struct simulate_power *found);

/* Intervals of 95 % that have the true median, of so many: of the median over n launches as in a
 * report, and of the shift of n pairs. */
size_t simulate_median_covered(enum simulate_noise model, size_t n, size_t runs);
size_t simulate_shift_covered(enum simulate_noise model, size_t n, size_t runs);

#endif
