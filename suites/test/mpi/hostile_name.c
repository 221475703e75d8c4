/* hostile_name.c: preloaded, it gives the host a name with an escape, a character that turns the
 * direction of others, and a byte that is no UTF-8. */
#include <string.h>
#include <unistd.h>

int gethostname(char *name, size_t bytes)
{
    static const char hostile[] = "n\033[2J\xe2\x80\xae\xff";

    if (bytes < sizeof hostile)
        return -1;
    memcpy(name, hostile, sizeof hostile);
    return 0;
}
