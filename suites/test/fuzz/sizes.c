/* sizes.c: "64Ki", "1,2,4" and "32:4096:x2". */
#include "fuzz.h"

#include "text/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static void try_size(const char *text)
{
    struct text_error why = {""};
    size_t size = 0, again = 0;
    char digits[32];

    if (option_size(text, 1, SIZE_MAX - 1, &size, &why) != 0) {
        fuzz_must_be_line(why.text);
        return;
    }
    snprintf(digits, sizeof digits, "%zu", size);
    fuzz_must(option_size(digits, size, size, &again, &why) == 0 && again == size,
              "a size as printed is another");
}

static void try_sizes(const char *text)
{
    size_t list[MOST], again[MOST], n = 0, n_again = 0, used = 0;
    struct text_error why = {""};
    char digits[24 * MOST];

    if (option_sizes(text, 1, 1 << 20, list, MOST, &n, &why) != 0) {
        fuzz_must_be_line(why.text);
        return;
    }
    fuzz_must(n >= 1 && n <= MOST, "a list without values, or with too many");
    for (size_t i = 0; i < n; ++i) {
        fuzz_must(list[i] >= 1 && list[i] <= 1 << 20, "a value out of its range");
        fuzz_must(i == 0 || list[i - 1] < list[i], "values out of order, or twice");
        used += (size_t)snprintf(digits + used, sizeof digits - used, "%s%zu", i > 0 ? "," : "",
                                 list[i]);
    }
    fuzz_must(option_sizes(digits, 1, 1 << 20, again, MOST, &n_again, &why) == 0 && n_again == n &&
                  memcmp(list, again, n * sizeof list[0]) == 0,
              "a list as printed is another");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = fuzz_text(data, bytes);

    try_size(text);
    try_sizes(text);
    free(text);
    return 0;
}
