/* no_symbol.c: a shared object that is no implementation at all. */
#include <stdint.h>

int lockstep_implementation(uint32_t version);
int lockstep_implementation(uint32_t version)
{
    return (int)version;
}
