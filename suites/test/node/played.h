/* played.h: a machine that the test's NVML plays back from a small text file.
 *
 * The environment's LOCKSTEP_PLAYED_NVML names the file. A line is a name and values.
 * Lines before the first line "gpu" hold for all GPUs, lines after a line "gpu" for that one:
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
/* Reads the next value of that name as a number. Returns NVML's status. */
int played_number(const struct played_gpu *gpu, const char *name, unsigned long long *value);
/* Reads the rest of the line. gpu: NULL for lines about the machine. */
int played_text(const struct played_gpu *gpu, const char *name, char *text, unsigned bytes);

#endif
