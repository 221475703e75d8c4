/* check/known.c: failures that are known. A case that fails as its line says is skipped, and
 * counted; one that fails otherwise, or passes, fails. What is broken stays so. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "check/runner.h"
#include "command/command.h"

/* Returns how many bytes of a failure the words of a line have at least: up to what must be there
 * instead of the wrong number, so that no other number passes for it; else 20, to the end of a
 * word. A line has no '#'. */
static size_t least_words(const char *reason)
{
    const char *must = strstr(reason, ", must "), *bits = strstr(reason, "(0x");
    size_t least = must   ? (size_t)(must - reason)
                   : bits ? (size_t)(bits - reason) + strcspn(bits, ")") + 1
                          : strnlen(reason, 20);

    least += strcspn(reason + least, " ,;");
    return least < strcspn(reason, "#") ? least : strcspn(reason, "#");
}

/* Judges a result of the case that the line names. */
static void judge_known(struct runner_result *result, const char *words, const char *why,
                        const char *path, size_t number)
{
    char place[240];
    char reason[RUNNER_TEXT];
    const size_t bytes = strlen(words), least = least_words(result->reason);

    snprintf(place, sizeof place, "%.200s:%zu", path, number);
    snprintf(reason, sizeof reason, "%s", result->reason);
    /* The words do not end within a word or a number. */
    const bool begins = strncmp(reason, words, bytes) == 0;
    const char next = begins ? reason[bytes] : '\0';
    const bool ends = !isalnum((unsigned char)next) && !(next != '\0' && strchr("._-+", next));

    if (result->verdict == CHECK_PASS) {
        result->verdict = CHECK_FAIL;
        result->stale = number;
        snprintf(result->reason, RUNNER_TEXT, "it no longer fails: remove %s (%s)", place, why);
    } else if (result->verdict == CHECK_FAIL && begins && ends && bytes >= least) {
        result->verdict = CHECK_SKIP;
        result->known = true;
        result->hint[0] = result->scenario[0] = '\0';
        snprintf(result->reason, RUNNER_TEXT, "known failure (%s): %.800s", why, reason);
    } else if (result->verdict == CHECK_FAIL && begins && bytes < least) {
        text_add(result->reason, RUNNER_TEXT, " (%s says too little, write: %s %.*s # %s)", place,
                 result->test->id, (int)least, reason, why);
    } else if (result->verdict == CHECK_FAIL) {
        size_t part = 0; /* where the part begins that the two do not share */

        for (size_t at = 1; words[at - 1] != '\0' && words[at - 1] == reason[at - 1]; ++at)
            part = words[at] == ' ' && strchr(":,;", words[at - 1]) ? at + 1 : part;
        text_add(result->reason, RUNNER_TEXT, " (not as %s says: %.80s)", place, words + part);
    }
}

int runner_know(const char *command, struct runner_run *run, bool over)
{
    char line[2 * RUNNER_TEXT], id[96], words[RUNNER_TEXT] = "", why[200];
    const char *path = run->options->known, *wrong = NULL;
    size_t number = 0;

    if (path[0] == '\0')
        return 0;
    FILE *file = fopen(path, "re");

    if (!file)
        return command_refuse(command, "--known: cannot read '%.300s': %s", path, strerror(errno));
    while (!wrong && fgets(line, sizeof line, file)) {
        const int n = sscanf(line, " %95[^# \t\r\n] %1023[^#\r\n]# %199[^\r\n]", id, words, why);
        const struct check_case *test;
        bool exists = false;

        ++number;
        if (n < 1)
            continue; /* a comment, or nothing */
        for (size_t bytes = strlen(words); bytes > 0 && words[bytes - 1] == ' ';)
            words[--bytes] = '\0';
        for (int a = 0; a < check_n_areas; ++a)
            for (int i = 0; (test = check_area_case(check_areas[a], i)); ++i)
                exists |= strcmp(test->id, id) == 0;
        if (n < 3)
            wrong = "a line is CASE, the first words of its failure, '#' and why it is known";
        else if (!exists)
            wrong = "there is no such case; lockstep check --list shows them";
        for (size_t i = 0; !wrong && i < run->n; ++i)
            if (strcmp(run->result[i].test->id, id) == 0) {
                run->result[i].listed = true;
                if (over)
                    judge_known(&run->result[i], words, why, path, number);
            }
    }
    if (ferror(file))
        wrong = strerror(errno);
    fclose(file);
    return wrong ? command_refuse(command, "--known: %.300s:%zu: %s", path, number, wrong) : 0;
}
