/* plan/plan_read.c: the one-line text of a sweep's options, back to options.
 *
 * What is read is written again and must be the same text: an option that is missing, doubled, or
 * in another place or form shows there. */
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "plan/plan.h"

static int read_option(const char *name, const char *value, struct plan_options *plan,
                       struct text_error *why)
{
    const struct plan_option *option = plan_option_table;
    struct text_error reason = {""};

    while (option < plan_option_table + PLAN_OPTIONS &&
           (strncmp(name, "--", 2) != 0 || strcmp(name + 2, option->name) != 0))
        ++option;
    if (option == plan_option_table + PLAN_OPTIONS)
        return text_fail(why, "this version does not know its \"%.40s\"", name);
    if (value && option->read(option, value, plan, &reason) == 0)
        return 0;
    return text_fail(why, "its \"%s %.60s\" cannot be used", name, value != NULL ? value : "");
}

/* Where the first word begins that is not the same in both. */
static size_t same_start(const char *a, const char *b)
{
    size_t n = 0;

    while (a[n] != '\0' && a[n] == b[n])
        ++n;
    while (n > 0 && a[n - 1] != ' ')
        --n;
    return n;
}

int plan_read(const char *command, int n_devices, struct plan_options *plan, struct text_error *why)
{
    char copy[sizeof((struct record_run *)0)->command], again[sizeof copy], *rest = copy;
    int status = 0;

    *plan = (struct plan_options){.launches = 0};
    if (command_copy(copy, sizeof copy, command) != 0)
        return text_fail(why, "it is longer than %zu characters", sizeof copy - 1);
    for (char *name; status == 0 && (name = strtok_r(NULL, " ", &rest));)
        status = read_option(name, strtok_r(NULL, " ", &rest), plan, why);
    if (status == 0)
        status = plan_defaults(plan, n_devices, why);
    if (status == 0)
        status = plan_command(plan, again, sizeof again, why);
    if (status != 0 || strcmp(command, again) == 0)
        return status;
    const size_t same = same_start(command, again);

    return text_fail(why, "from character %zu on it is \"%.60s\", a sweep writes \"%.60s\" there",
                     same + 1, command + same, again + same);
}
