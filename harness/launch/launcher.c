/* launch/launcher.c: splits the text of a launcher into words, and runs processes by it. */
#include "launch/launcher.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dp.h"
#include "text/alloc.h"

enum { MOST_PATH = 512 };

int launcher_check(char text[LAUNCHER_BYTES], struct text_error *why)
{
    struct dp_communicator_row row;
    struct launcher launcher;
    char path[MOST_PATH];

    if (strcmp(text, "mpirun") == 0)
        snprintf(text, LAUNCHER_BYTES, "mpirun -n {n}");
    else if (strcmp(text, "srun") == 0)
        snprintf(text, LAUNCHER_BYTES, "srun --mpi=pmix -n {n}");
    if (!strstr(text, "{n}"))
        return text_fail(why, "'%.80s' has no {n}; allowed are " LAUNCHER_DOC, text);
    if (launcher_words(text, 1, NULL, &launcher, why))
        return -1;
    const char *const name = launcher.word[0], *folders = strchr(name, '/') ? NULL : getenv("PATH");
    bool found = strchr(name, '/') && access(name, X_OK) == 0;

    while (!found && folders && *folders != '\0') {
        const size_t length = strcspn(folders, ":");
        const int n = snprintf(path, sizeof path, "%.*s/%s", (int)length, folders, name);

        found = n > 0 && (size_t)n < sizeof path && access(path, X_OK) == 0;
        folders += length + (folders[length] == ':');
    }
    if (!found)
        return text_fail(why, "there is no program '%.80s', or it cannot be executed", name);
    if (!dp_communicator_of("mpi", &row) || !row.built)
        return text_fail(why, "this build has no MPI");
    return 0;
}

int launcher_words(const char *text, int processes, char *const own[], struct launcher *launcher,
                   struct text_error *why)
{
    const ssize_t length = readlink("/proc/self/exe", launcher->self, sizeof launcher->self - 1);
    char *room = launcher->room;
    const char *const end = room + sizeof launcher->room, *at = text;

    launcher->n = 0;
    while (*(at += strspn(at, " ")) != '\0') {
        if (launcher->n == LAUNCHER_WORDS || room + 1 >= end)
            return text_fail(why, "'%.60s...' is too long", text);
        launcher->word[launcher->n++] = room;
        while (*at != '\0' && *at != ' ') {
            const bool number = strncmp(at, "{n}", 3) == 0;
            const int n = number ? snprintf(room, (size_t)(end - room), "%d", processes)
                                 : snprintf(room, (size_t)(end - room), "%c", *at);

            if (n < 0 || n >= end - room)
                return text_fail(why, "'%.60s...' is too long", text);
            room += n;
            at += number ? 3 : 1;
        }
        ++room;
    }
    if (launcher->n == 0 || (own && length < 0))
        return text_fail(why, launcher->n == 0 ? "it is empty" : "this program cannot be named");
    if (own) {
        launcher->self[length] = '\0';
        launcher->word[launcher->n++] = launcher->self;
    }
    for (size_t i = 0; own && own[i]; ++i)
        launcher->word[launcher->n++] = own[i];
    launcher->word[launcher->n] = NULL;
    return 0;
}

int launcher_run(const char *launcher, int processes, char *const own[], enum launch_heard heard,
                 double seconds, struct launched *run, struct text_error *why)
{
    int (*const launch)(const struct launch_how *, struct program *) =
        heard == LAUNCH_ASKED ? program_start : launch_program;
    struct launcher words;

    *run = (struct launched){.messages = cli_alloc(1, sizeof *run->messages)};
    run->messages->n = processes;
    if (launcher_words(launcher, processes, own, &words, why))
        return -1;
    const struct launch_how how = {.program = words.word[0],
                                   .argument = words.word,
                                   .heard = heard,
                                   .seconds = seconds,
                                   .grace = LAUNCHER_GRACE};

    if (launch(&how, &run->program))
        return text_fail(why, "'%.80s' cannot be started: %s", words.word[0], strerror(errno));
    if (run->program.interrupted)
        return 0;
    if (run->program.too_long)
        return text_fail(why, "the launcher printed too much");
    launcher_messages_take(run->messages, &run->program, &run->fault);
    if (run->fault.text[0] == '\0')
        return 0;
    return text_fail(why, "what the launcher printed cannot be used: %.200s", run->fault.text);
}

void launched_free(struct launched *run)
{
    launcher_messages_free(run->messages);
    free(run->messages);
    free(run->program.text);
}
