/* machine/gpu.c: reads the fields of a GPU. A table says which function of NVML returns which
 * field. */
#include "machine/nvml.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files/digest.h"
#include "record/record.h"
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
    PROCESSES,
    LINK,       /* a number, for a link */
    LINK_ERRORS /* a number of 64 bits, for a link */
};

struct fact {
    const char *name; /* name of the field */
    size_t field;
    enum node_call call;
    enum shape shape;
    unsigned first, second; /* the kinds that are passed */
    double scale;           /* factor for a unit of NVML; 0 means 1 */
};

#define OF_GPU(member)     .name = #member, .field = offsetof(struct record_gpu, member)
#define OF_READING(member) .name = #member, .field = offsetof(struct record_reading, member)
#define OF_LINK(member)    .name = "links." #member, .field = offsetof(struct record_nvlink, member)

static const struct fact of_gpu[] = {
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
};

static const struct fact quick[] = {
    {OF_READING(throttle), NODE_THROTTLE, WIDE},
    {OF_READING(clock_sm_hz), NODE_CLOCK, NUMBER_OF, NVML_CLOCK_SM, .scale = 1e6},
    {OF_READING(temperature_c), NODE_TEMPERATURE, NUMBER_OF, NVML_TEMPERATURE_GPU},
    {OF_READING(power_w), NODE_POWER, NUMBER, .scale = 1e-3},
};

static const struct fact rest[] = {
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
};

static const struct fact of_link[] = {
    {OF_LINK(active), NODE_LINK_STATE, LINK},
    {OF_LINK(crc_flit), NODE_LINK_ERRORS, LINK_ERRORS, NVML_LINK_FLIT},
    {OF_LINK(crc_data), NODE_LINK_ERRORS, LINK_ERRORS, NVML_LINK_DATA},
    {OF_LINK(replays), NODE_LINK_ERRORS, LINK_ERRORS, NVML_LINK_REPLAY},
    {OF_LINK(recoveries), NODE_LINK_ERRORS, LINK_ERRORS, NVML_LINK_RECOVERY},
};

enum {
    GPU_FACTS = sizeof of_gpu / sizeof of_gpu[0],
    QUICK_FACTS = sizeof quick / sizeof quick[0],
    REST_FACTS = sizeof rest / sizeof rest[0],
    LINK_FACTS = sizeof of_link / sizeof of_link[0],
    ALL_FACTS = GPU_FACTS + QUICK_FACTS + REST_FACTS + LINK_FACTS,
    MOST_PROCESSES = 64
};

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

/* True if process numbers are those that this process knows. They are not in a container with a
 * separate namespace of processes. The first namespace has this number on every Linux. */
static bool sees_all(void)
{
    char name[64];
    const ssize_t n = readlink("/proc/self/ns/pid", name, sizeof name - 1);

    if (n <= 0)
        return false;
    name[n] = '\0';
    return strcmp(name, "pid:[4026531836]") == 0;
}

/* Counts other processes. If this one is not in the list, it may be there under another number. */
static int count_processes(node_function *call, node_device device, double *value)
{
    struct nvml_process process[MOST_PROCESSES];
    unsigned n = MOST_PROCESSES;
    const int status = ((processes_function *)call)(device, &n, process);
    bool own = false;

    if (status == NVML_INSUFFICIENT_SIZE) {
        *value = n;
        return NVML_SUCCESS;
    }
    if (status != NVML_SUCCESS)
        return status;
    for (unsigned i = 0; i < n && i < MOST_PROCESSES; ++i)
        own = own || process[i].pid == (unsigned)getpid();
    if (n > 0 && !own && !sees_all())
        return NVML_NO_PERMISSION;
    *value = n - (own ? 1U : 0U);
    return NVML_SUCCESS;
}

static int ask_number(node_function *call, node_device device, const struct fact *fact,
                      unsigned link, double *value)
{
    unsigned number[4] = {0}, index = 0;
    int status = NVML_NO_CALL;

    switch (fact->shape) {
    case NUMBER:
        status = ((number_function *)call)(device, &number[0]);
        break;
    case NUMBER_OF:
        status = ((number_of_function *)call)(device, fact->first, &number[0]);
        break;
    case LINK:
        status = ((number_of_function *)call)(device, link, &number[0]);
        break;
    case PAIR:
        status = ((pair_function *)call)(device, &number[0], &number[1]);
        break;
    default:
        status = ((four_function *)call)(device, &number[0], &number[1], &number[2], &number[3]);
        index = fact->first;
    }
    *value = number[index];
    return status;
}

static int ask_wide(node_function *call, node_device device, const struct fact *fact, unsigned link,
                    double *value)
{
    struct nvml_violation violation = {0};
    struct nvml_memory memory = {0};
    unsigned long long number = 0;
    int status;

    switch (fact->shape) {
    case WIDE:
        status = ((wide_function *)call)(device, &number);
        break;
    case WIDE_OF_TWO:
        status = ((wide_of_function *)call)(device, fact->first, fact->second, &number);
        break;
    case LINK_ERRORS:
        status = ((wide_of_function *)call)(device, link, fact->first, &number);
        break;
    case VIOLATION:
        status = ((violation_function *)call)(device, fact->first, &violation);
        number = violation.violated_ns;
        break;
    default:
        status = ((memory_function *)call)(device, &memory);
        number = fact->shape == MEMORY_ALL ? memory.total : memory.used;
    }
    *value = (double)number;
    return status;
}

/* Asks NVML for a fact, and stores it in its field of the object; NaN if there is no answer.
 * Returns the value of the function. */
static int ask_fact(const struct node_nvml *nvml, node_device device, const struct fact *fact,
                    unsigned link, void *object)
{
    node_function *call = nvml->call[fact->call];
    double *field = (double *)(void *)((char *)object + fact->field), value = 0;
    int status;

    *field = (double)NAN;
    if (!call)
        return NVML_NO_CALL;
    if (fact->shape == PROCESSES)
        status = count_processes(call, device, &value);
    else if (fact->shape == NUMBER || fact->shape == NUMBER_OF || fact->shape == PAIR ||
             fact->shape == FOUR || fact->shape == LINK)
        status = ask_number(call, device, fact, link, &value);
    else
        status = ask_wide(call, device, fact, link, &value);
    if (status == NVML_SUCCESS)
        *field = value * (fact->scale > 0 ? fact->scale : 1);
    return status;
}

static void ask_all(const struct node_nvml *nvml, node_device device, const struct fact fact[],
                    int n, void *object, int status[])
{
    for (int i = 0; i < n; ++i)
        status[i] = ask_fact(nvml, device, &fact[i], 0, object);
}

/* ---- links --------------------------------------------------------------------------------- */

static void find_end(const struct node_nvml *nvml, node_device device, unsigned link, char to[16])
{
    node_function *call = nvml->call[NODE_LINK_REMOTE];
    struct nvml_pci pci = {.bus = 0};

    to[0] = '\0';
    if (call && ((remote_function *)call)(device, link, &pci) == NVML_SUCCESS)
        node_pci_words(&pci, to);
}

/* Reads the links up to the last one that has a state. status is that of the first link. */
static void read_links(const struct node_nvml *nvml, node_device device,
                       struct record_reading *reading, int status[LINK_FACTS])
{
    reading->n_links = 0;
    for (unsigned l = 0; l < RECORD_MAX_LINKS; ++l) {
        struct record_nvlink *link = &reading->link[l];
        const int has = ask_fact(nvml, device, &of_link[0], l, link);

        if (l == 0)
            for (int i = 0; i < LINK_FACTS; ++i)
                status[i] = has;
        for (int i = 1; i < LINK_FACTS; ++i) {
            const int known =
                has == NVML_SUCCESS ? ask_fact(nvml, device, &of_link[i], l, link) : has;

            if (l == 0)
                status[i] = known;
            if (has != NVML_SUCCESS)
                *(double *)(void *)((char *)link + of_link[i].field) = (double)NAN;
        }
        find_end(nvml, device, l, link->to);
        if (has == NVML_SUCCESS)
            reading->n_links = (int)l + 1;
    }
}

/* ---- absent fields, with reasons ----------------------------------------------------------- */

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

/* Writes "not supported: a, b; no such function: c". */
static void list_absent(const char *const name[], const int status[], int n, char *text,
                        size_t bytes)
{
    bool messages[ALL_FACTS] = {false};

    text[0] = '\0';
    for (int i = 0; i < n; ++i) {
        char reason[48], other[48];

        if (status[i] == NVML_SUCCESS || messages[i])
            continue;
        reason_words(status[i], reason);
        text_list(text, bytes, "; ", reason);
        for (int k = i; k < n; ++k) {
            reason_words(status[k], other);
            if (status[k] == NVML_SUCCESS || strcmp(reason, other) != 0)
                continue;
            text_list(text, bytes, k == i ? ": " : ", ", name[k]);
            messages[k] = true;
        }
    }
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

static int name_all(const struct fact fact[], int n, const char *name[], int used)
{
    for (int i = 0; i < n; ++i)
        name[used + i] = fact[i].name;
    return used + n;
}

void node_gpu_read(const struct node_nvml *nvml, node_device device, struct record_gpu *gpu)
{
    int status[ALL_FACTS];
    const char *name[ALL_FACTS];
    char uuid[128], hex[DIGEST_HEX];
    int n = 0;

    node_nvml_bus(nvml, device, gpu->bus);
    ask_text(nvml, NODE_NAME, device, gpu->model, sizeof gpu->model);
    ask_text(nvml, NODE_UUID, device, uuid, sizeof uuid);
    gpu->uuid_hash[0] = '\0';
    if (uuid[0] != '\0' && digest_sha256(uuid, strlen(uuid), hex) == 0)
        snprintf(gpu->uuid_hash, sizeof gpu->uuid_hash, "%.16s", hex);
    ask_all(nvml, device, of_gpu, GPU_FACTS, gpu, &status[n]);
    n = name_all(of_gpu, GPU_FACTS, name, n);
    ask_all(nvml, device, quick, QUICK_FACTS, &gpu->reading, &status[n]);
    n = name_all(quick, QUICK_FACTS, name, n);
    ask_all(nvml, device, rest, REST_FACTS, &gpu->reading, &status[n]);
    n = name_all(rest, REST_FACTS, name, n);
    read_links(nvml, device, &gpu->reading, &status[n]);
    n = name_all(of_link, LINK_FACTS, name, n);
    list_absent(name, status, n, gpu->absent, sizeof gpu->absent);
}

void node_reading_quick(const struct node_nvml *nvml, node_device device,
                        struct record_reading *reading)
{
    int status[QUICK_FACTS];

    ask_all(nvml, device, quick, QUICK_FACTS, reading, status);
}

void node_reading_rest(const struct node_nvml *nvml, node_device device,
                       struct record_reading *reading)
{
    int status[REST_FACTS + LINK_FACTS];

    ask_all(nvml, device, rest, REST_FACTS, reading, status);
    read_links(nvml, device, reading, status + REST_FACTS);
}
