/* torch.h: a layer of PyTorch under test, by the Python package lockstep.torch. */
#ifndef IMPLS_TORCH_H
#define IMPLS_TORCH_H

#include <stddef.h>

/* Writes the command for exec: (exec.h) that puts a layer under test. layer: "MODULE:NAME", a class
 * or a function of a module or of a file; NULL: PyTorch's own DistributedDataParallel. seconds: the
 * limit of one operation, which the layer's ranks keep. The interpreter is LOCKSTEP_PYTHON of the
 * environment, or python3. Returns 0, or -1 with one line in reason. */
int torch_command(const char *layer, double seconds, char command[], size_t bytes,
                  char reason[600]);

#endif
