/* files/silent.c: which process has not had the last word, and what it said before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/said.h"

/* "process 1 of 2 (host H, process 4711)" */
void said_who(const struct said *said, int p, char text[SAID_WHO])
{
    const char *begun = said->process[p].begun;
    const size_t host = strcspn(begun, " ");
    const long pid = begun[host] == ' ' ? strtol(begun + host, NULL, 10) : 0;

    if (said->process[p].has[SAID_BEGUN])
        snprintf(text, SAID_WHO, "process %d of %d (host %.*s, process %ld)", p, said->n,
                 host < 64 ? (int)host : 64, begun, pid);
    else
        snprintf(text, SAID_WHO, "process %d of %d", p, said->n);
}

enum silence { SILENT_BEGUN, SILENT_ALWAYS, SILENT_TOLD, SILENCES };

static enum silence silence_of(const struct said_process *process)
{
    if (process->has[SAID_ENDED])
        return SILENCES;
    if (process->has[SAID_TOLD])
        return SILENT_TOLD;
    return process->has[SAID_BEGUN] ? SILENT_BEGUN : SILENT_ALWAYS;
}

/* The first in the order of the kinds, and how many are like it; -1: all have ended. */
static int find_silent(const struct said *said, enum silence *kind, int *alike)
{
    for (int k = 0; k < SILENCES; ++k) {
        int first = -1;

        *kind = (enum silence)k;
        *alike = 0;
        for (int p = said->n - 1; p >= 0; --p)
            if (silence_of(&said->process[p]) == *kind) {
                first = p;
                ++*alike;
            }
        if (first >= 0)
            return first;
    }
    return -1;
}

int said_silent(const struct said *said, char *text, size_t bytes)
{
    static const char *const words[SILENCES] = {
        [SILENT_BEGUN] = "has begun, and neither ended nor was told to end",
        [SILENT_ALWAYS] = "has not begun",
        [SILENT_TOLD] = "was told to end"};
    enum silence kind;
    int alike;
    const int p = find_silent(said, &kind, &alike);
    char name[SAID_WHO], others[40] = "";

    if (p < 0)
        return -1;
    said_who(said, p, name);
    if (alike > 1)
        snprintf(others, sizeof others, ", and %d more", alike - 1);
    snprintf(text, bytes, "%s %s%s%s", name, words[kind], kind == SILENT_TOLD ? " " : "",
             kind == SILENT_TOLD ? said->process[p].told : "");
    text_add(text, bytes, "%s", others);
    return p;
}
