/* grid.c: the threads of a block as contexts that give way at each meeting. */
#include "grid.h"

#include <ucontext.h>

#define THREADS 256
#define STACK   (64 * 1024)

struct grid_index threadIdx, blockIdx, blockDim, gridDim;

static struct {
    ucontext_t turns, thread[THREADS];
    char stack[THREADS][STACK];
    bool ended[THREADS], reverse;
    void (*run)(void *);
    void *what;
    int any;
    unsigned long meetings, missed;
} grid;

void grid_reverse(bool on)
{
    grid.reverse = on;
}

unsigned long grid_meetings(void)
{
    return grid.meetings;
}

unsigned long grid_missed(void)
{
    return grid.missed;
}

static void thread_main(void)
{
    grid.run(grid.what);
    grid.ended[threadIdx.x] = true;
}

void __syncthreads(void)
{
    const unsigned me = threadIdx.x;
    swapcontext(&grid.thread[me], &grid.turns);
    threadIdx.x = me;
}

/* The value is there after the first meeting, and may be cleared after the second. */
int __syncthreads_or(int value)
{
    grid.any |= value != 0;
    __syncthreads();
    const int any = grid.any;
    __syncthreads();
    grid.any = 0;
    return any;
}

/* Each thread to its next meeting, or to its end; how many have ended. */
static unsigned take_turns(unsigned threads)
{
    unsigned ended = 0;
    for (unsigned i = 0; i < threads; ++i) {
        const unsigned t = grid.reverse ? threads - 1 - i : i;
        threadIdx.x = t;
        if (!grid.ended[t])
            swapcontext(&grid.turns, &grid.thread[t]);
        ended += grid.ended[t];
    }
    return ended;
}

static void run_block(unsigned threads)
{
    for (unsigned t = 0; t < threads; ++t) {
        grid.ended[t] = false;
        getcontext(&grid.thread[t]);
        grid.thread[t].uc_stack.ss_sp = grid.stack[t];
        grid.thread[t].uc_stack.ss_size = STACK;
        grid.thread[t].uc_link = &grid.turns;
        makecontext(&grid.thread[t], thread_main, 0);
    }
    for (unsigned ended = 0; ended < threads;) {
        ended = take_turns(threads);
        grid.meetings += ended == 0;
        grid.missed += ended != 0 && ended != threads;
    }
}

void grid_run(unsigned blocks, unsigned threads, void (*run)(void *), void *what)
{
    gridDim.x = blocks;
    blockDim.x = threads;
    grid.run = run;
    grid.what = what;
    for (unsigned b = 0; b < blocks && threads <= THREADS; ++b) {
        blockIdx.x = b;
        run_block(threads);
    }
}
