/* workload.c: the name of a workload, "mlp:1024,1024". Its own name is the same workload. */
#include "fuzz.h"

#include "workload.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = fuzz_text(data, bytes), why[200] = "";
    struct workload workload, again;

    if (workload_parse(text, &workload, why, sizeof why) != 0) {
        fuzz_must_show(why);
        free(text);
        return 0;
    }
    fuzz_must(workload.n_sizes >= 2 && workload.n_sizes <= WORKLOAD_MAX_SIZES, "no such sizes");
    fuzz_must(workload_parse(workload.name, &again, why, sizeof why) == 0 &&
                  strcmp(workload.name, again.name) == 0 && workload.is == again.is &&
                  workload.n_sizes == again.n_sizes &&
                  memcmp(workload.size, again.size, workload.n_sizes * sizeof again.size[0]) == 0,
              "a workload by its own name is another");
    fuzz_must(workload_params(&workload) > 0 && workload_flops(&workload, 1) > 0,
              "a model without parameters or work");
    free(text);
    return 0;
}
