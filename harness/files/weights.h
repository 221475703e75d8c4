/* files/weights.h: the parameters and buffers of a module in a file. results/weights.md has the
 * format.
 */
#ifndef HARNESS_WEIGHTS_H
#define HARNESS_WEIGHTS_H

#include "dp.h"
#include "workload.h"

#define WEIGHTS_MAGIC       "LOCKSTPW"
#define WEIGHTS_MAGIC_BYTES 8
#define WEIGHTS_VERSION     1
/* The bytes before the first tensor: magic, version, number of tensors, bytes of the file. */
#define WEIGHTS_HEAD_BYTES 24
#define WEIGHTS_SUM_BYTES  8 /* the checksum at the end */

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
uint64_t weights_checksum(const unsigned char *bytes, size_t n);

/* Writes path by way of a temporary file next to it, so that it is there whole or as it was.
 * Names are those of weights_list_open. All errors are DP_EINVAL or DP_ENOMEM, or of core. */
int weights_save(struct dp_module *module, const struct workload *workload, const char *path,
                 struct dp_error *err);

/* Whether path could be written now; for knowing it before a training. */
int weights_check(const char *path, struct dp_error *err);

/* Reads a file of the same model. Levels "module.", which data-parallel wrappers add, are passed
 * over on either side. Nothing is written to the module unless the whole file fits. */
int weights_load(struct dp_module *module, const struct workload *workload, const char *path,
                 struct dp_error *err);

/* The list of dp_module_params, with their names, cut to their capacity; where the workload (NULL:
 * none) has a name for one, that comes after the levels "module.". weights_list_close frees it. */
struct weights_list {
    struct dp_param **param;
    char (*name)[128];
    int n;
};
int weights_list_open(struct dp_module *module, const struct workload *workload,
                      struct weights_list *list, struct dp_error *err);
void weights_list_close(struct weights_list *list);

/* Whether the bytes of a file would be read as these weights. */
int weights_readable(const struct weights_list *list, const char *path, unsigned char *bytes,
                     size_t n, struct dp_error *err);

#endif
