/* validate/conformance.c: whether the cases that a profile requires pass on the devices of the
 * machine. It runs `lockstep check` and reads its result. */
#include "check/record.h"
#include "check/runner.h"
#include "command/command.h"
#include "launch/child.h"
#include "machine/machine.h"
#include "validate/validate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- what was found ----------------------------------------------------------------------- */

static bool requires(const char *required, const struct runner_profile *profile)
{
    return text_has_word(required, "all") || text_has_word(required, profile->name);
}

/* Checks that the record has all cases that this program lists for the required profiles, each
 * under the same rule, and no others. */
static void find_absent(const struct check_record *record, const char *required,
                        char why[VALIDATE_TEXT])
{
    unsigned profiles = 0;
    size_t known = 0;

    for (int p = 0; p < RUNNER_PROFILES; ++p)
    profiles |= requires(required, &runner_profiles[p]) ? runner_profiles[p].bit : 0;
    for (int a = 0; a < check_n_areas; ++a) {
        const struct check_case *test;

        for (int i = 0; (test = check_area_case(check_areas[a], i)) && why[0] == '\0'; ++i) {
            const struct check_case *one = NULL;

            for (size_t k = 0; k < record->n_cases && !one; ++k)
                if (strcmp(record->cases[k].id, test->id) == 0)
                    one = &record->cases[k].test;
            known += one != NULL;
            if (!one && (test->profiles & profiles) != 0)
                snprintf(why, VALIDATE_TEXT, "the case %.90s is not in it", test->id);
            else if (one &&
                     (strcmp(one->rule, test->rule) != 0 || one->obligation != test->obligation))
                snprintf(why, VALIDATE_TEXT, "%.90s is of %s, %s, and not of %.31s, %.15s",
                         test->id, test->rule, runner_obligation_words[test->obligation], one->rule,
                         runner_obligation_words[one->obligation]);
        }
    }
    if (why[0] == '\0' && known < record->n_cases)
        snprintf(why, VALIDATE_TEXT, "it has %zu cases that this program does not list",
                 record->n_cases - known);
}

/* Finds a reason why the result is not valid for these devices, or for the program that was
 * measured on them; "": it is valid. */
static void find_case_doubt(const struct check_record *record, const struct record_run *run,
                            char why[VALIDATE_TEXT])
{
    char devices[sizeof record->devices], name[160], program[DIGEST_HEX];
    size_t known = 0;

    devices[0] = '\0';
    for (size_t i = 0; i < record->n_cases; ++i)
        known += record->result[i].known;
    for (int i = 0; i < run->n_slots; ++i)
        text_list(devices, sizeof devices, ", ", run->slot[i].name);
    snprintf(name, sizeof name, "reference (%s kernels, %s communicator)", run->backend,
             run->communicator);
    if (record->machine_class[0] == '\0')
        snprintf(why, VALIDATE_TEXT, "it does not say on which machine the cases were run");
    else if (!record->sealed || record->program[0] == '\0')
        snprintf(why, VALIDATE_TEXT, "it is unsealed, or does not say which program was tested");
    else if (strcmp(record->machine_class, run->machine_class) != 0 ||
             strcmp(record->machine_instance, run->machine_instance) != 0)
        snprintf(why, VALIDATE_TEXT, "the cases were run after another start of the machine");
    else if (strcmp(record->devices, devices) != 0)
        snprintf(why, VALIDATE_TEXT, "the cases were run on %.120s, and measured was %.120s",
                 record->devices, devices);
    else if (record->options.spec.kind != IMPL_SPEC_REFERENCE || strcmp(record->name, name) != 0)
        snprintf(why, VALIDATE_TEXT, "the cases are of %.90s, and measured was %.90s", record->name,
                 name);
    else if (strcmp(record->options.launcher, run->launcher) != 0)
        snprintf(why, VALIDATE_TEXT, "the cases were run by '%.90s', and measured was by '%.90s'",
                 record->options.launcher, run->launcher);
    else if (strcmp(record->blas, run->blas) != 0)
        snprintf(why, VALIDATE_TEXT, "the cases are of \"%.120s\", and the records of \"%.120s\"",
                 record->blas, run->blas);
    else if (strcmp(record->gpu_software, run->gpu_software) != 0)
        snprintf(why, VALIDATE_TEXT, "the cases are of \"%.95s\", and the records of \"%.95s\"",
                 record->gpu_software, run->gpu_software);
    else if (provenance_program(run, program) != 0 || strcmp(record->program, program) != 0)
        snprintf(why, VALIDATE_TEXT, "the cases are of another build than the records");
    else if (record->partial)
        snprintf(why, VALIDATE_TEXT, "only some of the cases were run: --only or --area");
    else if (known > 0)
        snprintf(why, VALIDATE_TEXT, "%zu of the cases failed as --known says", known);
}

enum validate_verdict validate_judge_cases(const struct validate_conformance *cases)
{
    const size_t judged = cases->passed + cases->failed + cases->skipped;

    return cases->failed > 0        ? VALIDATE_FAIL
           : judged != cases->cases ? VALIDATE_INVALID
           : cases->passed > 0      ? VALIDATE_PASS
                                    : VALIDATE_UNMEASURED;
}

int validate_conformance(const char *command, const char *path, const struct profile *profile,
                         const struct report *report, struct validate_conformance *conformance)
{
    struct check_record *record;
    struct text_error why = {""};

    *conformance = (struct validate_conformance){.verdict = VALIDATE_UNMEASURED};
    if (!path) {
        snprintf(
            conformance->why, sizeof conformance->why,
            "the cases were not run: lockstep check --profile %.80s --format json, and name its "
            "output by --conformance",
            profile->requires.conformance);
        return 0;
    }
    if (!(record = check_record_read(path, &why)))
        return command_refuse(command, "%s", why.text);
    for (size_t f = 0; f < report->n_files && conformance->why[0] == '\0'; ++f)
        find_case_doubt(record, &report->file[f].run, conformance->why);
    /* The cases compute in f32, so they do not test kernels that round the operands of products. */
    for (size_t i = 0; i < report->n_points && conformance->why[0] == '\0'; ++i) {
        const struct record_key *key = &report->point[i].row->cell->key;

        if (strcmp(key->mode, "collective") != 0 && strcmp(key->dtype, "f32") != 0)
            snprintf(conformance->why, sizeof conformance->why,
                     "the cases are of f32, and measured was %.90s in %.15s", key->workload,
                     key->dtype);
    }
    const char *const required = profile->requires.conformance;
    const size_t *const n = record->sums->row[record->sums->n].verdict;
    const enum check_verdict bad = n[CHECK_FAIL] > 0 ? CHECK_FAIL : CHECK_BROKEN;
    const char *missing = NULL; /* a profile whose cases were required but not asked for */
    size_t first = 0;

    if (conformance->why[0] != '\0') {
        conformance->verdict = VALIDATE_INVALID;
        check_record_free(record);
        return 0;
    }
    for (int p = RUNNER_PROFILES - 1; p >= 0; --p)
        if (requires(required, &runner_profiles[p]) &&
            !text_has_word(record->profiles, runner_profiles[p].name))
            missing = runner_profiles[p].name;
    conformance->cases = record->n_cases;
    conformance->passed = n[CHECK_PASS];
    conformance->failed = n[CHECK_FAIL];
    conformance->skipped = n[CHECK_SKIP];
    conformance->verdict = validate_judge_cases(conformance);
    if (missing && conformance->verdict == VALIDATE_PASS)
        conformance->verdict = VALIDATE_UNMEASURED;
    while (first + 1 < record->n_cases && record->result[first].verdict != bad)
        ++first;
    if (n[bad] > 0)
        snprintf(conformance->why, sizeof conformance->why, "%.90s: %.200s",
                 record->cases[first].id, record->result[first].reason);
    else if (missing)
        snprintf(conformance->why, sizeof conformance->why, "the cases of %s were not run",
                 missing);
    else if (n[CHECK_PASS] == 0)
        snprintf(conformance->why, sizeof conformance->why, "no case could be run");
    if (conformance->verdict == VALIDATE_PASS) {
        find_absent(record, required, conformance->why);
        if (conformance->why[0] != '\0')
            conformance->verdict = VALIDATE_INVALID;
    }
    check_record_free(record);
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
    const struct launch_how how = {
        .program = "/proc/self/exe", .argument = argument, .seconds = seconds};
    struct program output;
    int status;

    snprintf(profile, sizeof profile, "--profile=%s", cases);
    snprintf(list, sizeof list, "--devices=%s", devices);
    snprintf(out, sizeof out, "--out=%s", path);
    fputs("the cases of ", stderr);
    text_write(stderr, TEXT_PLAIN, cases, SIZE_MAX);
    fputs(" on ", stderr);
    text_write(stderr, TEXT_PLAIN, devices, SIZE_MAX);
    fputc('\n', stderr);
    if (launch_program(&how, &output) != 0)
        return command_refuse(command, "lockstep check was not started: %s", strerror(errno));
    free(output.text);
    if (output.interrupted)
        return EXIT_INTERRUPTED;
    status = WIFEXITED(output.status) ? WEXITSTATUS(output.status) : -1;
    if (output.timed_out)
        command_complain(command, "the time was over before all cases were run");
    else if (status == EXIT_MISUSE || status < 0 || status >= 126)
        command_complain(command, "lockstep check ended with %s%d", status < 0 ? "signal " : "",
                         status < 0 ? WTERMSIG(output.status) : status);
    return 0;
}
