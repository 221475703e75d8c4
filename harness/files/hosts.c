/* files/hosts.c: on which hosts processes have begun. */
#include <stdio.h>
#include <string.h>

#include "files/said.h"

int said_hosts(const struct said *said, int each, char ranks[], size_t bytes)
{
    const char *host[SAID_PROCESSES];
    int has[SAID_PROCESSES] = {0}, hosts = 0;
    size_t used = 0;

    for (int p = 0; p < said->n; ++p) {
        const char *begun = said->process[p].begun;
        const size_t length = strcspn(begun, " ") + 1;
        int h = 0;

        if (!said->process[p].has[SAID_BEGUN])
            return 0;
        while (h < hosts && strncmp(host[h], begun, length) != 0)
            ++h;
        hosts += h == hosts;
        host[h] = begun;
        has[h] += each;
    }
    for (int h = 0; h < hosts && used < bytes; ++h)
        used += (size_t)snprintf(ranks + used, bytes - used, "%s%d", h > 0 ? "," : "", has[h]);
    return hosts;
}
