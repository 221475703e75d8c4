/* core_locks.c: locks of cores, in folders that the test makes: which run gets one, and planted
 * files. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "root.h"
#include "sweep/sweep.h"

static void make_root(void)
{
    root_make();
    cr_assert(mkdir(root_path("/run"), 0755) == 0 && mkdir(root_path("/run/lock"), 0755) == 0 &&
              mkdir(root_path("/tmp"), 0755) == 0);
}

/* Takes the locks for a run with two slots that are bound to these cores. */
static int core_locks_try(const char *first, const char *second, struct core_locks *locks)
{
    struct record_run run = {.n_slots = 2};

    for (int i = 0; i < 2; ++i) {
        const char *cores = i == 0 ? first : second;

        snprintf(run.slot[i].name, sizeof run.slot[i].name, "virt:%d", i);
        snprintf(run.slot[i].cores, sizeof run.slot[i].cores, "%s", cores);
        run.slot[i].bound = cores[0] != '\0';
    }
    *locks = (struct core_locks){.n = 0};
    return core_locks_take(root, "test", &run, false, locks);
}

static bool core_locks_is_there(const char *name)
{
    struct stat info;

    return lstat(root_path(name), &info) == 0;
}

Test(core_locks, overlap, .init = make_root, .fini = root_remove)
{
    struct core_locks a, b;

    cr_assert(core_locks_try("0-1", "1,5", &a) == 0 && a.n == 3 && a.note.text[0] == '\0');
    cr_assert(core_locks_is_there("/run/lock/lockstep-core-5") &&
              !core_locks_is_there("/run/lock/lockstep-core-2"));
    cr_assert(core_locks_try("3", "5", &b) == EXIT_MISUSE, "core 5 is taken");
    core_locks_release(&b);
    cr_assert(core_locks_try("3", "4", &b) == 0 && b.n == 2 && !b.waited, "no core is common");
    core_locks_release(&b);
    cr_assert(core_locks_try("", "", &b) == 0 && b.n == 0 && b.note.text[0] == '\0', "not bound");
    core_locks_release(&b);
    core_locks_release(&a);
    cr_assert(core_locks_try("0-1", "5", &b) == 0 && b.n == 3);
    core_locks_release(&b);
    cr_assert(core_locks_is_there("/run/lock/lockstep-core-5"), "the file was removed");
}

/* If a file cannot be opened in one folder, the other folder is used; a link is not followed. */
Test(core_locks, planted, .init = make_root, .fini = root_remove)
{
    static const char name[] = "/run/lock/lockstep-core-0";
    struct core_locks a, b;
    char target[256], folder[256];

    snprintf(target, sizeof target, "%s", root_path("/target"));
    snprintf(folder, sizeof folder, "%s", root_path("/run/lock"));
    for (int kind = 0; kind < 4; ++kind) {
        if (kind == 0)
            cr_assert(symlink(target, root_path(name)) == 0);
        else if (kind == 1)
            cr_assert(mkdir(root_path(name), 0755) == 0);
        else if (kind == 2)
            cr_assert(mkfifo(root_path(name), 0644) == 0);
        else
            cr_assert(rename(folder, root_path("/run/gone")) == 0);
        cr_assert(core_locks_try("0", "", &a) == 0 && a.n == 1, "kind %d", kind);
        cr_assert(strstr(a.note.text, "/tmp") && !core_locks_is_there("/target"), "%d: %s", kind,
                  a.note.text);
        cr_assert(core_locks_try("0", "", &b) == EXIT_MISUSE, "kind %d", kind);
        core_locks_release(&b);
        core_locks_release(&a);
        remove(root_path(name));
    }
    /* No folder can be used: it goes on, and says so. */
    cr_assert(unlink(root_path("/tmp/lockstep-core-0")) == 0 && rmdir(root_path("/tmp")) == 0);
    cr_assert(core_locks_try("0", "", &a) == 0 && a.n == 0 &&
              strstr(a.note.text, "core 0 is not locked"));
    core_locks_release(&a);
    cr_assert(mkdir(root_path("/tmp"), 0755) == 0);
    /* A list of cores was cut off, or is not a list. */
    cr_assert(core_locks_try("0-", "1", &a) == 0 && strstr(a.note.text, "virt:0"), "%s",
              a.note.text);
    core_locks_release(&a);
}

/* The lock is a second name of another file: the file keeps its mode, and is not used as a lock. */
Test(core_locks, second_name, .init = make_root, .fini = root_remove)
{
    struct core_locks a;
    struct stat info;
    const int fd = open(root_path("/target"), O_WRONLY | O_CREAT, 0600);
    char target[256];

    snprintf(target, sizeof target, "%s", root_path("/target"));
    cr_assert(fd >= 0 && link(target, root_path("/run/lock/lockstep-core-0")) == 0);
    cr_assert(core_locks_try("0", "", &a) == 0 && a.n == 1 && strstr(a.note.text, "/tmp"), "%s",
              a.note.text);
    cr_assert(fstat(fd, &info) == 0 && (info.st_mode & 0777) == 0600, "%o", info.st_mode);
    core_locks_release(&a);
    close(fd);
}

/* The contents of a lock file are ignored, and kept. */
Test(core_locks, contents, .init = make_root, .fini = root_remove)
{
    static const char text[] = "\033[2J1\n-1\n99999999999\n";
    struct core_locks a;
    char back[64] = "";

    root_put("/run/lock/lockstep-core-7", text);
    cr_assert(chmod(root_path("/run/lock/lockstep-core-7"), 0400) == 0);
    cr_assert(core_locks_try("7", "", &a) == 0 && a.n == 1 && a.note.text[0] == '\0', "%s",
              a.note.text);
    core_locks_release(&a);
    FILE *file = fopen(root_path("/run/lock/lockstep-core-7"), "r");

    cr_assert(file && fread(back, 1, sizeof back - 1, file) == strlen(text) && fclose(file) == 0);
    cr_assert(strcmp(back, text) == 0);

    /* The lock counts for any holder, however the file was opened. */
    const int fd = open(root_path("/run/lock/lockstep-core-7"), O_RDONLY);

    cr_assert(fd >= 0 && flock(fd, LOCK_EX) == 0);
    cr_assert(core_locks_try("7", "", &a) == EXIT_MISUSE);
    core_locks_release(&a);
    close(fd);
}
