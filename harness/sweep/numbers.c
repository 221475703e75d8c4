/* sweep/numbers.c: prints the records of a sweep for other programs.
 *
 * They are read back from the file: it has those of earlier sittings, too, and what cannot be read
 * is better known now. */
#include "sweep/sweep.h"

#include "command/command.h"
#include "record/input.h"

int sweep_print_numbers(const char *command, const char *path, size_t format)
{
    struct record_file file;
    struct report report = {.file = &file, .n_files = 1};
    size_t with_numbers = 0;
    int status = input_records(command, path, NULL, &file);

    if (status != 0)
        return status;
    status = report_rows_make(command, &report);
    if (status == 0)
        status = report_print(command, &report, format, &with_numbers);
    report_rows_free(&report);
    record_file_free(&file);
    return status;
}
