/* verify/collective.h: the collectives that can be measured, one table row for each, with the
 * numbers that their ranks bring and those that each rank must have afterwards, computed without
 * core.
 *
 * The numbers are small integers, so that every sum is exact in any order. A number differs from
 * that of any other rank in the same place, and from those of the same rank in the iterations
 * around it. So a part that is missing, or there twice, or from another rank or iteration, shows in
 * every element. Other numbers stand before and after the numbers of a rank; they must not
 * change. */
#ifndef HARNESS_VERIFY_COLLECTIVE_H
#define HARNESS_VERIFY_COLLECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "dp.h"
#include "text/text.h"

/* A type that the numbers of a collective can have. */
struct collective_type {
    const char *name;      /* "f32", in records */
    const char *nccl_name; /* "float", in the table of nccl-tests */
    enum dp_dtype dtype;
    size_t bytes;
    bool adds; /* false: it is only carried */
    /* Writes whole numbers, each exact in the type. If the type is only carried, it writes a
     * different bit pattern for each number. */
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
struct collective {
    const char *name;
    const char *nccl_program;   /* of nccl-tests: "all_reduce_perf" */
    const char *nccl_op;        /* "sum", "none" */
    int nccl_root;              /* -1: none */
    bool in_blocks, out_blocks; /* a rank brings (in), or gets (out), a block for each rank */
    bool out_of_place;          /* it exists only out of place */
    /* Bus bandwidth over algorithm bandwidth, as nccl-tests defines it. */
    double (*factor)(int ranks);
};
extern const struct collective collectives[COLLECTIVES];

/* The collective of that name, or of a program of nccl-tests; NULL: there is none. */
const struct collective *collective_find(const char *name);
const struct collective *collective_of_nccl(const char *program);
const struct collective_type *collective_type_find(const char *name);
const struct collective_type *collective_type_of_nccl(const char *nccl_name);
/* Whether the collective supports that type. */
bool collective_takes(const struct collective *collective, const struct collective_type *type);
/* Writes the names of all collectives: "allreduce, broadcast, ...". */
enum { COLLECTIVE_NAMES = 96 };
void collective_names(char text[COLLECTIVE_NAMES]);

/* Whether ranks bring or get numbers in blocks, one for each rank: their bytes are divided
 * evenly. */
bool collective_has_blocks(const struct collective *collective);
/* The number of bytes that a size must be a multiple of. */
size_t collective_unit(const struct collective *collective, const struct collective_type *type,
                       int ranks);

/* The elements of each guard: before the numbers of a rank, between its input and its output, and
 * after them. */
enum { COLLECTIVE_GUARD = 16 };

/* The memory that a rank has on its device: guard, in, guard, out, guard; in place it is guard,
 * memory, guard, with in and out in the memory. The larger of in and out has count numbers. */
struct collective_data {
    const struct collective *collective;
    const struct collective_type *type;
    int ranks;
    size_t count;
    bool out_of_place;
    void *host;   /* what collective_input fills, and what is read back: collective_elements */
    void *answer; /* of the rank and iteration that were asked for last */
};
/* Returns 0, or -1 if memory is short. Close it in either case. */
int collective_open(struct collective_data *data);
void collective_close(struct collective_data *data);
size_t collective_elements(const struct collective_data *data); /* with the guards */
struct collective_range {
    size_t first, n; /* elements of that memory */
};
struct collective_range collective_in(const struct collective_data *data, int rank);
struct collective_range collective_out(const struct collective_data *data, int rank);

/* Fills host with the numbers that the rank brings to an iteration. The place of its result gets
 * numbers that no rank has. */
void collective_input(const struct collective_data *data, int rank, uint64_t iteration);
/* Fills answer with the numbers that a rank must have after the iteration. Its input must not have
 * changed. */
void collective_expect(const struct collective_data *data, int rank, uint64_t iteration);
/* Fills host with numbers that no answer has, before results are read into it. */
void collective_forget(const struct collective_data *data);

/* The first number that differs, bit for bit. */
struct collective_mismatch {
    long long index; /* in the result; outside of it is memory that must not change */
    size_t wrong;    /* numbers that differ */
    uint64_t expected, actual;
};
/* Whether host differs from answer, which must be that of the same rank. */
bool collective_differs(const struct collective_data *data, int rank,
                        struct collective_mismatch *mismatch);

#endif
