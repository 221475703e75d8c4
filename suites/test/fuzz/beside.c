/* beside.c: what nccl-tests printed or wrote. What is taken from it is a number that can be shown.
 */
#include "fuzz.h"

#include "report/beside.h"
#include "verify/collective.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = fuzz_file(data, bytes);
    struct text_error err = {""};
    struct beside *beside = beside_read(path, &err);

    if (!beside) {
        fuzz_must_be_line(err.text);
        return 0;
    }
    fuzz_must(beside->collective != NULL, "a file of no collective");
    fuzz_must(beside->n > 0 || beside->others > 0, "a file without a result");
    for (size_t i = 0; i < beside->n; ++i) {
        const struct beside_line *line = &beside->line[i];

        fuzz_must(line->type != NULL && beside->ranks >= 2, "a result of no type or no ranks");
        fuzz_must(isfinite(line->ns) && line->ns > 0, "a time that is none");
        fuzz_must(isfinite(line->algbw) && isfinite(line->busbw), "a bandwidth that is none");
        fuzz_must(isnan(line->wrong) || line->wrong >= 0, "fewer than no wrong numbers");
    }
    beside_free(beside);
    return 0;
}
