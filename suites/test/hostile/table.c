/* table.c: shared objects whose table cannot be used. CMake says what is wrong with each:
 * TABLE_VERSION, TABLE_BYTES, TABLE_OPEN (a function or NULL), TABLE (its address, or NULL). */
#include "impl.h"

static void table_close(struct impl_session *session)
{
    (void)session;
}

static int table_reset(struct impl_session *session, struct impl_error *err)
{
    (void)session;
    (void)err;
    return IMPL_OK;
}

int table_open(const struct impl_config *config, struct impl_about *about,
               struct impl_session **session, struct impl_error *err);
int table_open(const struct impl_config *config, struct impl_about *about,
               struct impl_session **session, struct impl_error *err)
{
    (void)config;
    (void)about;
    (void)session;
    (void)err;
    return IMPL_ENOTSUP;
}

extern const struct impl_ops table_ops;
const struct impl_ops table_ops = {.version = TABLE_VERSION,
                                   .bytes = TABLE_BYTES,
                                   .open = TABLE_OPEN,
                                   .close = table_close,
                                   .reset = table_reset};

const struct impl_ops *lockstep_impl(uint32_t version)
{
    (void)version;
    return TABLE;
}
