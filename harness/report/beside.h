/* report/beside.h: what nccl-tests printed or wrote, beside the collectives that were measured
 * here.
 *
 * A file has one collective. It is untrusted: types and ranges are checked before anything is
 * stored, and text is cleaned. Formats: src/util.cu of NVIDIA's nccl-tests 2.19, what it prints and
 * versions 1 to 3 of its JSON. */
#ifndef HARNESS_REPORT_BESIDE_H
#define HARNESS_REPORT_BESIDE_H

#include "report/report.h"

struct json_t;
struct collective;
struct collective_type;

/* One size in one place. */
struct beside_line {
    const struct collective_type *type;
    bool out_of_place;
    size_t bytes;
    double ns, algbw, busbw; /* bytes per second */
    double wrong;            /* numbers; NaN: it did not look */
};

struct beside {
    const struct collective *collective;
    int ranks;
    struct beside_line *line;
    size_t n, capacity;
    size_t others; /* lines of a type or an operation that is not measured here */
    bool finished; /* it came to its end */
    bool failed;   /* it found values out of bounds */
};

/* Of a file, whose JSON root is, or NULL where it is text. NULL and why: it cannot be read, is no
 * output of nccl-tests, or is of a collective that is not known here. Free it. */
struct beside *beside_read(const char *path, const struct json_t *root, struct text_error *err);
bool beside_is(const struct json_t *root);
void beside_free(struct beside *beside);
/* Whether it found wrong numbers, or values out of bounds. */
bool beside_is_wrong(const struct beside *beside);

/* Of the readers. One result; 0, or -1 and why: it cannot be, or memory is short. Its bus bandwidth
 * must be the algorithm bandwidth times the factor of the collective on so many ranks: else it is
 * of other ranks than the file says. */
int beside_add(struct beside *beside, const struct beside_line *line, struct text_error *err);
int beside_text(const char *path, struct beside *beside, struct text_error *err);
int beside_json(const struct json_t *root, struct beside *beside, struct text_error *err);

/* The table: a row for each cell of a collective that a file has, too: same collective, type,
 * number of devices, place and bytes. */
enum { BESIDE_COLUMNS = 10, BESIDE_TEXTS = 4 };
extern const char beside_title[], beside_note[];
extern const char *const beside_names[BESIDE_COLUMNS];
/* The line of that file, or NULL. */
const struct beside_line *beside_find(const struct beside *beside,
                                      const struct report_point *point);
void beside_words(const struct report_point *point, const struct beside_line *line, int column,
                  char text[REPORT_CELL_TEXT]);
/* The number of lines of all files that have no cell. */
size_t beside_unmatched(const struct report *report);
/* What a reader must know of the files: wrong numbers, no end, lines without a cell. "": nothing.
 */
void beside_remarks(const struct report *report, char text[REPORT_CELL_TEXT]);

/* The files of --beside, by the program that wrote them: report/beside_file.c. Into
 * report->beside, which has room for it, or report->nvbandwidth. 0, or -1 and why. */
int beside_file_add(const char *path, struct report *report, struct text_error *err);
/* Whether the records have what they stand beside; 0, or -1 and what is missing. */
int beside_file_check(const struct report *report, struct text_error *err);
void beside_files_free(struct report *report);

#endif
