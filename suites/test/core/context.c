/* context.c: how a case is run. What it may open is in open.c, expectations are in expect.c,
 * numbers in data.c. Everything opened is closed in reverse order, whichever way the case ends. */
#include "context.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct resource {
    void (*close)(void *object);
    void *object;
};

static void context_say(struct context *c, enum verdict verdict, const char *format,
                        va_list arguments)
{
    c->verdict = verdict;
    const size_t used = strlen(c->note);
    memcpy(c->message, c->note, used);
    (void)vsnprintf(c->message + used, sizeof c->message - used, format, arguments);
}

_Noreturn void case_fail(struct context *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    context_say(c, VERDICT_FAIL, format, arguments);
    va_end(arguments);
    longjmp(c->leave, 1);
}

_Noreturn void case_skip(struct context *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    context_say(c, VERDICT_SKIP, format, arguments);
    va_end(arguments);
    longjmp(c->leave, 1);
}

void case_note(struct context *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(c->note, sizeof c->note - 2, format, arguments);
    va_end(arguments);
    strcat(c->note, ": ");
}

void own(struct context *c, void (*close)(void *object), void *object)
{
    if (c->n_resources == c->capacity) {
        const size_t capacity = c->capacity == 0 ? 64 : 2 * c->capacity;
        struct resource *list = realloc(c->resources, capacity * sizeof *list);
        if (!list) {
            close(object);
            case_fail(c, "out of memory");
        }
        c->resources = list;
        c->capacity = capacity;
    }
    c->resources[c->n_resources++] = (struct resource){close, object};
}

void case_release(struct context *c)
{
    while (c->n_resources > 0) {
        const struct resource last = c->resources[--c->n_resources];
        last.close(last.object);
    }
}

void *case_memory(struct context *c, size_t bytes)
{
    void *memory = calloc(1, bytes == 0 ? 1 : bytes);
    if (!memory)
        case_fail(c, "out of memory");
    own(c, free, memory);
    return memory;
}

static void run_function(const struct test_case *test, struct context *c)
{
    if (setjmp(c->leave) == 0) {
        test->function(c);
        if (c->compared == 0)
            case_fail(c, "compared nothing");
    }
}

void case_run(const struct test_case *test, const struct case_settings *settings,
              struct case_result *result)
{
    struct context c = {.settings = *settings};
    run_function(test, &c);
    case_release(&c);
    free(c.resources);
    result->verdict = c.verdict;
    result->compared = c.compared;
    memcpy(result->message, c.message, sizeof result->message);
}
