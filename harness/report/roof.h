/* report/roof.h: how near the phases and the products of a step are to what the machine allows: a
 * file of `lockstep bench limits --format json`, read back for the report.
 *
 * Rates and shares are made here from times, operations and bytes; nothing derived is believed.
 *
 * What is counted. Operations are those of matrix products, two for a multiply-add. Bytes of a
 * computing phase are the operands and results of its products, each once: what they must move if
 * nothing stays in a cache between them. Those of an update are value and gradient, read, and the
 * value, written, and by AdamW two moments, read and written. Those of a phase that carries are
 * what crossed devices. Other kernels count as time only. */
#ifndef HARNESS_REPORT_ROOF_H
#define HARNESS_REPORT_ROOF_H

#include "report/page.h"
#include "report/report.h"

/* Of a core, per nanosecond: operations; bytes read; bytes copied, which are read and written. */
enum roof_rate { ROOF_FMA, ROOF_READ, ROOF_COPY, ROOF_RATES };
enum roof_way { ROOF_ALONE, ROOF_AT_ONCE, ROOF_WAYS };
/* Keys of a file. */
extern const char *const roof_rate_keys[ROOF_RATES], *const roof_way_keys[ROOF_WAYS];

struct roof_range {
    double middle, lo, hi;
};
struct roof_ceilings {
    int devices;
    struct roof_range rate[ROOF_RATES][ROOF_WAYS]; /* lo, hi: smallest and largest round */
};

/* Which limit it has. */
enum roof_kind {
    ROOF_COMPUTES, /* all devices at once: the multiply-adds or the memory of a core */
    ROOF_UPDATES,  /* the first device while the others are idle: the memory of a core */
    ROOF_CARRIES,  /* what all cores together copy */
    ROOF_KINDS
};
struct roof_work {
    enum roof_kind kind;
    double flops, bytes;  /* of a step; of a device, and of all of them where it carries */
    struct roof_range ns; /* lo, hi: 5th and 95th percentile of its steps */
};
enum roof_bound { ROOF_UNKNOWN, ROOF_BY_FMA, ROOF_BY_MEMORY, ROOF_BY_COPIES, ROOF_BOUNDS };
extern const char *const roof_bound_words[ROOF_BOUNDS];
struct roof_share {
    enum roof_bound bound; /* UNKNOWN: neither operations nor bytes are known */
    double share;          /* least time at the limit over its time; NaN: unknown */
    /* By the best round of each ceiling and its own slow steps: above 1 no noise explains it. */
    double least;
};
struct roof_share roof_share(const struct roof_ceilings *ceilings, const struct roof_work *work);

/* ---- a file -------------------------------------------------------------------------------- */

enum { ROOF_MOST_WORKLOADS = 32, ROOF_MOST_LINES = 256 };

/* A phase, or a product in its shape, which is a part of a phase. */
struct roof_line {
    char name[64]; /* "forward", "1024x1024x1024 nt" */
    int phase;     /* enum record_phase; RECORD_PHASES: a product of none */
    bool product;
    size_t count; /* of a product in a step */
    struct roof_work work;
};
struct roof_workload {
    char name[96];
    size_t batch, rows; /* rows of a device */
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
/* NULL and why: it cannot be read, is no such file, or a number in it cannot be. Caller: roof_free.
 */
struct roof *roof_read(const char *path, struct text_error *err);
void roof_free(struct roof *roof);

/* ---- the table ------------------------------------------------------------------------------ */

/* Lines that are faster than their limit beyond noise: "": none. */
void roof_caution(const struct roof *roof, char text[REPORT_CELL_TEXT]);
/* "104 GFLOP/s", "15.8 GB/s", in so many ns; "-": nothing is counted. Returns text, or "-". */
const char *roof_rate_words(const struct roof_work *work, double ns, char text[32]);

#endif
