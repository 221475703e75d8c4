/* report/external.h: the results of other programs: those of nccl-tests for collectives, and those
 * of nvbandwidth for copies. They are shown next to our measurements, and never mixed with them.
 *
 * A file is untrusted: types and ranges are checked before anything is stored, and text is cleaned.
 * A file of nccl-tests has one collective: either what src/util.cu of NVIDIA's nccl-tests 2.19
 * prints, or versions 1 to 3 of its JSON. nvbandwidth writes JSON with -j: json_output.cpp and
 * testcases_ce.cpp of NVIDIA's nvbandwidth 0.5 to 0.8. Its GB/s are 10^9 bytes per second, and it
 * numbers devices as CUDA does. */
#ifndef HARNESS_REPORT_EXTERNAL_H
#define HARNESS_REPORT_EXTERNAL_H

#include "analysis/analysis.h"

struct collective;
struct collective_type;

/* Reads one such file. The program that wrote it decides whether it goes to the list of nccl-tests
 * in report, which has capacity for it, or to report->nvbandwidth. Returns 0, or -1 and why. */
int external_add(const char *path, struct report *report, struct text_error *err);
/* Checks that the records have cells that these results can be shown with. Returns 0, or -1 and
 * what is missing. */
int external_check(const struct report *report, struct text_error *err);
void external_free(struct report *report);

/* ---- nccl-tests --------------------------------------------------------------------------- */

/* The result for one size, in place or out of place. */
struct nccl_tests_line {
    const struct collective_type *type;
    bool out_of_place;
    size_t bytes;
    double ns, algbw, busbw; /* bytes per second */
    double wrong;            /* wrong numbers; NaN: they were not checked */
};

enum { NCCL_TESTS_LINES = 10000 };

struct nccl_tests {
    const struct collective *collective;
    int ranks;
    struct nccl_tests_line line[NCCL_TESTS_LINES];
    size_t n;
    size_t others; /* lines of a type or an operation that is not measured here */
    bool finished; /* the program came to its end */
    bool failed;   /* the program found values out of bounds */
};

/* Whether the program found wrong numbers, or values out of bounds. */
bool nccl_tests_is_wrong(const struct nccl_tests *file);
/* Finds the line of that file about the same collective, type, number of devices, place and bytes;
 * NULL: it has none. */
const struct nccl_tests_line *nccl_tests_find(const struct nccl_tests *file,
                                              const struct report_point *point);
/* Writes what a reader must know about the files: wrong numbers, no end, lines without a cell. "":
 * nothing. */
void nccl_tests_remarks(const struct report *report, char text[REPORT_CELL_TEXT]);

/* ---- nvbandwidth -------------------------------------------------------------------------- */

/* The tests of nvbandwidth that measure the same as `sweep --parts`. */
enum nvbandwidth_test {
    NVBANDWIDTH_FROM_HOST,
    NVBANDWIDTH_TO_HOST,
    NVBANDWIDTH_WITHIN,
    NVBANDWIDTH_WRITE, /* between devices: the sending device starts the copies */
    NVBANDWIDTH_READ,  /* between devices: the receiving device starts them */
    NVBANDWIDTH_TESTS
};

enum { NVBANDWIDTH_HOST = -1, NVBANDWIDTH_NAME = 64, NVBANDWIDTH_DEVICES = 256 };

/* Where a GPU is on the PCI bus. */
struct nvbandwidth_place {
    bool known;
    unsigned domain, bus, device;
};

struct nvbandwidth {
    int devices;                    /* 0: none of those tests has passed */
    bool passed[NVBANDWIDTH_TESTS]; /* the others have no rates */
    /* Bytes per second; NaN: none. [device], or [from * devices + to] between devices. */
    double rate[NVBANDWIDTH_TESTS][NVBANDWIDTH_DEVICES * NVBANDWIDTH_DEVICES];
    size_t others;                  /* how many numbers the other tests have */
    size_t failed, idle;            /* numbers of tests; idle: waived, or not found */
    char first[NVBANDWIDTH_NAME];   /* the first test that failed, in the order of the file */
    char running[NVBANDWIDTH_NAME]; /* a test that did not come to its end; "": none */
    bool stopped;                   /* the whole program ended with this error: */
    char error[200];
    struct nvbandwidth_place place[NVBANDWIDTH_DEVICES]; /* of its devices, since version 0.8 */
};

/* The rate of a copy; from and to are numbers of devices, or NVBANDWIDTH_HOST. NaN: the file has
 * none, also for any other number. */
double nvbandwidth_rate(const struct nvbandwidth *nvbandwidth, enum nvbandwidth_test test, int from,
                        int to);
/* Whether one of its tests failed, or the whole program. */
bool nvbandwidth_is_wrong(const struct nvbandwidth *nvbandwidth);

#endif
