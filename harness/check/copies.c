/* check/copies.c: `lockstep check --copies`: do the devices give each other the right bytes?
 *
 * The copies are those that steps make: of one pair alone, and an alltoall, in which every device
 * sends to every other one at the same time. Before a copy the destination has the complement of
 * what must arrive, so a copy that does nothing is wrong in every byte. Each pair has other bytes,
 * and so has each of its copies. The host writes and reads all of them. A device also copies to
 * itself, so that its memory is not taken for a link. In later rounds another thread trains a model
 * on the same devices, in queues of another group. */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check/runner.h"
#include "command/command.h"
#include "ddp.h"
#include "files/files.h"
#include "measure/session.h"
#include "numbers/stats.h"
#include "text/alloc.h"

enum {
    ROUNDS = 3,  /* the first one is without load */
    REPEATS = 4, /* of copies of less than MIB */
    MIB = 1 << 20,
    OFFSETS = 64, /* of copies in memory: also odd ones */
    APART = 257,  /* bytes from the data of one pair to those of the next */
    LOOKED = 64,  /* at so many wrong bytes, and for data that are shifted so far */
    MASKS = 128   /* copies in a row whose bytes differ */
};

/* Patterns of wrong bytes, with a question about the cause on GPUs. */
enum pattern { ZERO, OLD, LAST, OTHER, SHIFTED, FLIPPED, UNKNOWN, PATTERNS };
static const char redirected[] =
    "Do an IOMMU or PCIe ACS redirect these copies? Is it right with --communicator staged?";
static const struct {
    const char *words, *question;
} patterns[PATTERNS] = {
    [ZERO] = {"zeros", redirected},
    [OLD] = {"what was there before", redirected},
    [LAST] = {"the bytes of the copy before", "Does a copy count as done too early?"},
    [OTHER] = {"the bytes of another pair", redirected},
    [SHIFTED] = {"the right bytes in a wrong place", ""},
    [FLIPPED] = {"flipped bits", "Do NVLink, PCIe or memory count errors (lockstep devices)?"},
    [UNKNOWN] = {"bytes without a pattern", ""},
};

struct pair {
    size_t copies, wrong, loaded, together; /* the last two: of the wrong ones */
    unsigned patterns;                      /* 1 << enum pattern */
    size_t bytes, differ, first;            /* of the first wrong copy */
    unsigned bits;
};

struct copies {
    struct dp_group *group;
    int n;
    size_t largest;
    struct dp_tensor from[DP_MAX_SLOTS], to[DP_MAX_SLOTS];
    unsigned char *data, *want, *old, *got;
    struct pair pair[DP_MAX_SLOTS * DP_MAX_SLOTS]; /* from * n + to */
    bool loaded;
    struct dp_group_config load; /* the thread: */
    atomic_bool stop;
    atomic_size_t steps;
    struct dp_error err;
};

/* ---- bytes ----------------------------------------------------------------------------------- */

/* A pair brings these bytes, each changed by the mask of the copy's number. */
static const unsigned char *data_of(const struct copies *c, int pair)
{
    return c->data + LOOKED + (size_t)pair * APART;
}

static unsigned char mask_of(size_t number)
{
    return (unsigned char)(number * 53 % MASKS);
}

static void fill(const struct copies *c, int pair, size_t n)
{
    const unsigned char *data = data_of(c, pair), mask = mask_of(c->pair[pair].copies);

    for (size_t i = 0; i < n; ++i) {
        c->want[i] = data[i] ^ mask;
        c->old[i] = (unsigned char)~c->want[i];
    }
}

static struct dp_tensor piece_of(const struct dp_tensor *whole, size_t offset, size_t bytes)
{
    struct dp_tensor piece = *whole;

    piece.data = (char *)whole->data + offset;
    piece.dim[0] = bytes / 2;
    return piece;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* Whether three quarters of the n wrong bytes at these places are those. data NULL: zeros. */
static bool are_these(const struct copies *c, const size_t at[], size_t n,
                      const unsigned char *data, unsigned mask)
{
    size_t same = 0;

    for (size_t k = 0; k < n; ++k)
        same += c->got[at[k]] == (data ? data[at[k]] ^ mask : 0);
    return n > 1 && same >= n - n / 4; /* a single byte may be anything */
}

static void judge(struct copies *c, int number, size_t bytes, bool together)
{
    struct pair *pair = &c->pair[number];
    const unsigned char *own = data_of(c, number), mask = mask_of(pair->copies);
    size_t at[LOOKED] = {0}, differ = 0, n = 0, ones = 0;
    unsigned bits = 0;

    ++pair->copies;
    if (memcmp(c->got, c->want, bytes) == 0)
        return;
    for (size_t i = 0; i < bytes; ++i) {
        const unsigned wrong = c->got[i] ^ c->want[i];

        if (wrong != 0 && n < LOOKED)
            at[n++] = i;
        differ += wrong != 0;
        bits |= wrong;
        for (unsigned left = wrong; left != 0; left >>= 1)
            ones += left & 1;
    }
    enum pattern pattern = are_these(c, at, n, NULL, 0)                          ? ZERO
                           : are_these(c, at, n, own, mask ^ UCHAR_MAX)          ? OLD
                           : are_these(c, at, n, own, mask_of(pair->copies - 2)) ? LAST
                           : ones < 2 * differ                                   ? FLIPPED
                                                                                 : UNKNOWN;

    for (int p = 0; p < c->n * c->n && pattern >= FLIPPED; ++p)
        for (size_t k = 0; k < 2; ++k)
            if (are_these(c, at, n, data_of(c, p), mask_of(c->pair[p].copies - k)))
                pattern = OTHER;
    for (int by = 1; by <= LOOKED && pattern >= FLIPPED; ++by)
        if (are_these(c, at, n, own - by, mask) || are_these(c, at, n, own + by, mask))
            pattern = SHIFTED;
    pair->patterns |= 1u << pattern;
    pair->loaded += c->loaded;
    pair->together += together;
    if (pair->wrong++ > 0)
        return;
    pair->bytes = bytes;
    pair->differ = differ;
    pair->first = at[0];
    pair->bits = bits;
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Copies of pair `first` alone; or, if there are more, of all together. */
static int copy_pairs(struct copies *c, int first, int last, size_t bytes, struct dp_error *err)
{
    const bool together = last - first > 1; /* elements of a collective are aligned */
    const size_t offset = c->pair[first].copies % OFFSETS & ~(size_t)together;
    const size_t apart = together ? bytes : 0, all = (size_t)c->n * bytes;
    struct dp_tensor in[DP_MAX_SLOTS], out[DP_MAX_SLOTS], src, dst;
    int status = 0;

    for (int p = first; p < last && status == 0; ++p) {
        const size_t from = (size_t)(p / c->n), to = (size_t)(p % c->n);

        fill(c, p, bytes);
        in[from] = piece_of(&c->from[from], offset, all);
        out[to] = piece_of(&c->to[to], offset, all);
        src = piece_of(&in[from], to * apart, bytes);
        dst = piece_of(&out[to], from * apart, bytes);
        if ((status = dp_tensor_write(&src, c->want, err)) == 0)
            status = dp_tensor_write(&dst, c->old, err);
    }
    if (status == 0)
        status = together ? dp_collective_run(c->group, DP_COLLECTIVE_ALLTOALL, 0, in, out, err)
                          : dp_tensor_copy(&dst, &src, err);
    if (status == 0)
        status = dp_group_wait(c->group, err);
    for (int p = first; p < last && status == 0; ++p) {
        dst = piece_of(&out[p % c->n], (size_t)(p / c->n) * apart, bytes);
        fill(c, p, bytes);
        if ((status = dp_tensor_read(c->got, &dst, err)) == 0)
            judge(c, p, bytes, together);
    }
    return status;
}

/* Copies of all sizes: each pair alone; then all together, when they share the bytes. */
static int copy_round(struct copies *c, struct dp_error *err)
{
    const size_t sizes[] = {2, 14, 254, 4098, 65534, MIB - 2, c->largest};
    const size_t share = c->largest / (size_t)c->n & ~(size_t)1;
    const int pairs = c->n * c->n;
    int status = 0;

    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s)
        for (int i = 0; i < (sizes[s] < MIB ? REPEATS : 1) && sizes[s] <= c->largest; ++i)
            for (int p = 0; p <= pairs && status == 0 && !stop_requested(); ++p)
                status = p < pairs
                             ? copy_pairs(c, p, p + 1, sizes[s], err)
                             : copy_pairs(c, 0, pairs, sizes[s] < share ? sizes[s] : share, err);
    return status;
}

static void *train(void *context)
{
    struct copies *c = context;
    struct cell_config config = {.mode = CELL_DP, .seed = 1, .rows = 256 * (size_t)c->n};
    struct session *session = cli_alloc(1, sizeof *session);
    struct dp_group *group = NULL;
    struct session_times times;
    char why[200];
    int status = dp_group_open(&c->load, &group, &c->err);

    if (workload_parse("mlp:512,512,512,64", &config.workload, why, sizeof why))
        abort(); /* it is one of ours */
    if (status == 0 && (status = session_open(session, group, &config, NULL, &c->err)) == 0)
        status = session_open_sets(session, &config, &c->err);
    while (status == 0 && !atomic_load(&c->stop)) {
        if ((status = session_prepare(session, 0, &c->err)) == 0)
            status = session_step(session, 0, &times, &c->err);
        atomic_fetch_add(&c->steps, 1);
    }
    atomic_store(&c->stop, true);
    session_close(session);
    dp_group_close(group);
    free(session);
    return NULL;
}

/* The caller frees all memory. */
static int copies_run(struct copies *c, uint64_t random, struct dp_error *err)
{
    const size_t room = c->largest + OFFSETS, dim = room / 2;
    const size_t data = c->largest + 2 * LOOKED + (size_t)(c->n * c->n) * APART;
    const struct timespec nap = {.tv_nsec = 1000000};
    pthread_t thread;
    uint64_t word;
    int status;

    c->data = malloc(data + sizeof word);
    c->want = malloc(c->largest);
    c->old = malloc(c->largest);
    c->got = malloc(c->largest);
    if (!c->data || !c->want || !c->old || !c->got)
        return dp_fail(err, DP_ENOMEM, "no memory for copies of %zu bytes", c->largest);
    for (size_t i = 0; i < data; i += sizeof word) {
        word = random_next(&random);
        memcpy(c->data + i, &word, sizeof word);
    }
    for (int d = 0; d < c->n; ++d) {
        struct dp_slot *slot = dp_group_slot(c->group, d);

        if ((status = dp_tensor_alloc(slot, DP_BF16, 1, &dim, &c->from[d], err)) ||
            (status = dp_tensor_alloc(slot, DP_BF16, 1, &dim, &c->to[d], err)))
            return status;
    }
    if ((status = copy_round(c, err)))
        return status;
    if (pthread_create(&thread, NULL, train, c) != 0)
        return dp_fail(err, DP_ENOMEM, "no thread for a load");
    while (atomic_load(&c->steps) == 0 && !atomic_load(&c->stop))
        nanosleep(&nap, NULL);
    c->loaded = true;
    for (int round = 1; round < ROUNDS && status == 0; ++round)
        status = copy_round(c, err);
    atomic_store(&c->stop, true);
    pthread_join(thread, NULL);
    return status == 0 && c->err.status
               ? dp_fail(err, c->err.status, "the load: %.200s", c->err.text)
               : status;
}

/* ---- results --------------------------------------------------------------------------------- */

int runner_copies(const char *command, struct runner_run *run)
{
    const struct runner_options *o = run->options;
    struct impl_about *about = &run->is.about;
    struct copies *c = cli_alloc(1, sizeof *c);
    struct dp_group_config config = {.devices = o->devices,
                                     .backend = command_given(o->backend),
                                     .communicator = command_given(o->communicator)};
    char devices[sizeof o->devices];
    struct dp_error err = {0};
    int status;

    if ((status = command_open_group(command, &config, o->require_devices, &c->group)) == 0)
        c->n = dp_group_size(c->group);
    /* A fault on purpose is for the copies, and no graph is made while others use a GPU. */
    snprintf(devices, sizeof devices, "%.*s", (int)strcspn(o->devices, "+"), o->devices);
    c->load =
        (struct dp_group_config){.devices = devices, .backend = config.backend, .no_graphs = true};
    c->largest = o->copies * 1024;
    if (status == 0 && copies_run(c, o->seed, &err))
        status = command_core_error(command, &err);
    if (status == 0 && stop_requested())
        status = EXIT_INTERRUPTED;
    const int pairs = c->n * c->n;

    run->profiles = o->profiles;
    run->result = cli_alloc((size_t)pairs, sizeof *run->result);
    run->requirement = cli_alloc((size_t)pairs, sizeof *run->requirement);
    snprintf(about->name, sizeof about->name, "copies by %s",
             c->group ? dp_group_communicator(c->group) : "");
    about->devices = c->n;
    for (int p = 0; p < pairs && status == 0; ++p) {
        const struct pair *pair = &c->pair[p];
        struct runner_requirement *as = &run->requirement[p];
        struct runner_result *result = &run->result[run->n++];
        struct dp_slot_info from, to;
        char found[300] = "";

        dp_slot_describe(dp_group_slot(c->group, p / c->n), &from);
        dp_slot_describe(dp_group_slot(c->group, p % c->n), &to);
        snprintf(about->device_name[p / c->n], sizeof about->device_name[0], "%s", from.name);
        snprintf(as->id, sizeof as->id, "%.30s to %.30s", from.name, to.name);
        as->test = (struct check_case){.id = as->id, .rule = "COPY"};
        *result = (struct runner_result){.test = &as->test,
                                         .sentence = "every byte arrives as it was sent",
                                         .verdict = pair->wrong > 0 ? CHECK_FAIL : CHECK_PASS,
                                         .ran = true,
                                         .compared = pair->copies};
        for (int k = 0; k < PATTERNS; ++k) {
            const bool there = pair->patterns >> k & 1;

            if (there)
                text_list(found, sizeof found, "; ", patterns[k].words);
            if (there && result->hint[0] == '\0' && (from.flags & DP_KIND_PEERS))
                snprintf(result->hint, sizeof result->hint, "%s",
                         from.index == to.index ? "This copy did not leave the GPU: is it its "
                                                  "memory?"
                                                : patterns[k].question);
        }
        if (pair->wrong > 0)
            snprintf(result->reason, sizeof result->reason,
                     "%zu of %zu copies %s wrong, %zu of them under load, %zu while all devices "
                     "copied. What arrived: %s. The first: %zu of %zu bytes, from byte %zu on, "
                     "xor 0x%02x",
                     pair->wrong, pair->copies, text_are(pair->wrong), pair->loaded, pair->together,
                     found, pair->differ, pair->bytes, pair->first, pair->bits);
    }
    for (int d = 0; d < c->n; ++d) {
        dp_tensor_free(&c->from[d]);
        dp_tensor_free(&c->to[d]);
    }
    dp_group_close(c->group);
    free(c->data);
    free(c->want);
    free(c->old);
    free(c->got);
    free(c);
    return status;
}

void runner_copies_text(FILE *stream, const struct runner_run *run)
{
    const int n = run->is.about.devices;
    char sentence[RUNNER_TEXT], text[2 * RUNNER_TEXT];
    const char *word = runner_verdict(run, sentence);

    fprintf(stream, "from \\ to       ");
    for (int to = 0; to < n; ++to)
        fprintf(stream, "%5d", to);
    for (int p = 0; p < n * n; ++p) {
        if (p % n == 0)
            fprintf(stream, "\n%3d %-12s", p / n, run->is.about.device_name[p / n]);
        fprintf(stream, " %s", runner_verdict_words[run->result[p].verdict]);
    }
    fputs("\n\n", stream);
    for (size_t i = 0; i < run->n; ++i) {
        const struct runner_result *r = &run->result[i];

        snprintf(text, sizeof text, "FAIL  %s: %s%s%s", r->test->id, r->reason,
                 r->hint[0] != '\0' ? ". " : "", r->hint);
        if (runner_failed(r))
            command_wrap(stream, text, 0, 6, 80);
    }
    fprintf(stream, "%zu copies of each pair (%.1f s)\n", run->result[0].compared, run->seconds);
    snprintf(text, sizeof text, "%s  %s", word, sentence);
    command_wrap(stream, text, 0, 6, 80);
}
