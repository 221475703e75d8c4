/* load.c: from the name of an implementation, as --impl has it, to its table of operations. */
#include "load.h"
#include "exec/exec.h"
#include "mutants/mutants.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the command of --impl torch --------------------------------------------------------------
 */

/* Its words come from a user and from folders' names, so a shell gets them in single quotes, or
 * they have none of a shell's signs. */

enum { REASON = 600, WORD = 1000, QUOTED = 4 * WORD };

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS  "0123456789"

/* Where the package may be, from the folder of this program. */
static const struct {
    const char *folder;
    bool own; /* PYTHONPATH gets it. Else it is in a wheel, and the interpreter has it, too */
} places[] = {
    {"../share/lockstep/python", true}, /* installed */
    {"../../../suites/python", true},   /* in the tree that it was built in */
    {"../..", false},
};
enum { PLACES = sizeof places / sizeof places[0] };

static bool is_layer(const char *layer)
{
    const size_t module = strspn(layer, LETTERS DIGITS "./-");
    const char *name = layer + module + 1;

    if (module == 0 || layer[0] == '-' || layer[module] != ':')
        return false;
    /* These signs are of files only. */
    if (strcspn(layer, "/-") < module && (module < 4 || strncmp(name - 4, ".py:", 4) != 0))
        return false;
    return name[0] != '\0' && !strchr(DIGITS, name[0]) &&
           name[strspn(name, LETTERS DIGITS)] == '\0';
}

static bool is_program(const char *name)
{
    const char *folders = getenv("PATH");
    char path[WORD];

    if (strchr(name, '/'))
        return access(name, X_OK) == 0;
    for (size_t n; folders && *folders != '\0'; folders += n + (folders[n] == ':')) {
        n = strcspn(folders, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", (int)n, folders, name) < WORD &&
            access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* Puts a word of less than WORD bytes in single quotes. */
static void quote_word(const char *word, char quoted[QUOTED])
{
    char *to = quoted;

    *to++ = '\'';
    for (; *word != '\0'; *to++ = *word++)
        if (*word == '\'') { /* the quotes end, and begin again with this one */
            *to++ = '\'';
            *to++ = '\\';
            *to++ = '\'';
        }
    *to++ = '\'';
    *to = '\0';
}

/* Finds the package. folder: its place in quotes, "": the interpreter knows it. Returns -1 if there
 * is none. */
static int find_package(char folder[QUOTED])
{
    char program[PATH_MAX], path[PATH_MAX + 80];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash;

    folder[0] = '\0';
    program[n > 0 ? n : 0] = '\0';
    if (!(slash = strrchr(program, '/')))
        return -1;
    *slash = '\0';
    for (size_t i = 0; i < PLACES; ++i) {
        snprintf(path, sizeof path, "%s/%s/lockstep/torch/__main__.py", program, places[i].folder);
        if (access(path, R_OK) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", program, places[i].folder);
        if (places[i].own && strlen(path) < WORD)
            quote_word(path, folder);
        return places[i].own && folder[0] == '\0' ? -1 : 0;
    }
    return -1;
}

/* Writes the command for exec: (exec.h) that puts a layer under test. layer: "MODULE:NAME", a class
 * or a function of a module or of a file; NULL: PyTorch's own DistributedDataParallel. seconds: the
 * limit of one operation, which the layer's ranks keep. The interpreter is LOCKSTEP_PYTHON of the
 * environment, or python3. Returns 0, or -1 with one line in reason. */
static int torch_command(const char *layer, double seconds, char command[], size_t bytes,
                         char reason[REASON])
{
    const char *given = getenv("LOCKSTEP_PYTHON");
    const char *python = given && given[0] != '\0' ? given : "python3";
    char folder[QUOTED], program[QUOTED];
    int n;

    if (layer && !is_layer(layer))
        snprintf(reason, REASON,
                 "'%.200s' is not MODULE:NAME: a module is of letters, digits, '_' and '.', or a "
                 "file whose name ends in .py, then also of '/' and '-'; a name of letters, digits "
                 "and '_'. For other names there is exec:COMMAND",
                 layer);
    else if (strlen(python) >= WORD || !is_program(python))
        snprintf(reason, REASON, "there is no program '%.200s'%s; %s", python,
                 python == given ? "" : " in PATH",
                 python == given ? "LOCKSTEP_PYTHON names it" : "LOCKSTEP_PYTHON can name another");
    else if (find_package(folder))
        snprintf(
            reason, REASON,
            "no Python package lockstep.torch in %s, %s or %s, seen from this program's folder",
            places[0].folder, places[1].folder, places[2].folder);
    else {
        quote_word(python, program);
        n = snprintf(command, bytes, "%s%s%sLOCKSTEP_LIMIT_S=%g exec %s -m lockstep.torch%s%s",
                     folder[0] != '\0' ? "export PYTHONPATH=" : "", folder,
                     folder[0] != '\0' ? "\"${PYTHONPATH:+:$PYTHONPATH}\"; " : "", seconds, program,
                     layer ? " " : "", layer ? layer : "");
        if (n > 0 && (size_t)n < bytes)
            return 0;
        snprintf(reason, REASON, "the command for '%.100s' is longer than %zu bytes",
                 layer ? layer : "torch", bytes - 1);
    }
    return -1;
}

/* ---- tables of operations
 * ----------------------------------------------------------------------------------- */

enum { NAMES = 400 }; /* only 500 bytes of a reason are shown */

static int copy_options(struct impl_source *source, const char *options, char reason[REASON])
{
    const size_t length = strlen(options);

    if (length >= sizeof source->options) {
        snprintf(reason, REASON, "the options of the implementation are longer than %zu bytes",
                 sizeof source->options - 1);
        return -1;
    }
    memcpy(source->options, options, length + 1);
    return 0;
}

/* ---- mutants --------------------------------------------------------------------------------- */

static int load_mutant(const char *name, const char *options, struct impl_source *source,
                       char reason[REASON])
{
    if (!(mutant_find(name) < mutant_n || strcmp(name, "none") == 0 ||
          strcmp(name, "none-other") == 0)) {
        int used =
            snprintf(reason, REASON, "unknown mutant '%.40s'; known: none, none-other", name);

        /* In addition to the bugs there are two mutants without a bug: one has the first choice of
         * every dialect, and the other one the other choice. */
        for (int i = 0; i < mutant_n && used < NAMES; ++i)
            used += snprintf(reason + used, REASON - (size_t)used, ", %s", mutant_list[i].name);
        if (used >= NAMES)
            snprintf(reason + used, REASON - (size_t)used, ", ... (lockstep check --mutants: all)");
        return -1;
    }
    if (options[0] != '\0') {
        snprintf(reason, REASON, "a mutant takes no options, not '%.100s'", options);
        return -1;
    }
    source->ops = mutant_impl();
    return copy_options(source, name, reason);
}

/* ---- shared objects -------------------------------------------------------------------------- */

static const char *table_fault(const struct impl_ops *ops, char text[120])
{
    if (ops->version != IMPL_VERSION) {
        snprintf(text, 120, "its table has version %u, this suite %d", ops->version, IMPL_VERSION);
        return text;
    }
    if (ops->bytes != sizeof *ops) {
        snprintf(text, 120, "its table has %u bytes, version %d has %zu", ops->bytes, IMPL_VERSION,
                 sizeof *ops);
        return text;
    }
    if (!ops->open || !ops->close || !ops->reset)
        return "its table lacks open, close or reset";
    return NULL;
}

static int load_library(const char *path, const char *options, struct impl_source *source,
                        char reason[REASON])
{
    const struct impl_ops *(*entry)(uint32_t version) = NULL;
    const char *fault;
    char text[120];
    void *symbol;

    source->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!source->library) {
        snprintf(reason, REASON, "cannot load: %.500s", dlerror());
        return -1;
    }
    symbol = dlsym(source->library, "lockstep_impl");
    if (!symbol) {
        snprintf(reason, REASON, "%.400s has no symbol lockstep_impl", path);
        return -1;
    }
    memcpy(&entry, &symbol, sizeof entry); /* C has no cast from an object to a function */
    source->ops = entry(IMPL_VERSION);
    if (!source->ops) {
        snprintf(reason, REASON, "%.400s does not know version %d of impl.h", path, IMPL_VERSION);
        return -1;
    }
    fault = table_fault(source->ops, text);
    if (!fault)
        return copy_options(source, options, reason);
    source->ops = NULL;
    snprintf(reason, REASON, "%.400s: %s", path, fault);
    return -1;
}

/* ---- processes ------------------------------------------------------------------------------- */

static int load_process(const char *command, double seconds, const char *options,
                        struct impl_source *source, char reason[REASON])
{
    int n;

    if (!(seconds >= 0.001 && seconds <= 86400) || !command ||
        command[strspn(command, " \t")] == '\0' || strchr(command, '\n')) {
        snprintf(reason, REASON,
                 "an implementation behind a pipe is exec:COMMAND, or exec@SECONDS:COMMAND with "
                 "the limit of one operation, 0.001 to 86400 s, also torch@SECONDS and "
                 "torch@SECONDS:MODULE:NAME; COMMAND is one line");
        return -1;
    }
    source->limit_ms = (unsigned)(seconds * 1000 + 0.5);
    source->process = true;
    source->resident = exec_resident;
    source->dead = exec_dead;
    source->fell = exec_fell;
    source->table = remote_ops;
    source->table.open = exec_open;
    source->table.close = exec_close;
    source->ops = &source->table;
    n = snprintf(source->options, sizeof source->options, "%u\n%s\n%s", source->limit_ms, command,
                 options);
    if (n > 0 && (size_t)n < sizeof source->options)
        return 0;
    snprintf(reason, REASON, "the command and its options are longer than %zu bytes",
             sizeof source->options - 16);
    return -1;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Returns what is after the word, "" or a text that begins with ':' or '@'; NULL: it is another
 * word.
 */
static const char *after_word(const char *text, const char *word)
{
    const size_t n = strlen(word);

    return strncmp(text, word, n) == 0 && (text[n] == '\0' || strchr(":@", text[n])) ? text + n
                                                                                     : NULL;
}

struct impl_spec impl_spec_read(const char *text)
{
    struct impl_spec spec = {.name = text, .seconds = EXEC_MS / 1000.0};
    const char *torch = after_word(text, "torch"), *exec = after_word(text, "exec");
    const char *rest = torch ? torch : exec;
    char *end = NULL;

    if (torch || (exec && *exec != '\0')) {
        spec.kind = IMPL_SPEC_COMMAND;
        spec.torch = torch != NULL;
        if (*rest == '@') {
            spec.seconds = strtod(rest + 1, &end);
            rest = end;
        }
        spec.name = *rest == ':' ? rest + 1 : NULL;
        if (*rest != ':' && *rest != '\0')
            spec.seconds = 0; /* which load_process refuses */
    } else if (strncmp(text, "mutant:", 7) == 0) {
        spec.kind = IMPL_SPEC_MUTANT;
        spec.name = text + 7;
    } else if (strchr(text, '/')) {
        spec.kind = IMPL_SPEC_LIBRARY;
    } else if (strcmp(text, "reference") == 0) {
        spec.kind = IMPL_SPEC_REFERENCE;
    }
    return spec;
}

int impl_load(const char *text, const char *options, struct impl_source *source, char reason[600])
{
    const struct impl_spec spec = impl_spec_read(text);
    char command[sizeof source->options];

    memset(source, 0, sizeof *source);
    switch (spec.kind) {
    case IMPL_SPEC_COMMAND:
        if (spec.torch && torch_command(spec.name, spec.seconds, command, sizeof command, reason))
            return -1;
        return load_process(spec.torch ? command : spec.name, spec.seconds, options, source,
                            reason);
    case IMPL_SPEC_MUTANT:
        return load_mutant(spec.name, options, source, reason);
    case IMPL_SPEC_LIBRARY:
        return load_library(spec.name, options, source, reason);
    case IMPL_SPEC_REFERENCE:
        source->ops = reference_impl();
        return copy_options(source, options, reason);
    case IMPL_SPEC_UNKNOWN:
        break;
    }
    snprintf(reason, REASON,
             "unknown implementation '%.100s': reference, mutant:NAME, a path with a '/' to a "
             "shared object, exec:COMMAND, torch, torch:MODULE:NAME",
             text);
    return -1;
}
