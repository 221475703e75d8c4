/* validate/conformance.c: whether the cases that a profile requires pass on the machine's devices:
 * `lockstep check`, run and read back. */
#include "check/record.h"
#include "command/command.h"
#include "sweep/launch.h"
#include "validate/measure.h"
#include "validate/validate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- what was found ----------------------------------------------------------------------- */

static bool has_word(const char *list, const char *word, size_t length)
{
    for (const char *at = list; *at != '\0';) {
        const size_t bytes = strcspn(at, ", ");

        if (bytes == length && strncmp(at, word, length) == 0)
            return true;
        at += bytes + strspn(at + bytes, ", ");
    }
    return false;
}

/* The first profile of cases that was not asked for; 0: all were. In a list all stands for each of
 * them, as in `lockstep check --profile`. */
static size_t find_missing(const char *required, const char *was, const char **missing)
{
    const bool all = has_word(required, "all", strlen("all"));

    for (const char *at = all ? "primitives,dataparallel,ddp" : required; *at != '\0';) {
        const size_t bytes = strcspn(at, ",");

        if (!has_word(was, at, bytes)) {
            *missing = at;
            return bytes;
        }
        at += bytes + (at[bytes] == ',');
    }
    return 0;
}

static void device_names(const struct record_run *run, char text[], size_t bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < run->n_slots && used < bytes; ++i)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", i > 0 ? ", " : "",
                                 run->slot[i].name);
}

/* Why it says nothing of these devices; "": it does. */
static void find_doubt(const struct check_record *record, const struct record_run *run,
                       char why[VALIDATE_TEXT])
{
    char devices[sizeof record->devices];

    device_names(run, devices, sizeof devices);
    if (record->machine_class[0] == '\0')
        snprintf(why, VALIDATE_TEXT, "it does not say on which machine the cases were run");
    else if (strcmp(record->machine_instance, run->machine_instance) != 0)
        snprintf(why, VALIDATE_TEXT, "the cases were run after another start of the machine");
    else if (strcmp(record->devices, devices) != 0)
        snprintf(why, VALIDATE_TEXT, "the cases were run on %.120s, and measured was %.120s",
                 record->devices, devices);
    else if (record->partial)
        snprintf(why, VALIDATE_TEXT, "only some of the cases were run: --only or --area");
}

static const struct check_record_case *first_of(const struct check_record *record,
                                                enum check_record_verdict verdict)
{
    size_t i = 0;

    while (i + 1 < record->n_cases && record->cases[i].verdict != verdict)
        ++i;
    return &record->cases[i];
}

enum validate_verdict validate_judge_cases(const struct validate_conformance *cases)
{
    const size_t judged = cases->passed + cases->failed + cases->skipped;

    return cases->failed > 0        ? VALIDATE_FAIL
           : judged != cases->cases ? VALIDATE_INVALID
           : cases->passed > 0      ? VALIDATE_PASS
                                    : VALIDATE_UNMEASURED;
}

static void judge(const struct check_record *record, const char *required,
                  struct validate_conformance *conformance)
{
    const size_t *n = record->total.verdict;
    const char *missing = NULL;
    const size_t length = find_missing(required, record->profiles, &missing);
    const enum check_record_verdict bad =
        n[CHECK_RECORD_FAIL] > 0 ? CHECK_RECORD_FAIL : CHECK_RECORD_BROKEN;

    conformance->cases = record->total.cases;
    conformance->passed = n[CHECK_RECORD_PASS];
    conformance->failed = n[CHECK_RECORD_FAIL];
    conformance->skipped = n[CHECK_RECORD_SKIP];
    conformance->verdict = validate_judge_cases(conformance);
    if (length > 0 && conformance->verdict == VALIDATE_PASS)
        conformance->verdict = VALIDATE_UNMEASURED;
    if (n[bad] > 0)
        snprintf(conformance->why, sizeof conformance->why, "%.90s: %.200s",
                 first_of(record, bad)->id, first_of(record, bad)->reason);
    else if (length > 0)
        snprintf(conformance->why, sizeof conformance->why, "the cases of %.*s were not run",
                 (int)(length < 40 ? length : 40), missing);
    else if (n[CHECK_RECORD_PASS] == 0)
        snprintf(conformance->why, sizeof conformance->why, "no case could be run");
}

int validate_conformance(const char *command, const char *path, const struct profile *profile,
                         const struct record_run *run, struct validate_conformance *conformance)
{
    struct check_record record;
    struct text_error why = {""};

    *conformance = (struct validate_conformance){.verdict = VALIDATE_UNMEASURED};
    if (!path) {
        snprintf(conformance->why, sizeof conformance->why,
                 "nobody ran the cases: lockstep check --profile %.80s --format json, and name its "
                 "output by --conformance",
                 profile->requires.conformance);
        return 0;
    }
    if (check_record_read(path, &record, &why) != 0) {
        command_complain(command, "%s", why.text);
        return EXIT_MISUSE;
    }
    find_doubt(&record, run, conformance->why);
    if (conformance->why[0] != '\0')
        conformance->verdict = VALIDATE_INVALID;
    else
        judge(&record, profile->requires.conformance, conformance);
    check_record_free(&record);
    return 0;
}

void validate_conformance_words(const struct validate *validate, char text[VALIDATE_TEXT])
{
    const struct validate_conformance *conformance = validate->conformance;

    if (conformance->cases == 0)
        snprintf(text, VALIDATE_TEXT, "conformance of %.80s",
                 validate->profile->requires.conformance);
    else
        snprintf(text, VALIDATE_TEXT,
                 "conformance of %.80s: %zu of %zu cases passed, %zu failed, %zu were skipped",
                 validate->profile->requires.conformance, conformance->passed, conformance->cases,
                 conformance->failed, conformance->skipped);
}

/* ---- finding out -------------------------------------------------------------------------- */

int validate_check(const char *command, const char *cases, const char *devices, double seconds,
                   const char *path)
{
    char profile[160], list[320], out[1100];
    char *argument[] = {"lockstep", "check", profile, list, "--format=json", out, NULL};
    struct launch_output output;
    int status;

    snprintf(profile, sizeof profile, "--profile=%s", cases);
    snprintf(list, sizeof list, "--devices=%s", devices);
    snprintf(out, sizeof out, "--out=%s", path);
    fprintf(stderr, "the cases of %s on %s\n", cases, devices);
    if (launch_program("/proc/self/exe", argument, false, seconds, &output) != 0) {
        command_complain(command, "lockstep check was not started: %s", strerror(errno));
        return EXIT_MISUSE;
    }
    free(output.text);
    if (output.interrupted)
        return EXIT_INTERRUPTED;
    status = WIFEXITED(output.status) ? WEXITSTATUS(output.status) : -1;
    if (output.timed_out)
        command_complain(command, "the time was over before all cases were run");
    else if (status == EXIT_MISUSE || status < 0 || status == 127)
        command_complain(command, "lockstep check ended with %s%d", status < 0 ? "signal " : "",
                         status < 0 ? WTERMSIG(output.status) : status);
    return 0;
}
