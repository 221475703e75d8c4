/* fleet/steps.c: the steps of a node, as a job writes them into NODE.steps while they run: a line
 * for each, with its name and its exit status, and ": " with what else is to be known. One without
 * a status began, and did not end. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/command.h"
#include "fleet/fleet.h"

/* NOTE: as much as validate.sbatch keeps: in 300 bytes check names the case to begin with. */
enum { LETTERS = 16, DIGITS = 3, NOTE = 300, NOT_ENDED = -1 };

const char *const fleet_tests[FLEET_TESTS] = {"check", "soak", "devices", "selftest", "copies"};

/* The lines of the file, summed up. */
struct steps {
    char names[FLEET_TEXT], failed[64]; /* the first one that failed, in words, and its status */
    int first;
    bool passed[FLEET_TESTS];
};

/* Returns whether all lines are of steps. */
static bool read_lines(const char *at, struct fleet_node *node, struct steps *steps)
{
    static const char *const words[] = {" did not end", " ok", " FAILED", " skipped"};
    char step[64 + NOTE];

    while (at && *at != '\0') {
        const int letters = (int)strspn(at, "abcdefghijklmnopqrstuvwxyz");
        const char *const digit = at + letters + (at[letters] == ' ');
        const size_t digits = strspn(digit, "0123456789");
        const int status = digits > 0 ? atoi(digit) : NOT_ENDED;
        const char *const note = digit + digits;
        const size_t bytes = digits > 0 && strncmp(note, ": ", 2) == 0 ? strcspn(note, "\n") : 0;
        int shown = bytes < NOTE ? (int)bytes : NOTE;

        if (letters == 0 || letters > LETTERS || digits > DIGITS ||
            (note[bytes] != '\n' && note[bytes] != '\0'))
            break;
        snprintf(step, sizeof step, "%.*s", letters, at);
        text_list(steps->names, sizeof steps->names, ", ", step);
        for (size_t i = 0; i < FLEET_TESTS; ++i)
            steps->passed[i] |= status == 0 && strcmp(step, fleet_tests[i]) == 0;
        text_add(step, sizeof step, "%s",
                 words[(status >= 0) + (status > 0) + (status == EXIT_SKIPPED)]);
        if (status > 0)
            text_add(step, sizeof step, " (%d)", status);
        if (status != 0 && steps->first == 0) {
            steps->first = status;
            snprintf(steps->failed, sizeof steps->failed, "%.63s", step);
        }
        while (bytes > NOTE && shown > 2 && note[shown] != ' ')
            --shown;
        text_add(step, sizeof step, "%.*s", shown, note);
        node->unjudged |= strstr(step, "not judged") != NULL;
        text_list(node->steps, sizeof node->steps, ", ", step);
        at = note + bytes + (note[bytes] == '\n');
    }
    return at && *at == '\0';
}

int fleet_steps(const char *path, struct fleet_node *node, struct text_error *why)
{
    struct steps steps = {.first = 0};
    struct stat file;
    const bool known = stat(path, &file) == 0;

    if (known && !S_ISREG(file.st_mode))
        return text_fail(why, "its steps are no regular file");
    char *const text = known ? fleet_read_text(path, why) : NULL;
    const bool whole = !known || read_lines(text, node, &steps);
    const int first = steps.first;

    free(text);
    if (!whole)
        return text_fail(why, "its steps are not lines of a name and an exit status");
    if (known && steps.names[0] == '\0')
        snprintf(node->steps, sizeof node->steps, "none began");
    /* One device copies to no other. */
    for (size_t i = 0; i < FLEET_TESTS && known; ++i)
        node->lacks[i] = !steps.passed[i] && (strcmp(fleet_tests[i], "copies") != 0 ||
                                              strcmp(fleet_fact_of(node, "devices"), "1") != 0);
    /* The verdict is one step: it cannot speak for another one. */
    if (first == EXIT_FAILED ? node->status != FLEET_REJECTED
                             : first != 0 && node->status == FLEET_ACCEPTED) {
        char old[FLEET_TEXT];

        memcpy(old, node->why, sizeof old);
        snprintf(node->why, sizeof node->why, "its steps: %.400s", node->steps);
        text_add(node->why, sizeof node->why, "%s%s", old[0] != '\0' ? "; also, " : "", old);
        node->status = first == EXIT_FAILED ? FLEET_REJECTED : FLEET_NOT_SHOWN;
        node->cause[0] = '\0';
    } else if (known && node->status == FLEET_MISSING) {
        text_add(node->why, sizeof node->why, "; its steps: %s", node->steps);
    }
    if (first != 0 && node->cause[0] == '\0')
        snprintf(node->cause, sizeof node->cause, "%s", steps.failed);
    /* The cases that its profile requires show it, too: they passed, because it is ACCEPTED. */
    if (node->status == FLEET_ACCEPTED && !(steps.passed[0] && steps.passed[1]) &&
        fleet_fact_of(node, "conformance.required")[0] == '\0') {
        node->status = FLEET_NOT_SHOWN;
        node->untested = true;
        snprintf(node->why, sizeof node->why,
                 "it is accepted, but whether it computes right was not tested: neither by steps "
                 "check and soak (%.120s) nor by cases that its profile requires",
                 node->steps[0] != '\0' ? node->steps : "unknown");
        snprintf(node->cause, sizeof node->cause, "correctness not tested");
    }
    if (node->status == FLEET_ACCEPTED && node->unjudged && !node->judged) {
        node->status = FLEET_NOT_SHOWN;
        snprintf(
            node->why, sizeof node->why,
            "it is accepted, but no limit on its speed binds, and soak judged no speed (%.400s)",
            node->steps);
        snprintf(node->cause, sizeof node->cause,
                 "speed not judged: more minutes, or a profile with a limit on speed that binds");
    }
    return known && node->n_facts > 0 ? fleet_add_fact(node, "steps", steps.names, why) : 0;
}
