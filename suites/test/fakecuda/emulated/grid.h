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

/* The indices of the thread whose turn it is. */
extern struct grid_index threadIdx, blockIdx, blockDim, gridDim;

/* From now on the last thread is the first in each turn. */
void grid_reverse(bool on);
/* Runs every thread of every block. */
void grid_run(unsigned blocks, unsigned threads, void (*run)(void *), void *what);
/* The number of meetings of whole blocks so far, and of those that some thread of a block missed.
 */
unsigned long grid_meetings(void);
unsigned long grid_missed(void);

/* A meeting of the block, as in CUDA. */
void __syncthreads(void);
int __syncthreads_or(int value);

#ifdef __cplusplus
}
#endif

#endif
