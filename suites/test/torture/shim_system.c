/* shim_system.c: the calls of the system that shim_memory.c makes fail. */
#include "shim_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Finds the next function of that name, and stores it in a pointer. */
static void shim_system_find(const char *name, void *function)
{
    void *const found = dlsym(RTLD_NEXT, name);

    memcpy(function, &found, sizeof found);
}

static bool shim_system_fails(enum fault_kind kind, const void *caller)
{
    const int error = fault_of_own(kind, caller);

    if (error != 0)
        errno = error;
    return error != 0;
}

/* Whether this call of a function that is defined here fails. */
#define FAILS(kind) shim_system_fails(kind, __builtin_return_address(0))

ssize_t write(int fd, const void *text, size_t bytes)
{
    return FAILS(FAULT_WRITE) ? -1 : syscall(SYS_write, fd, text, bytes);
}

ssize_t read(int fd, void *text, size_t bytes)
{
    return FAILS(FAULT_READ) ? -1 : syscall(SYS_read, fd, text, bytes);
}

int fsync(int fd)
{
    return FAILS(FAULT_FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

/* It is closed all the same, as Linux does. */
int close(int fd)
{
    const int status = (int)syscall(SYS_close, fd);

    return status == 0 && FAILS(FAULT_CLOSE) ? -1 : status;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode = 0;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = va_arg(args, mode_t);
    va_end(args);
    return FAILS(FAULT_OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *);

    shim_system_find("fopen", &next);
    return FAILS(FAULT_OPEN) ? NULL : next(path, mode);
}

FILE *tmpfile(void)
{
    FILE *(*next)(void);

    shim_system_find("tmpfile", &next);
    return FAILS(FAULT_OPEN) ? NULL : next();
}

int rename(const char *from, const char *to)
{
    return FAILS(FAULT_RENAME) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
    return FAILS(FAULT_UNLINK) ? -1 : (int)syscall(SYS_unlink, path);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
    return FAILS(FAULT_WAIT) ? -1 : (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
}

int pipe(int ends[2])
{
    return FAILS(FAULT_PIPE) ? -1 : (int)syscall(SYS_pipe2, ends, 0);
}

int pipe2(int ends[2], int flags)
{
    return FAILS(FAULT_PIPE) ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}

int poll(struct pollfd *list, nfds_t n, int milliseconds)
{
    int (*next)(struct pollfd *, nfds_t, int);

    shim_system_find("poll", &next);
    return FAILS(FAULT_POLL) ? -1 : next(list, n, milliseconds);
}

pid_t fork(void)
{
    pid_t (*next)(void), pid;
    int number;

    if (FAILS(FAULT_FORK))
        return -1;
    shim_system_find("fork", &next);
    number = fault_next_process();
    pid = next();
    if (pid == 0)
        fault_become(number);
    return pid;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    const int error = fault_of_own(FAULT_THREAD, __builtin_return_address(0));

    shim_system_find("pthread_create", &next);
    return error != 0 ? error : next(thread, attributes, run, argument);
}

/* ---- streams --------------------------------------------------------------------------------- */

/* The stream's buffer and everything that is added to it go to a disk that is full. */
static void fill_disk(FILE *stream, const void *caller)
{
    const int fd = stream == stderr ? -1 : fileno(stream);
    const int flags = fd < 0 ? O_RDONLY : fcntl(fd, F_GETFL);
    int full;

    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fault_of_own(FAULT_STDIO, caller) == 0)
        return;
    full = (int)syscall(SYS_openat, AT_FDCWD, "/dev/full", O_WRONLY | O_CLOEXEC, 0);
    if (full < 0 || dup2(full, fd) < 0)
        _exit(99);
    syscall(SYS_close, full);
}

int fprintf(FILE *stream, const char *format, ...)
{
    va_list args;
    int n;

    fill_disk(stream, __builtin_return_address(0));
    va_start(args, format);
    n = vfprintf(stream, format, args);
    va_end(args);
    return n;
}

int printf(const char *format, ...)
{
    va_list args;
    int n;

    fill_disk(stdout, __builtin_return_address(0));
    va_start(args, format);
    n = vfprintf(stdout, format, args);
    va_end(args);
    return n;
}

int fputs(const char *text, FILE *stream)
{
    int (*next)(const char *, FILE *);

    shim_system_find("fputs", &next);
    fill_disk(stream, __builtin_return_address(0));
    return next(text, stream);
}

int puts(const char *text)
{
    int (*next)(const char *);

    shim_system_find("puts", &next);
    fill_disk(stdout, __builtin_return_address(0));
    return next(text);
}

int fputc(int c, FILE *stream)
{
    int (*next)(int, FILE *);

    shim_system_find("fputc", &next);
    fill_disk(stream, __builtin_return_address(0));
    return next(c, stream);
}

size_t fwrite(const void *from, size_t bytes, size_t n, FILE *stream)
{
    size_t (*next)(const void *, size_t, size_t, FILE *);

    shim_system_find("fwrite", &next);
    fill_disk(stream, __builtin_return_address(0));
    return next(from, bytes, n, stream);
}

int fflush(FILE *stream)
{
    int (*next)(FILE *);

    shim_system_find("fflush", &next);
    if (stream)
        fill_disk(stream, __builtin_return_address(0));
    return next(stream);
}

int fclose(FILE *stream)
{
    int (*next)(FILE *);

    shim_system_find("fclose", &next);
    fill_disk(stream, __builtin_return_address(0));
    return next(stream);
}

/* The stream reads a directory: it gets the error when it needs more of its file. */
static void spoil(FILE *stream, const void *caller)
{
    const int fd = fileno(stream);
    int folder;

    if (fd < 0 || fault_of_own(FAULT_STREAM, caller) == 0)
        return;
    folder = (int)syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (folder < 0 || dup2(folder, fd) < 0)
        _exit(99);
    syscall(SYS_close, folder);
}

char *fgets(char *text, int bytes, FILE *stream)
{
    char *(*next)(char *, int, FILE *);

    spoil(stream, __builtin_return_address(0));
    shim_system_find("fgets", &next);
    return next(text, bytes, stream);
}

size_t fread(void *text, size_t bytes, size_t n, FILE *stream)
{
    size_t (*next)(void *, size_t, size_t, FILE *);

    spoil(stream, __builtin_return_address(0));
    shim_system_find("fread", &next);
    return next(text, bytes, n, stream);
}

ssize_t getline(char **text, size_t *bytes, FILE *stream)
{
    spoil(stream, __builtin_return_address(0));
    return getdelim(text, bytes, '\n', stream);
}

/* One call in so many counts, because each reads one byte. */
int getc(FILE *stream)
{
    static unsigned calls;

    if (calls++ % 4096 == 0)
        spoil(stream, __builtin_return_address(0));
    return fgetc(stream);
}
