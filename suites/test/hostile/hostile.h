/* hostile.h: a good implementation (the mutant without a bug) with one bad habit, which
 * impl_config.options names. */
#ifndef HOSTILE_HOSTILE_H
#define HOSTILE_HOSTILE_H

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
int act_refuse_all(struct impl_error *err);

/* hostile_acts.c: acts that replace a good operation, or follow it. */
void act_crash(void);
void act_noise(void);
void act_fork(void);
void act_before_scatter(enum habit habit, struct impl_scatter *op);
int act_after_scatter(enum habit habit, struct impl_scatter *op, int status,
                      struct impl_error *err);
_Noreturn void act_hang(void);
void act_nan(struct impl_array *array);

#endif
