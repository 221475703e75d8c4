/* analysis/roof.h: how close the phases and the matrix products of a step are to the limits of the
 * machine, by a file of `lockstep sweep limits --format json`.
 *
 * Rates and shares are computed here from times, operations and bytes; derived numbers in the file
 * are not believed.
 *
 * Operations are those of matrix products, two for a multiply-add. The bytes of a computing phase
 * are the operands and results of its products, each counted once: this is what they must move if
 * no data stay in a cache between them. The bytes of an update are the value and the gradient,
 * read, and the value, written; with AdamW also two moments, read and written. The bytes of a phase
 * that copies are those that crossed devices. Other kernels count as time only. */
#ifndef HARNESS_ANALYSIS_ROOF_H
#define HARNESS_ANALYSIS_ROOF_H

#include "analysis/analysis.h"

/* Rates of a core, per nanosecond: operations; bytes read; bytes copied (read and written). */
enum roof_rate { ROOF_FMA, ROOF_READ, ROOF_COPY, ROOF_RATES };
enum roof_way { ROOF_ALONE, ROOF_AT_ONCE, ROOF_WAYS };
/* The keys of a file. */
extern const char *const roof_rate_keys[ROOF_RATES], *const roof_way_keys[ROOF_WAYS];

struct roof_range {
    double middle, lo, hi;
};
struct roof_ceilings {
    int devices;
    /* Lo and hi are the smallest and the largest round. */
    struct roof_range rate[ROOF_RATES][ROOF_WAYS];
};

/* The kinds of work differ in the limit that they have. */
enum roof_kind {
    ROOF_COMPUTES, /* all devices at once: limited by the multiply-adds or the memory of a core */
    ROOF_UPDATES, /* the first device, while the others are idle: limited by the memory of a core */
    ROOF_CARRIES  /* limited by what all cores together can copy */
};
struct roof_work {
    enum roof_kind kind;
    double flops, bytes;  /* of a step on one device; of ROOF_CARRIES on all devices */
    struct roof_range ns; /* lo and hi are the 5th and the 95th percentile of its steps */
};
enum roof_bound { ROOF_UNKNOWN, ROOF_BY_FMA, ROOF_BY_MEMORY, ROOF_BY_COPIES, ROOF_BOUNDS };
extern const char *const roof_bound_words[ROOF_BOUNDS];
struct roof_share {
    enum roof_bound bound; /* ROOF_UNKNOWN: neither operations nor bytes are known */
    double share;          /* shortest time at the limit over its time; NaN: unknown */
    /* The same, by the best round of each ceiling and its own slow steps: noise cannot explain a
     * value above 1. */
    double least;
};
struct roof_share roof_share(const struct roof_ceilings *ceilings, const struct roof_work *work);

/* ---- a file -------------------------------------------------------------------------------- */

enum { ROOF_MOST_WORKLOADS = 32, ROOF_MOST_LINES = 256 };

/* A phase, or a product of one shape, which is a part of a phase. */
struct roof_line {
    char name[64]; /* "forward", "1024x1024x1024 nt" */
    int phase;     /* enum record_phase; RECORD_PHASES: a product that belongs to no phase */
    bool product;
    size_t count; /* how often a step has the product */
    struct roof_work work;
};
struct roof_workload {
    char name[96];
    size_t batch, rows; /* rows: those of one device */
    double step_ns;
    struct roof_line *line;
    size_t n;
};
struct roof {
    char node_hash[17], machine_class[65], cpu_model[128], blas[200], created_utc[32];
    char devices[64], instructions[32];
    size_t rounds;
    bool oversubscribed;
    struct roof_ceilings ceilings;
    struct roof_workload *workload;
    size_t n;
};
/* Reads a file. Returns NULL and why if it cannot be read, is no such file, or has an impossible
 * number. The caller calls roof_free. */
struct roof *roof_read(const char *path, struct text_error *err);
void roof_free(struct roof *roof);

#endif
