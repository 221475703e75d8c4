/* exec.h: the functions that the loader needs for an implementation in a command. */
#ifndef EXEC_EXEC_H
#define EXEC_EXEC_H

#include "remote.h"

/* Limits of one operation. */
enum { EXEC_OPEN_MS = 120000, EXEC_MODEL_MS = 60000, EXEC_MS = 10000 };

struct exec_session; /* session.h */

/* Opens a session, whose operations are remote_ops. options: "COMMAND", or
 * "LIMIT_MS\nCOMMAND\nOPTIONS" */
int exec_open(const struct impl_config *config, struct impl_about *about,
              struct impl_session **session, struct impl_error *err);
/* Asks the process to open the session, and reads what it says about itself. */
int exec_session_open(struct exec_session *session, const struct impl_config *config,
                      const char *options, struct impl_about *about, struct impl_error *err);
void exec_close(struct impl_session *session);
/* Carries a call (remote.h) as a line to the process, and reads its answer. */
int exec_carry(struct impl_session *session, struct impl_model *model, enum impl_op op,
               void *arguments, struct impl_error *err);
/* Reads the bytes of memory of the processes of a session. */
int exec_resident(struct impl_session *session, size_t *bytes);
/* Returns why every operation fails from now on; NULL: the process still answers. */
const char *exec_dead(struct impl_session *session);
/* Whether this is because it crashed or hangs, and not because of a wrong answer. */
bool exec_fell(struct impl_session *session);

#endif
