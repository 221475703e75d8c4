/* grid.h: a grid of threads on the host, for the text of kernels compiled as C++.
 *
 * Blocks run one after another; the threads of a block take turns, each from one meeting of the
 * block (__syncthreads) to the next, in rising or falling order. A sum that lacks a meeting comes
 * out differently in the two orders. */
#ifndef LOCKSTEP_EMULATED_GRID_H
#define LOCKSTEP_EMULATED_GRID_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct grid_index {
    unsigned x;
};

/* Of the thread whose turn it is. */
extern struct grid_index threadIdx, blockIdx, blockDim, gridDim;

/* From now on: the last thread first. */
void grid_reverse(bool on);
/* Runs every thread of every block. */
void grid_run(unsigned blocks, unsigned threads, void (*run)(void *), void *what);
/* Meetings of whole blocks so far, and those to which some thread of a block did not come. */
unsigned long grid_meetings(void);
unsigned long grid_missed(void);

/* As CUDA's. */
void __syncthreads(void);
int __syncthreads_or(int value);

#ifdef __cplusplus
}
#endif

#endif
