/* forecast/platform.c: the platform that a step is simulated on: one that is shipped, a file, or
 * what was fitted. SimGrid reads it from a path; what was fitted is only in memory. */
#include "forecast/simulate.h"

#include "files/shipped.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct shipped platforms = {.folder = "platforms", .ending = ".xml"};

int platform_find(const char *name, char path[PLATFORM_PATH], struct text_error *why)
{
    static const char ending[] = ".xml";
    const size_t length = strlen(name);
    char found[PLATFORM_PATH - 2], known[SHIPPED_WORDS];

    (void)shipped_find(&platforms, name, found, sizeof found);
    const bool is_file = strcmp(found, name) == 0;

    /* By another ending SimGrid would load it as a program. */
    if (is_file &&
        (length <= strlen(ending) || strcmp(name + length - strlen(ending), ending) != 0)) {
        shipped_words(&platforms, known, sizeof known);
        snprintf(why->text, sizeof why->text,
                 "--simulate %.60s: no such platform: 'fitted', a FILE.xml, or one of: %.190s",
                 name, known);
        return -1;
    }
    if (length >= sizeof found || access(found, R_OK) != 0) {
        snprintf(why->text, sizeof why->text, "--simulate %.200s: %s", name,
                 length >= sizeof found ? "the name is too long" : strerror(errno));
        return -1;
    }
    /* So no name is taken for an option. */
    snprintf(path, PLATFORM_PATH, "%s%s", found[0] == '/' ? "" : "./", found);
    return platform_check(path, why);
}

/* Between two hosts are the links of both: each has half of what a message takes. */
static int print_fitted(FILE *file, int ranks, double alpha_ns, double beta_ns)
{
    static const double no_limit = 1e15;
    const double bandwidth = beta_ns > 0 ? 1e9 / beta_ns : no_limit;

    fprintf(file,
            "<?xml version='1.0'?>\n"
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\">\n"
            "<cluster id=\"fitted\" prefix=\"host\" suffix=\"\" radical=\"0-%d\" speed=\"1Gf\" "
            "bw=\"%.9eBps\" lat=\"%.9es\"/>\n"
            "</platform>\n",
            ranks - 1, fmin(bandwidth, no_limit), alpha_ns * 1e-9 / 2);
    return fflush(file) != 0 || ferror(file) ? -1 : 0;
}

FILE *platform_fitted(int ranks, double alpha_ns, double beta_ns, char path[PLATFORM_PATH])
{
    const int descriptor = memfd_create("lockstep-platform", MFD_CLOEXEC);
    FILE *const file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;

    if (!file && descriptor >= 0)
        close(descriptor);
    if (!file)
        return NULL;
    snprintf(path, PLATFORM_PATH, "/proc/%jd/fd/%d", (intmax_t)getpid(), descriptor);
    if (print_fitted(file, ranks, alpha_ns, beta_ns) == 0)
        return file;
    fclose(file);
    return NULL;
}
