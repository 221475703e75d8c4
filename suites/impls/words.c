/* words.c: the tables of words.h. */
#include "words.h"

#include <stdio.h>
#include <string.h>

static const char *const capability_words[IMPL_CAPABILITIES] = {
    "split",    "scatter",   "gather",       "broadcast",   "reduce",     "apply",
    "buckets",  "sampler",   "parallel",     "functional",  "arguments",  "trace",
    "traffic",  "transfers", "memory",       "ddp",         "batch_norm", "find_unused",
    "launches", "overlap",   "unlike_ranks", "transformer", "adamw",      "join",
    "strides",  "double",    "half",         "scalars",     "calls"};

static const struct {
    const char *word;
    enum impl_choice choice[IMPL_MAX_CHOICES];
} dialects[IMPL_DIALECTS] = {
    [IMPL_REPLICA_0] = {"replica_0", {IMPL_ALIAS, IMPL_CLONE}},
    [IMPL_UNUSED] = {"unused", {IMPL_ZERO, IMPL_ABSENT}},
    [IMPL_UNEQUAL_ROWS] = {"unequal_rows", {IMPL_REFUSE, IMPL_TRUNCATE}},
    [IMPL_SINGLE_OUTPUT] = {"single_output", {IMPL_IGNORE, IMPL_HONOUR}},
    [IMPL_FAILING] = {"failing", {IMPL_LOWEST, IMPL_FIRST}},
    [IMPL_NO_ROWS] = {"no_rows", {IMPL_EMPTY, IMPL_REFUSE}},
    [IMPL_ZERO_SIZE] = {"zero_size", {IMPL_ACCEPT, IMPL_REFUSE}},
    [IMPL_DUPLICATES] = {"duplicates", {IMPL_REFUSE, IMPL_ACCEPT}},
    [IMPL_NESTED] = {"nested", {IMPL_REFUSE, IMPL_ACCEPT}},
    [IMPL_SHARD_0] = {"shard_0", {IMPL_VIEW, IMPL_COPY}},
    [IMPL_FUNCTIONAL_HOST] = {"functional_host", {IMPL_CALL, IMPL_REFUSE}},
    [IMPL_EMPTY_IDS] = {"empty_ids", {IMPL_REFUSE, IMPL_ALL, IMPL_CALL}},
    [IMPL_BORROWED] = {"borrowed", {IMPL_REFUSE, IMPL_BASE}},
    [IMPL_MIXED_RANKS] = {"mixed_ranks", {IMPL_REFUSE, IMPL_ACCEPT}},
    [IMPL_ARGUMENTS_ONLY] = {"arguments_only", {IMPL_ALL, IMPL_CALL}},
    [IMPL_SUMS] = {"sums", {IMPL_LISTED, IMPL_FREE}},
};

static const char *const choice_words[] = {
    [IMPL_UNDECLARED] = "undeclared",
    [IMPL_ALIAS] = "alias",
    [IMPL_CLONE] = "clone",
    [IMPL_ZERO] = "zero",
    [IMPL_ABSENT] = "absent",
    [IMPL_REFUSE] = "refuse",
    [IMPL_TRUNCATE] = "truncate",
    [IMPL_IGNORE] = "ignore",
    [IMPL_HONOUR] = "honour",
    [IMPL_LOWEST] = "lowest",
    [IMPL_FIRST] = "first",
    [IMPL_EMPTY] = "empty",
    [IMPL_ACCEPT] = "accept",
    [IMPL_VIEW] = "view",
    [IMPL_COPY] = "copy",
    [IMPL_CALL] = "call",
    [IMPL_ALL] = "all",
    [IMPL_BASE] = "base",
    [IMPL_LISTED] = "listed",
    [IMPL_FREE] = "free",
};

static const struct {
    const char *word, *exception; /* of errors.py in suites/python; NULL: none alone */
} statuses[] = {
    [IMPL_OK] = {"ok", NULL},
    [IMPL_EINVAL] = {"inval", "TypeError"},
    [IMPL_ESHAPE] = {"shape", "ValueError"},
    [IMPL_EDEVICE] = {"device", NULL},
    [IMPL_EFAULT] = {"fault", "RuntimeError"},
    [IMPL_ENODEV] = {"nodev", NULL},
    [IMPL_ENOTSUP] = {"notsup", NULL},
    [IMPL_EROOM] = {"room", NULL},
    [IMPL_EBROKEN] = {"broken", NULL},
    [IMPL_ELOST] = {"lost", NULL},
};

static const struct {
    const char *word;
    size_t bytes;
} dtypes[] = {
    [IMPL_NONE] = {"none", 0}, [IMPL_F32] = {"f32", 4}, [IMPL_F64] = {"f64", 8},
    [IMPL_I32] = {"i32", 4},   [IMPL_I64] = {"i64", 8},
};

enum {
    CHOICES = sizeof choice_words / sizeof choice_words[0],
    DTYPES = sizeof dtypes / sizeof dtypes[0],
    STATUSES = sizeof statuses / sizeof statuses[0]
};

const char *impl_capability_word(uint64_t capability)
{
    for (int i = 0; i < IMPL_CAPABILITIES; ++i)
        if (capability == (uint64_t)1 << i)
            return capability_words[i];
    return "unknown";
}

uint64_t impl_capability_of(const char *word)
{
    for (int i = 0; i < IMPL_CAPABILITIES; ++i)
        if (strcmp(capability_words[i], word) == 0)
            return (uint64_t)1 << i;
    return 0;
}

const char *impl_dialect_word(enum impl_dialect dialect)
{
    return (unsigned)dialect < IMPL_DIALECTS ? dialects[dialect].word : "unknown";
}

int impl_dialect_of(const char *word)
{
    for (int i = 0; i < IMPL_DIALECTS; ++i)
        if (strcmp(dialects[i].word, word) == 0)
            return i;
    return -1;
}

int impl_dialect_choices(enum impl_dialect dialect, enum impl_choice choices[IMPL_MAX_CHOICES])
{
    int n = 0;

    for (int i = 0; i < IMPL_MAX_CHOICES; ++i) {
        choices[i] =
            (unsigned)dialect < IMPL_DIALECTS ? dialects[dialect].choice[i] : IMPL_UNDECLARED;
        n += choices[i] != IMPL_UNDECLARED;
    }
    return n;
}

bool impl_dialect_allows(enum impl_dialect dialect, enum impl_choice choice)
{
    enum impl_choice choices[IMPL_MAX_CHOICES];
    const int n = impl_dialect_choices(dialect, choices);

    for (int i = 0; i < n; ++i)
        if (choices[i] == choice)
            return true;
    return false;
}

const char *impl_choice_word(enum impl_choice choice)
{
    return (unsigned)choice < CHOICES ? choice_words[choice] : "unknown";
}

enum impl_choice impl_choice_of(const char *word)
{
    for (int i = 1; i < CHOICES; ++i)
        if (strcmp(choice_words[i], word) == 0)
            return (enum impl_choice)i;
    return IMPL_UNDECLARED;
}

int impl_status_of(const char *word)
{
    for (int i = 0; i < STATUSES; ++i)
        if (strcmp(statuses[i].word, word) == 0)
            return i;
    return -1;
}

const char *impl_status_word(int status)
{
    return status >= 0 && status < STATUSES ? statuses[status].word : "unknown";
}

const char *impl_status_list(unsigned allowed, char *text, size_t bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < STATUSES; ++i) {
        const char *python = statuses[i].exception;

        if ((allowed >> i & 1) != 0 && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s%s%s%s", used > 0 ? ", " : "",
                                     statuses[i].word, python ? " (in Python " : "",
                                     python ? python : "", python ? ")" : "");
    }
    return text;
}

const char *impl_dtype_word(enum impl_dtype dtype)
{
    return (unsigned)dtype < DTYPES ? dtypes[dtype].word : "unknown";
}

enum impl_dtype impl_dtype_of(const char *word)
{
    for (int i = 1; i < DTYPES; ++i)
        if (strcmp(dtypes[i].word, word) == 0)
            return (enum impl_dtype)i;
    return IMPL_NONE;
}

size_t impl_dtype_bytes(enum impl_dtype dtype)
{
    return (unsigned)dtype < DTYPES ? dtypes[dtype].bytes : 0;
}
