/* check/progress.c: one line on stderr that is rewritten, if stderr is a terminal. */
#include <unistd.h>

#include "check/runner.h"

void runner_progress_open(struct runner_progress *progress, size_t total)
{
    *progress = (struct runner_progress){.terminal = isatty(STDERR_FILENO) != 0, .total = total};
}

void runner_progress_verdict(void *context, const struct runner_result *result)
{
    struct runner_progress *progress = context;

    ++progress->done;
    progress->bad += result->verdict == CHECK_FAIL || result->verdict == CHECK_BROKEN;
    if (!progress->terminal)
        return;
    fprintf(stderr, "\r\033[K[%zu", progress->done);
    if (progress->total > 0)
        fprintf(stderr, "/%zu", progress->total);
    fprintf(stderr, "] %.40s", result->test->id);
    if (progress->bad > 0)
        fprintf(stderr, ", %zu not passed", progress->bad);
    fflush(stderr);
}

void runner_progress_close(struct runner_progress *progress)
{
    if (progress->terminal)
        fputs("\r\033[K", stderr);
}
