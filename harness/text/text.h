/* text/text.h: text that others wrote, made fit to be shown: one decoder of UTF-8, and what a
 * character becomes in each form of output. */
#ifndef HARNESS_TEXT_H
#define HARNESS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Why something did not go well: one line, with the values in it. The function that finds the error
 * writes it, and its callers pass it on. */
struct text_error {
    char text[320];
};

enum text_form {
    TEXT_PLAIN,    /* a terminal, a table with tabs */
    TEXT_HTML,     /* and XML: the same characters are special, in text and in attributes */
    TEXT_MARKDOWN, /* whose readers pass HTML on, and make links of what looks like one */
    TEXT_COMMAND,  /* annotations in the log of a job: what is said */
    TEXT_PROPERTY, /* and its title */
    TEXT_FORMS
};

/* Bytes of the UTF-8 character that begins at text, and its code; 0: none does. */
size_t text_decode(const char *text, uint32_t *code);

/* Makes text UTF-8 of one line that can be shown, never longer: a control character of one byte
 * becomes `control`, any other that has no shape, and a byte that is not UTF-8, '?'. */
void text_clean(char *text, char control);
/* Whether that would change nothing. */
bool text_is_clean(const char *text);

/* Appends to a text in so many bytes as much as fits; the second a word of a list, after the
 * separator if it is not the first. */
void text_add(char *text, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void text_list(char *text, size_t bytes, const char *separator, const char *word);
/* The same with a word of a command line: in single quotes unless no shell would change it. */
void text_add_shell(char *text, size_t bytes, const char *word);
/* Whether a list with commas or blanks between its words has the word. */
bool text_has_word(const char *list, const char *word);

/* Words after a number: "1 launch was", "2 launches were", "1 cell is". */
static inline const char *text_s(size_t n)
{
    return n == 1 ? "" : "s";
}

static inline const char *text_are(size_t n)
{
    return n == 1 ? "is" : "are";
}

static inline const char *text_were(size_t n)
{
    return n == 1 ? "was" : "were";
}

/* Fills the text of an error. Returns -1. */
int text_fail(struct text_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes the first bytes of text, or all of it. It is cleaned; what is special there loses its
 * meaning; and a character that cannot be seen, or turns the direction of others, is written as
 * its code, like <U+202E>. */
void text_write(FILE *file, enum text_form form, const char *text, size_t bytes);

/* Writes text so, and a newline. Lines are broken at blanks: the first has `left` columns, the
 * others begin with `others` and have `columns` in all. A longer word, like a path, stays whole. */
void text_wrap(FILE *file, enum text_form form, const char *text, size_t left, const char *others,
               size_t columns);

/* A field of CSV (RFC 4180), cleaned and in quotes. What begins like a formula has a ' in front: a
 * spreadsheet would take it for one. */
void text_write_field(FILE *file, const char *text);

#endif
