/* backend.c: tests of the help about devices, backends and communicators. */
#include <criterion/criterion.h>
#include <string.h>

#include "command/command.h"

static bool in_a_name(char c)
{
    return c != '\0' && strchr("abcdefghijklmnopqrstuvwxyz0123456789-", c);
}

/* Returns whether a word of the text is that name: "cpu" is not in "cpu-ref". */
static bool names(const char *text, const char *name)
{
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
        if ((at == text || !in_a_name(at[-1])) && !in_a_name(at[strlen(name)]))
            return true;
    return false;
}

Test(backend, names_are_whole_words)
{
    cr_assert(names("cpu or cpu-ref", "cpu-ref"));
    cr_assert(names("virt:N", "virt"));
    cr_assert_not(names("cpu-ref", "cpu"));
    cr_assert_not(names("unstaged", "staged"));
}

Test(backend, help_names_all_that_there_can_be)
{
    struct dp_kind_row kind;
    struct dp_backend_row backend;
    struct dp_communicator_row communicator;
    int n = 0;

    for (; dp_kinds(n, &kind); ++n)
        cr_assert(names(COMMAND_DEVICES_DOC, kind.name), "devices: %s", kind.name);
    cr_assert_gt(n, 0);
    for (n = 0; dp_backends(n, &backend); ++n)
        cr_assert(names(COMMAND_BACKEND_DOC, backend.name), "backends: %s", backend.name);
    cr_assert_gt(n, 0);
    for (n = 0; dp_communicators(n, &communicator); ++n)
        cr_assert(names(COMMAND_COMMUNICATOR_DOC, communicator.name) ||
                      (communicator.can & DP_COMM_TOGETHER) != 0,
                  "communicators: %s", communicator.name);
    cr_assert_gt(n, 0);
}
