/* dataset.h: rows of numbers, each with a class, in host memory; or a text, whose rows are windows.
 *
 * The bytes of a text are numbers of a vocabulary. A row is the window that begins at that byte:
 * `features` bytes, and for each of them the next byte as its class. */
#ifndef DATASET_H
#define DATASET_H

#include <stdbool.h>
#include <stdio.h>

#include "dp.h"

#define DATASET_MAX_COLUMNS 65536
#define DATASET_MAX_CLASSES 65536
#define DATASET_GAPS        8
#define DATASET_MAX_TEXT    (1 << 30)

struct dataset {
    char name[64];  /* "digits", "random", "text", or the end of the file's name */
    char path[104]; /* for messages: the name, with the folder of a file, or "..." and its end */
    size_t rows, features;
    int classes; /* labels are 0..classes-1; of a text the vocabulary */
    unsigned char
        *text;      /* [rows + features]; then there is no feature and no label. NULL: no text */
    float *feature; /* [rows, features] */
    int32_t *label; /* [rows] */
    size_t table;   /* of dataset_want */
    float unit;     /* the least power of two from 2^-126 to 2^127 that no |feature| exceeds (or the
                     * last); 1 when all are 0 */
    int gaps;       /* of a file: classes without a row */
    int gap[DATASET_GAPS]; /* the first of them */
};

/* The requirements of a model; 0: any. */
struct dataset_want {
    size_t features;
    int classes;
    size_t table; /* features are numbers of rows of a table that has so many */
    bool header;  /* the first line of the file has the names of the columns */
    bool text;    /* features, the context of a model, and classes, its vocabulary, are not 0 */
};

/* "digits" (1797 rows of 64 numbers, ten classes; part of the program), "random", or else the name
 * of a CSV file. A text is "text" (the documents of this project, part of the program) or
 * "text:FILE". All errors are DP_EINVAL or DP_ENOMEM. Ownership: dataset_free, which may be called
 * after an error, too. */
int dataset_open(const char *what, const struct dataset_want *want, struct dataset *data,
                 struct dp_error *err);
void dataset_free(struct dataset *data);

/* The tutorial's random data set: normal numbers, a function of seed. The class of a row is the
 * largest of its products with as many random rows, so that it can be learned. With a table: one
 * number of a row of it, whose class is random, too, and always the same. want has no 0 but table.
 */
int dataset_random(size_t rows, const struct dataset_want *want, uint64_t seed,
                   struct dataset *data, struct dp_error *err);

/* Reads a CSV file (data/README.md says what it must be) to its end. Errors name name, line and
 * column. A class must be below want->classes, or DATASET_MAX_CLASSES. */
int dataset_read_csv(FILE *file, const char *name, const struct dataset_want *want,
                     struct dataset *data, struct dp_error *err);

/* Texts are in dataset_text.c: their names, and the file for a name: in "text:FILE" it is after the
 * colon. */
bool dataset_is_text(const char *what);
const char *dataset_file(const char *what);
/* want->text is set. Errors: DP_EINVAL as in dataset_open, if the text is shorter than two windows
 * and the byte after each, if it has more than DATASET_MAX_TEXT bytes, or if a byte is not below
 * want->classes. */
int dataset_open_text(const char *what, const struct dataset_want *want, struct dataset *data,
                      struct dp_error *err);
/* Bytes that train, which are in front of those that test. */
size_t dataset_text_part(const struct dataset *data);

/* Classes of a row. */
size_t dataset_labels(const struct dataset *data);

/* Sets unit, from the features. */
void dataset_measure(struct dataset *data);

/* Rows that train: four fifths, rounded down; of a text the windows that end before the part that
 * tests, which is its last tenth, rounded down, but at least one window. Errors DP_EINVAL fewer
 * than two rows. */
int dataset_part(const struct dataset *data, size_t *train, struct dp_error *err);

/* Cuts rows into two parts that are random by seed: index[0..*train-1], of dataset_part, and the
 * rest. Errors as there. */
int dataset_split(const struct dataset *data, uint64_t seed, size_t index[], size_t *train,
                  struct dp_error *err);

#endif
