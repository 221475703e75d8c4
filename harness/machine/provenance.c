/* machine/provenance.c: reads machine, system, build and clock. The name of the host is hashed, and
 * never stored. */
#include "machine/machine.h"

#include <gnu/libc-version.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "build_info.h"
#include "launch/watch.h"
#include "numbers/equal.h"
#include "numbers/stats.h"
#include "record/record.h"

enum { CLOCK_CALLS = 1000 };
static const char clock_name[] = "CLOCK_MONOTONIC_RAW";

extern char **environ; /* POSIX has no header that declares it */

static int read_system(struct record_run *run)
{
    struct utsname name;
    double *load = run->load_avg;
    char line[80];
    uint64_t node = 0;
    int status = 0, unused = 0;

    if (uname(&name) == 0) {
        snprintf(run->kernel, sizeof run->kernel, "%.40s %.80s", name.sysname, name.release);
        node = equal_digest(0, name.nodename, strlen(name.nodename));
    }
    snprintf(run->node_hash, sizeof run->node_hash, "%016" PRIx64, node);
    snprintf(run->libc, sizeof run->libc, "glibc %s", gnu_get_libc_version());
    /* The load is shown to a reader and never compared. */
    if (!machine_line("", "/proc/loadavg", line, sizeof line, &unused) ||
        sscanf(line, "%lf %lf %lf", &load[0], &load[1], &load[2]) != 3)
        load[0] = load[1] = load[2] = (double)NAN;
    (void)machine_line("", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", run->governor,
                       sizeof run->governor, &status);
    run->governor[strcspn(run->governor, "\n")] = '\0';
    if (run->governor[0] == '\0')
        snprintf(run->governor, sizeof run->governor, "unknown");
    return status;
}

void provenance_build(struct record_run *run)
{
    static const char dirty[] = "-dirty";
    const time_t now = time(NULL);
    struct tm utc;
    size_t length;

    if (gmtime_r(&now, &utc))
        strftime(run->created_utc, sizeof run->created_utc, "%Y-%m-%dT%H:%M:%SZ", &utc);
    snprintf(run->program_version, sizeof run->program_version, "%s", BUILD_VERSION);
    snprintf(run->git_sha, sizeof run->git_sha, "%s", BUILD_GIT);
    length = strlen(run->git_sha);
    if (length >= strlen(dirty) && strcmp(run->git_sha + length - strlen(dirty), dirty) == 0) {
        run->git_sha[length - strlen(dirty)] = '\0';
        run->git_dirty = true;
    }
    snprintf(run->source_digest, sizeof run->source_digest, "%s", BUILD_SOURCE);
    snprintf(run->compiler, sizeof run->compiler, "%s", BUILD_COMPILER);
    snprintf(run->cflags, sizeof run->cflags, "%s", BUILD_CFLAGS);
    snprintf(run->build_type, sizeof run->build_type, "%s", BUILD_TYPE);
    snprintf(run->sanitizers, sizeof run->sanitizers, "%s", BUILD_SANITIZERS);
}

int provenance_program(const struct record_run *run, char hex[DIGEST_HEX])
{
    char text[1024];
    const int n = snprintf(text, sizeof text, "%s %s %d %s %s %s %s %s", run->program_version,
                           run->git_sha, run->git_dirty, run->source_digest, run->compiler,
                           run->cflags, run->build_type, run->sanitizers);

    return digest_sha256(text, (size_t)n, hex);
}

int provenance_read(struct dp_group *group, const struct dp_machine *machine,
                    struct record_run *run)
{
    /* The model of every GPU in the fake of CUDA for tests. Times on one are no results. */
    static const char fake[] = "Fake GPU";
    const uint64_t unique[] = {watch_ns(CLOCK_REALTIME), watch_ns(CLOCK_MONOTONIC),
                               (uint64_t)getpid()};
    double difference[CLOCK_CALLS];

    memset(run, 0, sizeof *run);
    memcpy(run->cpu_model, machine->cpu_model, sizeof run->cpu_model);
    memcpy(run->hwloc_version, machine->hwloc_version, sizeof run->hwloc_version);
    dp_group_blas(group, run->blas, sizeof run->blas);
    run->packages = machine->packages;
    run->numa_nodes = machine->numa_nodes;
    run->cores = machine->cores;
    run->pus = machine->pus;
    run->usable_pus = machine->usable_pus;
    run->mem_bytes = machine->usable_bytes;
    run->l1d_bytes = machine->l1d_bytes;
    run->l2_bytes = machine->l2_bytes;
    run->l3_bytes = machine->l3_bytes;
    snprintf(run->run_id, sizeof run->run_id, "%016" PRIx64,
             equal_digest(0, unique, sizeof unique));
    run->clocked = true;
    snprintf(run->source, sizeof run->source, "measured");
    provenance_build(run);
    run->n_slots = dp_group_size(group);
    for (int i = 0; i < run->n_slots; ++i) {
        struct record_slot *slot = &run->slot[i];
        struct dp_slot_info info;

        dp_slot_describe(dp_group_slot(group, i), &info);
        memcpy(slot->name, info.name, sizeof slot->name);
        memcpy(slot->kind, info.kind, sizeof slot->kind);
        memcpy(slot->cores, info.cores, sizeof slot->cores);
        slot->numa_node = info.numa_node;
        slot->bound = info.bound;
        slot->near = info.near;
        memcpy(slot->model, info.model, sizeof slot->model);
        memcpy(slot->bus, info.bus, sizeof slot->bus);
        if (strncmp(info.model, fake, strlen(fake)) == 0)
            snprintf(run->source, sizeof run->source, "simulated");
    }
    snprintf(run->backend, sizeof run->backend, "%s", dp_group_backend(group));
    snprintf(run->communicator, sizeof run->communicator, "%s", dp_group_communicator(group));
    snprintf(run->gpu_software, sizeof run->gpu_software, "%s", dp_group_software(group));
    /* The tick of the clock is the smallest positive difference of two readings, the overhead is
     * the median difference of successive readings. */
    uint64_t last = watch_ns(CLOCK_MONOTONIC_RAW);

    for (int i = 0; i < CLOCK_CALLS; ++i) {
        const uint64_t reading = watch_ns(CLOCK_MONOTONIC_RAW);

        difference[i] = (double)(reading - last);
        last = reading;
    }
    stats_sort(difference, CLOCK_CALLS);
    for (int i = 0; i < CLOCK_CALLS && run->timer_tick_ns == 0; ++i)
        run->timer_tick_ns = difference[i];
    run->timer_overhead_ns = difference[CLOCK_CALLS / 2];
    snprintf(run->clock, sizeof run->clock, "%s", clock_name);
    snprintf(run->sync_method, sizeof run->sync_method, "barrier before each step");
    snprintf(run->rank_reduction, sizeof run->rank_reduction, "slowest replica of each step");
    if (host_read("", run) != 0 || machine_class("", machine, run->machine_class) != 0 ||
        machine_instance("", run->machine_instance) != 0 ||
        machine_environment(environ, run->environment, sizeof run->environment) != 0)
        return -1;
    return read_system(run);
}

size_t provenance_doubts(const struct record_run *run, enum provenance_dirty dirty,
                         char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT])
{
    const bool fast =
        strcmp(run->build_type, "Release") == 0 || strcmp(run->build_type, "RelWithDebInfo") == 0;
    size_t n = 0;

    if (strcmp(run->source, "measured") != 0)
        snprintf(doubt[n++], PROVENANCE_DOUBT, "times that are %.16s, not measured", run->source);
    if (strcmp(run->clock, clock_name) != 0)
        snprintf(doubt[n++], PROVENANCE_DOUBT, "the clock %.40s, not %s", run->clock, clock_name);
    if (!fast)
        snprintf(doubt[n++], PROVENANCE_DOUBT, "a %.32s build, not of Release or RelWithDebInfo",
                 run->build_type[0] != '\0' ? run->build_type : "nameless");
    if (run->sanitizers[0] != '\0')
        snprintf(doubt[n++], PROVENANCE_DOUBT, "a build with sanitizers: %.64s", run->sanitizers);
    if (run->git_dirty && dirty != PROVENANCE_TAKEN)
        snprintf(doubt[n++], PROVENANCE_DOUBT, "a changed tree on commit %.48s%s", run->git_sha,
                 dirty == PROVENANCE_ASKED ? "; --allow-dirty takes it" : "");
    return n;
}

void provenance_facts(struct record_field facts[PROVENANCE_FACTS + 1])
{
    static const char *const names[PROVENANCE_FACTS] = {"source",     "clock",   "build_type",
                                                        "sanitizers", "git_sha", "git_dirty"};

    for (int i = 0; i < PROVENANCE_FACTS; ++i)
        facts[i] = *record_find(record_run_fields, names[i]);
    facts[PROVENANCE_FACTS] = (struct record_field){.name = NULL};
}

static int differs(const char *what, const char *here, const char *there, char *why, size_t bytes)
{
    if (strcmp(here, there) == 0)
        return 0;
    snprintf(why, bytes, "the %s here is \"%.130s\", in the file \"%.130s\"", what, here, there);
    return -1;
}

bool provenance_same_source(const struct record_run *a, const struct record_run *b)
{
    const bool known = a->git_sha[0] != '\0' && strcmp(a->git_sha, "unknown") != 0;

    return strcmp(a->git_sha, b->git_sha) == 0 && a->git_dirty == b->git_dirty &&
           strcmp(a->source_digest, b->source_digest) == 0 &&
           (known || a->source_digest[0] != '\0');
}

int provenance_compare(const struct record_run *here, const struct record_run *there, char *why,
                       size_t bytes)
{
    const struct record_field *field =
        record_differs(record_run_fields, RECORD_APART | RECORD_HOST, here, there);
    const void *one = here, *other = there;
    char a[1024], b[1024], what[64];
    int at = 0;

    if (differs("commit", here->git_sha, there->git_sha, why, bytes) ||
        differs("working tree", here->git_dirty ? "changed" : "as committed",
                there->git_dirty ? "changed" : "as committed", why, bytes) ||
        differs("digest of the source", here->source_digest, there->source_digest, why, bytes))
        return -1;
    if (!provenance_same_source(here, there)) {
        snprintf(
            why, bytes,
            "the commit is \"%.60s\" here and in the file, and nothing else shows that they are "
            "of one source",
            here->git_sha);
        return -1;
    }
    if (differs("communicator", here->communicator, there->communicator, why, bytes))
        return -1;
    snprintf(a, sizeof a, "%d", here->n_slots);
    snprintf(b, sizeof b, "%d", there->n_slots);
    if (field)
        snprintf(what, sizeof what, "%s", field->words);
    else if (differs("number of devices", a, b, why, bytes))
        return -1;
    else if ((field = record_slots_differ(here, there, here->n_slots, &at))) {
        snprintf(what, sizeof what, "%s of device %d", field->words, at);
        one = &here->slot[at];
        other = &there->slot[at];
    } else if ((field = record_gpus_differ(here, there, &at))) {
        snprintf(what, sizeof what, "%s of GPU %d of the node", field->words, at);
        one = &here->node.gpu[at];
        other = &there->node.gpu[at];
    } else {
        return 0;
    }
    record_show(field, one, a, sizeof a);
    record_show(field, other, b, sizeof b);
    return differs(what, a, b, why, bytes);
}
