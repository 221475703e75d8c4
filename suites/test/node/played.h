/* played.h: a machine that the test's NVML plays back from a small text file.
 *
 * The environment's LOCKSTEP_PLAYED_NVML names the file. A line is a name and values; what is
 * before the first line "gpu" is so of all GPUs, what is behind one of that one:
 *
 *     temperature 34 35 91      the first call gives 34, the second 35, all others 91
 *     mig -                     not supported, as is all that the file does not name
 *     power !15                 NVML's error 15
 *     link.7.state 0            of one link; "link.state 1" is of all others, "links 18" how many
 */
#ifndef TEST_NODE_PLAYED_H
#define TEST_NODE_PLAYED_H

#define PLAYED __attribute__((visibility("default")))

/* A GPU, as the program has it. */
struct played_gpu;
int played_start(void);
int played_count(void);
struct played_gpu *played_gpu(unsigned index);
/* The next value of that name, as a number. What NVML returns. */
int played_number(const struct played_gpu *gpu, const char *name, unsigned long long *value);
/* The rest of the line. gpu: NULL for what is of the machine. */
int played_text(const struct played_gpu *gpu, const char *name, char *text, unsigned bytes);

#endif
