/* cli/start.c: OpenBLAS starts a pool of threads before main, and where one gets no memory or
 * cannot be started (ulimit -v, ulimit -u) it hangs or raises SIGINT. That pool is never used:
 * every device's thread calls OpenBLAS for itself, and a group that wants one grows it (wide_blas
 * in dp.h), once there is room. So the variable that asks for a pool of none takes the place of one
 * that no library reads, until all libraries have begun. Where there is no such place, the program
 * executes itself once more with it. Even so OpenBLAS 0.3.29 takes a buffer when it is loaded, and
 * tries for ever where it gets none: that is looked for here. Sanitizers want to be first, and are
 * built without this. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, environ */

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "command/command.h"

enum { MOST = 4096, PATH_BYTES = 4096 };

/* The buffer, of 128 MiB, and what the other libraries take; and the stack of every thread. */
static const size_t LOADING = (size_t)136 << 20, STACK = (size_t)256 << 10;

static const char no_room[] =
    "lockstep: 136 MiB of address space are needed to load OpenBLAS, and there is no room "
    "for them: see ulimit -v\n";
static const char no_stack[] = "lockstep: a stack of 256 KiB is needed: see ulimit -s\n";

static char no_pool[] = "OPENBLAS_NUM_THREADS=1", ours[] = "LOCKSTEP_STARTED_AGAIN=1";

/* Shells set these. False: there is none of them; when it is given back: none was lent. */
static bool lend_place(char **variables, bool back)
{
    static const char *const names[] = {"_=", "OLDPWD=", "SHLVL=", "PWD="};
    static char *owner;

    for (; *variables; ++variables) {
        if (back && *variables == no_pool) {
            *variables = owner;
            return true;
        }
        for (size_t i = 0; !back && i < sizeof names / sizeof names[0]; ++i) {
            if (strncmp(*variables, names[i], strlen(names[i])) == 0) {
                owner = *variables;
                *variables = no_pool;
                return true;
            }
        }
    }
    return false;
}

/* Not even the C library has begun. On a failure things go on as they are. */
static void start(int argc, char **argv, char **variables)
{
    const size_t name = strcspn(no_pool, "=") + 1;
    static char *more[MOST + 3], path[PATH_BYTES];
    int n = 0;

    (void)argc;
    void *room = mmap(NULL, LOADING, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct rlimit stack;
    const bool fits = getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= STACK;
    const char *line = room == MAP_FAILED ? no_room : no_stack;

    if (room == MAP_FAILED || !fits)
        _exit(write(STDERR_FILENO, line, strlen(line)) < 0 ? EXIT_MISUSE : EXIT_FAILED);
    munmap(room, LOADING);
    for (; variables[n]; ++n) {
        if (n == MOST || strncmp(variables[n], no_pool, name) == 0)
            return;
        more[n] = variables[n];
    }
    if (lend_place(variables, false))
        return;
    more[n] = no_pool;
    more[n + 1] = ours;
    /* By its path, so that the process keeps its name; where it has been deleted, by the link. */
    if (readlink("/proc/self/exe", path, sizeof path - 1) > 0)
        execve(path, argv, more);
    execve("/proc/self/exe", argv, more);
}

/* The loader calls what is in this section first of all. */
__attribute__((section(".preinit_array"),
               used)) static void (*const before_libraries)(int, char **, char **) = start;

/* Runs after the libraries' constructors and before main. So child processes get the variables
 * that the user has set. */
__attribute__((constructor)) static void forget(void)
{
    if (lend_place(environ, true) || !getenv("LOCKSTEP_STARTED_AGAIN"))
        return;
    unsetenv("LOCKSTEP_STARTED_AGAIN");
    unsetenv("OPENBLAS_NUM_THREADS");
}
