/* check/crowd_judge.c: what processes that have parted have come to. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/crowd.h"
#include "check/crowd_inside.h"
#include "check/operations.h"
#include "files/digest.h"

bool crowd_is_over(const struct crowd *crowd)
{
    bool over = crowd->ended || crowd->fault.text[0] != '\0' || crowd->said.nobody[0] != '\0' ||
                crowd->silent > 0;

    for (int p = 0; p < crowd->said.n; ++p)
        over =
            over || crowd->said.process[p].has[SAID_ENDED] || crowd->said.process[p].has[SAID_TOLD];
    return over;
}

bool crowd_has_ended(const struct crowd *crowd)
{
    bool all = true;

    for (int p = 0; p < crowd->said.n; ++p)
        all = all && crowd->said.process[p].has[SAID_ENDED];
    return all;
}

const char *crowd_behind(const char *text, const char *word)
{
    const size_t length = strlen(word);

    return strncmp(text, word, length) == 0 ? text + length : NULL;
}

static const char *text_of(const json_t *answer)
{
    return json_string_value(json_object_get(json_object_get(answer, "error"), "text"));
}

/* Who did not join an operation is named by the others, whatever they were in. NULL: nobody. */
static const char *find_blame(const struct crowd *crowd, json_t *const answers[])
{
    static const char *const telling[] = {" did not join ", ""};

    for (size_t i = 0; i < sizeof telling / sizeof telling[0]; ++i)
        for (int p = 0; p < crowd->said.n; ++p) {
            const char *text = crowd_behind(crowd->said.process[p].ended, PARTING_LOST);

            text = text ? text : text_of(answers[p]);
            if (text && strstr(text, telling[i]))
                return text;
        }
    return NULL;
}

enum crowd_end crowd_lose(struct crowd *crowd, const char *text, const char **answer)
{
    free(crowd->answer);
    crowd->answer = strdup(text);
    *answer = crowd->answer ? crowd->answer : "no memory for a reason";
    return CROWD_LOST;
}

/* "; the launcher said: ..": its first line with a word, if no process has begun. */
static void add_words(const struct crowd *crowd, char *text, size_t bytes)
{
    const char *first = crowd->words;
    bool begun = false;

    while (*first != '\0' && !isalpha((unsigned char)*first))
        ++first;
    for (int p = 0; p < crowd->said.n; ++p)
        begun = begun || crowd->said.process[p].has[SAID_BEGUN];
    if (!begun && *first != '\0')
        text_add(text, bytes, "; the launcher said: %.*s", (int)strcspn(first, "\n"), first);
}

int crowd_hosts(const struct crowd *crowd, int each, char ranks[], size_t bytes)
{
    return said_hosts(&crowd->said, each, ranks, bytes);
}

int crowd_said_all(const struct crowd *crowd, enum crowd_word which, const char *digest,
                   struct text_error *why)
{
    static const char *const what[] = {"got another request than was sent",
                                       "has another answer than process 0 gave for all"};

    for (int p = 0; p < crowd->said.n; ++p) {
        char word[2][DIGEST_HEX] = {"", ""}, name[SAID_WHO];

        (void)sscanf(crowd->said.process[p].answer, "%*s %64s %64s", word[0], word[1]);
        if (strcmp(word[which], digest) == 0)
            continue;
        said_who(&crowd->said, p, name);
        return text_fail(why, "%s %s", name, what[which]);
    }
    return 0;
}

/* "no process has said anything for 60 s: process 1 of 2 has not begun" */
static void say_silence(const struct crowd *crowd, char *text, size_t bytes)
{
    char name[SAID_WHO] = "";
    int p = 0;

    while (p < crowd->said.n && crowd->said.process[p].has[SAID_BEGUN])
        ++p;
    if (p < crowd->said.n)
        said_who(&crowd->said, p, name);
    snprintf(text, bytes, "no process has said anything for %.0f s%s%s%s", crowd->silent,
             name[0] != '\0' ? ": " : "", name, name[0] != '\0' ? " has not begun" : "");
}

/* An answer counts only if every process has had one, or was kept from it by one that had. */
enum crowd_end crowd_judge(struct crowd *crowd, json_t *const answers[], const char **answer)
{
    const int failed = join_failed(answers, crowd->said.n);
    const char *blame = find_blame(crowd, answers);
    char silent[320];

    if (crowd->silent > 0) {
        say_silence(crowd, silent, sizeof silent);
        return crowd_lose(crowd, silent, answer);
    }
    if (crowd->fault.text[0] != '\0') {
        snprintf(silent, sizeof silent, "what the launcher printed cannot be used: %.160s",
                 crowd->fault.text);
        return crowd_lose(crowd, silent, answer);
    }
    if (crowd->said.nobody[0] != '\0')
        return crowd_lose(crowd, crowd->said.nobody, answer);
    if (blame && strstr(blame, " did not join "))
        return crowd_lose(crowd, blame, answer);
    if (said_silent(&crowd->said, silent, sizeof silent) >= 0) {
        add_words(crowd, silent, sizeof silent);
        return crowd_lose(crowd, silent, answer);
    }
    if (failed < 0)
        return crowd_lose(crowd, blame ? blame : "all processes have ended", answer);
    *answer = crowd_behind(crowd->said.process[failed].ended, PARTING_REFUSED);
    return CROWD_REFUSED;
}
