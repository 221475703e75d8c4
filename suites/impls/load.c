/* load.c: from the name of an implementation, as --impl has it, to its table of operations. */
#include "load.h"

#include "exec/exec.h"
#include "mutants/mutants.h"
#include "torch.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REASON = 600, NAMES = 400 }; /* only 500 bytes of a reason are shown */

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
