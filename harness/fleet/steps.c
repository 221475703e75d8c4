/* fleet/steps.c: the steps of a node, as a job writes them into NODE.steps while they run: a line
 * for each, with its name and its exit status. One without a status began, and did not end. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/command.h"
#include "fleet/fleet.h"

enum { LETTERS = 16, DIGITS = 3, NOT_ENDED = -1 };

int fleet_steps(const char *path, struct fleet_node *node, struct text_error *why)
{
    static const char *const words[] = {" did not end", " ok", " FAILED"};
    char names[FLEET_TEXT] = "", step[64], failed[64] = "";
    struct stat file;
    int first = 0; /* the status of the first one that failed */

    if (stat(path, &file) != 0)
        return 0;
    if (!S_ISREG(file.st_mode))
        return text_fail(why, "its steps are no regular file");
    char *const text = fleet_read_text(path, why);
    const char *at = text;

    while (at && *at != '\0') {
        const int letters = (int)strspn(at, "abcdefghijklmnopqrstuvwxyz");
        const char *const digit = at + letters + (at[letters] == ' ');
        const size_t digits = strspn(digit, "0123456789");
        const int status = digits > 0 ? atoi(digit) : NOT_ENDED;

        if (letters == 0 || letters > LETTERS || digits > DIGITS ||
            (digit[digits] != '\n' && digit[digits] != '\0'))
            break;
        snprintf(step, sizeof step, "%.*s", letters, at);
        text_list(names, sizeof names, ", ", step);
        text_add(step, sizeof step, "%s", words[(status >= 0) + (status > 0)]);
        if (status > 0)
            text_add(step, sizeof step, " (%d)", status);
        text_list(node->steps, sizeof node->steps, ", ", step);
        if (status != 0 && first == 0) {
            first = status;
            snprintf(failed, sizeof failed, "%s", step);
        }
        at = digit + digits + (digit[digits] == '\n');
    }
    const bool whole = at && *at == '\0';

    free(text);
    if (!whole)
        return text_fail(why, "its steps are not lines of a name and an exit status");
    if (names[0] == '\0')
        snprintf(node->steps, sizeof node->steps, "none began");
    /* The verdict is one step: it cannot speak for another one. */
    if (first == EXIT_FAILED ? node->status != FLEET_REJECTED
                             : first != 0 && node->status == FLEET_ACCEPTED) {
        char old[FLEET_TEXT];

        memcpy(old, node->why, sizeof old);
        snprintf(node->why, sizeof node->why, "its steps: %.200s", node->steps);
        text_add(node->why, sizeof node->why, "%s%s", old[0] != '\0' ? "; also, " : "", old);
        node->status = first == EXIT_FAILED ? FLEET_REJECTED : FLEET_NOT_SHOWN;
        node->cause[0] = '\0';
    } else if (node->status == FLEET_MISSING) {
        text_add(node->why, sizeof node->why, "; its steps: %s", node->steps);
    }
    if (first != 0 && node->cause[0] == '\0')
        snprintf(node->cause, sizeof node->cause, "%s", failed);
    return node->n_facts > 0 ? fleet_add_fact(node, "steps", names, why) : 0;
}
