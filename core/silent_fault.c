/* silent_fault.c: a group in which one device has a silent fault: +fault:flip@37/1 of a device
 * list; or one copy between two devices: +fault:copy-zero@3/0/1. Faults with an error are in
 * faulty.c.
 *
 * A step lasts from one dp_ddp_reset to the next, or is a call of a DataParallel or a standalone
 * collective. Before the first one it is step 1. The tables of the slots and of the communicator
 * are copies of those that they wrap. Only devices that run their work at once have silent faults,
 * because the result of a launch exists when it returns. */
#include "backend.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROW = 16, DEFAULT_PERCENT = 50, FLOAT_BITS = 32, LOW_BITS = 8 };

struct dp_silent_faults {
    struct dp_silent_fault_spec spec;
    const struct dp_device_ops *device;
    const struct dp_comm_ops *inner;
    struct dp_device_ops device_ops;
    struct dp_comm_ops comm_ops;
    uint64_t step;              /* resets so far */
    unsigned results, previous; /* of that device in this step, and in the step before the fault */
    bool reduced;               /* a reduction was made in this step */
    uint64_t copies;            /* from that device to the other one, so far */
    /* The contribution of the device in the step before, or the bytes of a copy. */
    void *kept;
    size_t kept_bytes;
    _Atomic bool made;
};

static const char *const names[DP_SILENT_FAULTS] = {
    [DP_SILENT_FAULT_FLIP] = "flip",
    [DP_SILENT_FAULT_FLIPS] = "flips",
    [DP_SILENT_FAULT_ROW] = "row",
    [DP_SILENT_FAULT_NAN] = "nan",
    [DP_SILENT_FAULT_DROP] = "drop",
    [DP_SILENT_FAULT_DOUBLE] = "double",
    [DP_SILENT_FAULT_STALE] = "stale",
    [DP_SILENT_FAULT_SLOW] = "slow",
    [DP_SILENT_FAULT_LINK] = "link",
    [DP_SILENT_FAULT_DEAD] = "dead",
    [DP_SILENT_FAULT_HANG] = "hang",
    [DP_SILENT_FAULT_COPY_FLIP] = "copy-flip",
    [DP_SILENT_FAULT_COPY_ZERO] = "copy-zero",
    [DP_SILENT_FAULT_COPY_DROP] = "copy-drop",
    [DP_SILENT_FAULT_COPY_STALE] = "copy-stale",
};

bool dp_silent_fault_copies(enum dp_silent_fault silent_fault)
{
    return silent_fault >= DP_SILENT_FAULT_COPY_FLIP;
}

const char *dp_silent_fault_name(enum dp_silent_fault silent_fault)
{
    return names[silent_fault];
}

/* Selects where the fault is; always the same for the same step and device. */
static uint64_t silent_draw(const struct dp_silent_fault_spec *spec, uint64_t number)
{
    uint64_t x = (spec->step * DP_MAX_SLOTS + (uint64_t)spec->device) * 8 + number;
    x = (x + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t step_now(const struct dp_silent_faults *h)
{
    return h->step > 0 ? h->step : 1;
}

/* ---- results of a device ----------------------------------------------------------------- */

struct result {
    float *value; /* NULL: it has no result that is read as it is */
    size_t n;
};

/* Outputs of a model, and gradients of the weights and biases of linear layers. */
static struct result result_of(enum dp_kernel kernel, const void *args)
{
    if (kernel == DP_KERNEL_LOSS) {
        const struct dp_loss_args *loss = args;
        return (struct result){(float *)(uintptr_t)loss->y, loss->rows * loss->cols};
    }
    if (kernel == DP_KERNEL_SUM_ROWS) {
        const struct dp_sum_rows *sum = args;
        return (struct result){sum->out, sum->cols};
    }
    if (kernel == DP_KERNEL_GEMM) {
        const struct dp_gemm *gemm = args;
        if (gemm->transpose_a && !gemm->transpose_b)
            return (struct result){gemm->c, gemm->m * gemm->n};
    }
    return (struct result){NULL, 0};
}

static bool flip(float *value, uint32_t mask)
{
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    bits ^= mask;
    memcpy(value, &bits, sizeof bits);
    return mask != 0;
}

static uint32_t bit(uint64_t number)
{
    return (uint32_t)1 << number % FLOAT_BITS;
}

/* Sets a bit of some neighbours to 1. */
static bool stick(const struct dp_silent_fault_spec *spec, const struct result *result)
{
    const size_t rows = result->n / ROW > 0 ? result->n / ROW : 1;
    const size_t first = silent_draw(spec, 1) % rows * ROW;
    const uint32_t stuck = bit(silent_draw(spec, 2) % LOW_BITS);
    bool changed = false;
    for (size_t i = first; i < first + ROW && i < result->n; ++i) {
        uint32_t bits;
        memcpy(&bits, &result->value[i], sizeof bits);
        changed = flip(&result->value[i], ~bits & stuck) || changed;
    }
    return changed;
}

static bool spoil(const struct dp_silent_fault_spec *spec, const struct result *result)
{
    float *value = result->value + silent_draw(spec, 1) % result->n;
    const uint64_t b = silent_draw(spec, 2);
    switch (spec->silent_fault) {
    case DP_SILENT_FAULT_FLIP:
        return flip(value, bit(b));
    case DP_SILENT_FAULT_FLIPS:
        return flip(value, bit(b) | bit(b + 7) | bit(b + 13));
    case DP_SILENT_FAULT_NAN:
        *value = (float)NAN;
        return true;
    case DP_SILENT_FAULT_ROW:
        return stick(spec, result);
    default:
        return false;
    }
}

static bool spoils_now(const struct dp_silent_faults *h)
{
    const uint64_t step = step_now(h);
    return h->spec.silent_fault == DP_SILENT_FAULT_ROW ? step >= h->spec.step
                                                       : step == h->spec.step;
}

/* ---- speed of a device ------------------------------------------------------------------- */

static uint64_t ns_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Makes work that began at `begin` on that clock take longer. */
static void stretch(const struct dp_silent_faults *h, clockid_t clock, uint64_t begin)
{
    const uint64_t took = ns_of(clock) - begin;
    while (ns_of(clock) - begin < took + took * h->spec.percent / 100)
        ;
}

static int silent_fault_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                               size_t bytes, struct dp_error *err)
{
    struct dp_silent_faults *h = queue->slot->group->silent_faults;
    const enum dp_silent_fault silent_fault = h->spec.silent_fault;
    const bool acts = silent_fault == DP_SILENT_FAULT_DEAD ||
                      silent_fault == DP_SILENT_FAULT_HANG || silent_fault == DP_SILENT_FAULT_SLOW;
    if (acts && queue == &queue->slot->compute && queue->slot->info.index == h->spec.device &&
        step_now(h) >= h->spec.step) {
        atomic_store(&h->made, true);
        if (silent_fault == DP_SILENT_FAULT_DEAD)
            return dp_fail(err, DP_EFAULT, "%s is dead on purpose, since step %llu",
                           queue->slot->info.name, (unsigned long long)h->spec.step);
        if (silent_fault == DP_SILENT_FAULT_HANG) {
            const struct timespec hour = {.tv_sec = 3600};
            for (;;)
                nanosleep(&hour, NULL);
        }
        const uint64_t begin = ns_of(CLOCK_THREAD_CPUTIME_ID);
        const int late = h->device->launch(queue, kernel, args, bytes, err);
        stretch(h, CLOCK_THREAD_CPUTIME_ID, begin);
        return late;
    }
    const int status = h->device->launch(queue, kernel, args, bytes, err);
    const struct result result = result_of(kernel, args);
    if (status == 0 && !acts && result.n > 0 && queue == &queue->slot->compute &&
        queue->slot->info.index == h->spec.device) {
        /* Corrupts one result of a step. The number of results in the step before selects which
         * one. A stuck row keeps its place. */
        const struct dp_silent_fault_spec *spec = &h->spec;
        const unsigned number = h->results++;
        if (step_now(h) + 1 == spec->step)
            h->previous = h->results;
        const unsigned chosen =
            h->previous > 0 ? (unsigned)(silent_draw(spec, 0) % h->previous) : 0;
        if (spoils_now(h) && number == chosen && spoil(spec, &result))
            atomic_store(&h->made, true);
    }
    return status;
}

/* ---- contributions to a reduction -------------------------------------------------------- */

/* The contribution to an allreduce is the pieces of a part; to a sum, the source of a replica. */
struct brought {
    const struct dp_part *part; /* NULL: a sum */
    const size_t *bytes;
    const struct dp_sum *sums;
    int replica, n;
};

static void *piece_of(const struct brought *b, int k)
{
    return b->part ? b->part->piece[k] : (void *)(uintptr_t)b->sums[k].src[b->replica];
}

static size_t piece_bytes(const struct brought *b, int k)
{
    return b->part ? b->bytes[k] : b->sums[k].n * dp_dtype_bytes(b->sums[k].dtype);
}

static size_t all_bytes(const struct brought *b)
{
    size_t bytes = 0;
    for (int k = 0; k < b->n; ++k)
        bytes += piece_bytes(b, k);
    return bytes;
}

static bool bring(const struct dp_silent_faults *h, const struct brought *b)
{
    const bool doubled = h->spec.silent_fault == DP_SILENT_FAULT_DOUBLE;
    if (h->spec.silent_fault == DP_SILENT_FAULT_STALE) {
        size_t used = 0;
        if (!h->kept || h->kept_bytes != all_bytes(b))
            return false;
        for (int k = 0; k < b->n; ++k) {
            memcpy(piece_of(b, k), (const char *)h->kept + used, piece_bytes(b, k));
            used += piece_bytes(b, k);
        }
        return true;
    }
    if (!doubled && h->spec.silent_fault != DP_SILENT_FAULT_DROP)
        return false;
    for (int k = 0; k < b->n; ++k) {
        float *piece = piece_of(b, k);
        for (size_t i = 0; i < piece_bytes(b, k) / sizeof *piece; ++i)
            piece[i] = doubled ? 2 * piece[i] : 0;
    }
    return true;
}

static void take_part(struct dp_silent_faults *h, const struct brought *b)
{
    const uint64_t step = step_now(h);
    if (step == h->spec.step && bring(h, b))
        atomic_store(&h->made, true);
    if (step + 1 == h->spec.step && h->spec.silent_fault == DP_SILENT_FAULT_STALE) {
        /* Keeps the contribution for a stale fault. Without memory there is no fault, and
         * dp_group_faulty says so. */
        size_t used = 0;
        free(h->kept);
        h->kept_bytes = all_bytes(b);
        h->kept = malloc(h->kept_bytes);
        for (int k = 0; h->kept && k < b->n; ++k) {
            memcpy((char *)h->kept + used, piece_of(b, k), piece_bytes(b, k));
            used += piece_bytes(b, k);
        }
    }
}

/* Only the first reduction of a step is affected. */
static int silent_fault_allreduce(struct dp_group *group, struct dp_collective *c,
                                  struct dp_error *err)
{
    struct dp_silent_faults *h = group->silent_faults;
    for (int i = 0; !h->reduced && i < c->n_parts; ++i) {
        const struct brought brought = {.part = &c->part[i], .bytes = c->bytes, .n = c->n_pieces};
        if (c->part[i].slot->info.index == h->spec.device)
            take_part(h, &brought);
    }
    h->reduced = true;
    return h->inner->allreduce(group, c, err);
}

static int silent_fault_reduce(const struct dp_team *team, struct dp_slot *dst_slot,
                               const struct dp_sum sums[], int n, enum dp_phase phase,
                               struct dp_error *err)
{
    struct dp_silent_faults *h = team->group->silent_faults;
    for (int i = 0; !h->reduced && i < team->n; ++i) {
        const struct brought brought = {.sums = sums, .replica = i, .n = n};
        if (team->slot[i]->info.index == h->spec.device)
            take_part(h, &brought);
    }
    h->reduced = true;
    return h->inner->reduce(team, dst_slot, sums, n, phase, err);
}

/* ---- copies between devices -------------------------------------------------------------- */

/* True for copies between the device and the next one, in both directions. */
static bool takes_link(const struct dp_silent_faults *h, const struct dp_team *team,
                       const struct dp_moves moves[])
{
    const struct dp_group *group = team->group;
    const struct dp_slot *one = group->slot[h->spec.device];
    const struct dp_slot *other = group->slot[(h->spec.device + 1) % group->size];
    for (int i = 0; i < team->n; ++i) {
        for (int k = 0; k < moves[i].n; ++k) {
            const struct dp_move *move = &moves[i].move[k];
            if ((move->src_slot == one && move->dst_slot == other) ||
                (move->src_slot == other && move->dst_slot == one))
                return true;
        }
    }
    return false;
}

/* Without memory there is no fault, and dp_group_faulty says so. */
static void keep_copy(struct dp_silent_faults *h, const struct dp_copy *copy)
{
    free(h->kept);
    h->kept = malloc(copy->width);
    h->kept_bytes = h->kept ? copy->width : 0;
    if (h->kept)
        memcpy(h->kept, copy->dst, copy->width);
}

/* Copies of one row are counted, in the order of the list: number `step` is wrong. */
static int move_wrongly(struct dp_silent_faults *h, const struct dp_team *team,
                        const struct dp_moves moves[], enum dp_phase phase, struct dp_error *err)
{
    const struct dp_silent_fault_spec *spec = &h->spec;
    const enum dp_silent_fault kind = spec->silent_fault;
    const struct dp_copy *before = NULL, *hit = NULL;
    for (int i = 0; i < team->n; ++i) {
        for (int k = 0; k < moves[i].n; ++k) {
            const struct dp_move *move = &moves[i].move[k];
            if (move->src_slot->info.index != spec->device ||
                move->dst_slot->info.index != spec->to || move->copy.height != 1)
                continue;
            ++h->copies;
            before = h->copies + 1 == spec->step ? &move->copy : before;
            hit = h->copies == spec->step ? &move->copy : hit;
        }
    }
    if (hit && kind == DP_SILENT_FAULT_COPY_DROP)
        keep_copy(h, hit);
    const int status = h->inner->move(team, moves, phase, err);
    if (before && kind == DP_SILENT_FAULT_COPY_STALE)
        keep_copy(h, before);
    if (hit && (kind == DP_SILENT_FAULT_COPY_FLIP || kind == DP_SILENT_FAULT_COPY_ZERO))
        keep_copy(h, hit);
    if (!hit || h->kept_bytes == 0)
        return status;
    unsigned char *kept = h->kept;
    const size_t n = h->kept_bytes < hit->width ? h->kept_bytes : hit->width;
    if (kind == DP_SILENT_FAULT_COPY_ZERO)
        memset(kept, 0, n);
    if (kind == DP_SILENT_FAULT_COPY_FLIP)
        kept[silent_draw(spec, 1) % n] ^= (unsigned char)(1u << silent_draw(spec, 2) % CHAR_BIT);
    if (memcmp(hit->dst, kept, n) != 0)
        atomic_store(&h->made, true);
    memcpy(hit->dst, kept, n);
    return status;
}

static int silent_fault_move(const struct dp_team *team, const struct dp_moves moves[],
                             enum dp_phase phase, struct dp_error *err)
{
    struct dp_silent_faults *h = team->group->silent_faults;
    if (dp_silent_fault_copies(h->spec.silent_fault))
        return move_wrongly(h, team, moves, phase, err);
    const bool slow = h->spec.silent_fault == DP_SILENT_FAULT_LINK && step_now(h) >= h->spec.step &&
                      takes_link(h, team, moves);
    const uint64_t begin = ns_of(CLOCK_MONOTONIC);
    const int status = h->inner->move(team, moves, phase, err);
    if (slow) {
        atomic_store(&h->made, true);
        stretch(h, CLOCK_MONOTONIC, begin);
    }
    return status;
}

/* ---- opening ----------------------------------------------------------------------------- */

int dp_silent_fault_open(struct dp_group *group, const struct dp_silent_fault_spec *spec,
                         struct dp_error *err)
{
    struct dp_silent_faults *h = group->silent_faults = calloc(1, sizeof *h);
    if (!h)
        return dp_fail(err, DP_ENOMEM, "no memory for a fault");
    h->spec = *spec;
    if (h->spec.percent == 0)
        h->spec.percent = DEFAULT_PERCENT;
    h->device = group->slot[0]->ops;
    h->device_ops = *h->device;
    h->device_ops.launch = silent_fault_launch;
    h->device_ops.convolve = NULL;
    h->inner = group->comm;
    h->comm_ops = *h->inner;
    h->comm_ops.reduce = silent_fault_reduce;
    h->comm_ops.move = silent_fault_move;
    if (h->inner->allreduce)
        h->comm_ops.allreduce = silent_fault_allreduce;
    for (int i = 0; i < group->size; ++i)
        group->slot[i]->ops = &h->device_ops;
    group->comm = &h->comm_ops;
    return 0;
}

void dp_silent_fault_close(struct dp_group *group)
{
    if (group->silent_faults)
        free(group->silent_faults->kept);
    free(group->silent_faults);
}

void dp_silent_fault_step(struct dp_group *group)
{
    struct dp_silent_faults *h = group->silent_faults;
    if (!h)
        return;
    ++h->step;
    h->results = 0;
    h->reduced = false;
}

void dp_silent_fault_result(struct dp_group *group, void *const by_slot[], size_t bytes)
{
    struct dp_silent_faults *h = group->silent_faults;
    if (!h || bytes < sizeof(float) || !spoils_now(h))
        return;
    const struct result result = {by_slot[h->spec.device], bytes / sizeof(float)};
    if (spoil(&h->spec, &result))
        atomic_store(&h->made, true);
}

int dp_silent_fault_ended(const struct dp_group *group, struct dp_error *err)
{
    const struct dp_silent_faults *h = group->silent_faults;
    if (!h)
        return 0;
    const unsigned long long step = h->spec.step;
    if (dp_silent_fault_copies(h->spec.silent_fault))
        return dp_fail(err, DP_EFAULT, "%s of copy %llu from device %d to %d %s",
                       names[h->spec.silent_fault], step, h->spec.device, h->spec.to,
                       atomic_load(&h->made) ? "was made, and was not found"
                                             : "was to be made, and was not");
    return atomic_load(&h->made)
               ? dp_fail(err, DP_EFAULT, "%s on device %d in step %llu was made, and was not found",
                         names[h->spec.silent_fault], h->spec.device, step)
               : dp_fail(err, DP_EFAULT, "%s on device %d was to be made in step %llu, and was not",
                         names[h->spec.silent_fault], h->spec.device, step);
}
