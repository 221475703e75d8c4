/* proxy.c: proxy_test SERVE ECHO: tests suites/impls/exec and load.c without the runner. */
#include "proxy.h"

#include <stdarg.h>
#include <stdlib.h>

void proxy_expect(struct proxy_tally *tally, bool holds, const char *format, ...)
{
    va_list args;

    if (holds) {
        ++tally->held;
        return;
    }
    ++tally->failed;
    va_start(args, format);
    fprintf(stderr, "FAILED: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
}

struct impl_session *proxy_open(struct proxy_tally *tally, const char *spec, const char *options,
                                struct impl_source *source, struct impl_about *about)
{
    struct impl_session *session = NULL;
    struct impl_error err = {.status = IMPL_OK};
    char reason[600] = "";

    if (impl_load(spec, options, source, reason) == 0) {
        const struct impl_config config = {"cuda:\"0\"", source->options, false, UINT64_MAX - 2};

        if (source->ops->open(&config, about, &session, &err) == IMPL_OK)
            return session;
    }
    proxy_expect(tally, false, "%s cannot be opened: %s%s", spec, reason, err.text);
    return NULL;
}

int main(int argc, char **argv)
{
    struct proxy_tally tally = {0};
    struct proxy_paths paths;

    if (argc != 3) {
        fprintf(stderr, "usage: proxy_test SERVE ECHO\n");
        return 2;
    }
    paths.serve = argv[1];
    paths.echo = argv[2];
    proxy_load(&tally, &paths);
    proxy_echo(&tally, &paths);
    proxy_bad(&tally, &paths);
    proxy_life(&tally, &paths);
    printf("%d held, %d failed\n", tally.held, tally.failed);
    return tally.failed > 0 || tally.held == 0;
}
