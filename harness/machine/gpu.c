/* machine/gpu.c: reads the fields of a GPU. A table says which function of NVML returns which
 * field. */
#include "machine/nvml.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files/files.h"
#include "text/text.h"

/* The shape of a function: its arguments in addition to the GPU, and its results. */
enum shape {
    NUMBER,      /* a number */
    NUMBER_OF,   /* a number, for one of several kinds */
    WIDE,        /* a number of 64 bits */
    WIDE_OF_TWO, /* a number of 64 bits, for a pair of kinds */
    PAIR,        /* two numbers, of which the first is used */
    FOUR,        /* four numbers, of which the one with index first is used */
    VIOLATION,   /* a time, for a policy */
    MEMORY_ALL,
    MEMORY_USED,
    PROCESSES
};

/* The object that has the field. */
enum part { PART_GPU, PART_QUICK, PART_REST, PART_LINK };

struct fact {
    const char *name; /* name of the field */
    enum part part;
    size_t field;
    enum node_call call;
    enum shape shape;
    unsigned first, second; /* the kinds that are passed; of a link after its number */
    double scale;           /* factor for a unit of NVML; 0 means 1 */
};

#define OF_GPU(member)                                                                             \
    .name = #member, .part = PART_GPU, .field = offsetof(struct record_gpu, member)
#define OF_QUICK(member)                                                                           \
    .name = #member, .part = PART_QUICK, .field = offsetof(struct record_reading, member)
#define OF_READING(member)                                                                         \
    .name = #member, .part = PART_REST, .field = offsetof(struct record_reading, member)
#define OF_LINK(member)                                                                            \
    .name = "links." #member, .part = PART_LINK, .field = offsetof(struct record_nvlink, member)

static const struct fact facts[] = {
    {OF_GPU(memory_bytes), NODE_MEMORY, MEMORY_ALL},
    {OF_GPU(pcie_generation_max), NODE_PCIE_GENERATION_MAX, NUMBER},
    {OF_GPU(pcie_width_max), NODE_PCIE_WIDTH_MAX, NUMBER},
    {OF_GPU(clock_sm_max_hz), NODE_CLOCK_MAX, NUMBER_OF, NVML_CLOCK_SM, .scale = 1e6},
    {OF_GPU(clock_memory_max_hz), NODE_CLOCK_MAX, NUMBER_OF, NVML_CLOCK_MEMORY, .scale = 1e6},
    {OF_GPU(clock_sm_set_hz), NODE_CLOCK_SET, NUMBER_OF, NVML_CLOCK_SM, .scale = 1e6},
    {OF_GPU(clock_memory_set_hz), NODE_CLOCK_SET, NUMBER_OF, NVML_CLOCK_MEMORY, .scale = 1e6},
    {OF_GPU(power_limit_w), NODE_POWER_LIMIT, NUMBER, .scale = 1e-3},
    {OF_GPU(power_limit_default_w), NODE_POWER_LIMIT_DEFAULT, NUMBER, .scale = 1e-3},
    {OF_GPU(ecc_mode), NODE_ECC_MODE, PAIR},
    {OF_GPU(mig_mode), NODE_MIG, PAIR},
    {OF_GPU(persistence), NODE_PERSISTENCE, NUMBER},
    {OF_QUICK(throttle), NODE_THROTTLE, WIDE},
    {OF_QUICK(clock_sm_hz), NODE_CLOCK, NUMBER_OF, NVML_CLOCK_SM, .scale = 1e6},
    {OF_QUICK(temperature_c), NODE_TEMPERATURE, NUMBER_OF, NVML_TEMPERATURE_GPU},
    {OF_QUICK(power_w), NODE_POWER, NUMBER, .scale = 1e-3},
    {OF_READING(clock_memory_hz), NODE_CLOCK, NUMBER_OF, NVML_CLOCK_MEMORY, .scale = 1e6},
    {OF_READING(energy_j), NODE_ENERGY, WIDE, .scale = 1e-3},
    {OF_READING(slowed_power_ns), NODE_VIOLATION, VIOLATION, NVML_POLICY_POWER},
    {OF_READING(slowed_thermal_ns), NODE_VIOLATION, VIOLATION, NVML_POLICY_THERMAL},
    {OF_READING(pcie_generation), NODE_PCIE_GENERATION, NUMBER},
    {OF_READING(pcie_width), NODE_PCIE_WIDTH, NUMBER},
    {OF_READING(ecc_corrected), NODE_ECC_ERRORS, WIDE_OF_TWO, NVML_CORRECTED, NVML_VOLATILE},
    {OF_READING(ecc_uncorrected), NODE_ECC_ERRORS, WIDE_OF_TWO, NVML_UNCORRECTED, NVML_VOLATILE},
    {OF_READING(ecc_corrected_ever), NODE_ECC_ERRORS, WIDE_OF_TWO, NVML_CORRECTED, NVML_AGGREGATE},
    {OF_READING(ecc_uncorrected_ever), NODE_ECC_ERRORS, WIDE_OF_TWO, NVML_UNCORRECTED,
     NVML_AGGREGATE},
    {OF_READING(rows_corrected), NODE_ROWS, FOUR, 0},
    {OF_READING(rows_uncorrected), NODE_ROWS, FOUR, 1},
    {OF_READING(rows_pending), NODE_ROWS, FOUR, 2},
    {OF_READING(rows_failed), NODE_ROWS, FOUR, 3},
    {OF_READING(used_bytes), NODE_MEMORY, MEMORY_USED},
    {OF_READING(foreign_processes), NODE_PROCESSES, PROCESSES},
    {OF_LINK(active), NODE_LINK_STATE, NUMBER_OF},
    {OF_LINK(crc_flit), NODE_LINK_ERRORS, WIDE_OF_TWO, NVML_LINK_FLIT},
    {OF_LINK(crc_data), NODE_LINK_ERRORS, WIDE_OF_TWO, NVML_LINK_DATA},
    {OF_LINK(replays), NODE_LINK_ERRORS, WIDE_OF_TWO, NVML_LINK_REPLAY},
    {OF_LINK(recoveries), NODE_LINK_ERRORS, WIDE_OF_TWO, NVML_LINK_RECOVERY},
};
enum { FACTS = sizeof facts / sizeof facts[0], MOST_PROCESSES = 64 };

/* ---- one answer ---------------------------------------------------------------------------- */

/* The functions of NVML, by their arguments. */
typedef int number_function(node_device, unsigned *);
typedef int number_of_function(node_device, unsigned, unsigned *);
typedef int wide_function(node_device, unsigned long long *);
typedef int wide_of_function(node_device, unsigned, unsigned, unsigned long long *);
typedef int pair_function(node_device, unsigned *, unsigned *);
typedef int four_function(node_device, unsigned *, unsigned *, unsigned *, unsigned *);
typedef int violation_function(node_device, unsigned, struct nvml_violation *);
typedef int memory_function(node_device, struct nvml_memory *);
typedef int processes_function(node_device, unsigned *, struct nvml_process *);
typedef int text_function(node_device, char *, unsigned);
typedef int remote_function(node_device, unsigned, struct nvml_pci *);

/* Counts other processes. If this one is not in the list, it may be there under another number: in
 * a container with a separate namespace of processes. The first namespace has that number on every
 * Linux. */
static int count_processes(node_function *call, node_device device, double *value)
{
    struct nvml_process process[MOST_PROCESSES];
    unsigned n = MOST_PROCESSES;
    const int status = ((processes_function *)call)(device, &n, process);
    char name[64] = "";
    bool own = false;

    if (status == NVML_INSUFFICIENT_SIZE) {
        *value = n;
        return NVML_SUCCESS;
    }
    if (status != NVML_SUCCESS)
        return status;
    if (readlink("/proc/self/ns/pid", name, sizeof name - 1) <= 0)
        name[0] = '\0';
    for (unsigned i = 0; i < n && i < MOST_PROCESSES; ++i)
        own = own || process[i].pid == (unsigned)getpid();
    if (n > 0 && !own && strcmp(name, "pid:[4026531836]") != 0)
        return NVML_NO_PERMISSION;
    *value = n - (own ? 1U : 0U);
    return NVML_SUCCESS;
}

/* Asks NVML for a fact, and stores it in its field of the object; NaN if there is no answer.
 * Returns the value of the function. */
static int ask_fact(const struct node_nvml *nvml, node_device device, const struct fact *fact,
                    unsigned link, void *object)
{
    node_function *call = nvml->call[fact->call];
    double *field = (double *)(void *)((char *)object + fact->field), value = 0;
    struct nvml_violation violation = {0};
    struct nvml_memory memory = {0};
    unsigned long long wide = 0;
    unsigned number[4] = {0};
    const bool of_link = fact->part == PART_LINK;
    const unsigned first = of_link ? link : fact->first;
    int status;

    *field = (double)NAN;
    if (!call)
        return NVML_NO_CALL;
    switch (fact->shape) {
    case NUMBER:
        status = ((number_function *)call)(device, &number[0]);
        value = number[0];
        break;
    case NUMBER_OF:
        status = ((number_of_function *)call)(device, first, &number[0]);
        value = number[0];
        break;
    case PAIR:
        status = ((pair_function *)call)(device, &number[0], &number[1]);
        value = number[0];
        break;
    case FOUR:
        status = ((four_function *)call)(device, &number[0], &number[1], &number[2], &number[3]);
        value = number[first];
        break;
    case WIDE:
        status = ((wide_function *)call)(device, &wide);
        value = (double)wide;
        break;
    case WIDE_OF_TWO:
        status =
            ((wide_of_function *)call)(device, first, of_link ? fact->first : fact->second, &wide);
        value = (double)wide;
        break;
    case VIOLATION:
        status = ((violation_function *)call)(device, first, &violation);
        value = (double)violation.violated_ns;
        break;
    case PROCESSES:
        status = count_processes(call, device, &value);
        break;
    default:
        status = ((memory_function *)call)(device, &memory);
        value = (double)(fact->shape == MEMORY_ALL ? memory.total : memory.used);
    }
    if (status == NVML_SUCCESS)
        *field = value * (fact->scale > 0 ? fact->scale : 1);
    return status;
}

static void ask_part(const struct node_nvml *nvml, node_device device, enum part part, void *object,
                     int status[FACTS])
{
    for (int i = 0; i < FACTS; ++i)
        if (facts[i].part == part)
            status[i] = ask_fact(nvml, device, &facts[i], 0, object);
}

/* ---- links --------------------------------------------------------------------------------- */

/* Reads the links up to the last one that has a state. status is that of the first link. */
static void read_links(const struct node_nvml *nvml, node_device device,
                       struct record_reading *reading, int status[FACTS])
{
    node_function *remote = nvml->call[NODE_LINK_REMOTE];

    reading->n_links = 0;
    for (unsigned l = 0; l < RECORD_MAX_LINKS; ++l) {
        struct record_nvlink *link = &reading->link[l];
        struct nvml_pci pci = {.bus = 0};
        int has = NVML_SUCCESS; /* of the state of the link, which is asked for first */

        for (int i = 0; i < FACTS; ++i) {
            int known = has;

            if (facts[i].part != PART_LINK)
                continue;
            if (has == NVML_SUCCESS)
                known = ask_fact(nvml, device, &facts[i], l, link);
            else
                *(double *)(void *)((char *)link + facts[i].field) = (double)NAN;
            if (facts[i].call == NODE_LINK_STATE)
                has = known;
            if (l == 0)
                status[i] = known;
        }
        link->to[0] = '\0';
        if (remote && ((remote_function *)remote)(device, l, &pci) == NVML_SUCCESS)
            node_pci_words(&pci, link->to);
        if (has == NVML_SUCCESS)
            reading->n_links = (int)l + 1;
    }
}

static void reason_words(int status, char text[48])
{
    static const struct {
        int status;
        const char *words;
    } known[] = {{NVML_NO_CALL, "no such function"},
                 {NVML_FUNCTION_NOT_FOUND, "no such function"},
                 {NVML_NOT_SUPPORTED, "not supported"},
                 {NVML_NO_PERMISSION, "not permitted"},
                 {NVML_GPU_IS_LOST, "the GPU is lost"}};

    snprintf(text, 48, "error %d", status);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (known[i].status == status)
            snprintf(text, 48, "%s", known[i].words);
}

/* ---- a GPU --------------------------------------------------------------------------------- */

static void ask_text(const struct node_nvml *nvml, enum node_call call, node_device device,
                     char *text, size_t bytes)
{
    char all[128] = "";

    if (!nvml->call[call] ||
        ((text_function *)nvml->call[call])(device, all, sizeof all - 1) != NVML_SUCCESS)
        all[0] = '\0';
    text_clean(all, ' ');
    snprintf(text, bytes, "%.*s", (int)bytes - 1, all);
}

void node_gpu_read(const struct node_nvml *nvml, node_device device, struct record_gpu *gpu)
{
    int status[FACTS];
    char uuid[128], hex[DIGEST_HEX];
    bool named[FACTS] = {false};

    node_nvml_bus(nvml, device, gpu->bus);
    ask_text(nvml, NODE_NAME, device, gpu->model, sizeof gpu->model);
    ask_text(nvml, NODE_UUID, device, uuid, sizeof uuid);
    gpu->uuid_hash[0] = '\0';
    if (uuid[0] != '\0' && digest_sha256(uuid, strlen(uuid), hex) == 0)
        snprintf(gpu->uuid_hash, sizeof gpu->uuid_hash, "%.16s", hex);
    ask_part(nvml, device, PART_GPU, gpu, status);
    ask_part(nvml, device, PART_QUICK, &gpu->reading, status);
    ask_part(nvml, device, PART_REST, &gpu->reading, status);
    read_links(nvml, device, &gpu->reading, status);
    /* Absent fields with their reasons: "not supported: a, b; no such function: c". */
    gpu->absent[0] = '\0';
    for (int i = 0; i < FACTS; ++i) {
        char reason[48], other[48];

        if (status[i] == NVML_SUCCESS || named[i])
            continue;
        reason_words(status[i], reason);
        text_list(gpu->absent, sizeof gpu->absent, "; ", reason);
        for (int k = i; k < FACTS; ++k) {
            reason_words(status[k], other);
            if (status[k] == NVML_SUCCESS || strcmp(reason, other) != 0)
                continue;
            text_list(gpu->absent, sizeof gpu->absent, k == i ? ": " : ", ", facts[k].name);
            named[k] = true;
        }
    }
}

void node_reading_read(const struct node_nvml *nvml, node_device device, bool rest,
                       struct record_reading *reading)
{
    int status[FACTS];

    ask_part(nvml, device, rest ? PART_REST : PART_QUICK, reading, status);
    if (rest)
        read_links(nvml, device, reading, status);
}
