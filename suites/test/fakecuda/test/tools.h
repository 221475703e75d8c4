/* tools.h: short forms of calls that must succeed. */
#ifndef LOCKSTEP_FAKECUDA_TOOLS_H
#define LOCKSTEP_FAKECUDA_TOOLS_H

#include "test.h"

#include <cuda_runtime_api.h>

#define WELL(call) CHECK((call) == cudaSuccess)

/* Each makes its device current. */
cudaStream_t tool_stream(int device);
cudaEvent_t tool_event(int device);
float *tool_floats(int device, size_t n);
float *tool_pinned(size_t n);
/* Copies and waits. */
void tool_put(float *to, const float *from, size_t n, cudaStream_t stream);
void tool_get(float *to, const float *from, size_t n, cudaStream_t stream);
/* b waits for what is in a. */
void tool_after(cudaStream_t b, cudaStream_t a, cudaEvent_t event);
/* Exit status of a child that runs the function, with its output thrown away. */
int tool_status(void (*run)(void));

#endif
