/* report/external.h: files of --beside: what nccl-tests says of collectives, and nvbandwidth of
 * copies. They stand next to what was measured here, and never among it.
 *
 * A file is untrusted: types and ranges are checked before anything is stored, and text is cleaned.
 * A file of nccl-tests has one collective: what src/util.cu of NVIDIA's nccl-tests 2.19 prints, or
 * versions 1 to 3 of its JSON. nvbandwidth writes JSON with -j: json_output.cpp and
 * testcases_ce.cpp of NVIDIA's nvbandwidth 0.5 to 0.8. Its GB/s are 10^9 bytes a second, and it
 * numbers devices as CUDA does. */
#ifndef HARNESS_REPORT_EXTERNAL_H
#define HARNESS_REPORT_EXTERNAL_H

#include "analysis/analysis.h"

struct json_t;
struct collective;
struct collective_type;

/* The files of --beside, by the program that wrote them, into report->beside, which has room for
 * it, or report->nvbandwidth. 0, or -1 and why. report/external.c */
int external_add(const char *path, struct report *report, struct text_error *err);
/* Whether the records have what they stand next to; 0, or -1 and what is missing. */
int external_check(const struct report *report, struct text_error *err);
void external_free(struct report *report);

/* ---- nccl-tests --------------------------------------------------------------------------- */

/* One size in one place. */
struct nccl_tests_line {
    const struct collective_type *type;
    bool out_of_place;
    size_t bytes;
    double ns, algbw, busbw; /* bytes per second */
    double wrong;            /* numbers; NaN: it did not look */
};

struct nccl_tests {
    const struct collective *collective;
    int ranks;
    struct nccl_tests_line *line;
    size_t n, capacity;
    size_t others; /* lines of a type or an operation that is not measured here */
    bool finished; /* it came to its end */
    bool failed;   /* it found values out of bounds */
};

/* Of a file, whose JSON root is, or NULL where it is text. NULL and why: it cannot be read, is no
 * output of nccl-tests, or is of a collective that is not known here. report/nccl_read.c */
struct nccl_tests *nccl_tests_read(const char *path, const struct json_t *root,
                                   struct text_error *err);
void nccl_tests_free(struct nccl_tests *file);
/* Whether it found wrong numbers, or values out of bounds. */
bool nccl_tests_is_wrong(const struct nccl_tests *file);
/* The line of that file about the same collective, type, number of devices, place and bytes; NULL:
 * none. */
const struct nccl_tests_line *nccl_tests_find(const struct nccl_tests *file,
                                              const struct report_point *point);
/* What a reader must know of the files: wrong numbers, no end, lines without a cell. "": nothing.
 */
void nccl_tests_remarks(const struct report *report, char text[REPORT_CELL_TEXT]);

/* ---- nvbandwidth: report/nvbandwidth.c ---------------------------------------------------- */

/* Its tests that mean what is measured here. */
enum nvbandwidth_test {
    NVBANDWIDTH_FROM_HOST,
    NVBANDWIDTH_TO_HOST,
    NVBANDWIDTH_WITHIN,
    NVBANDWIDTH_WRITE, /* between devices: that which sends copies, */
    NVBANDWIDTH_READ,  /* that which gets it does */
    NVBANDWIDTH_TESTS
};

enum { NVBANDWIDTH_HOST = -1, NVBANDWIDTH_NAME = 64, NVBANDWIDTH_DEVICES = 256 };

/* Where a GPU is on the PCI bus. */
struct nvbandwidth_place {
    bool known;
    unsigned domain, bus, device;
};

struct nvbandwidth {
    int devices; /* 0: none of those tests has passed */
    /* Bytes per second, NaN: none; [device], and between devices [from * devices + to]. NULL: it
     * has not passed. */
    double *rate[NVBANDWIDTH_TESTS];
    size_t others;                  /* numbers of tests that mean something else */
    size_t failed, idle;            /* tests; idle: waived or not found */
    char first[NVBANDWIDTH_NAME];   /* that failed, in the order of the file */
    char running[NVBANDWIDTH_NAME]; /* a test that did not come to its end; "": none */
    bool stopped;                   /* all of it ended with an error, which is: */
    char error[200];
    struct nvbandwidth_place place[NVBANDWIDTH_DEVICES]; /* of its devices, since 0.8 */
};

/* NULL and why: there is something else than nvbandwidth writes. */
struct nvbandwidth *nvbandwidth_read(const struct json_t *root, struct text_error *err);
void nvbandwidth_free(struct nvbandwidth *nvbandwidth);
/* From and to: numbers of devices, or NVBANDWIDTH_HOST; any other is none of its. NaN: it has none.
 */
double nvbandwidth_rate(const struct nvbandwidth *nvbandwidth, enum nvbandwidth_test test, int from,
                        int to);
/* Whether a test of it failed, or all of it. */
bool nvbandwidth_is_wrong(const struct nvbandwidth *nvbandwidth);

#endif
