/* converse.c: one request and one answer, within limits of time and size. */
#include "process.h"

#include "launch/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK_MS = 50,
    PIECE = 65536,
    EXCERPT = 60,
    LAST_WORDS = 150,
    LAST_MOMENTS_MS = 200,
    GRACE_MS = 500
};

static int64_t converse_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void process_excerpt(const char *text, size_t length, char *to, size_t bytes)
{
    size_t n = 0;

    for (; n < length && n + 1 < bytes; ++n) {
        const unsigned char character = (unsigned char)text[n];
        to[n] = character >= 0x20 && character <= 0x7e ? (char)character : '?';
    }
    to[n] = '\0';
    if (n < length && n > 3)
        memcpy(to + n - 3, "...", 3);
}

/* Finds the last line of standard error before `end`, without the space around it. */
static size_t last_line(const struct process *p, size_t *end)
{
    size_t begin;

    while (*end > 0 && (p->tail[*end - 1] == '\n' || p->tail[*end - 1] == ' '))
        --*end;
    for (begin = *end; begin > 0 && p->tail[begin - 1] != '\n'; --begin)
        ;
    return begin;
}

/* Writes "; its last words: ...", or "" if there are none. A message of the shell about a command
 * that died of a signal tells nothing new, so it is left out. */
static void last_words(const struct process *p, int died_of, char *to, size_t bytes)
{
    const char *remark = died_of > 0 ? strsignal(died_of) : "\n";
    char line[LAST_WORDS];
    size_t end = p->tail_length, begin = last_line(p, &end);

    if (end - begin >= strlen(remark) && memcmp(p->tail + begin, remark, strlen(remark)) == 0) {
        end = begin;
        begin = last_line(p, &end);
    }
    process_excerpt(p->tail + begin, end - begin, line, sizeof line);
    if (end > begin)
        snprintf(to, bytes, "; its last words: %s", line);
    else
        snprintf(to, bytes, "%s", "");
}

/* Reads standard error, and keeps only the last bytes. */
static void take_tail(struct process *p)
{
    char pieces[8 * PROCESS_TAIL];
    const ssize_t got = read(p->error, pieces, sizeof pieces);
    const size_t n = got > PROCESS_TAIL ? PROCESS_TAIL : got > 0 ? (size_t)got : 0;
    const char *piece = pieces + (got > PROCESS_TAIL ? got - PROCESS_TAIL : 0);
    const size_t kept = p->tail_length + n > PROCESS_TAIL ? PROCESS_TAIL - n : p->tail_length;

    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        child_close(&p->error);
        return;
    }
    memmove(p->tail, p->tail + p->tail_length - kept, kept);
    memcpy(p->tail + kept, piece, n);
    p->tail_length = kept + n;
}

static void take_rest_of_tail(struct process *p)
{
    struct pollfd end = {.fd = p->error, .events = POLLIN};

    for (int i = 0; i < 256 && p->error >= 0 && poll(&end, 1, 0) > 0; ++i)
        take_tail(p);
}

/* ---- what went wrong ------------------------------------------------------------------------ */

/* The process has closed its output; usually it is about to end. */
static void say_how_it_ended(struct process *p, char reason[PROCESS_REASON])
{
    const int64_t end = converse_ms() + LAST_MOMENTS_MS;
    const struct timespec tick = {.tv_nsec = 500000};
    siginfo_t info = {.si_pid = 0};
    char words[PROCESS_REASON / 2];
    int signal_number;

    while (!process_has_ended(p) && converse_ms() < end)
        nanosleep(&tick, NULL);
    take_rest_of_tail(p);
    if (!process_has_ended(p) ||
        waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        last_words(p, 0, words, sizeof words);
        snprintf(reason, PROCESS_REASON, "the process closed its output without an answer%s",
                 words);
        return;
    }
    /* A shell between us and the process reports a signal by the exit status 128 plus its
     * number. */
    signal_number = info.si_code != CLD_EXITED ? info.si_status
                    : info.si_status > 128     ? info.si_status - 128
                                               : 0;
    last_words(p, signal_number, words, sizeof words);
    p->fell = signal_number > 0 && !child_signal_is_foreign(signal_number);
    if (signal_number > 0)
        snprintf(reason, PROCESS_REASON, "the process died of signal %d (%s)%s", signal_number,
                 strsignal(signal_number), words);
    else
        snprintf(reason, PROCESS_REASON, "the process ended with status %d%s", info.si_status,
                 words);
}

static void say_text(const char *what, const char *text, size_t length, char reason[PROCESS_REASON])
{
    char excerpt[EXCERPT];

    process_excerpt(text, length, excerpt, sizeof excerpt);
    snprintf(reason, PROCESS_REASON, "%s: '%s'", what, excerpt);
}

/* ---- reading -------------------------------------------------------------------------------- */

enum got { GOT_NOTHING, GOT_SOME, GOT_END, GOT_TOO_MUCH, GOT_NO_MEMORY };

static enum got take_output(struct process *p, size_t most)
{
    ssize_t n;

    if (p->length > most)
        return GOT_TOO_MUCH;
    if (p->room - p->length < PIECE + 1) {
        const size_t room = p->room == 0 ? (size_t)2 * PIECE : 2 * p->room;
        char *line = realloc(p->line, room);

        if (!line)
            return GOT_NO_MEMORY;
        p->line = line;
        p->room = room;
    }
    n = read(p->output, p->line + p->length, PIECE);
    if (n > 0)
        p->length += (size_t)n;
    p->line[p->length] = '\0';
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? GOT_NOTHING : GOT_END;
    return n == 0 ? GOT_END : GOT_SOME;
}

/* ---- exchanges ------------------------------------------------------------------------------ */

struct exchange {
    const char *text;
    size_t left; /* of the request */
    struct process_limits limits;
    int64_t end;
    bool ended; /* its output has ended */
};

/* Waits up to TICK_MS for any of the three pipes, and serves them. */
static enum got turn(struct process *p, struct exchange *e)
{
    struct pollfd ends[3] = {{.fd = p->output, .events = POLLIN},
                             {.fd = p->error, .events = POLLIN},
                             {.fd = e->left > 0 ? p->input : -1, .events = POLLOUT}};
    const int64_t left = e->end - converse_ms();
    enum got got = GOT_NOTHING;
    ssize_t n;

    if (poll(ends, 3, left <= 0 ? 0 : left < TICK_MS ? (int)left : TICK_MS) <= 0) {
        /* Another process may hold the pipe open. */
        e->ended = process_has_ended(p) && poll(ends, 1, 0) == 0;
        return GOT_NOTHING;
    }
    if (ends[1].revents != 0)
        take_tail(p);
    if (ends[0].revents != 0) {
        got = take_output(p, e->limits.bytes);
        e->ended = got == GOT_END;
    }
    if (ends[2].revents == 0)
        return got;
    n = child_write(p->input, e->text, e->left);
    if (n > 0) {
        e->text += n;
        e->left -= (size_t)n;
    } else if (n < 0 && errno == EPIPE) {
        e->left = 0; /* its output shows how it ended */
    }
    return got;
}

/* Continues until the first end of a line, and until the request was sent. */
static int exchange_lines(struct process *p, struct exchange *e, char reason[PROCESS_REASON])
{
    size_t searched = 0;
    bool whole = false;

    for (;;) {
        const size_t before = p->length;
        const int64_t now = converse_ms();
        const enum got got = turn(p, e);

        whole = whole ||
                (p->length > searched && memchr(p->line + searched, '\n', p->length - searched));
        searched = p->length;
        if (whole && e->left == 0)
            return 0;
        if (got == GOT_TOO_MUCH || got == GOT_NO_MEMORY || p->length > e->limits.bytes) {
            char what[80] = "no memory for a longer answer";

            if (got != GOT_NO_MEMORY)
                snprintf(what, sizeof what, "wrote more than the %zu bytes that an answer can have",
                         e->limits.bytes);
            say_text(what, p->line, p->length, reason);
            return -1;
        }
        if (e->ended) {
            if (p->length > 0)
                say_text("the process ended in the middle of a line", p->line, p->length, reason);
            else
                say_how_it_ended(p, reason);
            return -1;
        }
        /* We may have been stopped for longer than the limit: bytes that came during that time were
         * in time. */
        if (now >= e->end && (p->length == before || now >= e->end + GRACE_MS)) {
            const int limit_ms = e->limits.ms;
            const bool sent = e->left == 0;
            char text[EXCERPT];

            p->fell = sent && p->length == 0;
            process_excerpt(p->line, p->length, text, sizeof text);
            if (!sent)
                snprintf(reason, PROCESS_REASON, "the process did not read its request within %g s",
                         limit_ms / 1000.0);
            else if (p->length == 0)
                snprintf(reason, PROCESS_REASON,
                         "no answer within %g s: exec@SECONDS or torch@SECONDS gives it more",
                         limit_ms / 1000.0);
            else
                snprintf(reason, PROCESS_REASON, "only half a line within %g s: '%s'",
                         limit_ms / 1000.0, text);
            return -1;
        }
    }
}

/* Between two requests the process must not write. */
static int expect_silence(struct process *p, char reason[PROCESS_REASON])
{
    p->length = 0;
    if (take_output(p, PIECE) != GOT_SOME)
        return 0;
    say_text("wrote without being asked", p->line, p->length, reason);
    return -1;
}

int process_ask(struct process *p, const char *line, size_t length, struct process_limits limits,
                char reason[PROCESS_REASON])
{
    struct exchange e = {.text = line, .left = length, .limits = limits};
    char *newline;

    e.end = converse_ms() + limits.ms;
    if (expect_silence(p, reason) != 0 || exchange_lines(p, &e, reason) != 0)
        return -1;
    newline = memchr(p->line, '\n', p->length);
    if (newline + 1 != p->line + p->length) {
        say_text("wrote more than one line", newline + 1,
                 p->length - (size_t)(newline + 1 - p->line), reason);
        return -1;
    }
    *newline = '\0';
    --p->length;
    return 0;
}
