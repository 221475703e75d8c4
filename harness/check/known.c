/* check/known.c: failures that are known. A case that fails as its line says is skipped, and
 * counted; one that fails otherwise, or passes, fails. What is broken stays so. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "check/runner.h"
#include "command/command.h"

/* Judges a result of the case that the line names. Returns what is wrong with the line, or NULL. */
static const char *judge_known(struct runner_result *result, const char *words, const char *why,
                               const char *path, size_t number)
{
    char place[240];
    char reason[RUNNER_TEXT];
    const size_t bytes = strlen(words);

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
        return NULL;
    }
    if (result->verdict != CHECK_FAIL)
        return NULL;
    if (begins && next != '\0' && bytes < 20)
        return "give at least 20 characters of the failure, or all of it";
    if (begins && ends) {
        result->verdict = CHECK_SKIP;
        result->known = true;
        result->hint[0] = result->scenario[0] = '\0';
        snprintf(result->reason, RUNNER_TEXT, "known failure (%s): %.800s", why, reason);
    } else {
        size_t part = 0; /* where the part begins that the two do not share */

        for (size_t at = 1; words[at - 1] != '\0' && words[at - 1] == reason[at - 1]; ++at)
            part = words[at] == ' ' && strchr(":,;", words[at - 1]) ? at + 1 : part;
        text_add(result->reason, RUNNER_TEXT, " (not as %s says: %.80s)", place, words + part);
    }
    return NULL;
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
                wrong = over ? judge_known(&run->result[i], words, why, path, number) : NULL;
            }
    }
    if (ferror(file))
        wrong = strerror(errno);
    fclose(file);
    return wrong ? command_refuse(command, "--known: %.300s:%zu: %s", path, number, wrong) : 0;
}
