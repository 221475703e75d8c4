/* plan/plan_kinds.h: internal to this folder: the functions that read and write rows of
 * plan_option_table. Each is the read or write of a plan_option. */
#ifndef HARNESS_PLAN_KINDS_H
#define HARNESS_PLAN_KINDS_H

#include "plan/plan.h"

/* A text that grows in a fixed array; full: something did not fit. */
struct plan_line {
    char *text;
    size_t bytes, used;
    bool full;
};

/* Appends " --name value"; at the start of a line without the blank. */
void plan_add(struct plan_line *line, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int plan_read_text(const struct plan_option *option, const char *value, struct plan_options *plan,
                   struct text_error *why);
void plan_write_text(const struct plan_option *option, const struct plan_options *plan,
                     struct plan_line *line);
int plan_read_list(const struct plan_option *option, const char *value, struct plan_options *plan,
                   struct text_error *why);
void plan_write_list(const struct plan_option *option, const struct plan_options *plan,
                     struct plan_line *line);
int plan_read_names(const struct plan_option *option, const char *value, struct plan_options *plan,
                    struct text_error *why);
int plan_read_choice(const struct plan_option *option, const char *value, struct plan_options *plan,
                     struct text_error *why);
void plan_write_choice(const struct plan_option *option, const struct plan_options *plan,
                       struct plan_line *line);
/* Writes the option only if it is the second choice, so that commands from before the option
 * existed remain the same. */
void plan_write_second(const struct plan_option *option, const struct plan_options *plan,
                       struct plan_line *line);

#endif
