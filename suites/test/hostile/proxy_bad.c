/* proxy_bad.c: what is left of a session whose process is bad. hostile.sh has each way in which one
 * can be, and the line of its error. */
#include "proxy.h"

#include <string.h>
#include <time.h>

static int call(const struct impl_source *source, struct impl_session *session,
                struct impl_error *err)
{
    struct impl_split split = {.rows = 10, .devices = 4};

    memset(err, 0, sizeof *err);
    return source->ops->split(session, &split, err);
}

/* A session that broke fails at once, in the same words, and can be closed. */
static void stays_dead(struct proxy_tally *tally, const char *mode,
                       const struct impl_source *source, struct impl_session *session,
                       const struct impl_error *first)
{
    struct timespec before, after;
    struct impl_error err;
    struct impl_model *model;

    clock_gettime(CLOCK_MONOTONIC, &before);
    proxy_expect(tally,
                 call(source, session, &err) == IMPL_EBROKEN && strcmp(err.text, first->text) == 0,
                 "%s: afterwards: '%s'", mode, err.text);
    proxy_expect(tally, source->ops->reset(session, &err) == IMPL_EBROKEN, "%s: reset succeeds",
                 mode);
    proxy_expect(tally, source->ops->model_open(session, "", 1, &model, &err) == IMPL_EBROKEN,
                 "%s: model_open succeeds", mode);
    clock_gettime(CLOCK_MONOTONIC, &after);
    proxy_expect(tally, after.tv_sec - before.tv_sec < 2, "%s: a dead session takes its time",
                 mode);
}

/* A mode of lockstep_serve ends the session, or is no fault of it (IMPL_OK, IMPL_EROOM). */
static void one(struct proxy_tally *tally, const struct proxy_paths *paths, const char *mode,
                int wanted)
{
    struct impl_source source;
    struct impl_about about;
    struct impl_session *session;
    struct impl_error err;
    char spec[2048];

    snprintf(spec, sizeof spec, "exec@10:exec '%s' '%s' %s", paths->serve, paths->echo, mode);
    session = proxy_open(tally, spec, "", &source, &about);
    if (!session)
        return;
    const int status = call(&source, session, &err);
    proxy_expect(tally, status == wanted, "%s: status %d, '%s'", mode, status, err.text);
    if (wanted == IMPL_EBROKEN)
        stays_dead(tally, mode, &source, session, &err);
    else
        proxy_expect(tally, source.ops->reset(session, &err) == IMPL_OK, "%s: %s", mode, err.text);
    source.ops->close(session);
}

/* A line that is written after the answer is found with the next request. On a busy machine both
 * may be there before the answer is read, and the error says so: then it returns false, to be tried
 * again. */
static bool late_word_once(struct proxy_tally *tally, const char *spec)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    struct impl_source source;
    struct impl_about about;
    struct impl_error err;
    struct impl_session *session = proxy_open(tally, spec, "", &source, &about);
    bool apart = true;

    if (!session)
        return true;
    if (call(&source, session, &err) != IMPL_OK) {
        apart = !strstr(err.text, "split: wrote more than one line: 'by the way");
        proxy_expect(tally, !apart, "late-word: %s", err.text);
    } else {
        nanosleep(&pause, NULL);
        proxy_expect(tally,
                     call(&source, session, &err) == IMPL_EBROKEN &&
                         strstr(err.text, "split: wrote without being asked: 'by the way"),
                     "late-word: '%s'", err.text);
    }
    source.ops->close(session);
    return apart;
}

static void late_word(struct proxy_tally *tally, const struct proxy_paths *paths)
{
    enum { ATTEMPTS = 20 };
    char spec[2048];
    bool apart = false;

    snprintf(spec, sizeof spec, "exec@2:'%s' '%s' late-word", paths->serve, paths->echo);
    for (int i = 0; i < ATTEMPTS && !apart; ++i)
        apart = late_word_once(tally, spec);
    proxy_expect(tally, apart, "late-word: always read with the answer, %d times", ATTEMPTS);
}

void proxy_bad(struct proxy_tally *tally, const struct proxy_paths *paths)
{
    one(tally, paths, "rubbish", IMPL_EBROKEN);
    one(tally, paths, "crash", IMPL_EBROKEN);
    one(tally, paths, "many", IMPL_EROOM);
    one(tally, paths, "background", IMPL_OK);
    one(tally, paths, "talkative", IMPL_OK);
    late_word(tally, paths);
}
