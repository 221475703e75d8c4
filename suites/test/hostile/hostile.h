/* hostile.h: a good implementation (the mutant without a bug) with one bad habit, which
 * impl_config.options names. */
#ifndef HOSTILE_HOSTILE_H
#define HOSTILE_HOSTILE_H

#include "acts.h"
#include "impl.h"

#define HABIT(habit, word) habit,
enum habit {
#include "habit_list.h"
    HABITS
};
#undef HABIT

struct hoard {
    struct hoard *next;
    unsigned char bytes[1 << 16];
};

enum habit habit_of(const char *word); /* HABITS: there is no such habit */

/* hostile_walls.c */
void act_on_walls(enum habit habit, const struct impl_scatter *op);

/* hostile_acts.c: acts that replace a good operation, or follow it. */
int act_refuse(struct impl_error *err, int status, const char *text);
size_t act_elements(const struct impl_array *array);
/* Computes the address as a number, so that no compiler sees where it leads. */
volatile unsigned char *act_byte(const void *data, intptr_t offset);
void act_add_one(const void *data, intptr_t offset);
void act_before_scatter(enum habit habit, struct impl_scatter *op);
int act_after_scatter(enum habit habit, struct impl_scatter *op, int status,
                      struct impl_error *err);
void act_nan(struct impl_array *array);

#endif
