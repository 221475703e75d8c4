/* fleet/main.c: `lockstep fleet`: options, and the order of things. */
#include "fleet/fleet.h"

#include <sys/stat.h>

#include "command/command.h"

static const char NAME[] = "lockstep fleet";

struct arguments {
    const char *folder, *expect, *out;
    size_t format;
};

static void (*const writers[])(FILE *stream, const struct fleet *fleet) = {
    fleet_text, fleet_json, fleet_csv, fleet_markdown};
enum { FORMS = sizeof writers / sizeof writers[0] };

static const char *const form_names[FORMS] = {"text", "json", "csv", "md"};

static const struct command_option option_table[] = {
    {"expect", 'e', "FILE",
     "nodes that have to be there, one a line, or as node[001-256]; one without a verdict is "
     "MISSING",
     COMMAND_POINTER, .offset = offsetof(struct arguments, expect), .group = COMMAND_WHAT},
    {"out", 'o', "DIR",
     "write passing_nodes.txt and failing_nodes.txt there, one name a line, and index.html, a page "
     "of all of it",
     .kind = COMMAND_OWN, .group = COMMAND_WHERE_TO},
    {"format", 'f', "text|json|csv|md", "what to print (default text)", COMMAND_CHOICE,
     .offset = offsetof(struct arguments, format), .most = FORMS, .names = form_names,
     .group = COMMAND_WHERE_TO},
    {0}};

static const char documentation[] =
    "Holds the verdicts of many nodes against each other: DIR/*.json, as `lockstep validate "
    "--format json` prints them, and says which nodes to take out. DIR/NODE.steps has the steps "
    "of a node, each with its exit status, or `STEP STATUS: WORDS`."
    "\vA node is what its verdict says: ACCEPTED, REJECTED or NOT SHOWN. It is BROKEN if its file "
    "says nothing that can be believed, and MISSING if it is expected and has no file. A node that "
    "is accepted by another profile, other limits or cases, on another day or another number of "
    "devices than most, after other steps, or by doubtful records, is NOT SHOWN. So is one that "
    "neither steps check and soak nor cases of its profile have tested.\n\n"
    "A node is outlying if a number of it is worse than that of the others, by median and MAD "
    "over at least 8 nodes: where all nodes are alike and scatter about normally, one is named in "
    "at most 5 % of fleets. A node passes if it is ACCEPTED and not outlying.\n\n"
    "Exit status: 0 all nodes pass; 1 one is REJECTED, BROKEN, MISSING or outlying; 2 misuse, or "
    "there is no verdict and no node is expected, or there are more than 2,000; 3 none of these, "
    "but one is NOT SHOWN.\n\nExamples:\n"
    "  lockstep fleet verdicts --expect nodes.txt --out fleet-report\n"
    "  lockstep fleet verdicts";

static error_t parse_folder(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = command_input(state);

    switch (key) {
    case 'o':
        arguments->out = value;
        return value[0] != '\0' ? 0 : command_bad_option(state, "--out: '' is no folder");
    case ARGP_KEY_ARG:
        if (arguments->folder)
            return command_bad_option(state, "one folder at a time: '%.60s' is a second one",
                                      value);
        arguments->folder = value;
        return 0;
    case ARGP_KEY_END:
        return arguments->folder ? 0 : command_bad_option(state, "name the folder of the verdicts");
    default:
        return command_key(key, value, state);
    }
}

int fleet_main(int argc, char **argv)
{
    static const struct command_syntax syntax = {.options = option_table,
                                                 .what = "What to judge",
                                                 .args_doc = "DIR",
                                                 .doc = documentation,
                                                 .other = parse_folder};
    struct arguments arguments = {.folder = NULL};
    struct fleet fleet = {.folder = NULL};
    struct fleet_names names = {.name = NULL};
    struct text_error why = {{0}};
    struct stat folder, out;
    int status = 0;

    if (command_read(&syntax, argc, argv, &arguments) != 0)
        return EXIT_MISUSE;
    if (arguments.out)
        status = fleet_clear(arguments.out, &why);
    if (status == 0 && arguments.expect)
        status = fleet_expect(arguments.expect, &names, &why);
    if (status == 0)
        status = fleet_read(arguments.folder, &fleet, &why);
    if (status == 0)
        fleet_join(&fleet, arguments.expect ? &names : NULL);
    if (status == 0 && fleet.n == 0)
        status = text_fail(&why, "'%.180s' has no verdict: no file NAME.json", arguments.folder);
    fleet_names_free(&names);
    if (status == 0) {
        fleet_find_drift(&fleet);
        fleet_find_outliers(&fleet);
        fleet_count(&fleet);
        fleet.linked = arguments.out && stat(arguments.out, &out) == 0 &&
                       stat(arguments.folder, &folder) == 0 && out.st_ino == folder.st_ino &&
                       out.st_dev == folder.st_dev;
        if (arguments.out)
            status = fleet_lists(arguments.out, &fleet, &why);
        if (arguments.out && status == 0)
            status = fleet_page(arguments.out, &fleet, &why);
    }
    if (status == 0)
        writers[arguments.format](stdout, &fleet);
    status = status == 0 ? fleet_exit(&fleet) : command_refuse(NAME, "%s", why.text);
    fleet_free(&fleet);
    return status;
}
