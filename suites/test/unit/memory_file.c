/* unit/memory_file.c: written data come back complete. The torture tests try it with too little
 * memory. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "files/files.h"

Test(memory_file, has_all_that_was_written)
{
    struct memory_file file;
    for (size_t n = 0; n < 200000; n = 3 * n + 1) {
        memory_file_open(&file);
        for (size_t i = 0; i < n; ++i)
            cr_assert(fprintf(file.to, "%zu,", i % 10) == 2);
        cr_assert(memory_file_close(&file) == file.text);
        cr_assert(file.bytes == 2 * n && strlen(file.text) == file.bytes && !file.to);
        for (size_t i = 0; i < n; ++i)
            cr_assert(file.text[2 * i] == (char)('0' + i % 10) && file.text[2 * i + 1] == ',');
        free(file.text);
    }
}

Test(memory_file, has_bytes_that_are_0)
{
    struct memory_file file;
    memory_file_open(&file);
    cr_assert(fwrite("a\0b", 1, 3, file.to) == 3);
    cr_assert(memory_file_close(&file) == file.text && file.bytes == 3);
    cr_assert(memcmp(file.text, "a\0b", 4) == 0);
    free(file.text);
}

Test(memory_file, that_is_closed_has_no_text)
{
    struct memory_file file = {.to = NULL};
    cr_assert(memory_file_close(&file) == NULL);
}
