/* compare/baseline.c: `lockstep compare baseline`: adds sessions to a baseline, and shows it.
 *
 * The program never writes into the file. It writes another one with all of the old lines and the
 * new ones, which then gets the name of the file. So the file is whole at any time, whatever
 * happens to the program or to the machine. */
#include "compare/baseline.h"

#include "command/command.h"
#include "files/files.h"
#include "record/json.h"
#include "text/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char NAME[] = "lockstep compare baseline";

enum action { ADD, SHOW, ACTIONS };
static const char *const actions[ACTIONS] = {"add", "show"};
static const char *const formats[] = {[COMPARE_AS_TEXT] = "text", [COMPARE_AS_JSON] = "json"};

struct arguments {
    size_t action;
    const char *name, *folder;
    char **path; /* of records */
    size_t n_paths, format;
};

static const struct command_option option_table[] = {
    {"dir", 0, "DIR", "where baselines are (default " BASELINE_FOLDER ")", COMMAND_POINTER,
     .offset = offsetof(struct arguments, folder), .group = COMMAND_WHERE_TO},
    {"format", 'f', "text|json", "what show prints (default text)", COMMAND_CHOICE,
     .offset = offsetof(struct arguments, format), .names = formats,
     .most = sizeof formats / sizeof formats[0], .group = COMMAND_WHERE_TO},
    {0}};

static const char documentation[] =
    "Keeps a history of a machine: `add` puts sessions, which are record files of `lockstep "
    "sweep`, into a baseline; `show` says what changes it can find. `lockstep compare --baseline "
    "NAME` compares a new session with it."
    "\vA baseline is the file DIR/NAME.jsonl. Sessions are added to it, and never removed. All are "
    "of one class of machine, one matrix library and one plan. A session must be complete, sealed "
    "and verified, not resumed, and from a Release build without uncommitted changes. Between two "
    "sessions the machine must have been restarted, or 6 hours must have passed. If one file is "
    "refused, nothing is added.\n\n"
    "Exit status: 0 done; 2 misuse, unreadable or torn input, or a baseline that was changed, with "
    "the line; 3 a session is refused.\n\nExamples:\n"
    "  lockstep compare baseline add main monday.jsonl\n"
    "  lockstep compare baseline show main";

static error_t parse_arguments(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = command_input(state);

    switch (key) {
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            return command_choice(state, "action", "action", value, actions, ACTIONS,
                                  &arguments->action);
        if (state->arg_num == 1)
            arguments->name = value;
        else if (arguments->action == ADD)
            arguments->path[arguments->n_paths++] = value;
        else
            return command_bad_option(state, "unexpected argument '%.60s' after show NAME", value);
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            return command_bad_option(state, "say add NAME FILE.. or show NAME");
        if (arguments->action == ADD && arguments->n_paths == 0)
            return command_bad_option(state,
                                      "add takes record files, as `lockstep sweep` writes them");
        if (arguments->action == ADD && command_seen(state, "format"))
            return command_bad_option(state, "--format is of show");
        return 0;
    default:
        return command_key(key, value, state);
    }
}

static void add_lines(struct baseline *baseline, const struct baseline_source *source)
{
    struct baseline_lines *lines = &baseline->lines;

    for (size_t i = 0; i < source->lines.n; ++i) {
        const struct baseline_line *line = &source->lines.line[i];
        struct baseline_line named = *line;
        json_t *root = value_object("schema:t", BASELINE_SCHEMA), *exact = json_object();

        named.sitting = baseline->sessions + 1;
        json_object_update_new(root, record_json_of(baseline_names, &named));
        json_object_set_new(root, "cell", value_key(&line->key));
        json_object_update_new(root, record_json_of(baseline_numbers, &named));
        for (size_t m = 0; m < EXACT_METRICS; ++m) {
            json_t *array = json_array();

            for (size_t k = 0; k < line->n[m]; ++k)
                json_array_append_new(array, value_real(line->exact[m][k]));
            json_object_set_new(exact, exact_metrics[m].name, array);
        }
        json_object_set_new(root, "exact", exact);
        /* Each line is chained to the one before. */
        char *text = record_chain_add(document_text(root, JSON_COMPACT), baseline->last, true);
        const size_t length = text ? strlen(text) : 0;

        if (!text || digest_sha256(text, length, baseline->last) != 0)
            cli_no_memory();
        baseline->text = cli_resize(baseline->text, baseline->bytes + length + 2, 1);
        snprintf(baseline->text + baseline->bytes, length + 2, "%s\n", text);
        baseline->bytes += length + 1;
        free(text);
        lines->line = cli_grow(lines->line, lines->n, sizeof lines->line[0]);
        lines->line[lines->n++] = *line;
    }
    ++baseline->sessions;
    baseline->cells = source->lines.n;
}

/* Adds the sessions of all files, or none. Locks the folder, as the file itself is replaced: no
 * other process may add sessions between reading and writing. */
static int add_files(const struct arguments *arguments, struct baseline *baseline)
{
    const char *const path = arguments->folder;
    const int folder = text_folder(path) == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    struct text_error err;
    char why[BASELINE_WHY];

    if (folder < 0)
        return command_refuse(NAME, "cannot use the folder %.200s: %s", path, strerror(errno));
    while (flock(folder, LOCK_EX) != 0 && errno == EINTR)
        continue; /* a file system without locks: continues without */
    struct baseline_source *source = cli_alloc(1, sizeof *source);
    int status = baseline_read(baseline, &err) == 0 ? 0 : command_refuse(NAME, "%s", err.text);

    for (size_t i = 0; i < arguments->n_paths && status == 0; ++i) {
        const char *const records = arguments->path[i];

        status = baseline_take(NAME, records, false, source);
        if (status == 0 && source->refused.n > 0) {
            command_complain(NAME, "%s", source->refused.text[0]);
            status = COMPARE_EXIT_INVALID;
        } else if (status == 0 && baseline_fits(baseline, source, true, why) != 0) {
            command_complain(NAME, "%s", why);
            status = COMPARE_EXIT_INVALID;
        } else if (status == 0) {
            add_lines(baseline, source);
        }
        if (status == 0 && source->crowded > 0)
            printf("%s: %zu cell%s left out: oversubscribed\n", records, source->crowded,
                   text_s(source->crowded));
        baseline_source_free(source);
    }
    free(source);
    /* It is written only if it can be read again. */
    struct baseline again = *baseline;
    const mode_t mode = (mode_t)baseline->mode;

    again.lines = (struct baseline_lines){.n = 0};
    if (status == 0 && baseline_read_lines(&again, &err) != 0)
        status = command_refuse(NAME, "%s", err.text);
    free(again.lines.line);
    const int failed = status == 0 ? whole_put(baseline->path, baseline->text, baseline->bytes,
                                               baseline->is_there ? &mode : NULL)
                                   : 0;

    if (failed != 0)
        status = command_refuse(NAME, "cannot write %.160s: %s; it is as it was", baseline->path,
                                strerror(failed));
    if (status == 0) {
        fsync(folder); /* else the file is whole, too, with old lines or new ones */
        command_say(stdout, 2,
                    "%s: %zu added: now %zu sessions of %zu cells. A comparison takes %d sessions, "
                    "a gate %d.",
                    baseline->path, arguments->n_paths, baseline->sessions, baseline->cells,
                    BASELINE_LEAST, BASELINE_GATE);
    }
    close(folder);
    return status;
}

int baseline_main(int argc, char **argv)
{
    static const struct command_syntax syntax = {.options = option_table,
                                                 .other = parse_arguments,
                                                 .args_doc = "add NAME FILE...\nshow NAME",
                                                 .doc = documentation};
    struct arguments arguments = {.folder = BASELINE_FOLDER,
                                  .path = cli_alloc((size_t)argc, sizeof arguments.path[0])};
    struct baseline_compare *shown = cli_alloc(1, sizeof *shown);
    struct text_error err;
    int status = EXIT_MISUSE;

    if (command_read(&syntax, argc, argv, &arguments) != 0) {
        status = EXIT_MISUSE;
    } else if (arguments.action == SHOW) {
        status = baseline_open(NAME, arguments.folder, arguments.name, shown);
        if (status == 0)
            status = compare_print(&baseline_show_judge, shown, shown->baseline.cells,
                                   arguments.format, true);
    } else if (baseline_name(arguments.folder, arguments.name, &shown->baseline, &err) != 0) {
        command_complain(NAME, "%s", err.text);
    } else {
        status = add_files(&arguments, &shown->baseline);
    }
    baseline_close(shown);
    free(shown);
    free(arguments.path);
    return status;
}
