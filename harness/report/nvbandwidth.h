/* report/nvbandwidth.h: what nvbandwidth wrote with -j, beside the copies that were measured here.
 *
 * The file is untrusted: types and ranges are checked before anything is stored, and text is
 * cleaned. Format: json_output.cpp and testcases_ce.cpp of NVIDIA's nvbandwidth 0.5 to 0.8. Its
 * GB/s are 10^9 bytes a second, and it numbers devices as CUDA does. */
#ifndef HARNESS_REPORT_NVBANDWIDTH_H
#define HARNESS_REPORT_NVBANDWIDTH_H

#include "report/report.h"

struct json_t;

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

bool nvbandwidth_is(const struct json_t *root);
/* NULL and why: there is something else than nvbandwidth writes. Free it. */
struct nvbandwidth *nvbandwidth_read(const struct json_t *root, struct text_error *err);
void nvbandwidth_free(struct nvbandwidth *nvbandwidth);

/* From and to: numbers of devices, or NVBANDWIDTH_HOST; any other is none of its. NaN: it has none.
 */
double nvbandwidth_rate(const struct nvbandwidth *nvbandwidth, enum nvbandwidth_test test, int from,
                        int to);
/* Whether a test of it failed, or all of it. */
bool nvbandwidth_is_wrong(const struct nvbandwidth *nvbandwidth);

#endif
