/* registry.c: what there can be. The one place that lists kinds of devices, backends and
 * communicators. A row whose table has no operations is known, and not in this build. */
#include "backend.h"

#include <stdlib.h>
#include <string.h>

enum { VIRT, CUDA, KINDS };

static int parse_virtual(const char *text, struct dp_device_list *list, struct dp_error *err);

static const struct dp_kind kinds[KINDS] = {
    [VIRT] = {"virt", "virtual devices", DP_KIND_CORES, &dp_device_cpu, parse_virtual, NULL},
    [CUDA] = {"cuda", "GPUs", DP_KIND_GPU | DP_KIND_TF32 | DP_KIND_LISTED | DP_KIND_PEERS,
              &dp_device_cuda, dp_cuda_list, dp_cuda_software},
};

static const struct dp_backend backends[] = {
    {"cpu", &kinds[VIRT], dp_kernels_blas, &dp_comm_threads},
    {"cpu-ref", &kinds[VIRT], dp_kernels_ref, &dp_comm_staged},
    {"cuda", &kinds[CUDA], dp_kernels_blas, &dp_comm_peer},
    {"cuda-staged", &kinds[CUDA], dp_kernels_ref, &dp_comm_staged},
};
enum { BACKENDS = sizeof backends / sizeof *backends };

static const struct dp_comm_ops *const communicators[] = {
    &dp_comm_threads,
    &dp_comm_staged,
    &dp_comm_peer,
};
enum { COMMUNICATORS = sizeof communicators / sizeof *communicators };

static bool is_built(const struct dp_kind *kind)
{
    return kind->ops->open != NULL;
}

/* "cpu, cpu-ref" */
struct names {
    char text[160];
    size_t used;
};

static void add_name(struct names *names, const char *name)
{
    const size_t length = strlen(name), comma = names->used > 0 ? 2 : 0;
    if (names->used + comma + length + 1 > sizeof names->text)
        return;
    memcpy(names->text + names->used, ", ", comma);
    memcpy(names->text + names->used + comma, name, length + 1);
    names->used += comma + length;
}

/* The host is a list of the first kind. */
static const char *before_words(const struct dp_kind *kind)
{
    return kind == &kinds[0] ? "the host and " : "";
}

/* ---- backends ---------------------------------------------------------------------------- */

/* Those of the kind; of any when it is NULL. */
static struct names backend_names(const struct dp_kind *kind)
{
    struct names names = {.used = 0};
    for (int i = 0; i < BACKENDS; ++i) {
        if (is_built(backends[i].kind) && (!kind || backends[i].kind == kind))
            add_name(&names, backends[i].name);
    }
    return names;
}

const struct dp_backend *dp_backend_find(const char *name, const struct dp_kind *kind,
                                         struct dp_error *err)
{
    bool exists = false;
    for (int i = 0; i < BACKENDS; ++i) {
        const bool named = !name || strcmp(backends[i].name, name) == 0;
        if (named && backends[i].kind == kind)
            return &backends[i];
        exists = exists || (name && named);
    }
    const struct names known = backend_names(exists ? kind : NULL);
    if (exists)
        dp_fail(err, DP_EINVAL, "backend '%.64s' is not for %s%s: %s", name, before_words(kind),
                kind->words, known.text);
    else
        dp_fail(err, DP_EINVAL, "unknown backend '%.64s': %s", name ? name : "", known.text);
    return NULL;
}

/* ---- communicators ----------------------------------------------------------------------- */

static bool serves(const struct dp_comm_ops *comm, const struct dp_kind *kind)
{
    return (comm->needs & ~kind->flags) == 0;
}

/* Those of this build that serve the kind and can do all that. */
static struct names communicator_names(const struct dp_kind *kind, unsigned can)
{
    struct names names = {.used = 0};
    for (int i = 0; i < COMMUNICATORS; ++i) {
        const struct dp_comm_ops *comm = communicators[i];
        if (comm->move && serves(comm, kind) && (can & ~comm->can) == 0)
            add_name(&names, comm->name);
    }
    if (names.used == 0)
        add_name(&names, "none can");
    return names;
}

int dp_comm_check(const struct dp_comm_ops *comm, const struct dp_kind *kind, unsigned can,
                  struct dp_error *err)
{
    static const struct {
        unsigned bit;
        const char *lacks;
    } words[] = {{DP_COMM_PARALLEL, "has no moves and sums for DataParallel"},
                 {DP_COMM_RANKS, "has no collectives for ranks"},
                 {DP_COMM_OVERLAP, "reduces after backward, not during it"},
                 {DP_COMM_WORLD, "does not reach other processes"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        if ((can & ~comm->can & words[i].bit) != 0)
            return dp_fail(err, DP_ENOTSUP, "communicator '%.64s' %s: %s", comm->name,
                           words[i].lacks, communicator_names(kind, can).text);
    }
    return 0;
}

const struct dp_comm_ops *dp_comm_find(const char *name, const struct dp_kind *kind,
                                       struct dp_error *err)
{
    const struct dp_comm_ops *comm = NULL;
    for (int i = 0; i < COMMUNICATORS && !comm; ++i)
        comm = strcmp(communicators[i]->name, name) == 0 ? communicators[i] : NULL;
    if (comm && serves(comm, kind) && comm->move)
        return comm;
    const struct names known = communicator_names(kind, 0);
    if (!comm)
        dp_fail(err, DP_EINVAL, "unknown communicator '%.64s': %s", name, known.text);
    else if (!serves(comm, kind))
        dp_fail(err, DP_EINVAL, "communicator '%.64s' is not for %s%s: %s", name,
                before_words(kind), kind->words, known.text);
    else
        dp_fail(err, DP_EINVAL, "communicator '%.64s' is not in this build: %s", name, known.text);
    return NULL;
}

/* ---- device lists ------------------------------------------------------------------------ */

static int parse_count(const char *text, const char *list, int *count, struct dp_error *err)
{
    const size_t digits = strspn(text, "0123456789");
    if (*text == '\0' || *text == '+')
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': a number of virtual devices is missing, like virt:4",
                       list);
    if (digits == 0)
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': '%.64s' is not a number of virtual devices, like virt:4",
                       list, text);
    if (text[digits] != '\0')
        return dp_fail(
            err, DP_EINVAL,
            "devices '%.64s': '%.64s' after the number: only +lag, or a delay of +1us to "
            "+1000000us, may follow it",
            list, text + digits);
    const long value = strtol(text, NULL, 10);
    if (value < 1 || value > DP_MAX_SLOTS)
        return dp_fail(err, DP_EINVAL, "devices '%.64s': 1 to %d virtual devices", list,
                       DP_MAX_SLOTS);
    *count = (int)value;
    return 0;
}

/* "+500us", at most a second. */
static bool parse_delay(const char *text, uint64_t *delay_ns)
{
    const size_t digits = strspn(text + 1, "0123456789");
    if (digits < 1 || digits > 7 || strcmp(text + 1 + digits, "us") != 0)
        return false;
    const long us = strtol(text + 1, NULL, 10);
    if (us < 1 || us > 1000000)
        return false;
    *delay_ns = (uint64_t)us * 1000;
    return true;
}

static int parse_virtual(const char *text, struct dp_device_list *list, struct dp_error *err)
{
    char count[64];
    const size_t length = strlen(text);
    if (strncmp(text, "virt:", 5) != 0 || length >= sizeof count)
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': host, virt:COUNT, virt:COUNT+lag, virt:COUNT+500us or "
                       "cuda:LIST",
                       text);
    memcpy(count, text, length + 1);
    char *plus = strchr(count, '+');
    if (plus && strcmp(plus, "+lag") == 0)
        list->ops = &dp_device_lag;
    if (plus && (list->ops == &dp_device_lag || parse_delay(plus, &list->delay_ns)))
        *plus = '\0';
    const int status = parse_count(count + 5, text, &list->n, err);
    for (int i = 0; status == 0 && i < list->n; ++i)
        list->device[i] = i;
    return status;
}

/* The kind whose name the text begins with. */
static const struct dp_kind *kind_of(const char *text)
{
    const size_t length = strcspn(text, ":+");
    for (int i = 0; i < KINDS; ++i) {
        if (strlen(kinds[i].name) == length && memcmp(kinds[i].name, text, length) == 0)
            return &kinds[i];
    }
    return strcmp(text, "host") == 0 ? &kinds[0] : NULL;
}

int dp_devices_parse(const char *text, struct dp_device_list *list, struct dp_error *err)
{
    const struct dp_kind *kind = kind_of(text);
    if (!kind || text[strcspn(text, ":+")] != ':')
        kind = &kinds[0];
    *list = (struct dp_device_list){.ops = kind->ops, .kind = kind};
    return strcmp(text, "host") == 0 ? 0 : kind->list(text, list, err);
}

/* ---- for users --------------------------------------------------------------------------- */

static void describe_kind(const struct dp_kind *kind, struct dp_kind_row *row)
{
    *row = (struct dp_kind_row){kind->name, kind->words, kind->flags, is_built(kind)};
}

bool dp_kinds(int i, struct dp_kind_row *row)
{
    if (i < 0 || i >= KINDS)
        return false;
    describe_kind(&kinds[i], row);
    return true;
}

bool dp_kind_of(const char *text, struct dp_kind_row *row)
{
    const struct dp_kind *kind = kind_of(text);
    if (kind)
        describe_kind(kind, row);
    return kind != NULL;
}

bool dp_backends(int i, struct dp_backend_row *row)
{
    if (i < 0 || i >= BACKENDS)
        return false;
    const struct dp_backend *b = &backends[i];
    *row = (struct dp_backend_row){b->name, b->kind->name, b->comm->name, is_built(b->kind)};
    return true;
}

bool dp_communicators(int i, struct dp_communicator_row *row)
{
    if (i < 0 || i >= COMMUNICATORS)
        return false;
    const struct dp_comm_ops *comm = communicators[i];
    *row = (struct dp_communicator_row){comm->name, comm->instead, comm->can, comm->needs,
                                        comm->move != NULL};
    return true;
}

int dp_communicator_check(const char *communicator, const char *backend, const char *devices,
                          unsigned can, struct dp_error *err)
{
    const struct dp_kind *kind = kind_of(devices);
    if (!kind || !is_built(kind))
        return 0;
    const struct dp_backend *own = dp_backend_find(backend, kind, err);
    if (!own)
        return DP_EINVAL;
    const struct dp_comm_ops *comm =
        communicator ? dp_comm_find(communicator, kind, err) : own->comm;
    if (!comm)
        return DP_EINVAL;
    const int status = dp_comm_check(comm, kind, can, err);
    if (status && err)
        err->status = DP_EINVAL;
    return status ? DP_EINVAL : 0;
}
