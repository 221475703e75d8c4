/* nodes.c: a list of nodes that are expected, "node[001-256]". */
#include "fuzz.h"

#include <stdlib.h>

#include "fleet/fleet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = fuzz_text(data, bytes);
    struct text_error why = {""};
    struct fleet_names names;

    if (fleet_expect_text(text, "list", &names, &why) == 0) {
        fuzz_must(names.n > 0 && names.n <= FLEET_EXPECTED, "no name, or too many");
        for (size_t i = 0; i < names.n; ++i)
            fuzz_must(fleet_name_is_safe(names.name[i]), "a name that is not safe");
    } else {
        fuzz_must_show(why.text);
    }
    fleet_names_free(&names);
    free(text);
    return 0;
}
