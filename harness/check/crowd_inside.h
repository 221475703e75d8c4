/* check/crowd_inside.h: what the files of a crowd share. */
#ifndef HARNESS_CHECK_CROWD_INSIDE_H
#define HARNESS_CHECK_CROWD_INSIDE_H

#include <jansson.h>
#include <sys/types.h>

#include "check/crowd.h"
#include "files/said.h"

struct crowd {
    pid_t pid; /* of the launcher; 0: it has ended */
    const char *command;
    int input, output, error;
    unsigned long long sent; /* bytes */
    double limit;
    bool ended;      /* its output */
    double silent;   /* seconds that were too long; 0: not */
    char words[400]; /* what it said first on its standard error */
    struct said said;
    struct text_error fault; /* of what was said; "": none */
    char *text;              /* that came, without whole lines */
    size_t length, room;
    char *answer;
};

/* crowd_judge.c. Some process has come to its end, or there is nobody any more. */
bool crowd_is_over(const struct crowd *crowd);
bool crowd_has_ended(const struct crowd *crowd); /* all of them */
/* The text behind a word; NULL: it does not begin with it. */
const char *crowd_behind(const char *text, const char *word);
/* When no process is left: what they have answered, which may be NULL, and why not. */
enum crowd_end crowd_judge(struct crowd *crowd, json_t *const answers[], const char **answer);
enum crowd_end crowd_lose(struct crowd *crowd, const char *text, const char **answer);

#endif
