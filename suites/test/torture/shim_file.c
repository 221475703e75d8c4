/* shim_file.c: preloaded: writes to records, or their fsync, fail from the n-th on, or the file is
 * emptied during the n-th fsync.
 *
 * TORTURE_FILE is CALL:N:ERROR, where CALL is write, short (a half is written first), fsync or
 * emptied, N counts from 1 the calls that go to a regular file opened for appending, and ERROR is a
 * number of errno (emptied: any). TORTURE_FILE_CUT=no makes ftruncate fail as well. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns the error of this call; 0: none. */
static int find_fault(const char *call, int fd, unsigned long *count)
{
    const char *plan = getenv("TORTURE_FILE");
    const int flags = fcntl(fd, F_GETFL);
    struct stat info;
    char name[16];
    unsigned long first;
    int error;

    if (!plan || flags < 0 || !(flags & O_APPEND) || fstat(fd, &info) != 0 ||
        !S_ISREG(info.st_mode) || sscanf(plan, "%15[a-z]:%lu:%d", name, &first, &error) != 3 ||
        strcmp(name, call) != 0)
        return 0;
    return ++*count >= first ? error : 0;
}

ssize_t write(int fd, const void *text, size_t bytes)
{
    static unsigned long writes, shorts;
    const int error = find_fault("write", fd, &writes);
    const int later = find_fault("short", fd, &shorts);
    static bool halved;

    if (later != 0 && !halved && bytes > 1) {
        halved = true;
        return syscall(SYS_write, fd, text, bytes / 2);
    }
    if (error != 0 || later != 0) {
        errno = error != 0 ? error : later;
        return -1;
    }
    return syscall(SYS_write, fd, text, bytes);
}

int fsync(int fd)
{
    static unsigned long syncs, emptied;
    static bool done;
    const int error = find_fault("fsync", fd, &syncs);

    if (!done && find_fault("emptied", fd, &emptied) != 0) {
        done = true;
        return (int)syscall(SYS_ftruncate, fd, 0);
    }
    if (error != 0) {
        errno = error;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t size)
{
    const char *allowed = getenv("TORTURE_FILE_CUT");

    if (allowed && strcmp(allowed, "no") == 0) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_ftruncate, fd, size);
}
