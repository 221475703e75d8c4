/* options.c: the command lines of sweep, check and train: a byte for the command, then an argument
 * per line. A bad one is refused in one line and a hint; a good one prints nothing. */
#include "fuzz.h"

#include "check/runner.h"
#include "command/command.h"
#include "sweep/sweep.h"
#include "train/train.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

void __wrap_command_default_devices(char *field, size_t bytes);

/* Replaces the function that asks the machine, which takes milliseconds: see CMakeLists.txt. */
void __wrap_command_default_devices(char *field, size_t bytes)
{
    snprintf(field, bytes, "virt:2");
}

/* argp itself answers these, and ends the program; --HANG sleeps for an hour. */
static bool ends_program(const char *argument)
{
    static const char *const words[] = {"--h", "--us", "--v", "--H", "--prog", "--dump-options"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        if (strncmp(argument, words[i], strlen(words[i])) == 0)
            return true;
    return strcmp(argument, "--u") == 0 ||
           (argument[0] == '-' && argument[1] != '-' && strpbrk(argument, "?hV"));
}

static int options_parse(int command, int argc, char **argv)
{
    static struct sweep_options sweep;
    static struct runner_options check;
    static struct train_options train;

    return command == 0   ? sweep_parse(argc, argv, &sweep)
           : command == 1 ? runner_parse(argc, argv, &check)
                          : train_parse(argc, argv, &train);
}

/* The complaint is a line, and perhaps one that names --help. */
static void check_complaint(char *words)
{
    char *end = strchr(words, '\n');
    const char *hint = end ? end + 1 : "";

    fuzz_must(end != NULL, "a complaint without an end");
    *end = '\0';
    fuzz_must_be_line(words);
    fuzz_must(hint[0] == '\0' ||
                  (strncmp(hint, "Try '", 5) == 0 && strchr(hint, '\n') == hint + strlen(hint) - 1),
              "a complaint of more than a line and a hint");
}

/* Its complaints go to a text in place of standard error, which is a variable in glibc. */
static void try_arguments(int command, int argc, char **argv)
{
    FILE *const before = stderr;
    char *words = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&words, &bytes);
    int status;

    fuzz_must(file != NULL, "no memory for a file");
    stderr = file;
    status = options_parse(command, argc, argv);
    stderr = before;
    fuzz_must(fclose(file) == 0, "no memory for a file");
    fuzz_must(status == 0 || status == EXIT_MISUSE, "another status than of misuse");
    fuzz_must((status == 0) == (bytes == 0), "accepted with a complaint, or refused without");
    if (bytes > 0)
        check_complaint(words);
    free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static char names[][8] = {"sweep", "check", "train"};
    char *text = fuzz_text(data, bytes), *at = text, *argv[MOST + 2] = {NULL};
    const int command = bytes > 0 ? data[0] % 3 : 0;
    bool ends = bytes < 2;
    int argc = 1;

    argv[0] = names[command];
    for (at += bytes > 0; argc <= MOST && *at != '\0'; ++argc) {
        char *end = at + strcspn(at, "\n");

        argv[argc] = at;
        at = *end == '\0' ? end : end + 1;
        *end = '\0';
        ends = ends || ends_program(argv[argc]);
    }
    if (!ends)
        try_arguments(command, argc, argv);
    free(text);
    return 0;
}
