/* command/command.h: what the subcommands share: exit statuses, option parsing, opening devices. */
#ifndef HARNESS_COMMAND_H
#define HARNESS_COMMAND_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "dp.h"
#include "text/text.h"

enum command_exit {
    EXIT_PASSED = 0,
    EXIT_FAILED = 1,
    EXIT_MISUSE = 2,       /* bad input, or the harness could not prove its own reference */
    EXIT_SKIPPED = 77,     /* nothing of what was asked for is here */
    EXIT_INTERRUPTED = 130 /* SIGINT or SIGTERM; what was measured is kept */
};

/* Each is one subcommand; argv[0] is its name. They return an exit status. */
int devices_main(int argc, char **argv);
int tutorial_main(int argc, char **argv);
int check_main(int argc, char **argv);
int rank_main(int argc, char **argv);
int train_main(int argc, char **argv);
int cell_main(int argc, char **argv);     /* the worker of sweep */
int trainee_main(int argc, char **argv);  /* that of train --launcher */
int place_main(int argc, char **argv);    /* that of devices --launcher */
int workload_main(int argc, char **argv); /* for the comparison with PyTorch */
/* `lockstep devices --launcher`: starts so many processes, and prints what differs between them,
 * where they are, and on what. An exit status. */
int places_show(const char *command, char *launcher, size_t processes, bool json);

/* "COMMAND: text", cleaned, as one line on stderr. */
void command_complain(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same; returns EXIT_MISUSE. */
int command_refuse(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes text, which continues at column used of its line, and a newline. Lines of at most columns
 * are broken at blanks and go on after indent blanks. */
void command_wrap(FILE *stream, const char *text, size_t used, size_t indent, size_t columns);
/* Writes each sentence of text in lines of 80 columns, and those after the first indented; of "a:
 * b; c." b and c begin a line each. */
void command_say_each(FILE *stream, const char *text);
/* The same from the first column on, with 80 columns. */
void command_say(FILE *stream, size_t indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A second line after a complaint about the command line: where the options are explained. Returns
 * EXIT_MISUSE. */
int command_misuse(const char *command);
/* Both lines. Returns EXIT_MISUSE. */
int command_refuse_call(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Options of every subcommand: -h, --help and --usage. */
extern const struct argp_option command_always[];
/* Whether an argument is one of these, or --dump-options. */
bool command_is_always(const char *argument);
/* argp_parse whose complaints are one line each, and that of command_misuse. 0, or EXIT_MISUSE
 * after the complaint. Refuses arguments that text_clean would change. --dump-options, alone or
 * after arguments that can be parsed, prints command_dump and exits as --help does. */
int command_parse(const struct argp *argp, int argc, char **argv, void *input);
/* Prints --help: usage, options in the order of the table, and the text about it. A row without a
 * name is the heading of a group. */
void command_help(const struct argp *argp, const char *command);
/* Prints what a command's --help is made of, for docs/manual; or a table alone. */
void command_dump(const struct argp *argp);
void command_dump_options(const struct argp_option table[]);

/* The default branch of a parser: no arguments, one-line complaints. */
error_t command_key(int key, char *arg, struct argp_state *state);
/* One line on stderr; returns what a parser must return. */
error_t command_bad_option(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Which of the names an option's value is; `what` they are names of is for the complaint. */
error_t command_choice(const struct argp_state *state, const char *option, const char *what,
                       const char *value, const char *const names[], size_t n, size_t *index);

/* ---- a table of options: command/options.c -------------------------------------------------- */

/* How the value of an option is read, and what it is in the input. */
enum command_kind {
    COMMAND_OWN,         /* the command reads it */
    COMMAND_FLAG,        /* bool; the option has no value */
    COMMAND_POINTER,     /* const char *: the value as it is */
    COMMAND_TEXT,        /* char[most] */
    COMMAND_SIZE,        /* size_t, least to most */
    COMMAND_REAL,        /* double, from .. to */
    COMMAND_CHOICE,      /* size_t: which of the names, of which there are `most` */
    COMMAND_BACKEND,     /* char[most]: the name of a backend */
    COMMAND_COMMUNICATOR /* the same of a communicator */
};
/* The groups of --help, in this order. Those before the last one are usual: they are within its
 * first 25 lines. */
enum command_group {
    COMMAND_NO_GROUP, /* of commands that only programs call */
    COMMAND_WHAT,
    COMMAND_HOW_LONG,
    COMMAND_WHERE_TO,
    COMMAND_RARE,
    COMMAND_GROUPS
};
struct command_option {
    const char *name;
    int key; /* its letter; 0: it has none */
    const char *arg, *doc;
    enum command_kind kind;
    size_t offset, least, most;
    const char *const *names;
    double from, to;
    enum command_group group;
    const char *was; /* an older name, which is still taken; NULL: none */
    bool repeated;   /* it may be given several times; any other option once */
};
/* Where a text is, and how long it may be. */
#define COMMAND_FIELD(type, member)                                                                \
    .offset = offsetof(type, member), .most = sizeof(((type *)0)->member)

/* All arguments that are no options. */
struct command_files {
    char **path;
    size_t n;
};
/* The command line of a subcommand. */
struct command_syntax {
    const struct command_option *options; /* up to one without a name */
    const char *what;                     /* the heading of COMMAND_WHAT: "What to measure" */
    /* doc: a sentence; then, after \v, paragraphs that end with "Exit status: ..." and with
     * "Examples:" and a line for each of two. */
    const char *args_doc, *doc;
    /* A parser of argp for arguments, for the end, and for options of kind COMMAND_OWN; it calls
     * command_key by default. NULL: there is nothing else. */
    error_t (*other)(int key, char *value, struct argp_state *state);
    bool files;      /* arguments go to a struct command_files of the input, at this offset */
    size_t files_at; /* else the parser gets them */
};
/* As command_parse: fills the input. */
int command_read(const struct command_syntax *syntax, int argc, char **argv, void *input);
/* For such a parser: the input, and whether an option was given. */
void *command_input(const struct argp_state *state);
bool command_seen(const struct argp_state *state, const char *name);
/* Notes that an option is given because another one stands for it; an error if it was given
 * before. */
error_t command_give(const struct argp_state *state, const char *name);

/* Copies an option's value. 0, or -1 when it is too long for the field. */
int command_copy(char *field, size_t bytes, const char *value);
/* Likewise, and refuses what is too long. */
error_t command_field(const struct argp_state *state, const char *option, const char *value,
                      char *field, size_t bytes);

/* For communicator nccl, NULL and others pass: whether its log stays out of standard output. 0, or
 * EXIT_MISUSE after a line. */
int command_check_nccl_log(const char *command, const char *communicator);
/* Opens the devices, or says in one line why not and returns the exit status. Fewer devices than
 * required are a failure, and so is then what else would be a skip. */
int command_open_group(const char *command, const struct dp_group_config *config, size_t required,
                       struct dp_group **group);
/* The exit status of a run on these devices that is over. One that went well on devices with +fault
 * has shown nothing: a complaint, and EXIT_FAILED. */
int command_ended(const char *command, const struct dp_group *group, int status);
/* ", with CUDA_VISIBLE_DEVICES='0,1'": what hides GPUs; "" where nothing does. Not cleaned. */
void command_visible(char text[96]);
/* The option --require-devices: its row in a table of struct command_option. */
enum { COMMAND_REQUIRE = 512 };
#define COMMAND_REQUIRE_ROW(type)                                                                  \
    {                                                                                              \
        .name = "require-devices", .key = COMMAND_REQUIRE, .arg = "N",                             \
        .doc = "exit with 1, and do not skip, if there are fewer than N devices (default 0)",      \
        .kind = COMMAND_SIZE, .offset = offsetof(type, required), .most = DP_MAX_SLOTS,            \
        .group = COMMAND_RARE                                                                      \
    }
/* One line about an error of core, and the exit status for it. */
int command_core_error(const char *command, const struct dp_error *err);

/* "virt:N", one device per core this process may use; at most DP_MAX_SLOTS. */
void command_default_devices(char *field, size_t bytes);

/* ---- backends and communicators by name, and what goes together: command/backend.c ----------- */

/* The words of all subcommands' help about them. It names each kind of devices, each backend and
 * each communicator of core. */
#define COMMAND_DEVICES_DOC     "virt:N, cuda:0-3,5 or cuda:all"
#define COMMAND_CPU_BACKEND_DOC "cpu (default), cpu-ref, cpu-cblas or cpu-onednn"
#define COMMAND_BACKEND_DOC     COMMAND_CPU_BACKEND_DOC "; on GPUs cuda (default) or cuda-staged"
#define COMMAND_CPU_COMMUNICATOR_DOC                                                               \
    "what carries data between devices: threads (default) or staged (default of cpu-ref)"
#define COMMAND_COMMUNICATOR_DOC                                                                   \
    COMMAND_CPU_COMMUNICATOR_DOC                                                                   \
    "; on GPUs peer (default), nccl, nccl+nccl or staged (default of cuda-staged)"

/* Rows of a table of struct command_option. */
#define COMMAND_BACKEND_ROW(type, member)                                                          \
    {                                                                                              \
        "backend", 'b', "NAME", COMMAND_BACKEND_DOC, COMMAND_BACKEND, COMMAND_FIELD(type, member), \
            .group = COMMAND_RARE                                                                  \
    }
#define COMMAND_COMMUNICATOR_ROW(type, member)                                                     \
    {                                                                                              \
        "communicator", 'c', "NAME", COMMAND_COMMUNICATOR_DOC, COMMAND_COMMUNICATOR,               \
            COMMAND_FIELD(type, member), .group = COMMAND_RARE                                     \
    }

/* Whether there is a backend or communicator of that name; `what` the value is called in the
 * message, which lists all. 0, or -1 and why. */
int command_backend_name(const char *what, const char *value, struct text_error *why);
int command_communicator_name(const char *what, const char *value, struct text_error *why);
/* As values of an option of that name. */
error_t command_backend(const struct argp_state *state, const char *option, const char *value,
                        char *field, size_t bytes);
error_t command_communicator(const struct argp_state *state, const char *option, const char *value,
                             char *field, size_t bytes);

/* NULL for "": of an option that was not given. */
const char *command_given(const char *text);
/* The backend that a device list has unless another one is named. */
const char *command_default_backend(const char *devices);
/* Before devices are opened: whether the communicator ("": the backend's own) serves them and can
 * do all of `can`. 0, or EXIT_MISUSE after a line that lists those that can. */
int command_check_communicator(const char *command, const char *communicator, const char *backend,
                               const char *devices, unsigned can);

#endif
