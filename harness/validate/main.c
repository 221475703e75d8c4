/* validate/main.c: `lockstep validate`: its options, and the order of its steps. */
#include "validate/validate.h"

#include "command/command.h"
#include "files/shipped.h"
#include "validate/measure.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char NAME[] = "lockstep validate";

struct arguments {
    const char *profile, *node, *conformance;
    char **files;
    size_t n_files, format;
    bool run, allow_dirty;
    struct validate_request request;
    uint64_t seen;
};

enum { KEY_DEVICES = 256, KEY_CONFORMANCE, KEY_DIRTY };
static const double LEAST_MINUTES = 0.01, MOST_MINUTES = 10080; /* a week */

static const struct {
    const char *name;
    int (*write)(FILE *stream, const struct validate *validate); /* NULL: see export.c */
    enum export_format shared;
} forms[] = {{"text", validate_text, 0},
             {"json", validate_json, 0},
             {"junit", NULL, EXPORT_JUNIT},
             {"md", validate_markdown, 0},
             {"csv", NULL, EXPORT_CSV},
             {"openmetrics", NULL, EXPORT_OPENMETRICS},
             {"annotations", NULL, EXPORT_ANNOTATIONS}};

enum { FORMS = sizeof forms / sizeof forms[0], NODE_BYTES = 253 };

static const struct argp_option option_table[] = {
    {"profile", 'p', "FILE", 0,
     "What the machine has to reach, in YAML; or the name of a shipped profile", 0},
    {"format", 'f', "text|json|junit|md|csv|openmetrics|annotations", 0,
     "What to print (default text): md for a job's summary, annotations for GitHub Actions", 0},
    {"node", 'N', "NAME", 0,
     "What the verdict calls the machine (default: nothing; no host name is read)", 0},
    {"conformance", KEY_CONFORMANCE, "FILE", 0,
     "What `lockstep check --format json` said of these devices, if the profile requires it", 0},
    {"allow-dirty", KEY_DIRTY, NULL, 0, "Take records of a program built from a changed tree", 0},
    {"run", 'r', NULL, 0, "Measure what the profile needs, instead of reading records", 0},
    {"minutes", 'm', "M", 0,
     "Measure, and end after M minutes: what was not measured by then is no PASS", 0},
    {"devices", KEY_DEVICES, "LIST", 0,
     "With --run: as of lockstep sweep (default: one virtual device per core; cuda:all of a "
     "profile for GPUs)",
     0},
    {"bind", 'B', "HOW", 0, "With --run: cores (default) or none", 0},
    {"wait", 'W', NULL, 0,
     "With --run: wait for cores that a sweep is bound to (default: refuse to start)", 0},
    {"out", 'o', "FILE", 0,
     "With --run: the records (default: a temporary file, which is kept and named unless the "
     "machine is ACCEPTED)",
     0},
    {0}};

static const char documentation[] =
    "Holds the records of a machine against a profile, or measures them first."
    "\vEach limit of the profile is PASS if the bound of the median over launches, at 95 % for all "
    "its cells and devices together, is on its good side; FAIL if the other bound is on the bad "
    "side; OPEN if neither is shown; UNMEASURED if the records have no such number; INVALID if "
    "nobody may believe it: launches that are not verified, simulated, oversubscribed, by another "
    "clock, of another build than Release or RelWithDebInfo, of sanitizers, of a changed tree, or "
    "fewer than the profile requires. A machine is ACCEPTED if every binding limit is PASS, "
    "REJECTED if "
    "one is FAIL, else NOT SHOWN. Advisory limits are printed and decide nothing.\n\n"
    "--run measures the cells that limits name in full (workload, mode, devices and batch), as a "
    "sweep does: as many launches as the profile requires or its limits take. --minutes M, which "
    "means --run, takes more launches, or shorter ones, so that they fit; a launch that is under "
    "way "
    "when the time is over is dropped. If the profile requires conformance, the cases are run "
    "before that.\n\n"
    "Exit status: 0 ACCEPTED; 1 REJECTED; 2 misuse, a profile that is wrong, or another machine; "
    "3 NOT SHOWN; 130 interrupted.";

/* Takes the name of a node. Programs read lists of nodes, so a name must not have characters that
 * would split or end it. */
static error_t take_node(struct arguments *arguments, const char *value, struct argp_state *state)
{
    const size_t length = strlen(value);

    if (length == 0 || length > NODE_BYTES || !isalnum((unsigned char)value[0]) ||
        strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:") !=
            length)
        return command_bad_option(state,
                                  "--node: '%.60s' is no name of 1 to %d letters, digits, and . - "
                                  "_ : behind the first",
                                  value, NODE_BYTES);
    arguments->node = value;
    return 0;
}

static error_t take_minutes(struct arguments *arguments, const char *value,
                            struct argp_state *state)
{
    arguments->run = true;
    return command_real(state, "minutes", value, LEAST_MINUTES, MOST_MINUTES,
                        &arguments->request.minutes);
}

/* Checks the arguments at the end: records are either read or measured. */
static error_t check_end(const struct arguments *arguments, struct argp_state *state)
{
    const struct validate_request *request = &arguments->request;

    if (!arguments->profile) {
        char shipped[SHIPPED_WORDS];

        shipped_words(&profile_shipped, shipped, sizeof shipped);
        return command_bad_option(state,
                                  "name a profile: --profile FILE; of those that are shipped by "
                                  "name: %s",
                                  shipped);
    }
    if (arguments->run && arguments->n_files > 0)
        return command_bad_option(state,
                                  "'%.60s': --run and --minutes measure, and take no records",
                                  arguments->files[0]);
    if (arguments->run && arguments->conformance)
        return command_bad_option(state, "--conformance is of records: --run and --minutes run the "
                                         "cases themselves");
    if (!arguments->run && (request->devices || request->out || request->bind || request->wait))
        return command_bad_option(state, "--devices, --bind, --wait and --out are of --run");
    if (!arguments->run && arguments->n_files == 0)
        return command_bad_option(state, "name the records, as `lockstep sweep` writes them, or "
                                         "measure: --run");
    if (request->out && request->out[0] == '\0')
        return command_bad_option(state, "--out is empty: name a file");
    return 0;
}

static error_t take_format(struct arguments *arguments, const char *value, struct argp_state *state)
{
    const char *names[FORMS];

    for (size_t i = 0; i < FORMS; ++i)
        names[i] = forms[i].name;
    return command_choice(state, "format", "format", value, names, FORMS, &arguments->format);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    const error_t status = command_once(state, option_table, key, &arguments->seen);

    if (status)
        return status;
    switch (key) {
    case 'p':
        arguments->profile = value;
        return 0;
    case 'f':
        return take_format(arguments, value, state);
    case 'r':
        arguments->run = true;
        return 0;
    case 'm':
        return take_minutes(arguments, value, state);
    case 'B':
        arguments->request.bind = value;
        return 0;
    case 'W':
        arguments->request.wait = true;
        return 0;
    case 'o':
        arguments->request.out = value;
        return 0;
    case KEY_CONFORMANCE:
        arguments->conformance = value;
        return 0;
    case KEY_DIRTY:
        arguments->allow_dirty = true;
        return 0;
    case KEY_DEVICES:
        arguments->request.devices = value;
        return 0;
    case 'N':
        return take_node(arguments, value, state);
    case ARGP_KEY_ARG:
        return ARGP_ERR_UNKNOWN; /* all of them come together, as ARGP_KEY_ARGS */
    case ARGP_KEY_ARGS:
        arguments->files = state->argv + state->next;
        arguments->n_files = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        return check_end(arguments, state);
    default:
        return command_key(key, value, state);
    }
}

/* Judges, and writes the verdict. Returns the exit status. */
static int judge(const struct arguments *arguments, struct validate *validate)
{
    static const int statuses[] = {EXIT_PASSED, EXIT_FAILED, VALIDATE_EXIT_NOT_SHOWN};
    const size_t form = arguments->format;
    int status = validate_judge(validate);

    if (status == 0)
        status = forms[form].write ? forms[form].write(stdout, validate)
                                   : validate_export(stdout, validate, forms[form].shared);
    if (status == 0)
        return statuses[validate->machine];
    command_complain(NAME, "no memory for the verdict");
    return EXIT_MISUSE;
}

/* Judges the records of n files, and the result of the cases, by the profile. Returns the exit
 * status. */
static int judge_files(const struct arguments *arguments, const struct profile *profile,
                       const struct validate_need *need, char *const files[], size_t n,
                       const char *cases)
{
    struct validate_conformance conformance;
    struct text_error why = {{0}};
    struct report report;
    int status = validate_open(NAME, files, n, &report);

    if (status == 0 && validate_match(profile, &report, &why) != 0) {
        command_complain(NAME, "%s", why.text);
        status = EXIT_MISUSE;
    }
    if (status == 0 && profile->requires.conformance)
        status = validate_conformance(NAME, cases, profile, &report, &conformance);
    if (status == 0) {
        struct validate validate = {.profile = profile,
                                    .report = &report,
                                    .conformance =
                                        profile->requires.conformance ? &conformance : NULL,
                                    .need = need,
                                    .allow_dirty = arguments->allow_dirty,
                                    .node = arguments->node};

        status = judge(arguments, &validate);
        free(validate.judged);
    }
    validate_close(&report);
    return status;
}

enum { PATH_BYTES = 512 };

/* Makes a path in a new folder that other users cannot write to. */
static int make_temporary(char folder[PATH_BYTES], char file[PATH_BYTES])
{
    const char *const root = getenv("TMPDIR");
    const int n = snprintf(folder, PATH_BYTES - 16, "%s/lockstep-validate-XXXXXX",
                           root && root[0] != '\0' ? root : "/tmp");

    if (n < 0 || n >= PATH_BYTES - 16 || !mkdtemp(folder)) {
        command_complain(NAME, "no folder for the records as %.200s: %s", folder,
                         n < PATH_BYTES - 16 ? strerror(errno) : "its name is too long");
        return EXIT_MISUSE;
    }
    snprintf(file, PATH_BYTES, "%.495s/records.jsonl", folder);
    return 0;
}

/* Chooses the file of the records. A file that --out names must not exist: an existing one may be
 * of another machine. */
static int choose_file(const struct arguments *arguments, char folder[PATH_BYTES],
                       char file[PATH_BYTES])
{
    const char *const out = arguments->request.out;

    if (!out)
        return make_temporary(folder, file);
    if (snprintf(file, PATH_BYTES, "%s", out) >= PATH_BYTES) {
        command_complain(NAME, "--out: longer than %d characters", PATH_BYTES - 1);
        return EXIT_MISUSE;
    }
    if (access(file, F_OK) != 0)
        return 0;
    command_complain(NAME, "--out: %.200s is there already: name another file", file);
    return EXIT_MISUSE;
}

/* Removes a temporary file if the machine was ACCEPTED; else it is kept for a user to look at, and
 * is named. */
static void keep_file(const struct arguments *arguments, const char *folder, const char *file,
                      const char *cases, int status)
{
    const bool temporary = !arguments->request.out;

    if (temporary && status == EXIT_PASSED) {
        unlink(file);
        unlink(cases);
    }
    if (temporary && rmdir(folder) == 0)
        return;
    if (access(file, R_OK) == 0)
        command_complain(NAME, "the records are in %s", file);
    if (access(cases, R_OK) == 0)
        command_complain(NAME, "what became of the cases is in %s", cases);
}

static int measure(const struct arguments *arguments, const struct profile *profile,
                   const struct validate_need *need)
{
    struct validate_request request = arguments->request;
    char folder[PATH_BYTES] = "", file[PATH_BYTES] = "", cases[PATH_BYTES + 8];
    char *files[] = {file};
    int status = choose_file(arguments, folder, file);

    if (status != 0)
        return status;
    snprintf(cases, sizeof cases, "%s.check", file);
    request.out = file;
    request.cases = cases;
    status = validate_measure(NAME, &request, profile, need);
    if (status == 0)
        status = judge_files(arguments, profile, need, files, 1,
                             access(cases, R_OK) == 0 ? cases : NULL);
    keep_file(arguments, folder, file, cases, status);
    return status;
}

static int run(const struct arguments *arguments, const struct profile *profile)
{
    struct validate_need *need = calloc(1, sizeof *need);
    struct text_error why = {{0}};
    int status = EXIT_MISUSE;

    if (!need)
        command_complain(NAME, "no memory for the cells");
    else if (validate_need(profile, need, &why) != 0)
        command_complain(NAME, "%.200s: %s", arguments->profile, why.text);
    else
        status = measure(arguments, profile, need);
    free(need);
    return status;
}

int validate_main(int argc, char **argv)
{
    static const struct argp parser = {.options = option_table,
                                       .parser = parse_option,
                                       .args_doc = "F.jsonl...\n--run",
                                       .doc = documentation};
    struct arguments arguments = {.profile = NULL};
    struct text_error why = {{0}};
    struct profile *profile = NULL;
    char path[PROFILE_PATH];
    int status;

    if (command_parse(&parser, argc, argv, &arguments) != 0)
        return EXIT_MISUSE;
    if (profile_find(NAME, arguments.profile, path) != 0)
        return EXIT_MISUSE;
    if (profile_read(path, &profile, &why) != 0) {
        command_complain(NAME, "%s", why.text);
        return EXIT_MISUSE;
    }
    status = arguments.run ? run(&arguments, profile)
                           : judge_files(&arguments, profile, NULL, arguments.files,
                                         arguments.n_files, arguments.conformance);
    profile_free(profile);
    return status;
}
