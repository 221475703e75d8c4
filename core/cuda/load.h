/* load.h: a library of the GPU's vendor, when it is needed: they are so large that being linked
 * with one would make every process of this program slow to start. */
#ifndef CUDA_LOAD_H
#define CUDA_LOAD_H

#include "../dp.h"

struct dp_library {
    const char *title; /* "NCCL" */
    const char *name;  /* where the system looks */
    const char *built_with;
    enum dp_status status; /* of an error */
    void *handle;          /* NULL: not open */
};

/* By its name, else the file of the build, which is seldom where the system looks. Once open it
 * stays loaded: its threads, and what it keeps on GPUs, must not outlive its code. The error says
 * what was tried. Close it in any case. */
int dp_library_open(struct dp_library *library, struct dp_error *err);
/* *function: a pointer to it. */
int dp_library_find(const struct dp_library *library, const char *name, void *function,
                    struct dp_error *err);
void dp_library_close(struct dp_library *library);

#endif
