/* forecast/platform.c: the platform that a step is simulated on: a shipped one, a file, or the
 * fitted network. SimGrid reads it from a path; a fitted one is only in memory.
 *
 * SimGrid takes names of files to write to from a platform, and reads text that is no number as 0.
 * So elements, attributes and units that are not in these tables are refused, and so are numbers
 * out of their range. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/files.h"
#include "forecast/forecast.h"
#include "text/alloc.h"

/* ---- what a file may contain ----------------------------------------------------------------- */

enum { MOST_BYTES = 4 << 20 };

enum kind { NAME, RADICAL, SPEED, BANDWIDTH, LATENCY, CORES };

static const struct {
    const char *letters; /* that a text may have; NULL: it is a number in this range */
    double least, most;
    const char *words;
} kinds[] = {
    [NAME] = {"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", 0, 0,
              "letters, digits, '_', '.' and '-'"},
    [RADICAL] = {"0123456789,-", 0, 0, "numbers of hosts, like 0-63"},
    [SPEED] = {NULL, 1, 1e18, "1f to 1Ef"},
    [BANDWIDTH] = {NULL, 1, 1e18, "1Bps to 1EBps (or bps)"},
    [LATENCY] = {NULL, 0, 1000, "0s to 1000s (or ms, us, ns, ps)"},
    [CORES] = {NULL, 1, 65536, "1 to 65536"},
};

/* Each is so many times the one before. */
static const struct {
    enum kind kind;
    double first, times;
    const char *unit[8];
} units[] = {
    {SPEED, 1, 1e3, {"f", "kf", "Mf", "Gf", "Tf", "Pf", "Ef"}},
    {BANDWIDTH, 1, 1e3, {"Bps", "kBps", "MBps", "GBps", "TBps"}},
    {BANDWIDTH, .125, 1e3, {"bps", "kbps", "Mbps", "Gbps", "Tbps"}},
    {LATENCY, 1, 1e-3, {"s", "ms", "us", "ns", "ps"}},
    {CORES, 1, 1, {""}},
};

static const struct {
    const char *elements, *attributes;
    enum kind kind;
} known[] = {
    {" platform ", " version ", NAME},
    {" zone ", " id routing ", NAME},
    {" cluster ", " id prefix suffix router_id sharing_policy bb_sharing_policy ", NAME},
    {" cluster ", " radical ", RADICAL},
    {" cluster ", " bw bb_bw loopback_bw ", BANDWIDTH},
    {" cluster ", " lat bb_lat loopback_lat ", LATENCY},
    {" cluster host ", " speed ", SPEED},
    {" cluster host ", " core ", CORES},
    {" host router backbone ", " id ", NAME},
    {" link ", " id sharing_policy ", NAME},
    {" link backbone ", " bandwidth ", BANDWIDTH},
    {" link backbone ", " latency ", LATENCY},
    {" route zoneRoute ", " src dst symmetrical ", NAME},
    {" zoneRoute ", " gw_src gw_dst ", NAME},
    {" link_ctn ", " id direction ", NAME},
};
enum { KNOWN = sizeof known / sizeof known[0], UNITS = sizeof units / sizeof units[0] };

/* The only ones that are not elements: SimGrid's own DOCTYPE is never fetched. */
static const char *const heads[] = {
    "<?xml version='1.0'?>", "<?xml version=\"1.0\"?>",
    "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"};
static const char BLANK[] = " \t\r\n", LETTERS[] = "abcdefghijklmnopqrstuvwxyz_R";

static bool is_value(enum kind kind, const char *value)
{
    char *unit;
    double number;

    if (kinds[kind].letters)
        return value[strspn(value, kinds[kind].letters)] == '\0';
    number = strtod(value, &unit);
    if (!strchr("0123456789", value[0]) || strpbrk(value, "xX"))
        return false;
    for (size_t i = 0; i < UNITS; ++i) {
        double factor = units[i].first;

        for (const char *const *u = units[i].unit; *u; ++u, factor *= units[i].times)
            if (units[i].kind == kind && strcmp(*u, unit) == 0)
                return number * factor >= kinds[kind].least && number * factor <= kinds[kind].most;
    }
    return false;
}

/* NAME="VALUE" of an element, which is in blanks as above: where it ends, or NULL and why. */
static char *read_attribute(const char *element, char *at, struct text_error *why)
{
    const size_t length = strspn(at, LETTERS);
    char name[32], *end = NULL, *const value = at + length + 2;

    snprintf(name, sizeof name, " %.*s ", (int)(length < 28 ? length : 28), at);
    if (at[length] == '=' && (value[-1] == '"' || value[-1] == '\''))
        end = strchr(value, value[-1]);
    snprintf(why->text, sizeof why->text, "what follows%sis no attribute", element);
    if (!end)
        return NULL;
    *end = '\0';
    for (size_t i = 0; i < KNOWN && length > 0; ++i) {
        if (!strstr(known[i].attributes, name) || !strstr(known[i].elements, element))
            continue;
        snprintf(why->text, sizeof why->text, "%sof%sis \"%.40s\", not %s", name + 1, element,
                 value, kinds[known[i].kind].words);
        return is_value(known[i].kind, value) ? end + 1 : NULL;
    }
    snprintf(why->text, sizeof why->text, "the attribute%sof%sis not known", name, element);
    return NULL;
}

/* From its '<' on: its end, or NULL and why. */
static char *read_element(char *at, struct text_error *why)
{
    char name[24], *const begin = at + 1 + (at[1] == '/');
    const size_t length = strspn(begin, LETTERS);
    bool is_known = false;

    snprintf(name, sizeof name, " %.*s ", (int)(length < 20 ? length : 20), begin);
    for (size_t i = 0; i < KNOWN && length > 0; ++i)
        is_known = is_known || strstr(known[i].elements, name);
    if (!is_known) {
        snprintf(why->text, sizeof why->text, "the element%sis not known", name);
        return NULL;
    }
    at = begin + length + strspn(begin + length, BLANK);
    while (at && *at != '>' && strncmp(at, "/>", 2) != 0) {
        at = read_attribute(name, at, why);
        at = at ? at + strspn(at, BLANK) : NULL;
    }
    return !at ? NULL : at + (*at == '/' ? 2 : 1);
}

/* Reads one piece of the file; returns its end, or NULL and why. */
static char *read_piece(char *at, struct text_error *why)
{
    char *end;

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; ++i)
        if (strncmp(at, heads[i], strlen(heads[i])) == 0)
            return at + strlen(heads[i]);
    snprintf(why->text, sizeof why->text, "there is more than elements");
    if (strncmp(at, "<!--", 4) == 0)
        return (end = strstr(at + 4, "-->")) ? end + 3 : NULL;
    return *at == '<' && !strchr("!?", at[1]) ? read_element(at, why) : NULL;
}

/* ---- finding or making one ------------------------------------------------------------------- */

static const struct shipped platforms = {.folder = "platforms", .ending = ".xml"};

int platform_find(const char *name, char path[PLATFORM_PATH], struct text_error *why)
{
    const size_t length = strlen(name), ending = strlen(platforms.ending);
    char found[PLATFORM_PATH - 2], shipped[SHIPPED_WORDS];

    (void)shipped_find(&platforms, name, found, sizeof found);
    const bool is_file = strcmp(found, name) == 0;

    /* By another ending SimGrid would load it as a program. */
    if (is_file && (length <= ending || strcmp(name + length - ending, platforms.ending) != 0)) {
        shipped_words(&platforms, shipped, sizeof shipped);
        return text_fail(
            why, "--simulate %.60s: no such platform: 'fitted', a FILE.xml, or one of: %.190s",
            name, shipped);
    }
    if (length >= sizeof found || access(found, R_OK) != 0)
        return text_fail(why, "--simulate %.200s: %s", name,
                         length >= sizeof found ? "the name is too long" : strerror(errno));
    /* So no name is taken for an option. */
    snprintf(path, PLATFORM_PATH, "%s%s", found[0] == '/' ? "" : "./", found);

    FILE *file = fopen(path, "re");
    char *text = cli_alloc(MOST_BYTES + 2, 1), *at = text, *next = text;
    const size_t bytes = file ? fread(text, 1, MOST_BYTES + 1, file) : 0;
    const bool is_read = file && !ferror(file) && bytes <= MOST_BYTES;
    struct text_error cause = {""};
    size_t line = 1;

    while (is_read && next && *(at = next + strspn(next, BLANK)) != '\0')
        next = read_piece(at, &cause);
    for (const char *c = text; c < at; ++c)
        line += *c == '\n';
    const bool good = is_read && next && at == text + bytes;

    if (!is_read)
        text_fail(why, "--simulate %.200s: %s", path,
                  bytes > MOST_BYTES ? "it is larger than 4 MiB" : strerror(errno));
    else if (!good)
        text_fail(why, "--simulate: %.120s:%zu: %.120s", path, line,
                  next ? "there is a byte of 0" : cause.text);
    free(text);
    if (file)
        fclose(file);
    return good ? 0 : -1;
}

FILE *platform_fitted(int ranks, double alpha_ns, double beta_ns, char path[PLATFORM_PATH])
{
    static const double no_limit = 1e15;
    const double bandwidth = beta_ns > 0 ? 1e9 / beta_ns : no_limit;
    const int descriptor = memfd_create("lockstep-platform", MFD_CLOEXEC);
    FILE *const file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;

    if (!file && descriptor >= 0)
        close(descriptor);
    if (!file)
        return NULL;
    snprintf(path, PLATFORM_PATH, "/proc/%jd/fd/%d", (intmax_t)getpid(), descriptor);
    /* Between two hosts are the links of both: each has half of what a message takes. */
    fprintf(file,
            "<?xml version='1.0'?>\n"
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            "<platform version=\"4.1\">\n"
            "<cluster id=\"fitted\" prefix=\"host\" suffix=\"\" radical=\"0-%d\" speed=\"1Gf\" "
            "bw=\"%.9eBps\" lat=\"%.9es\"/>\n"
            "</platform>\n",
            ranks - 1, fmin(bandwidth, no_limit), alpha_ns * 1e-9 / 2);
    if (fflush(file) == 0 && !ferror(file))
        return file;
    fclose(file);
    return NULL;
}
