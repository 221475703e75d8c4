/* load.h: loads a library of NVIDIA when it is needed. They are so large that every process would
 * start slowly if this program were linked with them. */
#ifndef CUDA_LOAD_H
#define CUDA_LOAD_H

#include "../dp.h"

struct dp_library {
    const char *title; /* "NCCL" */
    const char *name;  /* as the system looks for it */
    const char *built_with;
    enum dp_status status; /* for errors */
    void *handle;          /* NULL: not open */
};

/* Opens the library by its name, or else the file that the build found, which is seldom where the
 * system looks. Once open it stays loaded, because its threads, and its data on GPUs, must not
 * outlive its code. The error lists what was tried. Close it in any case. */
int dp_library_open(struct dp_library *library, struct dp_error *err);
/* function points to a function pointer. */
int dp_library_find(const struct dp_library *library, const char *name, void *function,
                    struct dp_error *err);
void dp_library_close(struct dp_library *library);

#endif
