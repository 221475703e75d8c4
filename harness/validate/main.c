/* validate/main.c: `lockstep validate`: its options, and the order of its steps. */
#include "validate/validate.h"

#include "command/command.h"
#include "files/files.h"
#include "text/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char NAME[] = "lockstep validate";

struct arguments {
    const char *profile, *node, *conformance;
    struct command_files files;
    size_t format;
    bool run, allow_dirty;
    struct validate_request request;
};

static const struct {
    void (*write)(FILE *stream, const struct validate *validate); /* NULL: see export.c */
    enum export_format shared;
} forms[] = {{validate_text, 0},        {validate_json, 0}, {NULL, EXPORT_JUNIT},
             {validate_markdown, 0},    {NULL, EXPORT_CSV}, {NULL, EXPORT_OPENMETRICS},
             {NULL, EXPORT_ANNOTATIONS}};
enum { FORMS = sizeof forms / sizeof forms[0], NODE_BYTES = 253 };
static const char *const form_names[FORMS] = {"text", "json",        "junit",      "md",
                                              "csv",  "openmetrics", "annotations"};

#define PLACE(member) .offset = offsetof(struct arguments, member)

static const struct command_option option_table[] = {
    {"profile", 'p', "FILE", "the limits, in YAML; or the name of a shipped profile (required)",
     COMMAND_POINTER, PLACE(profile), .group = COMMAND_WHAT},
    {"format", 'f', "text|json|junit|md|csv|openmetrics|annotations",
     "what to print (default text): md for a job's summary, annotations for GitHub Actions",
     COMMAND_CHOICE, PLACE(format), .most = FORMS, .names = form_names, .group = COMMAND_WHERE_TO},
    {"node", 'N', "NAME",
     "a name for the machine in the verdict (default: none; no host name is read)", COMMAND_POINTER,
     PLACE(node), .group = COMMAND_RARE},
    {"conformance", 0, "FILE",
     "the result of `lockstep check --format json` on these devices, if the profile requires it",
     COMMAND_POINTER, PLACE(conformance), .group = COMMAND_WHAT},
    {"allow-dirty", 0, NULL,
     "accept records of a program built from a tree with uncommitted changes", COMMAND_FLAG,
     PLACE(allow_dirty), .group = COMMAND_RARE},
    {"run", 'r', NULL, "measure what the profile needs, instead of reading records", COMMAND_FLAG,
     PLACE(run), .group = COMMAND_WHAT},
    {"minutes", 'm', "MINUTES",
     "measure for at most so long (default: as long as --run takes); what has no number by then is "
     "no PASS",
     COMMAND_REAL, PLACE(request.minutes), .from = 0.01, .to = 7 * 24 * 60,
     .group = COMMAND_HOW_LONG},
    {"devices", 0, "LIST",
     "with --run: virt:N, cuda:0-3,5 or cuda:all (default: one virtual device per core; for GPUs "
     "cuda:all)",
     COMMAND_POINTER, PLACE(request.devices), .group = COMMAND_WHAT},
    {"bind", 'B', "cores|none", "with --run: bind each device to cores (default) or not",
     COMMAND_POINTER, PLACE(request.bind), .group = COMMAND_RARE},
    {"wait", 'W', NULL,
     "with --run: wait for cores that a sweep is bound to (default: refuse to start)", COMMAND_FLAG,
     PLACE(request.wait), .group = COMMAND_RARE},
    {"out", 'o', "FILE",
     "with --run: keep the records here (default: a temporary file, deleted if the machine is "
     "ACCEPTED)",
     COMMAND_POINTER, PLACE(request.out), .group = COMMAND_WHERE_TO},
    {0}};

static const char documentation[] =
    "Accepts or rejects a machine: compares its records, or what --run measures now, with the "
    "limits of a profile."
    "\vA limit is judged by the range in which the median over launches lies with 95 % confidence, "
    "for all its cells and devices together. PASS: the range is on the good side of the limit. "
    "FAIL: it is on the bad side, or a launch computed wrong numbers. OPEN: the limit is within "
    "the range. UNMEASURED: there is no "
    "number. INVALID: the number cannot be believed. A machine is ACCEPTED if every binding limit "
    "is PASS, REJECTED if one is FAIL, else NOT SHOWN. Advisory limits are printed and decide "
    "nothing.\n\n"
    "--run measures the cells that limits name in full (workload, mode, devices and batch), with "
    "as many launches as the profile requires or its limits need. --minutes M, which means --run, "
    "takes more launches, or shorter ones, so that they fit. If the profile requires conformance, "
    "the cases of `lockstep check` are run first.\n\n"
    "Exit status: 0 ACCEPTED; 1 REJECTED; 2 misuse, a profile that is wrong, another machine, or "
    "missing devices; 3 NOT SHOWN; 130 interrupted.\n\nExamples:\n"
    "  lockstep validate --profile my-node.yaml --minutes 5\n"
    "  lockstep validate --profile my-node.yaml my.jsonl --format junit >verdict.xml";

/* Checks the command line as a whole: records are either read or measured. */
static error_t check_call(int key, char *value, struct argp_state *state)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:";
    struct arguments *arguments = command_input(state);
    const struct validate_request *request = &arguments->request;
    const char *const node = arguments->node;

    if (key != ARGP_KEY_END)
        return command_key(key, value, state);
    arguments->run = arguments->run || command_seen(state, "minutes");
    /* Programs read lists of nodes, so a name must not have characters that would split or end
     * it. */
    if (node && (!isalnum((unsigned char)node[0]) || strlen(node) > NODE_BYTES ||
                 node[strspn(node, safe)] != '\0'))
        return command_bad_option(state,
                                  "--node: '%.60s' is no name of 1 to %d letters, digits, and . - "
                                  "_ : after the first",
                                  node, NODE_BYTES);
    if (!arguments->profile) {
        char shipped[SHIPPED_WORDS];

        shipped_words(&profile_shipped, shipped, sizeof shipped);
        return command_bad_option(state,
                                  "name a profile: --profile FILE; of those that are shipped by "
                                  "name: %s",
                                  shipped);
    }
    if (arguments->run && arguments->files.n > 0)
        return command_bad_option(state,
                                  "'%.60s': --run and --minutes measure, and take no records",
                                  arguments->files.path[0]);
    if (arguments->run && arguments->conformance)
        return command_bad_option(state, "--conformance is of records: --run and --minutes run the "
                                         "cases themselves");
    if (!arguments->run && (request->devices || request->out || request->bind || request->wait))
        return command_bad_option(state, "--devices, --bind, --wait and --out are of --run");
    if (!arguments->run && arguments->files.n == 0)
        return command_bad_option(state, "name the records, as `lockstep sweep` writes them, or "
                                         "measure: --run");
    if (request->out && request->out[0] == '\0')
        return command_bad_option(state, "--out is empty: name a file");
    return 0;
}

/* Judges the records of n files, and the result of the cases, by the profile, and writes the
 * verdict. Returns the exit status. */
static int judge_files(const struct arguments *arguments, const struct profile *profile,
                       const struct validate_need *need, char *const files[], size_t n,
                       const char *cases)
{
    static const int statuses[] = {EXIT_PASSED, EXIT_FAILED, VALIDATE_EXIT_NOT_SHOWN};
    const size_t form = arguments->format;
    struct validate_conformance conformance;
    struct text_error why = {{0}};
    struct report report;
    int status = validate_open(NAME, files, n, &report);

    if (status == 0 && validate_match(profile, &report, &why) != 0)
        status = command_refuse(NAME, "%s", why.text);
    if (status == 0 && profile->requires.conformance)
        status = validate_conformance(NAME, cases, profile, &report, &conformance);
    if (status == 0) {
        const char *const words[][2] = {{"profile", arguments->profile},
                                        {"devices", arguments->request.devices},
                                        {"bind", arguments->request.bind},
                                        {"node", arguments->node}};
        char again[VALIDATE_TEXT] = "lockstep validate";

        for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
            if (words[i][1]) {
                text_add(again, sizeof again, " --%s ", words[i][0]);
                text_add_shell(again, sizeof again, words[i][1]);
            }
        struct validate validate = {.profile = profile,
                                    .report = &report,
                                    .conformance =
                                        profile->requires.conformance ? &conformance : NULL,
                                    .need = need,
                                    .allow_dirty = arguments->allow_dirty,
                                    .node = arguments->node,
                                    .again = need ? again : NULL,
                                    .minutes = arguments->request.minutes};

        validate_judge(&validate);
        status = statuses[validate.machine];
        if (forms[form].write)
            forms[form].write(stdout, &validate);
        else if (validate_export(stdout, &validate, forms[form].shared, &why) != 0)
            status = command_refuse(NAME, "%s", why.text);
        free(validate.judged);
    }
    validate_close(&report);
    return status;
}

enum { PATH_BYTES = 512 };

/* Chooses the file of the records. A file that --out names must not exist: an existing one may be
 * of another machine. Without --out the file is in a new folder that other users cannot write
 * to. */
static int choose_file(const char *out, char folder[PATH_BYTES], char file[PATH_BYTES])
{
    const char *const root = getenv("TMPDIR");

    if (out) {
        if (snprintf(file, PATH_BYTES, "%s", out) >= PATH_BYTES)
            return command_refuse(NAME, "--out: longer than %d characters", PATH_BYTES - 1);
        return access(file, F_OK) != 0
                   ? 0
                   : command_refuse(NAME, "--out: %.200s is there already: name another file",
                                    file);
    }
    const int n = snprintf(folder, PATH_BYTES - 16, "%s/lockstep-validate-XXXXXX",
                           root && root[0] != '\0' ? root : "/tmp");

    if (n < 0 || n >= PATH_BYTES - 16 || !mkdtemp(folder))
        return command_refuse(NAME, "no folder for the records as %.200s: %s", folder,
                              n < PATH_BYTES - 16 ? strerror(errno) : "its name is too long");
    snprintf(file, PATH_BYTES, "%.495s/records.jsonl", folder);
    return 0;
}

static int measure_and_judge(const struct arguments *arguments, const struct profile *profile,
                             const struct validate_need *need)
{
    struct validate_request request = arguments->request;
    const bool temporary = !request.out;
    char folder[PATH_BYTES] = "", file[PATH_BYTES] = "", cases[PATH_BYTES + 8];
    char *files[] = {file};
    int status = choose_file(request.out, folder, file);

    if (status != 0)
        return status;
    snprintf(cases, sizeof cases, "%s.check", file);
    request.out = file;
    request.cases = cases;
    cli_begin_file(folder);
    status = validate_measure(NAME, &request, profile, need);
    if (status == 0)
        status = judge_files(arguments, profile, need, files, 1,
                             access(cases, R_OK) == 0 ? cases : NULL);
    cli_finish_file(folder);
    /* A temporary file is removed if the machine was ACCEPTED; else it is kept for a user to look
     * at, and is named. */
    if (temporary && status == EXIT_PASSED) {
        unlink(file);
        unlink(cases);
    }
    if (temporary && rmdir(folder) == 0)
        return status;
    if (access(file, R_OK) == 0)
        command_complain(NAME, "the records are in %s", file);
    if (access(cases, R_OK) == 0)
        command_complain(NAME, "what became of the cases is in %s", cases);
    return status;
}

int validate_main(int argc, char **argv)
{
    static const struct command_syntax syntax = {.options = option_table,
                                                 .what = "What to judge",
                                                 .other = check_call,
                                                 .files = true,
                                                 .files_at = offsetof(struct arguments, files),
                                                 .args_doc = "F.jsonl...\n--run",
                                                 .doc = documentation};
    struct arguments arguments = {.profile = NULL};
    struct text_error why = {{0}};
    struct profile *profile = NULL;
    char path[PROFILE_PATH];
    int status;

    if (command_read(&syntax, argc, argv, &arguments) != 0)
        return EXIT_MISUSE;
    if (profile_find(NAME, arguments.profile, path) != 0)
        return EXIT_MISUSE;
    if (profile_read(path, &profile, &why) != 0)
        return command_refuse(NAME, "%s", why.text);
    struct validate_need *need = cli_alloc(1, sizeof *need);

    if (!arguments.run)
        status = judge_files(&arguments, profile, NULL, arguments.files.path, arguments.files.n,
                             arguments.conformance);
    else if (validate_need(profile, need, &why) != 0)
        status = command_refuse(NAME, "%.200s: %s", arguments.profile, why.text);
    else
        status = measure_and_judge(&arguments, profile, need);
    free(need);
    profile_free(profile);
    return status;
}
