/* command/dump.c: the option tables as text, for everything that is made of them but --help.
 *
 * docs/manual makes the man pages and the completions of shells from it when the program is built.
 * There is one item in a line, and fields are separated by tabs; \n, \t and \\ stand for a newline,
 * a tab and \. */
#include <stdbool.h>
#include <string.h>

#include "command/command.h"

static void print_field(const char *text, size_t length)
{
    putchar('\t');
    for (size_t i = 0; i < length; ++i) {
        switch (text[i]) {
        case '\n':
            fputs("\\n", stdout);
            break;
        case '\t':
            fputs("\\t", stdout);
            break;
        case '\\':
            fputs("\\\\", stdout);
            break;
        default:
            putchar(text[i]);
        }
    }
}

static void print_line(const char *what, const char *text, size_t length)
{
    fputs(what, stdout);
    print_field(text, length);
    putchar('\n');
}

void command_dump_options(const struct argp_option table[])
{
    for (const struct argp_option *option = table; option->name || option->doc; ++option) {
        const bool has_letter = option->key > ' ' && option->key < 127;
        const char letter = (char)(has_letter ? option->key : '\0');
        const char *arg = option->arg ? option->arg : "";
        const char *doc = option->doc ? option->doc : "";

        if (!option->name) /* the heading of a group */
            continue;
        fputs("option", stdout);
        print_field(option->name, strlen(option->name));
        print_field(&letter, letter != '\0');
        print_field(arg, strlen(arg));
        print_field(doc, strlen(doc));
        putchar('\n');
    }
}

void command_dump(const struct argp *argp)
{
    const char *doc = argp->doc ? argp->doc : "";
    const size_t before = strcspn(doc, "\v");

    print_line("about", doc, before);
    if (doc[before] != '\0')
        print_line("notes", doc + before + 1, strlen(doc + before + 1));
    if (argp->args_doc)
        print_line("arguments", argp->args_doc, strlen(argp->args_doc));
    if (argp->options)
        command_dump_options(argp->options);
    command_dump_options(command_always);
}
