/* compare/exact.h: internal to this room: numbers that have to be the same on any machine, because
 * they are counted, not timed. One more is a change.
 *
 * Two files, a baseline and pairs use the same metrics, the same comparison and the same words:
 * exact.c compares, exact_write.c writes. */
#ifndef HARNESS_COMPARE_EXACT_H
#define HARNESS_COMPARE_EXACT_H

#include "compare/compare.h"

struct exact_metric {
    const char *name, *unit, *part; /* part: what an element is of; "": there is one */
    enum { EXACT_REAL, EXACT_SIZE, EXACT_U64 } kind; /* a real that is NaN: unknown */
    size_t offset;                                   /* in a cell: of its first element */
    size_t count;                                    /* and of their number; 0: there is one */
    bool later; /* old records, and baselines of them, do not have it */
};
enum { EXACT_METRICS = 6 };
extern const struct exact_metric exact_metrics[EXACT_METRICS];

/* What the verified launches of one side say of a cell: of each element the least and the most.
 * NaN: one of them does not know it. */
struct exact_side {
    size_t launches;
    size_t n[EXACT_METRICS]; /* elements */
    double lo[EXACT_METRICS][RECORD_MAX_RANKS], hi[EXACT_METRICS][RECORD_MAX_RANKS];
};
/* One more launch, which is verified. */
void exact_add(struct exact_side *side, const struct record_cell *launch);

/* A number that should be the same on both sides, and is not. */
struct exact_change {
    size_t cell;
    const struct exact_metric *metric;
    char where[32];                /* " of device 1" */
    char value[COMPARE_SIDES][64]; /* "65536", "65536 to 65540", "unknown", "none" */
};
struct exact_changes {
    size_t n;
    struct exact_change change[];
};
/* Room for the changes of so many cells; NULL: memory is short. Caller frees. */
struct exact_changes *exact_room(size_t cells);
/* Adds of each metric of the cell the first element that is not the same. Of a side without a
 * verified launch nothing is said, and nothing of a later metric that A does not know: B may be the
 * first program that counts it. */
void exact_compare(const struct exact_side side[COMPARE_SIDES], size_t cell,
                   struct exact_changes *changes);

struct json_t;
/* What a comparison calls its cells and its sides. */
struct exact_names {
    const void *of; /* the comparison */
    void (*words)(const void *of, size_t cell, char text[COMPARE_TEXT]);
    struct json_t *(*json)(const void *of, size_t cell);
    const char *side[COMPARE_SIDES]; /* "A" */
};
/* Of two files. */
struct exact_names compare_exact_names(const struct compare *compare);
void exact_text(FILE *stream, const struct exact_changes *changes, const struct exact_names *names);
struct text_out;
void exact_markdown(struct text_out *out, const struct exact_changes *changes,
                    const struct exact_names *names);
/* One of them, and all as an array. What memory is short of: record/memory.h. */
struct json_t *exact_change_json(const struct exact_change *change,
                                 const struct exact_names *names);
struct json_t *exact_json(const struct exact_changes *changes, const struct exact_names *names);

#endif
