/* exec.h: what the loader needs of an implementation behind a pipe. */
#ifndef EXEC_EXEC_H
#define EXEC_EXEC_H

#include "remote.h"

/* Limits of one operation. */
enum { EXEC_OPEN_MS = 120000, EXEC_MODEL_MS = 60000, EXEC_MS = 10000 };

/* Sessions, whose operations are remote_ops. options: "COMMAND", or "LIMIT_MS\nCOMMAND\nOPTIONS" */
int exec_open(const struct impl_config *config, struct impl_about *about,
              struct impl_session **session, struct impl_error *err);
void exec_close(struct impl_session *session);
/* remote.h: as a line to the process, and its answer. */
int exec_carry(struct impl_session *session, struct impl_model *model, enum impl_op op,
               void *arguments, struct impl_error *err);
/* Bytes of memory of the processes of a session. */
int exec_resident(struct impl_session *session, size_t *bytes);
/* Why every operation fails from now on; NULL: the process is there. */
const char *exec_dead(struct impl_session *session);
/* Whether that is because it crashed or hangs, and not because of what it said. */
bool exec_fell(struct impl_session *session);

#endif
