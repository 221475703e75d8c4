/* names.c: a name out of a table, or which ones there are. */
#include "fuzz.h"

#include "text/options.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const names[] = {"cpu",        "cpu-ref", "cpu-cblas",
                                        "cpu-onednn", "cuda",    "cuda-staged"};
    enum { NAMES = sizeof names / sizeof *names };
    struct text_error why = {""};
    size_t index = NAMES;
    char *text = fuzz_text(data, bytes);

    if (option_name("backend", text, names, NAMES, &index, &why) == 0)
        fuzz_must(index < NAMES && strcmp(names[index], text) == 0, "another name than was given");
    else
        fuzz_must_be_line(why.text);
    free(text);
    return 0;
}
