/* exported.c: the second implementation as a shared object. */
#include "load.h"

__attribute__((visibility("default"))) const struct impl_ops *lockstep_impl(uint32_t version)
{
    return version == IMPL_VERSION ? mutant_impl() : NULL;
}
