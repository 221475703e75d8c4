/* acts.c: what bad implementations do, in any operation. */
#include "acts.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The default action is restored, because sanitizers would end the process differently. */
void act_crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

_Noreturn void act_hang(void)
{
    for (;;)
        pause();
}

void act_noise(void)
{
    char block[8192];

    memset(block, 'n', sizeof block);
    block[sizeof block - 1] = '\n';
    for (int i = 0; i < 1024; ++i)
        fwrite(block, 1, sizeof block, i / 8 % 2 == 0 ? stdout : stderr);
    fflush(NULL);
}

/* Leaves a child that holds all open descriptors, perhaps one that others wait for. Its number is
 * for the test. */
void act_fork(void)
{
    const pid_t pid = fork();
    FILE *file;

    if (pid == 0)
        act_hang();
    file = fopen("stayed", "a");
    if (!file)
        return;
    fprintf(file, "%ld\n", (long)pid);
    fclose(file);
}

void act_close(void)
{
    for (int file = 0; file < 1024; ++file)
        close(file);
}

/* Writes to all open descriptors what could be a verdict. */
void act_forge(void)
{
    char bytes[4096];
    size_t written = 0;

    memset(bytes, 1, sizeof bytes);
    for (int file = 3; file < 1024; ++file) {
        const ssize_t n = write(file, bytes, sizeof bytes);
        written += n > 0 ? (size_t)n : 0;
    }
    fprintf(stderr, "wrote %zu bytes where nothing is\n", written);
}
