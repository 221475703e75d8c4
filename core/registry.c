/* registry.c: the only list of kinds of devices, backends and communicators. A row whose table has
 * no operations is known, but is not in this build. */
#include "backend.h"

#include <stdlib.h>
#include <string.h>

enum { VIRT, CUDA, KINDS };

static const struct dp_kind kinds[KINDS] = {
    [VIRT] = {"virt", "virtual devices", "virt:COUNT", DP_KIND_CORES, &dp_device_cpu,
              dp_virtual_list, NULL},
    [CUDA] = {"cuda", "GPUs", "cuda:LIST",
              DP_KIND_GPU | DP_KIND_TF32 | DP_KIND_LISTED | DP_KIND_PEERS, &dp_device_cuda,
              dp_cuda_list, dp_cuda_software},
};

static const struct dp_backend backends[] = {
    {"cpu", &kinds[VIRT], dp_kernels_blas, &dp_comm_threads, DP_ONEDNN_WHERE_FASTER},
    {"cpu-ref", &kinds[VIRT], dp_kernels_ref, &dp_comm_staged, DP_ONEDNN_NO},
    {"cpu-cblas", &kinds[VIRT], dp_kernels_blas, &dp_comm_threads, DP_ONEDNN_NO},
    {"cpu-onednn", &kinds[VIRT], dp_kernels_blas, &dp_comm_threads, DP_ONEDNN_ONLY},
    {"cuda", &kinds[CUDA], dp_kernels_blas, &dp_comm_peer, DP_ONEDNN_NO},
    {"cuda-staged", &kinds[CUDA], dp_kernels_ref, &dp_comm_staged, DP_ONEDNN_NO},
};
enum { BACKENDS = sizeof backends / sizeof *backends };

static const struct dp_comm_ops *const communicators[] = {
    &dp_comm_threads, &dp_comm_staged,    &dp_comm_peer,
    &dp_comm_nccl,    &dp_comm_nccl_nccl, &dp_comm_mpi,
};
enum { COMMUNICATORS = sizeof communicators / sizeof *communicators };

static bool is_built(const struct dp_kind *kind)
{
    return kind->ops->open != NULL;
}

static bool backend_is_built(const struct dp_backend *backend)
{
    return is_built(backend->kind) && (backend->onednn != DP_ONEDNN_ONLY || dp_onednn_is_built);
}

/* names, like "cpu, cpu-ref" */
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

/* The host counts as the first kind. */
static const char *before_words(const struct dp_kind *kind)
{
    return kind == &kinds[0] ? "the host and " : "";
}

/* ---- backends ---------------------------------------------------------------------------- */

/* The backends of a kind; of all kinds if it is NULL. */
static struct names backend_names(const struct dp_kind *kind)
{
    struct names names = {.used = 0};
    for (int i = 0; i < BACKENDS; ++i) {
        if (backend_is_built(&backends[i]) && (!kind || backends[i].kind == kind))
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

/* The communicators of this build that support the kind and have all abilities of can. */
static struct names communicator_names(const struct dp_kind *kind, unsigned can)
{
    struct names names = {.used = 0};
    for (int i = 0; i < COMMUNICATORS; ++i) {
        const struct dp_comm_ops *comm = communicators[i];
        const bool alone = (comm->can & DP_COMM_TOGETHER) == 0 || (can & DP_COMM_WORLD) != 0;
        if (comm->move && alone && serves(comm, kind) && (can & ~comm->can) == 0)
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

/* The kind whose name the text begins with. */
static const struct dp_kind *registry_kind_of(const char *text)
{
    const size_t length = strcspn(text, ":+");
    for (int i = 0; i < KINDS; ++i) {
        if (strlen(kinds[i].name) == length && memcmp(kinds[i].name, text, length) == 0)
            return &kinds[i];
    }
    return strcmp(text, "host") == 0 ? &kinds[0] : NULL;
}

/* The order in which a GPU runs its work cannot be changed from outside. */
static int check_late(const char *text, const struct dp_device_list *list, struct dp_error *err)
{
    if (list->lag && (list->kind->flags & DP_KIND_CORES) == 0)
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': +lag is not for %s, which may have a delay of +1us to "
                       "+1000000us, and a fault, +fault:OPERATION@CALL",
                       text, list->kind->words);
    return 0;
}

/* On a device that works asynchronously, a wrapper does not know when a result exists. */
static int check_silent_fault(const char *text, const struct dp_device_list *list,
                              struct dp_error *err)
{
    if (list->silent_fault.step == 0)
        return 0;
    if (list->lag || (list->kind->flags & DP_KIND_CORES) == 0)
        return dp_fail(err, DP_EINVAL,
                       "devices '%.64s': +fault:%s@STEP/DEVICE is for virtual devices without +lag",
                       text, dp_silent_fault_name(list->silent_fault.silent_fault));
    const struct dp_silent_fault_spec *spec = &list->silent_fault;
    const int last = spec->to > spec->device ? spec->to : spec->device;
    if (last >= list->n)
        return dp_fail(err, DP_EINVAL, "devices '%.64s': a fault of device %d, there are 0 to %d",
                       text, last, list->n - 1);
    if (list->silent_fault.silent_fault == DP_SILENT_FAULT_LINK && list->n < 2)
        return dp_fail(err, DP_EINVAL, "devices '%.64s': a link takes two devices", text);
    return 0;
}

/* The list does not begin with a kind and a colon. */
static int fail_form(const char *text, struct dp_error *err)
{
    struct names names = {.used = 0};
    for (int i = 0; i < KINDS; ++i)
        add_name(&names, kinds[i].form);
    return dp_fail(err, DP_EINVAL,
                   "devices '%.64s': host, %s; after devices also +lag, +500us or +fault:launch@3",
                   text, names.text);
}

int dp_devices_parse(const char *text, struct dp_device_list *list, struct dp_error *err)
{
    char devices[1024]; /* DP_MAX_SLOTS numbers are shorter */
    const size_t length = strcspn(text, "+");
    const bool named = registry_kind_of(text) && text[strcspn(text, ":+")] == ':';
    const struct dp_kind *kind = named ? registry_kind_of(text) : &kinds[0];
    *list = (struct dp_device_list){.kind = kind};
    if (strcmp(text, "host") == 0)
        return 0;
    if (length >= sizeof devices)
        return dp_fail(err, DP_EINVAL, "devices '%.64s...': a list has at most %zu characters",
                       text, sizeof devices - 1);
    memcpy(devices, text, length);
    devices[length] = '\0';
    int status = dp_suffixes_parse(text, text + length, list, err);
    if (status == 0)
        status = check_late(text, list, err);
    if (status == 0)
        status = named ? kind->list(devices, list, err) : fail_form(text, err);
    return status ? status : check_silent_fault(text, list, err);
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
    const struct dp_kind *kind = registry_kind_of(text);
    if (kind)
        describe_kind(kind, row);
    return kind != NULL;
}

bool dp_backends(int i, struct dp_backend_row *row)
{
    if (i < 0 || i >= BACKENDS)
        return false;
    const struct dp_backend *b = &backends[i];
    *row = (struct dp_backend_row){b->name, b->kind->name, b->comm->name, backend_is_built(b)};
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

/* The first `length` characters are the name that it gives itself. */
static bool is_called(const struct dp_comm_ops *comm, const char *name, size_t length)
{
    const char *const names[] = {comm->name, comm->instead};
    for (int i = 0; i < 2 && names[i]; ++i) {
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return true;
    }
    return false;
}

static bool find_row(const char *name, size_t length, struct dp_communicator_row *row)
{
    for (int i = 0; dp_communicators(i, row); ++i) {
        if (is_called(communicators[i], name, length))
            return true;
    }
    return false;
}

bool dp_communicator_of(const char *name, struct dp_communicator_row *row)
{
    const size_t length = strcspn(name, "+");
    struct dp_communicator_row moves;
    if (find_row(name, strlen(name), row))
        return true;
    return name[length] == '+' && !strchr(name + length + 1, '+') &&
           dp_communicator_of(name + length + 1, &moves) && find_row(name, length, row);
}

int dp_wide_blas_check(const char *backend, const char *devices, struct dp_error *err)
{
    const struct dp_kind *kind = registry_kind_of(devices);
    if (!kind || !is_built(kind))
        return 0;
    const struct dp_backend *own = dp_backend_find(backend, kind, err);
    if (!own)
        return DP_EINVAL;
    if (own->kernels != dp_kernels_blas || (kind->flags & DP_KIND_CORES) == 0)
        return dp_fail(err, DP_EINVAL,
                       "backend %s has no BLAS of several threads on the host's cores", own->name);
    const int status = dp_blas_check_threads(err);
    if (status && err)
        err->status = DP_EINVAL;
    return status ? DP_EINVAL : 0;
}

int dp_communicator_check(const char *communicator, const char *backend, const char *devices,
                          unsigned can, struct dp_error *err)
{
    const struct dp_kind *kind = registry_kind_of(devices);
    if (!kind || !is_built(kind))
        return 0;
    const struct dp_backend *own = dp_backend_find(backend, kind, err);
    if (!own)
        return DP_EINVAL;
    const struct dp_comm_ops *comm =
        communicator ? dp_comm_find(communicator, kind, err) : own->comm;
    if (!comm)
        return DP_EINVAL;
    if ((comm->can & DP_COMM_TOGETHER) != 0 && (can & DP_COMM_WORLD) == 0)
        return dp_fail(err, DP_EINVAL,
                       "communicator '%.64s' connects processes that were started together: %s",
                       comm->name, communicator_names(kind, can).text);
    const int status = dp_comm_check(comm, kind, can, err);
    if (status && err)
        err->status = DP_EINVAL;
    return status ? DP_EINVAL : 0;
}
