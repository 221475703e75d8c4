/* proxy_load.c: which names of implementations are accepted, and the errors for the others. */
#include "proxy.h"

#include <string.h>

static void refused(struct proxy_tally *tally, const char *spec, const char *options,
                    const char *part)
{
    struct impl_source source;
    char reason[600] = "";
    const int status = impl_load(spec, options, &source, reason);

    proxy_expect(tally, status == -1 && strstr(reason, part) && !strchr(reason, '\n'),
                 "'%s' gives %d and '%s', not '%s'", spec, status, reason, part);
}

void proxy_load(struct proxy_tally *tally, const struct proxy_paths *paths)
{
    static const char *const layers[] = {
        "torch:",         "torch:m",        "torch:m:",    "torch::N",         "torch:m:1",
        "torch:m:N;true", "torch:m:N:O",    "torch:m n:N", "torch:$(true):N",  "torch:m:N N",
        "torch:-c:N",     "torch:--x.py:N", "torch:a/b:N", "torch:a-b:N",      "torch:a/b.pyc:N",
        "torch:'m':N",    "torch:m:N.O",    "torch:m&:N",  "torch:m:\303\251", "torch@5:m",
        "torch:m\\n:N",   "torch:/.py/x:N", "torch:`m`:N", "torch:m:N\\"};
    struct impl_source source;
    char reason[600], many[2000];

    memset(many, 'x', sizeof many);
    many[sizeof many - 1] = '\0';
    refused(tally, "PyTorch", "", "unknown implementation 'PyTorch': reference, mutant:NAME");
    refused(tally, "exec", "", "unknown implementation 'exec'");
    refused(tally, "torches:a:B", "", "unknown implementation 'torches:a:B'");
    refused(tally, "", "", "unknown implementation ''");
    refused(tally, many, "", "unknown implementation 'xxx");
    refused(tally, "mutant:M99", "", "unknown mutant 'M99'; known: none, ");
    refused(tally, "mutant:none", "x", "a mutant takes no options");
    refused(tally, "exec:", "", "exec:COMMAND");
    refused(tally, "exec: \t", "", "exec:COMMAND");
    refused(tally, "exec:a\nb", "", "one line");
    refused(tally, "exec@0:x", "", "exec@SECONDS:COMMAND");
    refused(tally, "exec@nan:x", "", "exec@SECONDS:COMMAND");
    refused(tally, "exec@x:x", "", "exec@SECONDS:COMMAND");
    refused(tally, "exec@2", "", "exec@SECONDS:COMMAND");
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; ++i)
        refused(tally, layers[i], "", "is not MODULE:NAME: a module is of letters");
    refused(tally, "exec:true", many, "longer than");
    refused(tally, "reference", many, "longer than");
    refused(tally, "./no-such-file.so", "", "cannot load: ./no-such-file.so");
    refused(tally, "/dev/null", "", "cannot load: /dev/null");
    refused(tally, paths->serve, "", "cannot load: ");

    proxy_expect(tally,
                 impl_load("reference", "", &source, reason) == 0 && source.options[0] == '\0' &&
                     !source.process,
                 "reference: %s", reason);
    proxy_expect(tally,
                 impl_load("exec@2.5:x y", "z", &source, reason) == 0 && source.process &&
                     source.limit_ms == 2500 && source.resident &&
                     strcmp(source.options, "2500\nx y\nz") == 0,
                 "exec: %s", reason);
    proxy_expect(tally,
                 impl_load(paths->echo, "a", &source, reason) == 0 && !source.process &&
                     source.library && strcmp(source.options, "a") == 0,
                 "echo: %s", reason);
}
