/* record_file.c: a whole file of a sweep: header, cells, end, and what an interruption left. */
#include "fuzz.h"

#include "record/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = fuzz_file(data, bytes);
    struct text_error err = {""};
    struct record_file file;

    if (record_read(path, false, &file, &err) != 0) {
        fuzz_must_be_line(err.text);
        return 0;
    }
    fuzz_must(!file.torn || (file.torn_offset > 0 && (size_t)file.torn_offset < bytes),
              "a torn line is not inside the file");
    if (file.torn) {
        const size_t cells = file.n_cells, whole = (size_t)file.torn_offset;

        record_file_free(&file);
        fuzz_must(record_read(fuzz_file(data, whole), false, &file, &err) == 0 && !file.torn &&
                      file.n_cells == cells,
                  "a file without its torn line is another one");
    }
    record_file_free(&file);
    return 0;
}
