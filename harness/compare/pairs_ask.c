/* compare/pairs_ask.c: asks two programs whether they are builds of lockstep whose worker knows all
 * options that it will get, and judges their builds by what they write.
 *
 * The answers are the help text of the worker and a record. Builds that are older than these
 * questions have them, too. */
#include "compare/pairs.h"

#include "command/command.h"
#include "launch/child.h"
#include "machine/machine.h"
#include "plan/plan.h"
#include "text/alloc.h"

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

enum { ASK_SECONDS = 10, RECORD_SECONDS = 60, VERSION_BYTES = 160 };

/* Cleans text of the other program, as all complaints do. */
static int refuse_program(const char *program, const char *why, const char *value)
{
    command_complain(NAME, "%.200s%s%s", program, why, value);
    return EXIT_MISUSE;
}

static int digest_program(const char *program, char hex[DIGEST_HEX])
{
    const int file = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    int status = EXIT_MISUSE;

    if (file < 0 || fstat(file, &info) != 0) {
        refuse_program(program, ": cannot be read: ", strerror(errno));
    } else if (S_ISDIR(info.st_mode)) {
        refuse_program(program, ": it is a folder, no program", "");
    } else if (!S_ISREG(info.st_mode) || info.st_size == 0) {
        refuse_program(program, ": it is no file with a program", "");
    } else if (access(program, X_OK) != 0) {
        refuse_program(program, ": cannot be executed: ", strerror(errno));
    } else {
        void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);

        status = bytes != MAP_FAILED ? digest_sha256(bytes, (size_t)info.st_size, hex) : -1;
        if (bytes != MAP_FAILED)
            munmap(bytes, (size_t)info.st_size);
        if (status != 0)
            status = refuse_program(program, ": no memory for its SHA-256", "");
    }
    if (file >= 0)
        close(file);
    return status;
}

/* Runs the program; the caller frees its output. Returns 0, an exit status after one line, which
 * calls the question what, or EXIT_INTERRUPTED. */
static int ask_program(const char *program, const char *what, char *const argument[], int seconds,
                       char **answer)
{
    const struct launch_how how = {
        .program = program, .argument = argument, .heard = LAUNCH_OUTPUT_ALONE, .seconds = seconds};
    struct program output;
    char why[64];
    int status = 0;

    *answer = NULL;
    if (launch_program(&how, &output) != 0)
        return refuse_program(program, ": cannot be started: ", strerror(errno));
    if (output.interrupted) {
        status = EXIT_INTERRUPTED;
    } else if (output.timed_out) {
        snprintf(why, sizeof why, "%s did not end in %d s", what, seconds);
        status = refuse_program(program, ": no build of lockstep: ", why);
    } else if (!WIFEXITED(output.status) || WEXITSTATUS(output.status) != 0 || !output.text) {
        snprintf(why, sizeof why, "%s failed", what);
        status = refuse_program(program, ": no build of lockstep: ", why);
    } else {
        *answer = output.text;
        return 0;
    }
    free(output.text);
    return status;
}

/* Reads "lockstep 0.1.0 (3f2a9c1, Release)", for example. */
static int ask_version(const char *program, char version[VERSION_BYTES])
{
    char *const argument[] = {"lockstep", "--version", NULL}, *text;
    int status = ask_program(program, argument[1], argument, ASK_SECONDS, &text);

    if (status != 0)
        return status;
    text[strcspn(text, "\n")] = '\0';
    text_clean(text, '?');
    snprintf(version, VERSION_BYTES, "%s", text);
    if (strncmp(text, "lockstep ", strlen("lockstep ")) != 0) {
        version[60] = '\0';
        status = refuse_program(program, ": no build of lockstep: --version says ", version);
    }
    free(text);
    return status;
}

/* The worker must know all options that it will get: its help text has each of them as a whole
 * word. */
static int ask_worker(const char *program)
{
    char *const argument[] = {"lockstep", "cell", "--help", NULL}, option[64], *text;
    int status = ask_program(program, "cell --help", argument, ASK_SECONDS, &text);

    for (size_t i = 0; status == 0 && i < CELL_OPTIONS; ++i) {
        const char *after = text;

        snprintf(option, sizeof option, "--%s", cell_option_name(i));
        do {
            after = strstr(after, option);
            after = after ? after + strlen(option) : NULL;
        } while (after && !strchr("= \n,[", *after));
        if (cell_option_name(i)[0] != '\0' && !after)
            status = refuse_program(
                program, ": another version of lockstep: its `cell` does not know ", option);
    }
    free(text);
    return status;
}

/* Judges a build by the record of a short sweep, with the same doubts as for files of records. The
 * file of the record is in memory, and the program inherits it. */
static int check_build(const char *program, bool allow_dirty)
{
    const enum provenance_dirty dirty = allow_dirty ? PROVENANCE_TAKEN : PROVENANCE_ASKED;
    const int memory = memfd_create("lockstep-record", 0);
    struct record_file *file = cli_alloc(1, sizeof *file);
    char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT], path[40], out[48], *text = NULL;
    char *const argument[] = {"lockstep",  "sweep",     "--devices=virt:1",     "--bind=none",
                              "--batch=8", "--mode=dp", "--workload=mlp:8,6,4", "--seconds=0.001",
                              out,         NULL};
    struct text_error why = {""};
    int status;

    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    snprintf(out, sizeof out, "--out=%s", path);
    if (memory < 0)
        status = refuse_program(program, ": no memory for its record: ", strerror(errno));
    else
        status = ask_program(program, "sweep", argument, RECORD_SECONDS, &text);
    if (status == 0 && record_read(path, false, file, &why) != 0)
        status = refuse_program(program, ": its record cannot be read: ", why.text);
    if (status == 0 && provenance_doubts(&file->run, dirty, doubt) > 0) {
        command_complain(NAME, "INVALID: %.100s is of %s", program, doubt[0]);
        status = PAIRS_EXIT_INVALID;
    }
    record_file_free(file);
    free(file);
    free(text);
    if (memory >= 0)
        close(memory);
    return status;
}

int pairs_ask(struct pairs *pairs)
{
    const struct pairs_arm *a = &pairs->arm[PAIRS_OLD], *b = &pairs->arm[PAIRS_NEW];
    int status = 0;

    for (int i = 0; i < PAIRS_ARMS && status == 0; ++i) {
        struct pairs_arm *arm = &pairs->arm[i];
        const char *const program = arm->program ? arm->program : SELF;

        status = digest_program(program, arm->sha256);
        if (status == 0)
            status = ask_version(program, arm->version);
        if (status == 0)
            status = ask_worker(program);
        if (status == 0)
            status = check_build(program, pairs->options.allow_dirty);
    }
    pairs->same = strcmp(a->sha256, b->sha256) == 0 && strcmp(a->run.command, b->run.command) == 0;
    return status;
}
