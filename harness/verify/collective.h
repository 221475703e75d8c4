/* verify/collective.h: the collectives that can be measured, a row each, with what their ranks
 * bring and what each must have afterwards, computed without core.
 *
 * The numbers are small integers, so that every sum is exact in any order. A number differs from
 * that of any other rank in the same place, and from its rank's own of the iterations around it: a
 * part that is missing, there twice, another rank's or of another iteration shows in every
 * element. In front of a rank's numbers and behind them are others, which must stay. */
#ifndef HARNESS_VERIFY_COLLECTIVE_H
#define HARNESS_VERIFY_COLLECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "dp.h"
#include "text/text.h"

/* Types that their numbers can have. */
struct collective_type {
    const char *name;      /* "f32", in records */
    const char *nccl_name; /* "float", in the table of nccl-tests */
    enum dp_dtype dtype;
    size_t bytes;
    bool adds; /* false: it is only carried */
    /* Writes whole numbers, each exact in the type; where it is only carried, numbers with other
     * bits each. */
    void (*put)(void *to, const uint32_t numbers[], size_t n);
};
enum { COLLECTIVE_TYPES = 4 };
extern const struct collective_type collective_types[COLLECTIVE_TYPES];

enum collective_id {
    COLLECTIVE_ALLREDUCE,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_ALLGATHER,
    COLLECTIVE_REDUCESCATTER,
    COLLECTIVE_ALLTOALL,
    COLLECTIVES
};
struct collective_data;
struct collective {
    const char *name;
    const char *nccl_program;   /* of nccl-tests: "all_reduce_perf" */
    const char *nccl_op;        /* "sum", "none" */
    int nccl_root;              /* -1: none */
    bool in_blocks, out_blocks; /* a rank brings, and gets, a block for each rank */
    bool out_of_place;          /* only so */
    /* Bus bandwidth over algorithm bandwidth, as nccl-tests defines it. */
    double (*factor)(int ranks);
    /* What number `at` of a block of a rank's result must be, from those that the ranks brought. */
    uint32_t (*answer)(const struct collective_data *data, int rank, uint64_t iteration,
                       size_t block, size_t at);
};
extern const struct collective collectives[COLLECTIVES];

/* The row of that name, or of a program of nccl-tests; NULL: there is none. */
const struct collective *collective_find(const char *name);
const struct collective *collective_of_nccl(const char *program);
const struct collective_type *collective_type_find(const char *name);
const struct collective_type *collective_type_of_nccl(const char *nccl_name);
bool collective_adds(const struct collective *collective);
/* Whether it is known of that type. */
bool collective_takes(const struct collective *collective, const struct collective_type *type);
/* "allreduce, broadcast, ..." */
enum { COLLECTIVE_NAMES = 96 };
void collective_names(char text[COLLECTIVE_NAMES]);

/* Whether numbers are brought or got in blocks, one for each rank: their bytes are cut evenly. */
bool collective_has_blocks(const struct collective *collective);
/* Bytes that a size must be a multiple of. */
size_t collective_unit(const struct collective *collective, const struct collective_type *type,
                       int ranks);

/* Elements in front of a rank's numbers, between those that it brings and those that it gets, and
 * behind them. */
enum { COLLECTIVE_GUARD = 16 };

/* What a rank has on its device: guard, in, guard, out, guard; in place guard, memory, guard, with
 * in and out in it. The larger of both has count numbers. */
struct collective_data {
    const struct collective *collective;
    const struct collective_type *type;
    int ranks;
    size_t count;
    bool out_of_place;
    void *host;   /* what collective_input fills, and what is read back: collective_elements */
    void *answer; /* of the rank and iteration that were asked for last */
};
/* 0, or -1: memory is short. Close it in any case. */
int collective_open(struct collective_data *data);
void collective_close(struct collective_data *data);
size_t collective_elements(const struct collective_data *data); /* with the guards */
struct collective_range {
    size_t first, n; /* elements of that memory */
};
struct collective_range collective_in(const struct collective_data *data, int rank);
struct collective_range collective_out(const struct collective_data *data, int rank);

/* Fills host with what rank brings to an iteration; where its result goes, with what none has. */
void collective_input(const struct collective_data *data, int rank, uint64_t iteration);
/* Fills answer with what a rank must have after it: what it has brought stays. */
void collective_expect(const struct collective_data *data, int rank, uint64_t iteration);
/* Fills host with what no answer has: before something is read into it. */
void collective_forget(const struct collective_data *data);

/* The first of the numbers that differ, bit for bit. */
struct collective_mismatch {
    long long index; /* in the result; outside of it: what must stay */
    size_t wrong;    /* numbers that differ */
    uint64_t expected, actual;
};
/* Whether host has something else than answer, which is that of rank. */
bool collective_differs(const struct collective_data *data, int rank,
                        struct collective_mismatch *mismatch);

#endif
