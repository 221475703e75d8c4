/* check/select.c: selects the cases of --profile, --area and --only. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "check/runner.h"
#include "command/command.h"
#include "text/options.h"

enum { MAX_NAMES = 64 };

/* The parts of a list that is separated by commas. */
struct parts {
    char text[RUNNER_TEXT];
    char *part[MAX_NAMES];
    size_t hits[MAX_NAMES];
    size_t n;
};

static int cut_list(const char *command, const char *option, const char *list, struct parts *parts)
{
    char *rest = NULL;

    *parts = (struct parts){.n = 0};
    snprintf(parts->text, sizeof parts->text, "%s", list);
    for (char *one = strtok_r(parts->text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        if (parts->n == MAX_NAMES)
            return command_refuse(command, "%s: at most %d names", option, MAX_NAMES);
        parts->part[parts->n++] = one;
    }
    if (parts->n == 0 && list[0] != '\0')
        return command_refuse(command, "%s: '%.40s' names nothing", option, list);
    return 0;
}

int runner_areas(const char *command, const struct runner_options *options, uint64_t *areas)
{
    const char *names[MAX_NAMES];
    struct text_error why;
    struct parts list;
    size_t index, n = 0;
    const int status = cut_list(command, "--area", options->area, &list);

    *areas = list.n == 0 ? ~(uint64_t)0 : 0;
    for (; n < (size_t)check_n_areas && n < MAX_NAMES; ++n)
        names[n] = check_areas[n]->name;
    for (size_t i = 0; i < list.n && status == 0; ++i) {
        if (option_name("area", list.part[i], names, n, &index, &why))
            return command_refuse(command, "--area: %s", why.text);
        *areas |= (uint64_t)1 << index;
    }
    return status;
}

int runner_select(const char *command, const struct runner_options *options,
                  const struct check_case ***tests, size_t *n)
{
    const struct check_case *test;
    struct parts only;
    uint64_t areas;
    size_t total = 1;
    int status = runner_areas(command, options, &areas);

    *n = 0;
    if (status == 0)
        status = cut_list(command, "--only", options->only, &only);
    if (status)
        return status;
    for (int a = 0; a < check_n_areas; ++a)
        total += (size_t)check_area_size(check_areas[a]);
    *tests = calloc(total, sizeof **tests);
    if (!*tests)
        return command_refuse(command, "out of memory");
    for (int a = 0; a < check_n_areas; ++a)
        for (int i = 0; (test = check_area_case(check_areas[a], i)); ++i) {
            bool matches = only.n == 0; /* an empty list matches all */

            if ((test->profiles & options->profiles) == 0 || (areas >> a & 1) == 0)
                continue;
            for (size_t j = 0; j < only.n; ++j)
                if (fnmatch(only.part[j], test->id, 0) == 0 ||
                    fnmatch(only.part[j], test->rule, 0) == 0) {
                    ++only.hits[j];
                    matches = true;
                }
            if (matches)
                (*tests)[(*n)++] = test;
        }
    for (size_t i = 0; i < only.n; ++i)
        if (only.hits[i] == 0)
            return command_refuse(command, "--only: '%.60s' matches no case; --list shows them",
                                  only.part[i]);
    if (*n > 0)
        return 0;
    return command_refuse(command, "no case is selected: --area and --profile together leave none");
}
