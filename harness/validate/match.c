/* validate/match.c: finds a profile, opens the records that are judged by a profile, all of one
 * machine, and finds whether the profile is for it. For another machine there is no verdict at all.
 */
#include "validate/validate.h"

#include "command/command.h"
#include "files/files.h"
#include "record/files.h"
#include "text/alloc.h"

#include <stdlib.h>
#include <string.h>

const struct shipped profile_shipped = {.folder = "profiles", .ending = ".yaml"};

int profile_find(const char *command, const char *name, char path[PROFILE_PATH])
{
    char known[SHIPPED_WORDS];

    if (shipped_find(&profile_shipped, name, path, PROFILE_PATH) == 0)
        return 0;
    shipped_words(&profile_shipped, known, sizeof known);
    command_say(stderr, 2, "%s: %.90s: no such file; by name there are: %s", command, name, known);
    return -1;
}

int validate_open(const char *command, char *const paths[], size_t n, struct report *report)
{
    int status = 0;

    *report = (struct report){.file = cli_alloc(n, sizeof *report->file)};
    while (status == 0 && report->n_files < n) {
        status = input_records(command, paths[report->n_files], false, NULL,
                               &report->file[report->n_files]);
        report->n_files += status == 0;
    }
    for (size_t f = 1; f < report->n_files && status == 0; ++f) {
        const struct record_run *a = &report->file[0].run, *b = &report->file[f].run;
        const struct record_field *field =
            record_differs(record_run_fields, RECORD_MACHINE | RECORD_HOST, a, b);

        if (field)
            status = command_refuse(command,
                                    "%.120s and %.120s are not of one start of one machine: the %s "
                                    "differs",
                                    paths[0], paths[f], field->words);
    }
    return status != 0 ? status : report_rows_make(command, report);
}

void validate_close(struct report *report)
{
    report_rows_free(report);
    for (size_t f = 0; f < report->n_files; ++f)
        record_file_free(&report->file[f]);
    free(report->file);
}

/* subject: a text like "the records are of". */
static int match_text(struct text_error *why, const char *subject, const char *what,
                      const char *wanted, const char *is)
{
    const int shown =
        wanted && strlen(wanted) == DIGEST_HEX - 1 ? 12 : 80; /* digits tell two apart */

    if (!wanted || strcmp(wanted, is) == 0)
        return 0;
    return text_fail(why, "the profile is for %s '%.*s', %s '%.*s'", what, shown, wanted, subject,
                     shown, is[0] != '\0' ? is : "unknown");
}

static int match_count(struct text_error *why, const char *subject, const char *what,
                       uint64_t wanted, int is)
{
    char a[24], b[24];

    snprintf(a, sizeof a, "%llu", (unsigned long long)wanted);
    snprintf(b, sizeof b, "%d", is);
    return match_text(why, subject, what, wanted > 0 ? a : NULL, b);
}

int validate_match_run(const struct profile *profile, const struct record_run *run,
                       const char *subject, struct text_error *why)
{
    const struct profile_match *match = &profile->match;
    int gpus = 0;

    if (match_text(why, subject, "the class of machine", match->machine_class,
                   run->machine_class) != 0 ||
        match_text(why, subject, "the processor", match->cpu_model, run->cpu_model) != 0 ||
        match_count(why, subject, "a number of cores of", match->cores, run->cores) != 0)
        return -1;
    /* Every GPU is of the model of the profile: a machine with seven of eight is another one. */
    for (int i = 0; i < run->n_slots; ++i) {
        if (run->slot[i].model[0] == '\0')
            continue;
        ++gpus;
        if (match_text(why, subject, "GPU", match->gpu_model, run->slot[i].model) != 0)
            return -1;
    }
    if (gpus == 0 && match_text(why, subject, "GPU", match->gpu_model, "none") != 0)
        return -1;
    return match_count(why, subject, "a number of GPUs of", match->gpus, gpus);
}

int validate_match(const struct profile *profile, const struct report *report,
                   struct text_error *why)
{
    int status = 0;

    for (size_t f = 0; status == 0 && f < report->n_files; ++f)
        status = validate_match_run(profile, &report->file[f].run, "the records are of", why);
    return status;
}
