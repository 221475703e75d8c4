/* weights.c: a file of weights, for the model `tutorial`. What is refused changes nothing; what is
 * accepted can be saved, and the same again. */
#include "fuzz.h"

#include "files/weights.h"
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VALUES = 5 * 2 + 2 };

static struct dp_module *weights_open_model(void)
{
    const struct dp_group_config config = {.devices = "virt:1", .backend = "cpu-ref"};
    struct dp_group *group = NULL;
    struct dp_module *model = NULL;
    struct dp_error err = {0};
    struct workload workload;
    char why[200];

    fuzz_must(workload_parse("tutorial", &workload, why, sizeof why) == 0 &&
                  dp_group_open(&config, &group, &err) == 0 &&
                  workload_open(&workload, group, &model, &err) == 0,
              "no model");
    return model;
}

static void read_values(struct dp_module *model, float value[VALUES])
{
    struct weights_list list;
    struct dp_error err = {0};

    fuzz_must(weights_list_open(model, NULL, &list, &err) == 0 && list.n == 2, "no parameters");
    fuzz_must(dp_tensor_read(value, &list.param[0]->value, &err) == 0 &&
                  dp_tensor_read(value + 10, &list.param[1]->value, &err) == 0,
              "no values");
    weights_list_close(&list);
}

static void try_saved(struct dp_module *model, const float value[VALUES])
{
    struct dp_error err = {0};
    float again[VALUES];
    char path[64];

    snprintf(path, sizeof path, "/dev/shm/lockstep-fuzz-%ld.weights", (long)getpid());
    fuzz_must(weights_save(model, NULL, path, &err) == 0 &&
                  weights_load(model, NULL, path, &err) == 0,
              "weights that were loaded cannot be saved and loaded again");
    unlink(path);
    read_values(model, again);
    fuzz_must(memcmp(value, again, sizeof again) == 0, "weights are others when loaded again");
}

static void try_file(struct dp_module *model, const uint8_t *data, size_t bytes)
{
    float before[VALUES], after[VALUES];
    struct dp_error err = {0};

    read_values(model, before);
    if (weights_load(model, NULL, fuzz_file(data, bytes), &err) != 0) {
        fuzz_must_show(err.text);
        read_values(model, after);
        fuzz_must(memcmp(before, after, sizeof after) == 0, "weights changed by a bad file");
        return;
    }
    read_values(model, after);
    try_saved(model, after);
}

/* Tries the bytes as they are; then with the right length and checksum, which chance would not
 * find. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct dp_module *model;
    uint64_t length = bytes, sum;
    uint8_t *mended;

    if (!model)
        model = weights_open_model();
    try_file(model, data, bytes);
    if (bytes < WEIGHTS_HEAD_BYTES + WEIGHTS_SUM_BYTES)
        return 0;
    mended = (uint8_t *)fuzz_text(data, bytes);
    memcpy(mended + WEIGHTS_HEAD_BYTES - 8, &length, sizeof length);
    sum = weights_checksum(mended, bytes - WEIGHTS_SUM_BYTES);
    memcpy(mended + bytes - WEIGHTS_SUM_BYTES, &sum, sizeof sum);
    try_file(model, mended, bytes);
    free(mended);
    return 0;
}
