/* session.c: the list of bugs, sessions, and the capabilities and dialects that they declare. */
#include "inside.h"
#include "mutants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct mutant mutant_list[] = {
#define BUG(number, name, rule, what) [number] = {name, rule, what},
#include "bug_list.h"
#undef BUG
};
const int mutant_n = BUG_NONE;

int mutant_find(const char *name)
{
    int i = 0;

    while (i < mutant_n && strcmp(mutant_list[i].name, name) != 0)
        ++i;
    return i;
}

static const enum impl_choice python[IMPL_DIALECTS] = {
    [IMPL_REPLICA_0] = IMPL_ALIAS,      [IMPL_UNUSED] = IMPL_ZERO,
    [IMPL_UNEQUAL_ROWS] = IMPL_REFUSE,  [IMPL_SINGLE_OUTPUT] = IMPL_IGNORE,
    [IMPL_FAILING] = IMPL_LOWEST,       [IMPL_NO_ROWS] = IMPL_EMPTY,
    [IMPL_ZERO_SIZE] = IMPL_ACCEPT,     [IMPL_DUPLICATES] = IMPL_ACCEPT,
    [IMPL_NESTED] = IMPL_REFUSE,        [IMPL_SHARD_0] = IMPL_VIEW,
    [IMPL_FUNCTIONAL_HOST] = IMPL_CALL, [IMPL_EMPTY_IDS] = IMPL_REFUSE,
    [IMPL_BORROWED] = IMPL_REFUSE,      [IMPL_MIXED_RANKS] = IMPL_REFUSE,
    [IMPL_ARGUMENTS_ONLY] = IMPL_ALL,   [IMPL_SUMS] = IMPL_LISTED,
};

/* The other choice of every dialect, so that the cases about it run as well. */
static const enum impl_choice other[IMPL_DIALECTS] = {
    [IMPL_REPLICA_0] = IMPL_CLONE,        [IMPL_UNUSED] = IMPL_ABSENT,
    [IMPL_UNEQUAL_ROWS] = IMPL_TRUNCATE,  [IMPL_SINGLE_OUTPUT] = IMPL_HONOUR,
    [IMPL_FAILING] = IMPL_FIRST,          [IMPL_NO_ROWS] = IMPL_REFUSE,
    [IMPL_ZERO_SIZE] = IMPL_REFUSE,       [IMPL_DUPLICATES] = IMPL_REFUSE,
    [IMPL_NESTED] = IMPL_REFUSE,          [IMPL_SHARD_0] = IMPL_COPY,
    [IMPL_FUNCTIONAL_HOST] = IMPL_REFUSE, [IMPL_EMPTY_IDS] = IMPL_ALL,
    [IMPL_BORROWED] = IMPL_BASE,          [IMPL_MIXED_RANKS] = IMPL_ACCEPT,
    [IMPL_ARGUMENTS_ONLY] = IMPL_CALL,    [IMPL_SUMS] = IMPL_FREE,
};

/* Bugs that declare one thing and do another. */
struct lie {
    enum bug bug;
    enum impl_dialect dialect;
    enum impl_choice declared, done;
};
static const struct lie lies[] = {
    {BUG_SAYS_ALIAS, IMPL_REPLICA_0, IMPL_ALIAS, IMPL_CLONE},
    {BUG_SAYS_CLONE, IMPL_REPLICA_0, IMPL_CLONE, IMPL_ALIAS},
    {BUG_SAYS_ZERO, IMPL_UNUSED, IMPL_ZERO, IMPL_ABSENT},
    {BUG_SAYS_REFUSE_UNEQUAL, IMPL_UNEQUAL_ROWS, IMPL_REFUSE, IMPL_TRUNCATE},
    {BUG_SAYS_IGNORE, IMPL_SINGLE_OUTPUT, IMPL_IGNORE, IMPL_HONOUR},
    {BUG_SAYS_LOWEST, IMPL_FAILING, IMPL_LOWEST, IMPL_FIRST},
    {BUG_SAYS_EMPTY, IMPL_NO_ROWS, IMPL_EMPTY, IMPL_REFUSE},
    {BUG_SAYS_ACCEPT_ZERO, IMPL_ZERO_SIZE, IMPL_ACCEPT, IMPL_REFUSE},
    {BUG_SAYS_REFUSE_DUPLICATES, IMPL_DUPLICATES, IMPL_REFUSE, IMPL_ACCEPT},
    {BUG_SAYS_VIEW, IMPL_SHARD_0, IMPL_VIEW, IMPL_COPY},
    {BUG_SAYS_CALL, IMPL_FUNCTIONAL_HOST, IMPL_CALL, IMPL_REFUSE},
    {BUG_SAYS_REFUSE_IDS, IMPL_EMPTY_IDS, IMPL_REFUSE, IMPL_ALL},
    {BUG_SAYS_REFUSE_BORROWED, IMPL_BORROWED, IMPL_REFUSE, IMPL_BASE},
    {BUG_SAYS_REFUSE_RANKS, IMPL_MIXED_RANKS, IMPL_REFUSE, IMPL_ACCEPT},
    {BUG_SAYS_REFUSE_NO_ROWS, IMPL_NO_ROWS, IMPL_REFUSE, IMPL_EMPTY},
    {BUG_SAYS_REFUSE_ZERO, IMPL_ZERO_SIZE, IMPL_REFUSE, IMPL_ACCEPT},
    {BUG_SAYS_COPY, IMPL_SHARD_0, IMPL_COPY, IMPL_VIEW},
    {BUG_SAYS_BASE, IMPL_BORROWED, IMPL_BASE, IMPL_REFUSE},
    {BUG_SAYS_FIRST, IMPL_FAILING, IMPL_FIRST, IMPL_LOWEST},
    {BUG_NEAR_FAILURES, IMPL_FAILING, IMPL_FIRST, IMPL_FIRST},
    {BUG_SAYS_HONOUR, IMPL_SINGLE_OUTPUT, IMPL_HONOUR, IMPL_IGNORE},
    {BUG_SAYS_ABSENT, IMPL_UNUSED, IMPL_ABSENT, IMPL_ZERO},
    {BUG_SAYS_TRUNCATE, IMPL_UNEQUAL_ROWS, IMPL_TRUNCATE, IMPL_REFUSE},
    {BUG_SAYS_ACCEPT_RANKS, IMPL_MIXED_RANKS, IMPL_ACCEPT, IMPL_REFUSE},
    {BUG_SAYS_REFUSE_HOST_CALL, IMPL_FUNCTIONAL_HOST, IMPL_REFUSE, IMPL_CALL},
    {BUG_SAYS_ALL_IDS, IMPL_EMPTY_IDS, IMPL_ALL, IMPL_REFUSE},
    {BUG_SAYS_ONCE, IMPL_ARGUMENTS_ONLY, IMPL_CALL, IMPL_ALL},
    {BUG_ARGS_ONE, IMPL_ARGUMENTS_ONLY, IMPL_ALL, IMPL_CALL},
    {BUG_SAYS_LISTED, IMPL_SUMS, IMPL_LISTED, IMPL_FREE},
    {BUG_FREE_COARSE, IMPL_SUMS, IMPL_FREE, IMPL_FREE},
};

bool refuses(const struct impl_session *s, struct impl_error *err)
{
    if (bug(s, BUG_REFUSES_ALL))
        impl_fail(err, IMPL_EINVAL, "no");
    return bug(s, BUG_REFUSES_ALL);
}

/* One of the bugs takes the latest session for the only one of the process. */
static atomic_int latest_devices;
static atomic_uint sessions;

unsigned sessions_opened(void)
{
    return atomic_load(&sessions);
}

int known_device(const struct impl_session *s, int device, struct impl_error *err)
{
    const bool latest = bug(s, BUG_SESSION_DEVICES);
    const int devices = latest ? atomic_load(&latest_devices) : s->devices;

    if (device >= IMPL_HOST && device < devices)
        return 0;
    return impl_fail(err, IMPL_ENODEV, "no device %d, there are %d", device, devices);
}

/* Reads "", "12" or "virt:12". 12 are enough for every count that a case asks for. */
static int session_read_devices(const char *text, int *devices, struct impl_error *err)
{
    const char *number = strncmp(text, "virt:", 5) == 0 ? text + 5 : text;
    char *end;
    long value;

    *devices = 12;
    if (text[0] == '\0')
        return 0;
    value = strtol(number, &end, 10);
    if (end == number || *end != '\0' || value < 1 || value > IMPL_MAX_DEVICES)
        return impl_fail(err, IMPL_EINVAL, "devices '%.40s': must be virt:1 .. virt:%d", text,
                         IMPL_MAX_DEVICES);
    *devices = (int)value;
    return 0;
}

/* Reads the number of the bug, and the declared dialects; wrong statements are added later. */
static int read_bug(const char *name, enum bug *number, const enum impl_choice **dialect,
                    struct impl_error *err)
{
    const bool opposite = strcmp(name, "none-other") == 0;

    *number = (enum bug)mutant_find(name);
    *dialect = opposite || *number == BUG_IDLE_OTHER ? other : python;
    if (*number == BUG_NONE && !opposite && name[0] != '\0' && strcmp(name, "none") != 0) {
        /* An error cannot hold all names, so it has those that are closest to the given one. */
        char known[120] = "";
        size_t at = 0;

        for (int i = 0; i < mutant_n; ++i)
            if (strncmp(mutant_list[i].name, name, 2) == 0 &&
                at + strlen(mutant_list[i].name) + 2 < sizeof known)
                at += (size_t)snprintf(known + at, sizeof known - at, " %s", mutant_list[i].name);
        return impl_fail(
            err, IMPL_EINVAL, "no bug '%.40s'; known: none, none-other, %s to %s, e.g.%s", name,
            mutant_list[0].name, mutant_list[mutant_n - 1].name, at > 0 ? known : " M10-average");
    }
    return 0;
}

/* The memory in which the sessions of this process note the bugs that they ask for. */
static _Atomic(atomic_uchar *) noted;

void mutants_note(atomic_uchar asked[])
{
    atomic_store(&noted, asked);
}

int op_open(const struct impl_config *config, struct impl_about *about,
            struct impl_session **session, struct impl_error *err)
{
    struct impl_session *s = calloc(1, sizeof *s);
    const enum impl_choice *dialect = python;
    int status = !s ? impl_fail(err, IMPL_EBROKEN, "no memory")
                    : session_read_devices(config->devices, &s->devices, err);

    if (status == 0)
        status = read_bug(config->options, &s->bug, &dialect, err);
    if (status != 0) {
        free(s);
        return status;
    }
    if (config->host_only)
        s->devices = 0;
    pthread_mutex_init(&s->hands.lock, NULL);
    s->asked = atomic_load(&noted);
    memcpy(s->dialect, dialect, sizeof s->dialect);
    const char *options = config->options;
    memset(about, 0, sizeof *about);
    snprintf(about->name, sizeof about->name, "lockstep mutant");
    snprintf(about->version, sizeof about->version, "%.60s", options[0] == '\0' ? "none" : options);
    about->devices = s->devices;
    for (int i = 0; i < s->devices; ++i)
        snprintf(about->device_name[i], sizeof about->device_name[i], "simulated:%d", i);
    about->capabilities = IMPL_CAP_SPLIT | IMPL_CAP_SCATTER | IMPL_CAP_GATHER | IMPL_CAP_BROADCAST |
                          IMPL_CAP_REDUCE | IMPL_CAP_APPLY | IMPL_CAP_BUCKETS | IMPL_CAP_SAMPLER |
                          IMPL_CAP_PARALLEL | IMPL_CAP_FUNCTIONAL | IMPL_CAP_ARGUMENTS |
                          IMPL_CAP_TRACE | IMPL_CAP_TRAFFIC | IMPL_CAP_TRANSFERS | IMPL_CAP_MEMORY |
                          IMPL_CAP_DDP | IMPL_CAP_BATCH_NORM | IMPL_CAP_FIND_UNUSED |
                          IMPL_CAP_LAUNCHES | IMPL_CAP_OVERLAP | IMPL_CAP_UNLIKE_RANKS |
                          IMPL_CAP_TRANSFORMER | IMPL_CAP_ADAMW | IMPL_CAP_JOIN | IMPL_CAP_STRIDES |
                          IMPL_CAP_HALF | IMPL_CAP_SCALARS | IMPL_CAP_CALLS;
    memcpy(about->dialect, s->dialect, sizeof about->dialect);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; ++i)
        if (bug(s, lies[i].bug)) {
            about->dialect[lies[i].dialect] = lies[i].declared;
            s->dialect[lies[i].dialect] = lies[i].done;
        }
    atomic_store(&latest_devices, s->devices);
    atomic_fetch_add(&sessions, 1);
    *session = s;
    return 0;
}

int op_reset(struct impl_session *s, struct impl_error *err)
{
    (void)err;
    while (s->models)
        model_close(s->models);
    s->forwards = 0;
    s->stuck_no_grad = s->stuck_error = false;
    atomic_store(&s->cancelled, false);
    memo_forget(&s->cut);
    s->spare.n = 0;
    return 0;
}

void op_close(struct impl_session *s)
{
    op_reset(s, NULL);
    while (s->lost) {
        struct tape *tape = s->lost;

        s->lost = tape->next;
        tape_free_inside(tape);
        free(tape);
    }
    while (s->crumbs) {
        struct crumb *next = s->crumbs->next;

        free(s->crumbs);
        s->crumbs = next;
    }
    hands_close(&s->hands);
    free(s);
}
