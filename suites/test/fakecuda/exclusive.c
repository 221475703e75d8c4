/* exclusive.c: devices that one process at a time can use, as clusters have them (compute mode
 * EXCLUSIVE_PROCESS): a process keeps what it has used until it ends. */
#include "fake.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool fake_device_take(int device)
{
    const char *folder = getenv("LOCKSTEP_FAKE_EXCLUSIVE");
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[4096];
    if (!folder || fake.taken[device])
        return true;
    snprintf(path, sizeof path, "%s/fake-gpu-%d", folder, fake.visible[device]);
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) {
        fake_violation("LOCKSTEP_FAKE_EXCLUSIVE: cannot open %s", path);
        return false;
    }
    /* It is a lock of the process, which a child does not inherit; it ends with the process. */
    fake.taken[device] = fcntl(file, F_SETLK, &lock) == 0;
    if (!fake.taken[device])
        close(file);
    return fake.taken[device];
}
