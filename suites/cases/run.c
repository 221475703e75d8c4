/* run.c: runs one case: its session, its verdict, and its messages. */
#include "inside.h"

#include "impls/words.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void check_clean(char *text, size_t bytes)
{
    text[bytes - 1] = '\0';
    for (size_t i = 0; text[i] != '\0'; ++i)
        if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] > 0x7e)
            text[i] = '?';
}

/* "1 rows" becomes "1 row". Cases write the plural after each number. */
static void make_singular(char *text)
{
    static const char *const words[] = {"devices", "ranks",  "rows",    "shards",    "parts",
                                        "outputs", "inputs", "numbers", "elements",  "dimensions",
                                        "bytes",   "lists",  "tensors", "replicas",  "calls",
                                        "columns", "floats", "arrays",  "parameters"};

    for (char *at = text; (at = strstr(at, "1 ")); ++at)
        for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
            char *const end = at + 2 + strlen(words[i]);
            const bool alone = at == text || strchr(" (", at[-1]);

            if (alone && strncmp(at + 2, words[i], strlen(words[i])) == 0 &&
                !isalnum((unsigned char)*end))
                memmove(end - 1, end, strlen(end) + 1);
        }
}

/* ---- verdicts ------------------------------------------------------------------------------ */

static void run_say(struct check *c, enum check_verdict verdict, const char *format, va_list args)
{
    char *text = c->outcome->reason;
    const size_t bytes = sizeof c->outcome->reason;
    const bool after = verdict == CHECK_FAIL && c->refused;
    const int used = snprintf(text, bytes, "%s%s", c->note, after ? "after the refusal: " : "");

    c->outcome->verdict = verdict;
    vsnprintf(text + used, bytes - (size_t)used, format, args);
    check_clean(text, bytes);
    make_singular(text);
    if (verdict == CHECK_FAIL)
        scenario_write(c, c->outcome->scenario, sizeof c->outcome->scenario);
}

void check_fail(struct check *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    run_say(c, CHECK_FAIL, format, args);
    va_end(args);
    longjmp(c->leave, LEAVE_JUDGED);
}

void check_skip(struct check *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    run_say(c, CHECK_SKIP, format, args);
    va_end(args);
    longjmp(c->leave, LEAVE_JUDGED);
}

void check_few_devices(struct check *c, int needed)
{
    c->outcome->few_devices = needed;
    check_note(c, "%s", "");
    check_skip(c, "needs %d devices, there are %d", needed, check_devices(c));
}

void check_broken(struct check *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    run_say(c, CHECK_BROKEN, format, args);
    va_end(args);
    longjmp(c->leave, LEAVE_JUDGED);
}

/* A note is written with the letters of RULES.md and read in words: "K=4 N=10: " becomes "4
 * devices, 10 rows: ". */
void check_note(struct check *c, const char *format, ...)
{
    static const char letters[] = "KRN";
    static const char *const names[] = {"device", "rank", "row"};
    char text[sizeof c->note];
    size_t used = 0;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->note[0] = '\0';
    c->refused = false;
    for (const char *at = text; *at != '\0' && used + 1 < sizeof c->note;) {
        const bool is_letter = at[1] == '=' && (at == text || at[-1] == ' ');
        const char *letter = is_letter ? strchr(letters, *at) : NULL;
        const size_t digits = letter ? strspn(at + 2, "0123456789") : 0;
        const bool joined = digits > 0 && used > 1 && c->note[used - 2] != ',';

        used -= joined;
        if (digits == 0)
            used += (size_t)snprintf(c->note + used, sizeof c->note - used, "%c", *at);
        else
            used += (size_t)snprintf(c->note + used, sizeof c->note - used, "%s%.*s %ss%s",
                                     joined ? ", " : "", (int)digits, at + 2,
                                     names[letter - letters], at[2 + digits] == ' ' ? "," : "");
        at += digits == 0 ? 1 : 2 + digits;
    }
}

/* Adds a fault that is found when the case has ended. It does not replace an earlier failure. */
void check_after(struct check_outcome *outcome, const char *format, ...)
{
    va_list args;

    if (outcome->verdict == CHECK_FAIL || outcome->verdict == CHECK_BROKEN)
        return;
    va_start(args, format);
    vsnprintf(outcome->reason, sizeof outcome->reason, format, args);
    va_end(args);
    check_clean(outcome->reason, sizeof outcome->reason);
    make_singular(outcome->reason);
    outcome->verdict = CHECK_FAIL;
}

/* ---- what surrounds a call ------------------------------------------------------------------- */

void state_before(const struct check_settings *settings, struct around *around)
{
    if (!settings->wall)
        around_begin(around);
}

void state_after(const struct check_settings *settings, const struct around *around,
                 char words[AROUND_WORDS])
{
    if (settings->wall)
        snprintf(words, AROUND_WORDS, "%s", settings->wall->changed);
    else
        around_end(around, words);
}

const char *state_dead(const struct check_settings *settings, struct impl_session *session)
{
    if (settings->wall)
        return wall_dead(settings->wall);
    return settings->dead && session ? settings->dead(session) : NULL;
}

bool state_fell(const struct check_settings *settings, struct impl_session *session)
{
    if (settings->wall)
        return settings->wall->fell;
    return settings->fell && session && settings->fell(session);
}

/* ---- circumstances ------------------------------------------------------------------------- */

int check_devices(const struct check *c)
{
    return c->session->about.devices;
}

const char *check_device_name(const struct check *c, int device)
{
    if (device < 0 || device >= check_devices(c))
        return "host";
    return c->session->about.device_name[device];
}

bool check_has(const struct check *c, uint64_t capabilities)
{
    return (c->session->about.capabilities & capabilities) == capabilities;
}

int check_variant(const struct check *c)
{
    return c->test->variant;
}

enum impl_choice check_choice(struct check *c, enum impl_dialect dialect)
{
    const enum impl_choice choice = c->session->about.dialect[dialect];

    if (choice == IMPL_UNDECLARED)
        check_fail(c, "dialect \"%s\" must be declared", impl_dialect_word(dialect));
    return choice;
}

uint64_t check_seed(const struct check *c)
{
    return c->settings->seed;
}

uint64_t check_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

size_t check_resident(struct check *c)
{
    size_t bytes = 0;
    int status = -1;

    if (!c->settings->resident && !c->settings->wall) {
        unsigned long long total, resident = 0;
        FILE *file = fopen("/proc/self/statm", "r");

        if (!file)
            check_skip(c, "no /proc/self/statm here: memory cannot be seen");
        if (fscanf(file, "%llu %llu", &total, &resident) != 2)
            resident = 0;
        fclose(file);
        if (resident == 0)
            check_broken(c, "/proc/self/statm cannot be read");
        return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
    }
    status = c->settings->wall ? wall_resident(c->settings->wall, &bytes)
                               : c->settings->resident(c->session->session, &bytes);
    if (status != 0 || bytes == 0)
        check_broken(c, "the memory of the implementation's process cannot be read");
    return bytes;
}

int check_shards(size_t rows, int devices, size_t size[IMPL_MAX_DEVICES])
{
    const size_t k = (size_t)devices;
    const size_t most = (rows + k - 1) / k;
    int m = 0;

    if (rows == 0) {
        for (m = 0; m < devices; ++m)
            size[m] = 0;
        return m;
    }
    for (size_t left = rows; left > 0; left -= size[m++])
        size[m] = left < most ? left : most;
    return m;
}

/* ---- sessions ------------------------------------------------------------------------------ */

struct needed {
    uint64_t capability;
    bool present;
};

static bool operations_match(const struct impl_ops *ops, uint64_t capabilities)
{
    const bool models = ops->model_open && ops->model_close && ops->params && ops->param &&
                        ops->set && ops->get && ops->to && ops->zero_grad && ops->forward &&
                        ops->backward && ops->step;
    const struct needed needed[] = {
        {IMPL_CAP_SPLIT, ops->split != NULL},       {IMPL_CAP_SCATTER, ops->scatter != NULL},
        {IMPL_CAP_GATHER, ops->gather != NULL},     {IMPL_CAP_BROADCAST, ops->broadcast != NULL},
        {IMPL_CAP_REDUCE, ops->reduce != NULL},     {IMPL_CAP_APPLY, ops->apply != NULL},
        {IMPL_CAP_BUCKETS, ops->buckets != NULL},   {IMPL_CAP_SAMPLER, ops->sampler != NULL},
        {IMPL_CAP_PARALLEL | IMPL_CAP_DDP, models},
    };

    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; ++i)
        if ((capabilities & needed[i].capability) != 0 && !needed[i].present)
            return false;
    return true;
}

const char *check_about(struct impl_about *about)
{
    check_clean(about->name, sizeof about->name);
    check_clean(about->version, sizeof about->version);
    check_clean(about->blas, sizeof about->blas);
    check_clean(about->gpu_software, sizeof about->gpu_software);
    if (about->name[0] == '\0')
        return "it has no name";
    if (about->devices < 0 || about->devices > IMPL_MAX_DEVICES)
        return "its number of devices is not 0..64";
    for (int i = 0; i < about->devices; ++i)
        check_clean(about->device_name[i], sizeof about->device_name[i]);
    for (int i = 0; i < IMPL_DIALECTS; ++i)
        if (about->dialect[i] != IMPL_UNDECLARED &&
            !impl_dialect_allows((enum impl_dialect)i, about->dialect[i]))
            return "a dialect is declared with a choice that it does not have";
    return NULL;
}

/* If it fails there is nothing to close, but s->fault says whether the implementation is to
 * blame. */
static int call_open(struct check_session *s, const struct impl_ops *ops, bool host_only,
                     char reason[600])
{
    const struct check_settings *settings = s->settings;
    const struct wall_config config = {
        {settings->devices, settings->options, host_only, settings->schedule}, settings->wall};
    struct impl_error err = {.replica = -1, .device = IMPL_NOWHERE, .device_also = IMPL_NOWHERE};
    char changed[AROUND_WORDS];
    struct around around;
    int status;

    if (settings->doing)
        snprintf(settings->doing, 64, "open");
    state_before(settings, &around);
    status = ops->open(&config.impl, &s->about, &s->session, &err);
    state_after(settings, &around, changed);
    s->ops = status == IMPL_OK && s->session ? ops : NULL;
    check_clean(err.text, sizeof err.text);
    if (!s->ops) {
        s->fault = state_fell(settings, NULL);
        if (s->fault || (status == IMPL_EBROKEN && err.text[0] != '\0'))
            snprintf(reason, 600, "%s", err.text);
        else if (settings->required > 0 && status == IMPL_ENODEV)
            snprintf(reason, 600, "--require-devices %zu: %s", settings->required, err.text);
        else
            snprintf(reason, 600, "open failed (%s): %s", impl_status_word(status),
                     err.text[0] != '\0' ? err.text : "no reason given");
        s->fault = s->fault || (settings->required > 0 && status == IMPL_ENODEV);
        return -1;
    }
    s->fault = changed[0] != '\0';
    if (!s->fault)
        return 0;
    snprintf(reason, 600, "open changed %s", changed);
    return -1;
}

static int run_open_session(struct check_session *s, const struct impl_ops *ops,
                            const struct check_settings *settings, bool host_only, char reason[600])
{
    memset(s, 0, sizeof *s);
    s->settings = settings;
    if (call_open(s, ops, host_only, reason) == 0) {
        const char *fault = check_about(&s->about);

        if (!fault && !operations_match(ops, s->about.capabilities))
            fault = "it claims a capability and has no operation for it";
        if (!fault && host_only && s->about.devices != 0)
            fault = "a session with host_only has devices";
        if (!fault)
            return 0;
        snprintf(reason, 600, "open: %s", fault);
    }
    const bool to_blame = s->fault;

    check_session_close(s);
    s->fault = to_blame;
    return -1;
}

int check_session_open(struct check_session *s, const struct impl_ops *ops,
                       const struct check_settings *settings, char reason[600])
{
    return run_open_session(s, ops, settings, false, reason);
}

int check_session_end(struct check_session *s, char reason[600])
{
    const struct check_settings *settings = s->settings;
    const bool dead = s->ops && state_dead(settings, s->session) != NULL;
    char changed[AROUND_WORDS] = "";
    struct around around;

    reason[0] = '\0';
    if (s->ops) {
        state_before(settings, &around);
        s->ops->close(s->session);
        state_after(settings, &around, changed);
        if (!dead && settings->wall && wall_dead(settings->wall))
            snprintf(reason, 600, "%s", wall_dead(settings->wall));
        else if (changed[0] != '\0')
            snprintf(reason, 600, "close changed %s", changed);
    }
    memset(s, 0, sizeof *s);
    return reason[0] != '\0' ? -1 : 0;
}

void check_session_close(struct check_session *s)
{
    char ignored[600];

    check_session_end(s, ignored);
}

struct check_session *check_host_session(struct check *c)
{
    char reason[600];

    if (!c->host_only.ops &&
        run_open_session(&c->host_only, c->own->ops, c->settings, true, reason) != 0)
        check_fail(c, "a session without devices: %s", reason);
    return &c->host_only;
}

struct check_session *check_second_session(struct check *c)
{
    char reason[600];

    if (!c->second.ops &&
        run_open_session(&c->second, c->own->ops, c->settings, false, reason) != 0)
        check_fail(c, "a second session: %s", reason);
    return &c->second;
}

void check_second_close(struct check *c)
{
    char reason[600];

    if (c->session == &c->second || !c->second.ops)
        check_broken(c, "the case closes a session that it uses, or has none");
    if (c->settings->doing)
        snprintf(c->settings->doing, 64, "close");
    if (check_session_end(&c->second, reason) != 0)
        check_fail(c, "a second session: %s", reason);
}

void check_use(struct check *c, struct check_session *s)
{
    c->session = s ? s : c->own;
}
