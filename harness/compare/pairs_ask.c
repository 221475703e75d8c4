/* compare/pairs_ask.c: asks two programs whether they are builds of lockstep whose worker knows all
 * options that it will be given.
 *
 * The answer is the help text of the worker: builds of before this question have it, too. */
#include "compare/pairs.h"

#include "command/command.h"
#include "record/cell_options.h"
#include "sweep/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char NAME[] = "lockstep compare";
static const char SELF[] = "/proc/self/exe";

enum { ASK_SECONDS = 10, VERSION_BYTES = 160 };

/* Cleans what others wrote, as all complaints do. */
static int refuse(const char *program, const char *why, const char *value)
{
    command_complain(NAME, "%.200s%s%s", program, why, value);
    return EXIT_MISUSE;
}

static int digest(const char *program, char hex[DIGEST_HEX])
{
    const int file = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    int status = EXIT_MISUSE;

    if (file < 0 || fstat(file, &info) != 0) {
        refuse(program, ": cannot be read: ", strerror(errno));
    } else if (S_ISDIR(info.st_mode)) {
        refuse(program, ": it is a folder, no program", "");
    } else if (!S_ISREG(info.st_mode) || info.st_size == 0) {
        refuse(program, ": it is no file with a program", "");
    } else if (access(program, X_OK) != 0) {
        refuse(program, ": cannot be executed: ", strerror(errno));
    } else {
        void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);

        status = bytes != MAP_FAILED ? digest_sha256(bytes, (size_t)info.st_size, hex) : -1;
        if (bytes != MAP_FAILED)
            munmap(bytes, (size_t)info.st_size);
        if (status != 0)
            status = refuse(program, ": no memory for its SHA-256", "");
    }
    if (file >= 0)
        close(file);
    return status;
}

/* What the program prints, which the caller frees. 0, an exit status after one line, or
 * EXIT_INTERRUPTED. */
static int ask(const char *program, char *const argument[], char **answer)
{
    struct launch_output output;
    char why[64];
    int status = 0;

    *answer = NULL;
    if (launch_program(program, argument, true, ASK_SECONDS, &output) != 0)
        return refuse(program, ": cannot be started: ", strerror(errno));
    if (output.interrupted) {
        status = EXIT_INTERRUPTED;
    } else if (output.timed_out) {
        snprintf(why, sizeof why, "%s did not end in %d s", argument[1], ASK_SECONDS);
        status = refuse(program, ": no build of lockstep: ", why);
    } else if (!WIFEXITED(output.status) || WEXITSTATUS(output.status) != 0 || !output.text) {
        snprintf(why, sizeof why, "%s%s failed", argument[1], argument[2] ? " --help" : "");
        status = refuse(program, ": no build of lockstep: ", why);
    } else {
        *answer = output.text;
        return 0;
    }
    free(output.text);
    return status;
}

/* "lockstep 0.1.0 (3f2a9c1, Release)" */
static int ask_version(const char *program, char version[VERSION_BYTES])
{
    char name[] = "lockstep", option[] = "--version", *text;
    char *const argument[] = {name, option, NULL};
    int status = ask(program, argument, &text);

    if (status != 0)
        return status;
    text[strcspn(text, "\n")] = '\0';
    text_clean(text, '?');
    snprintf(version, VERSION_BYTES, "%s", text);
    if (strncmp(text, "lockstep ", strlen("lockstep ")) != 0) {
        version[60] = '\0';
        status = refuse(program, ": no build of lockstep: --version says ", version);
    }
    free(text);
    return status;
}

/* Whether a help text has the option as a whole word. */
static bool has_option(const char *text, const char *name)
{
    const size_t length = strlen(name);

    while ((text = strstr(text, name))) {
        text += length;
        if (strchr("= \n,[", *text) != NULL)
            return true;
    }
    return false;
}

/* All that its worker will be given, it has to know. */
static int ask_worker(const char *program)
{
    char name[] = "lockstep", command[] = "cell", help[] = "--help", option[64], *text;
    char *const argument[] = {name, command, help, NULL};
    int status = ask(program, argument, &text);

    for (size_t i = 0; status == 0 && i < CELL_OPTIONS; ++i) {
        snprintf(option, sizeof option, "--%s", cell_option_name(i));
        if (cell_option_name(i)[0] != '\0' && !has_option(text, option))
            status =
                refuse(program, ": another version of lockstep: its `cell` does not know ", option);
    }
    free(text);
    return status;
}

/* Times of such a build are none of the program's, or nobody can build it again. */
static int check_build(const char *program, const char *version, bool allow_dirty)
{
    const bool optimised = strstr(version, ", Release") || strstr(version, ", RelWithDebInfo");

    if (optimised && !strstr(version, "sanitizers")) {
        if (!strstr(version, "-dirty") || allow_dirty)
            return 0;
        command_complain(NAME,
                         "INVALID: %.100s is of a changed tree: %.150s; --allow-dirty takes it",
                         program, version);
        return PAIRS_EXIT_INVALID;
    }
    command_complain(NAME, "INVALID: %.100s is no plain Release or RelWithDebInfo build: %.150s",
                     program, version);
    return PAIRS_EXIT_INVALID;
}

int pairs_ask(struct pairs *pairs)
{
    const struct pairs_arm *a = &pairs->arm[PAIRS_OLD], *b = &pairs->arm[PAIRS_NEW];
    int status = 0;

    for (int i = 0; i < PAIRS_ARMS && status == 0; ++i) {
        struct pairs_arm *arm = &pairs->arm[i];
        const char *const program = arm->program ? arm->program : SELF;

        status = digest(program, arm->sha256);
        if (status == 0)
            status = ask_version(program, arm->version);
        if (status == 0)
            status = ask_worker(program);
        if (status == 0)
            status = check_build(program, arm->version, pairs->allow_dirty);
    }
    pairs->same = strcmp(a->sha256, b->sha256) == 0 && strcmp(a->run.command, b->run.command) == 0;
    return status;
}
