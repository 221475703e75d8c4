/* compare/baseline.c: `lockstep baseline`: sittings added to a baseline, and what it says. */
#include "compare/baseline.h"

#include "command/command.h"
#include "files/text_out.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char NAME[] = "lockstep baseline";

enum { KEY_FOLDER = 256 };
enum action { ADD, SHOW, ACTIONS };
static const char *const actions[ACTIONS] = {"add", "show"};
static const char *const formats[] = {"text", "json"};

enum { FORMATS = sizeof formats / sizeof formats[0] };

struct arguments {
    size_t action;
    const char *name, *folder;
    char **path; /* of records */
    size_t n_paths, format;
    bool has_format;
    uint64_t seen;
};

static const struct argp_option option_table[] = {
    {"dir", KEY_FOLDER, "DIR", 0, "Where baselines are (default " BASELINE_FOLDER ")", 0},
    {"format", 'f', "text|json", 0, "What show prints (default text)", 0},
    {0}};

static const char documentation[] =
    "Keeps the history of a machine: `add` puts sittings, record files of `lockstep sweep`, into a "
    "baseline, and `show` says what it can tell. `lockstep compare --baseline NAME` holds a new "
    "sitting against it."
    "\vA baseline is the file DIR/NAME.jsonl, and is only ever added to. All of its sittings "
    "are "
    "of one class of machine, of one library of matrix products and of one plan: the same options "
    "but for the seed. A sitting is taken if it is finished and sealed, was not resumed, is of a "
    "clean tree and a Release build, and if every launch is verified; and if it is one of its own: "
    "of another start of the machine than each sitting that is there, or 6 hours from it. Cells "
    "that are oversubscribed are left out. If one file is refused, nothing is added.\n\n"
    "`show` has, for each cell, the standard deviation of its sittings, and the change that one "
    "more sitting would show in 80 of 100 comparisons. A comparison takes 6 sittings, a gate "
    "10.\n\n"
    "Exit status: 0 done; 2 misuse, unreadable or torn input, or a baseline that was changed, with "
    "the line; 3 a sitting is refused.";

static error_t take_argument(struct arguments *arguments, char *value, struct argp_state *state)
{
    if (state->arg_num == 0)
        return command_choice(state, "action", "action", value, actions, ACTIONS,
                              &arguments->action);
    if (state->arg_num == 1) {
        arguments->name = value;
        return 0;
    }
    if (arguments->action != ADD)
        return command_bad_option(state, "unexpected argument '%.60s' after show NAME", value);
    arguments->path[arguments->n_paths++] = value;
    return 0;
}

static error_t check_end(const struct arguments *arguments, struct argp_state *state)
{
    if (state->arg_num < 2)
        return command_bad_option(state, "say add NAME FILE.. or show NAME");
    if (arguments->action == ADD && arguments->n_paths == 0)
        return command_bad_option(state, "add takes record files, as `lockstep sweep` writes them");
    if (arguments->action == ADD && arguments->has_format)
        return command_bad_option(state, "--format is of show");
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    const error_t status = command_once(state, option_table, key, &arguments->seen);

    if (status)
        return status;
    switch (key) {
    case KEY_FOLDER:
        arguments->folder = value;
        return 0;
    case 'f':
        arguments->has_format = true;
        return command_choice(state, "format", "format", value, formats, FORMATS,
                              &arguments->format);
    case ARGP_KEY_ARG:
        return take_argument(arguments, value, state);
    case ARGP_KEY_END:
        return check_end(arguments, state);
    default:
        return command_key(key, value, state);
    }
}

/* Refused, or added in memory. */
static int add_file(const struct arguments *arguments, size_t i, struct baseline *baseline)
{
    struct baseline_source *source = calloc(1, sizeof *source);
    char why[BASELINE_WHY];
    int status = EXIT_MISUSE;

    if (!source)
        command_complain(NAME, "no memory");
    else
        status = baseline_take(NAME, arguments->path[i], false, source);
    if (status == 0 && source->refused.n > 0) {
        command_complain(NAME, "%s", source->refused.text[0]);
        status = COMPARE_EXIT_INVALID;
    } else if (status == 0 && baseline_fits(baseline, source, true, why) != 0) {
        command_complain(NAME, "%s", why);
        status = COMPARE_EXIT_INVALID;
    } else if (status == 0 && baseline_add(baseline, source) != 0) {
        command_complain(NAME, "no memory for the lines of %s", arguments->path[i]);
        status = EXIT_MISUSE;
    }
    if (status == 0 && source->crowded > 0)
        printf("%s: %zu cells are oversubscribed, and left out\n", arguments->path[i],
               source->crowded);
    if (source)
        baseline_source_free(source);
    free(source);
    return status;
}

/* Between reading and putting nobody else may add: the lock is on the folder, as the file itself is
 * replaced. A descriptor, or -1 after one line. */
static int lock_folder(const char *folder)
{
    const int fd = text_folder(folder) == 0 ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (fd < 0)
        command_complain(NAME, "cannot use the folder %.200s: %s", folder, strerror(errno));
    else
        while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
            continue; /* a file system without locks: go on without */
    return fd;
}

static int add(const struct arguments *arguments, struct baseline *baseline)
{
    const int folder = lock_folder(arguments->folder);
    struct text_error err;
    int status = 0;

    if (folder < 0)
        return EXIT_MISUSE;
    if (baseline_read(baseline, &err) != 0) {
        command_complain(NAME, "%s", err.text);
        status = EXIT_MISUSE;
    }
    for (size_t i = 0; i < arguments->n_paths && status == 0; ++i)
        status = add_file(arguments, i, baseline);
    if (status == 0 && (baseline_put(baseline, &err) != 0)) {
        command_complain(NAME, "%s", err.text);
        status = EXIT_MISUSE;
    }
    if (status == 0) {
        fsync(folder); /* the file is whole without, under its old lines or its new ones */
        compare_say(stdout, 2,
                    "%s: %zu added: now %zu sittings of %zu cells. A comparison takes %d sittings, "
                    "a gate %d.",
                    baseline->path, arguments->n_paths, baseline->sittings, baseline->cells,
                    BASELINE_LEAST, BASELINE_GATE);
    }
    close(folder);
    return status;
}

static int show(const struct arguments *arguments, struct baseline *baseline)
{
    struct baseline_judged *judged = NULL;
    double *x = NULL;
    struct text_error err;
    int status = EXIT_MISUSE;

    if (baseline_read(baseline, &err) != 0) {
        command_complain(NAME, "%s", err.text);
        return EXIT_MISUSE;
    }
    if (!baseline->is_there) {
        command_complain(NAME, "%s is not there: `lockstep baseline add` makes it", baseline->path);
        return EXIT_MISUSE;
    }
    judged = calloc(baseline->cells + 1, sizeof judged[0]);
    x = calloc(baseline->sittings + 1, sizeof x[0]);
    for (size_t c = 0; judged && x && c < baseline->cells; ++c) {
        baseline_values(baseline, c, x);
        baseline_spread(x, baseline->sittings, &judged[c]);
        baseline_power(baseline->sittings, baseline->cells, &judged[c]);
    }
    if (judged && x)
        status = arguments->format == 0 ? baseline_show_text(stdout, baseline, judged)
                                        : baseline_show_json(stdout, baseline, judged);
    free(judged);
    free(x);
    if (status == 0)
        return 0;
    command_complain(NAME, "no memory for the result");
    return EXIT_MISUSE;
}

int baseline_main(int argc, char **argv)
{
    static const struct argp parser = {.options = option_table,
                                       .parser = parse_option,
                                       .args_doc = "add NAME FILE...\nshow NAME",
                                       .doc = documentation};
    struct arguments arguments = {.folder = BASELINE_FOLDER,
                                  .path = calloc((size_t)argc + 1, sizeof arguments.path[0])};
    struct baseline baseline;
    struct text_error err;
    int status = EXIT_MISUSE;

    if (!arguments.path) {
        command_complain(NAME, "no memory");
        return EXIT_MISUSE;
    }
    if (command_parse(&parser, argc, argv, &arguments) != 0) {
        free(arguments.path);
        return EXIT_MISUSE;
    }
    if (baseline_name(arguments.folder, arguments.name, &baseline, &err) != 0)
        command_complain(NAME, "%s", err.text);
    else
        status = arguments.action == ADD ? add(&arguments, &baseline) : show(&arguments, &baseline);
    baseline_free(&baseline);
    free(arguments.path);
    return status;
}
