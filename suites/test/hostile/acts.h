/* acts.h: what bad implementations do, in any operation. */
#ifndef HOSTILE_ACTS_H
#define HOSTILE_ACTS_H

void act_crash(void);
_Noreturn void act_hang(void);
void act_noise(void); /* megabytes on standard output and error */
void act_fork(void);
void act_close(void);
void act_forge(void);

#endif
