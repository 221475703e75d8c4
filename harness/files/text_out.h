/* files/text_out.h: a text file that appears complete, or not at all, and in which what others
 * wrote is escaped. */
#ifndef HARNESS_TEXT_OUT_H
#define HARNESS_TEXT_OUT_H

#include "files/whole.h"
#include "text/text.h"

struct text_out {
    FILE *file;
    enum text_form form;
    struct whole_file whole;
};

/* 0, or -1 and why. */
int text_open(struct text_out *out, const char *directory, const char *name, enum text_form form,
              struct text_error *err);
/* Gives the file its name, or removes it: 0, or -1 and why. */
int text_close(struct text_out *out, struct text_error *err);
/* Gives it up. */
void text_discard(struct text_out *out);

/* printf with %s, %d, %zu and %% only; what %s prints is escaped, the format is not. */
void text_print(struct text_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes text of several lines, escaped line by line, with this for each newline: another control
 * character is text. */
void text_lines(FILE *to, enum text_form form, const char *text, const char *newline);

/* As `mkdir -p`: 0, or -1 and errno. */
int text_folder(const char *path);
/* The same of files that belong together: until this process ends, no other one that asks for the
 * folder writes there. 0, or -1 and why. */
int text_folder_own(const char *path, struct text_error *err);
/* Removes a file of an earlier run, which must not stand next to new ones. */
void text_remove(const char *directory, const char *name);

#endif
