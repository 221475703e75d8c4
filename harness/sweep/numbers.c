/* sweep/numbers.c: prints the records of a sweep for other programs.
 *
 * They are read back from the file, because it also has those of earlier sessions, and because it
 * is better to notice now if something cannot be read. */
#include "sweep/sweep.h"

#include "command/command.h"
#include "record/files.h"

int sweep_print_numbers(const char *command, struct output *output, size_t format,
                        sweep_print_fn *print)
{
    struct report report = {.file = &output->file, .n_files = 1};
    size_t with_numbers = 0;

    record_file_free(&output->file); /* of earlier sessions only */
    int status = input_records(command, output->path, NULL, &output->file);

    if (status != 0)
        return status;
    status = report_rows_make(command, &report);
    if (status == 0)
        status = print(command, &report, format, &with_numbers);
    report_rows_free(&report);
    record_file_free(&output->file);
    return status;
}
