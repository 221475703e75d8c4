/* torch.c: the command of --impl torch. Its words come from a user and from folders' names, so a
 * shell gets them in single quotes, or they have none of a shell's signs. */
#include "torch.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REASON = 600, WORD = 1000, QUOTED = 4 * WORD };

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS  "0123456789"

/* Where the package may be, from the folder of this program. */
static const struct {
    const char *folder;
    bool own; /* PYTHONPATH gets it. Else it is in a wheel, and the interpreter has it, too */
} places[] = {
    {"../share/lockstep/python", true}, /* installed */
    {"../../../suites/python", true},   /* in the tree that it was built in */
    {"../..", false},
};
enum { PLACES = sizeof places / sizeof places[0] };

static bool is_layer(const char *layer)
{
    const size_t module = strspn(layer, LETTERS DIGITS "./-");
    const char *name = layer + module + 1;

    if (module == 0 || layer[0] == '-' || layer[module] != ':')
        return false;
    /* These signs are of files only. */
    if (strcspn(layer, "/-") < module && (module < 4 || strncmp(name - 4, ".py:", 4) != 0))
        return false;
    return name[0] != '\0' && !strchr(DIGITS, name[0]) &&
           name[strspn(name, LETTERS DIGITS)] == '\0';
}

static bool is_program(const char *name)
{
    const char *folders = getenv("PATH");
    char path[WORD];

    if (strchr(name, '/'))
        return access(name, X_OK) == 0;
    for (size_t n; folders && *folders != '\0'; folders += n + (folders[n] == ':')) {
        n = strcspn(folders, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", (int)n, folders, name) < WORD &&
            access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* Puts a word of less than WORD bytes in single quotes. */
static void quote_word(const char *word, char quoted[QUOTED])
{
    char *to = quoted;

    *to++ = '\'';
    for (; *word != '\0'; *to++ = *word++)
        if (*word == '\'') { /* the quotes end, and begin again with this one */
            *to++ = '\'';
            *to++ = '\\';
            *to++ = '\'';
        }
    *to++ = '\'';
    *to = '\0';
}

/* Finds the package. folder: its place in quotes, "": the interpreter knows it. Returns -1 if there
 * is none. */
static int find_package(char folder[QUOTED])
{
    char program[PATH_MAX], path[PATH_MAX + 80];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash;

    folder[0] = '\0';
    program[n > 0 ? n : 0] = '\0';
    if (!(slash = strrchr(program, '/')))
        return -1;
    *slash = '\0';
    for (size_t i = 0; i < PLACES; ++i) {
        snprintf(path, sizeof path, "%s/%s/lockstep/torch/__main__.py", program, places[i].folder);
        if (access(path, R_OK) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", program, places[i].folder);
        if (places[i].own && strlen(path) < WORD)
            quote_word(path, folder);
        return places[i].own && folder[0] == '\0' ? -1 : 0;
    }
    return -1;
}

int torch_command(const char *layer, double seconds, char command[], size_t bytes,
                  char reason[REASON])
{
    const char *given = getenv("LOCKSTEP_PYTHON");
    const char *python = given && given[0] != '\0' ? given : "python3";
    char folder[QUOTED], program[QUOTED];
    int n;

    if (layer && !is_layer(layer))
        snprintf(reason, REASON,
                 "'%.200s' is not MODULE:NAME: a module is of letters, digits, '_' and '.', or a "
                 "file whose name ends in .py, then also of '/' and '-'; a name of letters, digits "
                 "and '_'. For other names there is exec:COMMAND",
                 layer);
    else if (strlen(python) >= WORD || !is_program(python))
        snprintf(reason, REASON, "there is no program '%.200s'%s; %s", python,
                 python == given ? "" : " in PATH",
                 python == given ? "LOCKSTEP_PYTHON names it" : "LOCKSTEP_PYTHON can name another");
    else if (find_package(folder))
        snprintf(
            reason, REASON,
            "no Python package lockstep.torch in %s, %s or %s, seen from this program's folder",
            places[0].folder, places[1].folder, places[2].folder);
    else {
        quote_word(python, program);
        n = snprintf(command, bytes, "%s%s%sLOCKSTEP_LIMIT_S=%g exec %s -m lockstep.torch%s%s",
                     folder[0] != '\0' ? "export PYTHONPATH=" : "", folder,
                     folder[0] != '\0' ? "\"${PYTHONPATH:+:$PYTHONPATH}\"; " : "", seconds, program,
                     layer ? " " : "", layer ? layer : "");
        if (n > 0 && (size_t)n < bytes)
            return 0;
        snprintf(reason, REASON, "the command for '%.100s' is longer than %zu bytes",
                 layer ? layer : "torch", bytes - 1);
    }
    return -1;
}
