/* case.c: runs one case on a session, and says that it passed. Only this file says so. */
#include "inside.h"

#include "impls/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the case if it cannot be judged with this implementation. */
static void check_requirements(struct check *c)
{
    const struct check_case *test = c->test;
    const struct impl_about *about = &c->session->about;
    const uint64_t missing = test->needs & ~about->capabilities;

    if (missing != 0 && test->obligation == MAY)
        check_skip(c, "optional, and not claimed");
    if (missing != 0)
        check_fail(c, "requires the capability '%s', which is not claimed",
                   impl_capability_word(missing & (~missing + 1)));
    if (about->devices < test->devices)
        check_few_devices(c, test->devices);
    if (test->choice != IMPL_UNDECLARED && check_choice(c, test->dialect) != test->choice)
        check_skip(c, "it chose the other allowed behaviour, which other cases test");
}

static void reset_session(struct check *c)
{
    char changed[AROUND_WORDS];
    int status;

    call_begin(c, "reset");
    status = c->session->ops->reset(c->session->session, &c->error);
    state_after(c->settings, &c->around, changed);
    check_clean(c->error.text, sizeof c->error.text);
    if (status != IMPL_OK && state_fell(c->settings, c->session->session)) {
        c->outcome->fell = true;
        check_fail(c, "%s", c->error.text);
    }
    if (status != IMPL_OK)
        check_broken(c, "reset failed (%s): %s", impl_status_word(status), c->error.text);
    if (changed[0] != '\0')
        check_fail(c, "reset changed %s", changed);
}

static void pass(struct check *c)
{
    guard_end(c);
    check_note(c, "%s", "");
    /* Every operation that was refused must have been accepted at another time. */
    for (const struct asked *asked = c->asked; asked->what; ++asked)
        if (asked->refused && !asked->accepted)
            check_fail(c, "%s was refused each time: a right one must be accepted", asked->what);
    if (c->outcome->compared == 0)
        check_fail(c, "the case compared nothing");
    c->outcome->verdict = CHECK_PASS;
}

/* This is a separate function because local variables must not change between setjmp and
 * longjmp. */
static void run_to_its_end(struct check *c)
{
    switch (setjmp(c->leave)) {
    case 0:
        check_requirements(c);
        reset_session(c);
        check_turns(c);
        pass(c);
        break;
    case LEAVE_ENOUGH:
        pass(c);
        break;
    default:
        break;
    }
}

static void judge_death(struct check *c, struct check_session *s)
{
    const char *why = state_dead(c->settings, s->session);

    if (!why || c->outcome->verdict == CHECK_BROKEN || c->outcome->fell)
        return;
    c->outcome->fell = state_fell(c->settings, s->session);
    c->outcome->verdict = c->outcome->fell ? CHECK_FAIL : CHECK_BROKEN;
    snprintf(c->outcome->reason, sizeof c->outcome->reason, "when the case had ended: %s", why);
    check_clean(c->outcome->reason, sizeof c->outcome->reason);
}

static void close_other_sessions(struct check *c)
{
    char reason[600];

    if (c->host_only.ops && check_session_end(&c->host_only, reason) != 0)
        check_after(c->outcome, "a session without devices: %s", reason);
    if (c->second.ops && check_session_end(&c->second, reason) != 0)
        check_after(c->outcome, "a second session: %s", reason);
}

void check_run(const struct check_case *test, struct check_session *s,
               const struct check_settings *settings, struct check_outcome *outcome)
{
    struct check *c = calloc(1, sizeof *c);
    const enum arena_kind kind = settings->foreign ? ARENA_FENCED : ARENA_PLAIN;
    struct arena own = {.base = NULL};

    memset(outcome, 0, sizeof *outcome);
    outcome->verdict = CHECK_BROKEN;
    if (!c || (!settings->wall && arena_open(&own, kind) != 0)) {
        snprintf(outcome->reason, sizeof outcome->reason, "no address space for arrays");
        free(c);
        return;
    }
    c->test = test;
    c->settings = settings;
    c->session = c->own = s;
    c->outcome = outcome;
    c->arena = settings->wall ? &settings->wall->arena : &own;
    run_to_its_end(c);
    check_close_models(c);
    close_other_sessions(c);
    judge_death(c, s);
    check_free_memory(c);
    arena_close(&own);
    free(c);
}
