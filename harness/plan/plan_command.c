/* plan/plan_command.c: writes the options that define a sweep as one line, reads that line, and
 * describes the difference of two lines.
 *
 * A line that was read is written again, and must give the same text. So an option that is missing,
 * doubled, or in another place or form is found. */
#include <string.h>

#include "command/command.h"
#include "plan/plan.h"

int plan_command(const struct plan_options *options, char *text, size_t bytes,
                 struct text_error *why)
{
    struct plan_line line = {.text = text, .bytes = bytes};

    for (size_t i = 0; i < PLAN_OPTIONS; ++i)
        plan_option_table[i].write(&plan_option_table[i], options, &line);
    if (!line.full)
        return 0;
    return text_fail(why, "the grid is too long to be recorded (%zu characters): use fewer values",
                     bytes - 1);
}

/* The length of the "--name value" at the start of text, without the blank after it. */
static size_t option_length(const char *text)
{
    const char *next = strstr(text, " --");

    return next ? (size_t)(next - text) : strlen(text);
}

/* Whether text has an option with the name at the start of option. */
static bool has_name(const char *text, const char *option)
{
    const size_t name = strcspn(option, " ");

    while (*text != '\0') {
        if (strcspn(text, " ") == name && memcmp(text, option, name) == 0)
            return true;
        text += option_length(text);
        text += *text == ' ';
    }
    return false;
}

/* Describes the first difference. Both lines have their options in the same order, but each may
 * have some that the other one does not know. */
int plan_compare(const char *here, const char *there, struct text_error *why)
{
    size_t a, b;

    for (;; here += a + (here[a] == ' '), there += b + (there[b] == ' ')) {
        if (*here == '\0' && *there == '\0')
            return 0;
        a = option_length(here);
        b = option_length(there);
        if (a != b || memcmp(here, there, a) != 0)
            break;
    }

    const int shown_a = (int)(a < 100 ? a : 100), shown_b = (int)(b < 100 ? b : 100);

    if (!has_name(there, here) && a > 0)
        return text_fail(why, "here it is \"%.*s\", the file has no such option", shown_a, here);
    if (!has_name(here, there))
        return text_fail(why, "the file has \"%.*s\", here there is no such option", shown_b,
                         there);
    return text_fail(why, "here it is \"%.*s\", in the file \"%.*s\"", shown_a, here, shown_b,
                     there);
}

int plan_read(const char *command, int n_devices, struct plan_options *plan, struct text_error *why)
{
    char copy[sizeof((struct record_run *)0)->command], again[sizeof copy], *rest = copy;
    int status;

    *plan = (struct plan_options){.launches = 0};
    if (command_copy(copy, sizeof copy, command) != 0)
        return text_fail(why, "it is longer than %zu characters", sizeof copy - 1);
    for (char *name; (name = strtok_r(NULL, " ", &rest));) {
        const char *value = strtok_r(NULL, " ", &rest);
        const struct plan_option *option = plan_option_table;
        struct text_error reason = {""};

        while (option < plan_option_table + PLAN_OPTIONS &&
               (strncmp(name, "--", 2) != 0 || strcmp(name + 2, option->name) != 0))
            ++option;
        if (option == plan_option_table + PLAN_OPTIONS)
            return text_fail(why, "this version does not know its \"%.40s\"", name);
        if (!value || option->read(option, value, plan, &reason) != 0)
            return text_fail(why, "its \"%s %.60s\" cannot be used", name, value ? value : "");
    }
    status = plan_defaults(plan, n_devices, why);
    if (status == 0)
        status = plan_command(plan, again, sizeof again, why);
    if (status != 0 || strcmp(command, again) == 0)
        return status;

    /* The text is shown from the first word that differs. */
    size_t same = 0;

    while (command[same] != '\0' && command[same] == again[same])
        ++same;
    while (same > 0 && command[same - 1] != ' ')
        --same;
    return text_fail(why, "from character %zu on it is \"%.60s\", a sweep writes \"%.60s\" there",
                     same + 1, command + same, again + same);
}
