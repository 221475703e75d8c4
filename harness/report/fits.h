/* report/fits.h: alpha and beta of collectives, fitted through the sizes of a sweep. */
#ifndef HARNESS_REPORT_FITS_H
#define HARNESS_REPORT_FITS_H

#include "report/report.h"

/* Whether there are numbers, or why not. */
enum report_fit_state {
    REPORT_FIT_HOLDS,
    REPORT_FIT_FEW,    /* sizes */
    REPORT_FIT_MANY,   /* more than a plan can have */
    REPORT_FIT_APART,  /* no launch is verified at all sizes */
    REPORT_FIT_NO_LINE /* it is too far from a size */
};

/* time = alpha + beta x bytes: one collective on so many devices, through its sizes. */
struct report_fit {
    const struct report_point *point; /* of its largest size: what all have in common */
    size_t sizes, used;               /* that are verified; of those the largest ones */
    size_t from;                      /* bytes of the smallest used */
    struct report_value alpha, beta;  /* ns; ns per byte; only where the line holds */
    double off;                       /* of the median time of a size, where it is farthest */
    size_t off_at;                    /* bytes there */
    enum report_fit_state state;
};

/* Fills fit, and alpha and beta of the points on each line, after the points. 0, or -1: memory is
 * short. report/fits.c */
int report_fits_make(struct report *collectives);
/* Whether the time grows with the bytes, beyond what differs by launch: else there is no 1/beta. */
bool report_fit_grows(const struct report_fit *fit);
/* A line takes so many sizes, and more than half of those that there are. */
enum { REPORT_FIT_LEAST = 3 };
/* It holds where it is no farther than this part from the median time of each of them. */
#define REPORT_FIT_LIMIT 0.1

/* The table of lines, a row each. report/fits_words.c */
enum { REPORT_FITS_COLUMNS = 10, REPORT_FITS_TEXTS = 4 };
extern const char *const report_fits_names[REPORT_FITS_COLUMNS];
extern const char report_fits_title[], report_fits_note[];
void report_fits_words(const struct report_fit *fit, int column, char text[REPORT_CELL_TEXT]);

#endif
