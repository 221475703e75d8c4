/* poor_system.c: preloaded, it makes a system that lacks what the walls of `lockstep check` need:
 * NO_SUBREAPER and NO_DUMPABLE calls of prctl, NO_PROC the list of processes. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef NO_PROC
DIR *opendir(const char *name)
{
    DIR *(*real)(const char *) = NULL;
    void *symbol = dlsym(RTLD_NEXT, "opendir");

    memcpy(&real, &symbol, sizeof real);
    if (strcmp(name, "/proc") != 0 && real)
        return real(name);
    errno = EACCES;
    return NULL;
}
#else

#ifdef NO_SUBREAPER
enum { REFUSED = PR_SET_CHILD_SUBREAPER };
#else
enum { REFUSED = PR_SET_DUMPABLE };
#endif

int prctl(int option, ...)
{
    unsigned long more[4];
    va_list args;

    va_start(args, option);
    for (int i = 0; i < 4; ++i)
        more[i] = va_arg(args, unsigned long);
    va_end(args);
    if (option != REFUSED)
        return (int)syscall(SYS_prctl, option, more[0], more[1], more[2], more[3]);
    errno = EINVAL;
    return -1;
}
#endif
