/* check_record.c: a result of `lockstep check --format json`. */
#include "fuzz.h"

#include "check/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = fuzz_file(data, bytes);
    struct text_error err = {""};
    struct check_record *record = check_record_read(path, &err);

    if (!record) {
        fuzz_must_show(err.text);
        return 0;
    }
    for (size_t i = 0; i < record->n_cases; ++i) {
        fuzz_must((unsigned)record->result[i].verdict <= CHECK_BROKEN, "no such verdict");
        if (record->result[i].reason[0] != '\0')
            fuzz_must_be_line(record->result[i].reason);
    }
    fuzz_must(record->sums->row[record->sums->n].cases == record->n_cases,
              "cases that are not counted");
    check_record_free(record);
    return 0;
}
