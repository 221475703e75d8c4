/* sweep/core_locks.c: opens and locks the files. Their contents are never read, and links to other
 * files are not followed; the kernel tells which process has a lock. */
#include "sweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "command/command.h"
#include "files/files.h"
#include "measure/measure.h"
#include "text/alloc.h"

enum { PATH_BYTES = 256, HOLDER_BYTES = 128, FOLDERS = 2, PAUSE_MS = 100 };

/* No environment variable changes these folders: all sweeps must lock the same files. */
static const char *const folders[FOLDERS] = {"/run/lock", "/tmp"};

/* Keeps the first note; later ones are dropped. */
static void note_lock(struct core_locks *locks, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void note_lock(struct core_locks *locks, const char *format, ...)
{
    va_list arguments;

    if (locks->note.text[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(locks->note.text, sizeof locks->note.text, format, arguments);
    va_end(arguments);
}

/* Opens the file of a core. Returns a descriptor and its path; -1: no folder has one, which is
 * noted. */
static int open_core(const char *root, int core, char path[PATH_BYTES], struct core_locks *locks)
{
    const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

    for (int i = 0; i < FOLDERS; ++i) {
        struct stat info;

        snprintf(path, PATH_BYTES, "%s%s/lockstep-core-%d", root, folders[i], core);

        int fd = open(path, flags | O_RDWR | O_CREAT | O_EXCL, 0644);

        if (fd >= 0)
            (void)fchmod(fd, 0644); /* every user must be able to open it, whatever our umask is */
        else if (errno == EEXIST)
            fd = open(path, flags | O_RDONLY); /* perhaps of another user: enough for a lock */
        /* If a file has a second name, it may serve another purpose. */
        if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink > 1)) {
            close(fd);
            errno = ENOTSUP;
            fd = -1;
        }
        if (fd >= 0 && i > 0)
            note_lock(locks, "cores are locked in %s: %s cannot be used", folders[i], folders[0]);
        if (fd >= 0)
            return fd;
    }
    note_lock(locks, "core %d is not locked, so another sweep could use it: %s: %s", core, path,
              strerror(errno));
    return -1;
}

/* Locks the file that is open as fd. */
static int lock_core(const char *command, int core, int fd, const char *path, bool wait,
                     struct core_locks *locks)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    bool messages = false;

    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            note_lock(locks, "core %d is not locked, so another sweep could use it: %s: %s", core,
                      path, strerror(errno));
            return 0;
        }
        if (!messages) {
            /* The kernel may tell which process that is. */
            char line[256], holder[HOLDER_BYTES] = "";
            struct stat info;
            FILE *file = fstat(fd, &info) == 0 ? fopen("/proc/locks", "r") : NULL;

            while (file && fgets(line, sizeof line, file)) {
                unsigned major_of, minor_of;
                unsigned long inode;
                long pid;

                if (sscanf(line, "%*d: FLOCK ADVISORY WRITE %ld %x:%x:%lu", &pid, &major_of,
                           &minor_of, &inode) == 4 &&
                    pid > 0 && inode == info.st_ino && makedev(major_of, minor_of) == info.st_dev)
                    snprintf(holder, HOLDER_BYTES, ", process %ld", pid);
            }
            if (file)
                fclose(file);
            command_complain(
                command, "core %d is in use by another sweep%s (%s)%s", core, holder, path,
                wait ? ": waiting for it"
                     : "; --wait waits until it ends, --bind none measures next to it");
        }
        if (!wait)
            return EXIT_MISUSE;
        messages = locks->waited = true;
        nanosleep(&pause, NULL);
        if (stop_requested()) {
            command_complain(command, "interrupted, nothing was measured");
            return EXIT_INTERRUPTED;
        }
    }
    return 0;
}

int core_locks_take(const char *root, const char *command, const struct record_run *run, bool wait,
                    struct core_locks *locks)
{
    struct usage_units cores = {.n = 0};
    char path[PATH_BYTES];
    int status = 0;

    for (int i = 0; i < run->n_slots; ++i) {
        const struct record_slot *slot = &run->slot[i];

        /* A list that fills its array may have been cut. */
        if (slot->bound && (strlen(slot->cores) == sizeof slot->cores - 1 ||
                            usage_add_units(slot->cores, &cores) != 0))
            note_lock(locks, "the cores of %s are not all locked: their list is %.40s...",
                      slot->name, slot->cores);
    }
    locks->fd = cli_alloc((size_t)cores.n, sizeof *locks->fd);
    for (int core = 0; core < USAGE_UNITS && status == 0; ++core) {
        const int fd = cores.has[core] ? open_core(root, core, path, locks) : -1;

        if (fd < 0)
            continue;
        locks->fd[locks->n++] = fd;
        status = lock_core(command, core, fd, path, wait, locks);
    }
    return status;
}

void core_locks_release(struct core_locks *locks)
{
    for (int i = 0; i < locks->n; ++i)
        close(locks->fd[i]);
    free(locks->fd);
    locks->fd = NULL;
    locks->n = 0;
}
