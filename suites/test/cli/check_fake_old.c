/* check_fake_old.c: a shared object with another version of the interface. */
#include "impl.h"

const struct impl_ops *lockstep_impl(uint32_t version)
{
    static const struct impl_ops operations = {.version = IMPL_VERSION + 8,
                                               .bytes = sizeof(struct impl_ops)};

    (void)version;
    return &operations;
}
