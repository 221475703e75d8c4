/* load_crash.c: a shared object that does not survive being loaded. */
#include <signal.h>

__attribute__((constructor)) static void crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}
