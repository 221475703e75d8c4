/* external.c: what nccl-tests printed or wrote, or nvbandwidth wrote. What is taken from it is a
 * number that can be shown. */
#include "fuzz.h"

#include "report/page.h"
#include "verify/collective.h"

#include <math.h>

static void check_nccl_tests(const struct nccl_tests *file)
{
    fuzz_must(file->collective != NULL, "a file of no collective");
    fuzz_must(file->n > 0 || file->others > 0, "a file without a result");
    for (size_t i = 0; i < file->n; ++i) {
        const struct nccl_tests_line *line = &file->line[i];

        fuzz_must(line->type != NULL && file->ranks >= 2, "a result of no type or no ranks");
        fuzz_must(isfinite(line->ns) && line->ns > 0, "a time that is none");
        fuzz_must(isfinite(line->algbw) && isfinite(line->busbw), "a bandwidth that is none");
        fuzz_must(isnan(line->wrong) || line->wrong >= 0, "fewer than no wrong numbers");
    }
}

/* Asks for one device more than it has, and for the host, in every place. */
static void check_nvbandwidth(const struct nvbandwidth *nvbandwidth)
{
    const int devices = nvbandwidth->devices;

    fuzz_must(nvbandwidth->passed == 0 || devices > 0, "results of no device");
    for (int read = 0; read < 2; ++read)
        for (int from = NVBANDWIDTH_HOST - 1; from <= devices; ++from)
            for (int to = NVBANDWIDTH_HOST - 1; to <= devices; ++to) {
                const double rate = nvbandwidth_rate(nvbandwidth, from, to, read);

                fuzz_must(isnan(rate) || (isfinite(rate) && rate > 0), "a bandwidth that is none");
                fuzz_must(isnan(rate) || (from < devices && to < devices), "of another device");
                fuzz_must(isnan(rate) || (from >= NVBANDWIDTH_HOST && to >= NVBANDWIDTH_HOST &&
                                          (from >= 0 || to >= 0) && (!read || from != to)),
                          "of no copy");
            }
    if (nvbandwidth->failed > 0)
        fuzz_must_be_line(nvbandwidth->first);
    fuzz_must(nvbandwidth_is_wrong(nvbandwidth) ==
                  (nvbandwidth->failed > 0 || nvbandwidth->stopped),
              "an error that is none");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = fuzz_file(data, bytes);
    struct text_error err = {""};
    struct nccl_tests *one[1];
    struct report report = {.external = one};

    if (external_add(path, &report, &err) != 0) {
        fuzz_must(report.n_external == 0 && !report.nvbandwidth, "a file that is refused and kept");
        fuzz_must_be_line(err.text);
        return 0;
    }
    fuzz_must(report.n_external + (report.nvbandwidth != NULL) == 1, "a file of no program or two");
    if (report.nvbandwidth)
        check_nvbandwidth(report.nvbandwidth);
    else
        check_nccl_tests(one[0]);
    external_free(&report);
    return 0;
}
