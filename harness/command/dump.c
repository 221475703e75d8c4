/* command/dump.c: the option tables as text: --help, and what other things are made of.
 *
 * docs/manual makes the man pages and the completions of shells from it when the program is built.
 * There is one item in a line, and fields are separated by tabs; \n, \t and \\ stand for a newline,
 * a tab and \. */
#include <stdbool.h>
#include <string.h>

#include "command/command.h"
#include "text/text.h"

enum { COLUMNS = 80, DOC_COLUMN = 26 };

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

        if (!option->name) {
            print_line("group", doc, strlen(doc));
            continue;
        }
        if (option->flags & OPTION_HIDDEN)
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

/* ---- --help ---------------------------------------------------------------------------------- */

/* Lines that begin with a blank are to be copied, and stay as they are. */
static void help_text(const char *text)
{
    char line[2048];

    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");

        snprintf(line, sizeof line, "%.*s", (int)length, text);
        if (line[0] == ' ')
            puts(line);
        else
            text_wrap(stdout, TEXT_PLAIN, line, COLUMNS, "", COLUMNS);
        text += length + (text[length] == '\n');
    }
}

static void help_options(const struct argp_option table[])
{
    char others[DOC_COLUMN + 1];

    snprintf(others, sizeof others, "%*s", DOC_COLUMN, "");
    for (const struct argp_option *option = table; option->name || option->doc; ++option) {
        const bool has_letter = option->key > ' ' && option->key < 127;
        const char letter[] = {'-', (char)option->key, ',', '\0'};

        if (!option->name)
            printf("\n%s:\n", option->doc);
        if (!option->name || (option->flags & OPTION_HIDDEN))
            continue;

        int used = printf("  %-3s --%s%s%s", has_letter ? letter : "", option->name,
                          option->arg ? "=" : "", option->arg ? option->arg : "");

        if (used + 2 > DOC_COLUMN || !option->doc) {
            putchar('\n');
            used = 0;
        }
        if (!option->doc)
            continue;
        printf("%*s", DOC_COLUMN - used, "");
        text_wrap(stdout, TEXT_PLAIN, option->doc, COLUMNS - DOC_COLUMN, others, COLUMNS);
    }
}

void command_help(const struct argp *argp, const char *command)
{
    const char *doc = argp->doc ? argp->doc : "", *arguments = argp->args_doc ? argp->args_doc : "";
    const char *begin = "Usage:";
    size_t length;

    /* A line for each way to call it. */
    do {
        length = strcspn(arguments, "\n");
        printf("%6s %s [OPTION...]%s%.*s\n", begin, command, length > 0 ? " " : "", (int)length,
               arguments);
        begin = "or:";
        arguments += length + (arguments[length] == '\n');
    } while (*arguments != '\0');
    length = strcspn(doc, "\v");

    char about[1024];

    snprintf(about, sizeof about, "%.*s", (int)length, doc);
    help_text(about);
    if (argp->options)
        help_options(argp->options);
    putchar('\n');
    help_options(command_always);
    if (doc[length] == '\0')
        return;
    putchar('\n');
    help_text(doc + length + 1);
}
