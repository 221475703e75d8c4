/* validate/open.c: opens the records that are judged by a profile, all of one machine. */
#include "validate/validate.h"

#include "command/command.h"
#include "record/input.h"
#include "record/roles.h"

#include <stdlib.h>

static int check_machines(const char *command, char *const paths[], const struct report *report)
{
    for (size_t f = 1; f < report->n_files; ++f) {
        const struct record_run *a = &report->file[0].run, *b = &report->file[f].run;
        const struct record_field *field =
            record_differs(record_run_fields, RECORD_MACHINE | RECORD_HOST, a, b);

        if (!field)
            continue;
        return command_refuse(command,
                              "%.120s and %.120s are not of one start of one machine: the %s "
                              "differs",
                              paths[0], paths[f], field->words);
    }
    return 0;
}

int validate_open(const char *command, char *const paths[], size_t n, struct report *report)
{
    int status = 0;

    *report = (struct report){.file = calloc(n + 1, sizeof *report->file)};
    if (!report->file)
        return command_refuse(command, "no memory for %zu files", n);
    while (status == 0 && report->n_files < n) {
        status =
            input_records(command, paths[report->n_files], NULL, &report->file[report->n_files]);
        report->n_files += status == 0;
    }
    if (status == 0)
        status = check_machines(command, paths, report);
    return status != 0 ? status : report_rows_make(command, report);
}

void validate_close(struct report *report)
{
    report_rows_free(report);
    for (size_t f = 0; f < report->n_files; ++f)
        record_file_free(&report->file[f]);
    free(report->file);
}
