/* bad_parent.c: starts a command as a careless parent does: SIGCHLD and SIGALRM ignored, every
 * signal blocked. usage: bad_parent COMMAND.. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t all;

    sigfillset(&all);
    if (argc < 2 || sigaction(SIGCHLD, &ignore, NULL) || sigaction(SIGALRM, &ignore, NULL) ||
        sigprocmask(SIG_SETMASK, &all, NULL))
        return 99;
    execv(argv[1], argv + 1);
    perror("bad_parent");
    return 99;
}
