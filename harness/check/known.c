/* check/known.c: failures that are known. A case that fails as its line says is skipped, and
 * counted; one that fails otherwise, or passes, fails. What is broken stays so. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "check/runner.h"
#include "command/command.h"

int runner_know(const char *command, struct runner_run *run, bool over)
{
    char line[2 * RUNNER_TEXT], id[96], words[RUNNER_TEXT] = "", why[200], reason[RUNNER_TEXT];
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
        size_t bytes = strlen(words);
        bool exists = false;

        ++number;
        if (n < 1)
            continue; /* a comment, or nothing */
        while (bytes > 0 && words[bytes - 1] == ' ')
            --bytes;
        for (int a = 0; a < check_n_areas; ++a)
            for (int i = 0; (test = check_area_case(check_areas[a], i)); ++i)
                exists |= strcmp(test->id, id) == 0;
        if (n < 3)
            wrong = "a line is CASE, the first words of its failure, '#' and why it is known";
        else if (!exists)
            wrong = "there is no such case; lockstep check --list shows them";
        for (size_t i = 0; i < over * run->n; ++i) {
            struct runner_result *result = &run->result[i];

            if (strcmp(result->test->id, id) != 0)
                continue;
            snprintf(reason, sizeof reason, "%s", result->reason);
            /* The words do not end within a word or a number. */
            const bool begins = strncmp(reason, words, bytes) == 0;
            const char next = begins ? reason[bytes] : '\0';
            const bool ends =
                !isalnum((unsigned char)next) && !(next != '\0' && strchr("._-+", next));

            if (result->verdict == CHECK_FAIL && begins && next != '\0' && bytes < 20) {
                wrong = "give at least 20 characters of the failure, or all of it";
            } else if (result->verdict == CHECK_FAIL && begins && ends) {
                result->verdict = CHECK_SKIP;
                result->known = true;
                result->hint[0] = result->scenario[0] = '\0';
                snprintf(result->reason, RUNNER_TEXT, "known failure (%s): %.800s", why, reason);
            } else if (result->verdict == CHECK_FAIL) {
                text_add(result->reason, RUNNER_TEXT, " (not as %.200s:%zu says)", path, number);
            } else if (result->verdict == CHECK_PASS) {
                result->verdict = CHECK_FAIL;
                snprintf(result->reason, RUNNER_TEXT, "it no longer fails: remove %.200s:%zu (%s)",
                         path, number, why);
            }
        }
    }
    if (ferror(file))
        wrong = strerror(errno);
    fclose(file);
    return wrong ? command_refuse(command, "--known: %.300s:%zu: %s", path, number, wrong) : 0;
}
