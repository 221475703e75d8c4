/* unreadable.c: a lockstep that cannot read again the file that it has just written: then no file
 * may take its final name. */
#include "check/record.h"
#include "check/runner.h"
#include "command/command.h"
#include "compare/baseline.h"
#include "record/files.h"

#include <stdio.h>
#include <string.h>

bool __wrap_runner_matrix_holds(const char *path, const struct runner_matrix *matrix);
struct check_record *__wrap_check_record_read(const char *path, struct text_error *err);
int __wrap_baseline_read_lines(struct baseline *baseline, struct text_error *err);
int __wrap_input_records(const char *command, const char *path, bool steps,
                         const char *const how[INPUT_KINDS], struct record_file *file);
int __real_input_records(const char *command, const char *path, bool steps,
                         const char *const how[INPUT_KINDS], struct record_file *file);

int __wrap_input_records(const char *command, const char *path, bool steps,
                         const char *const how[INPUT_KINDS], struct record_file *file)
{
    if (strcmp(command, "lockstep sweep") != 0)
        return __real_input_records(command, path, steps, how, file);
    fputs("planted\n", stderr);
    return EXIT_MISUSE;
}

struct check_record *__wrap_check_record_read(const char *path, struct text_error *err)
{
    (void)path;
    snprintf(err->text, sizeof err->text, "planted");
    return NULL;
}

bool __wrap_runner_matrix_holds(const char *path, const struct runner_matrix *matrix)
{
    (void)path;
    (void)matrix;
    return false;
}

int __wrap_baseline_read_lines(struct baseline *baseline, struct text_error *err)
{
    baseline->lines = (struct baseline_lines){.n = 0};
    snprintf(err->text, sizeof err->text, "planted");
    return -1;
}
