/* proxy_life.c: nothing that was started is left, and a process that is gone does no harm. */
#include "proxy.h"

#include "process.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Waits up to two seconds until a process of the group has memory, or none has: while a program is
 * being loaded, and for processes that init has not collected yet, there is no memory. */
static bool becomes(pid_t group, bool there)
{
    const struct timespec tick = {.tv_nsec = 2000000};
    const struct process p = {.pid = group};
    size_t bytes;

    for (int i = 0; i < 1000; ++i) {
        if ((process_resident(&p, &bytes) == 0) == there)
            return true;
        nanosleep(&tick, NULL);
    }
    return false;
}

static const struct process_limits limits = {300, 65536};

/* Runs a command with one question, and expects the words; afterwards none of its processes is
 * left. */
static void ends(struct proxy_tally *tally, const char *command, const char *part, bool patient)
{
    struct process p;
    char reason[PROCESS_REASON] = "";
    int status = process_start(&p, command, reason);
    const pid_t group = p.pid;

    if (status == 0)
        status = process_ask(&p, "hello\n", 6, limits, reason);
    proxy_expect(tally, part == NULL ? status == 0 : status != 0 && strstr(reason, part),
                 "%s: '%s', wanted '%s'", command, reason, part == NULL ? "an answer" : part);
    process_end(&p, patient);
    proxy_expect(tally, becomes(group, false), "%s: somebody stays", command);
}

/* This process is killed, and can do nothing any more. */
static void dies_with_us(struct proxy_tally *tally)
{
    int ends_of[2];
    pid_t group = 0, us;

    if (pipe(ends_of) != 0)
        return;
    us = fork();
    if (us == 0) {
        struct process p;
        char reason[PROCESS_REASON];

        if (process_start(&p, "trap '' HUP INT TERM; sleep 1000 & sleep 1000", reason) != 0 ||
            write(ends_of[1], &p.pid, sizeof p.pid) != sizeof p.pid)
            _exit(1);
        for (;;)
            pause();
    }
    close(ends_of[1]);
    proxy_expect(tally, read(ends_of[0], &group, sizeof group) == sizeof group && group > 0,
                 "no process was started");
    close(ends_of[0]);
    if (group <= 0)
        return;
    proxy_expect(tally, becomes(group, true), "it is gone before we are");
    kill(us, SIGKILL);
    waitpid(us, NULL, 0);
    proxy_expect(tally, becomes(group, false), "it outlives us");
}

static void has_memory(struct proxy_tally *tally, const struct proxy_paths *paths)
{
    struct impl_source source;
    struct impl_about about;
    struct impl_error err = {.status = IMPL_OK};
    struct impl_session *session, *host = NULL;
    size_t bytes = 0;
    char spec[2048];

    snprintf(spec, sizeof spec, "exec:'%s' '%s'", paths->serve, paths->echo);
    session = proxy_open(tally, spec, "", &source, &about);
    if (!session)
        return;
    proxy_expect(tally,
                 source.resident(session, &bytes) == 0 && bytes > 100000 && bytes < 1000000000,
                 "it has %zu bytes", bytes);
    const struct impl_config config = {"", source.options, true, 0};

    proxy_expect(tally,
                 source.ops->open(&config, &about, &host, &err) == IMPL_OK && about.devices == 0,
                 "a session without devices: %s", err.text);
    if (host)
        source.ops->close(host);
    proxy_expect(tally, source.ops->reset(session, &err) == IMPL_OK, "beside it: %s", err.text);
    source.ops->close(session);
}

/* Sends a long request to a process that writes while it should read. */
static void long_request(struct proxy_tally *tally, const char *command, const char *part)
{
    enum { LENGTH = 1 << 20 };
    static char request[LENGTH + 1];
    const struct process_limits patient = {5000, 65536};
    struct process p;
    char reason[PROCESS_REASON] = "";
    int status;

    memset(request, 'x', LENGTH);
    request[LENGTH - 1] = '\n';
    status = process_start(&p, command, reason);
    if (status == 0)
        status = process_ask(&p, request, LENGTH, part == NULL ? patient : limits, reason);
    proxy_expect(tally, part == NULL ? status == 0 : status != 0 && strstr(reason, part),
                 "%s: '%s'", command, reason);
    process_end(&p, false);
}

void proxy_life(struct proxy_tally *tally, const struct proxy_paths *paths)
{
    ends(tally, "read x; echo $x; cat", NULL, true);
    ends(tally, "read x; echo $x; sleep 1000 & cat", NULL, true);
    ends(tally, "read x; echo $x; trap '' TERM HUP; while :; do sleep 1000; done", NULL, false);
    ends(tally, "exec <&-; sleep 1000", "no answer within 0.3 s", false);
    ends(tally, "exec >&-; sleep 1000", "closed its output without an answer", false);
    ends(tally, "exec <&- >&- 2>&-; sleep 1000", "closed its output without an answer", false);
    ends(tally, "sleep 1000 & exit 4", "ended with status 4", false);
    ends(tally, "kill -STOP $$", "no answer within 0.3 s", false);
    long_request(tally, "head -n 1 >&2; echo done", NULL);
    long_request(tally, "exec <&-; sleep 1000", "no answer within 0.3 s");
    long_request(tally, "sleep 1000", "did not read its request within 0.3 s");
    long_request(tally, "yes", "y?y?y?y");
    dies_with_us(tally);
    has_memory(tally, paths);
}
