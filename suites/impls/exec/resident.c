/* resident.c: the memory of a process group, as /proc shows it. */
#include "process.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns the pages of a process if it is in the group, else 0. In the file its name is in brackets
 * and may contain any character, so fields are counted from the last bracket. */
static unsigned long long pages_of(const char *number, pid_t group)
{
    char path[64], text[1024];
    unsigned long long resident = 0;
    const char *fields;
    int its_group = 0;
    FILE *file;
    size_t n;

    snprintf(path, sizeof path, "/proc/%.20s/stat", number);
    file = fopen(path, "r");
    if (!file)
        return 0; /* it has ended since the folder was read */
    n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    fields = strrchr(text, ')');
    if (!fields ||
        sscanf(fields + 1,
               " %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*u "
               "%*u %llu",
               &its_group, &resident) != 2)
        return 0;
    return its_group == group ? resident : 0;
}

int process_resident(const struct process *p, size_t *bytes)
{
    unsigned long long pages = 0;
    const struct dirent *entry;
    DIR *list;

    *bytes = 0;
    if (p->pid <= 0)
        return -1;
    list = opendir("/proc");
    if (!list)
        return -1;
    while ((entry = readdir(list)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            pages += pages_of(entry->d_name, p->pid);
    closedir(list);
    *bytes = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
    return pages > 0 ? 0 : -1;
}
