/* machine/node.c: collects the facts of a node: core reads its cores, NVML and the PCI bus know its
 * GPUs, and sysfs its network ports. */
#include "machine/node.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/device_list.h"
#include "dp.h"
#include "machine/machine.h"
#include "machine/nvml.h"
#include "record/record.h"

static int compare_gpus(const void *left, const void *right)
{
    const struct record_gpu *a = left, *b = right;

    return strcmp(a->bus, b->bus);
}

/* Whether NVML was there; otherwise gpu_facts says why not. */
static bool has_nvml(const struct record_run *run)
{
    static const char begins[] = "NVML ";

    return strncmp(run->gpu_facts, begins, sizeof begins - 1) == 0 &&
           strstr(run->gpu_facts, ", driver ");
}

int node_read(const char *root, const char *nvml, bool gpus, struct record_run *run)
{
    struct record_node *node = &run->node;
    struct dp_numa numa[RECORD_MAX_NUMA];
    struct dp_error err = {0};
    struct sysfs sys = {root, 0};
    struct node_nvml library;
    char why[160] = "";

    memset(node, 0, sizeof *node);
    run->gpus_on_bus = (double)NAN;
    run->gpu_facts[0] = '\0';

    const int nodes = dp_machine_nodes(numa, RECORD_MAX_NUMA, &err);

    node->n_numa = nodes < 0 ? 0 : nodes < RECORD_MAX_NUMA ? nodes : RECORD_MAX_NUMA;
    for (int i = 0; i < node->n_numa; ++i) {
        struct record_numa *to = &node->numa[i];

        to->node = numa[i].node;
        to->package = numa[i].package;
        to->cores = numa[i].cores;
        to->pus = numa[i].pus;
        to->memory_bytes = (double)numa[i].memory_bytes;
        memcpy(to->cpus, numa[i].cpus, sizeof to->cpus);
    }
    if (nodes < 0 || !gpus)
        return nodes < 0 ? -1 : 0;

    const int opened = node_nvml_open(nvml, &library, why);

    if (opened == -2)
        return -1;
    snprintf(run->gpu_facts, sizeof run->gpu_facts, "%.159s", why);
    if (opened == 0) {
        snprintf(run->gpu_facts, sizeof run->gpu_facts, "NVML %s, driver %s", library.version,
                 library.driver);
        /* A GPU that NVML counts but cannot open is known from the PCI bus alone, if it is on it.
         */
        for (int i = 0, n = node_nvml_count(&library); i < n; ++i) {
            node_device device = NULL;
            struct record_gpu *gpu = node_nvml_device(&library, i, &device) == NVML_SUCCESS
                                         ? sysfs_next_gpu(node)
                                         : NULL;

            if (!gpu)
                continue;
            node_gpu_read(&library, device, gpu);
            gpu->shown = true;
            gpu->numa_node = sysfs_numa(&sys, gpu->bus);
        }
        node_nvml_close(&library);
    }
    const int on_bus = sysfs_gpus(&sys, node, has_nvml(run) ? "not shown by NVML" : "no NVML");

    run->gpus_on_bus = on_bus < 0 ? (double)NAN : on_bus;
    qsort(node->gpu, (size_t)node->n_gpus, sizeof node->gpu[0], compare_gpus);
    const int n = sysfs_nics(&sys, node->nic, RECORD_MAX_NICS);

    node->n_nics = n < RECORD_MAX_NICS ? n : RECORD_MAX_NICS;
    return sys.status;
}

bool node_has_gpus(const char *devices)
{
    struct dp_kind_row kind;
    char name[64];

    device_list_kind(devices, name, sizeof name);
    name[strcspn(name, "+")] = '\0';
    return dp_kind_of(name, &kind) && (kind.flags & DP_KIND_GPU) != 0;
}

/* ---- notes --------------------------------------------------------------------------------- */

static bool note_shown(const struct record_gpu *gpu, char note[RECORD_NODE_TEXT])
{
    snprintf(note, RECORD_NODE_TEXT, "GPU %s is on the PCI bus, and NVML does not show it",
             gpu->bus);
    return !gpu->shown;
}

static bool note_links(const struct record_gpu *gpu, char note[RECORD_NODE_TEXT])
{
    const struct record_reading *reading = &gpu->reading;
    char which[96] = "";
    int down = 0;

    for (int i = 0; i < reading->n_links; ++i)
        if (reading->link[i].active == 0)
            text_add(which, sizeof which, "%s%d", down++ > 0 ? ", " : "", i);
    snprintf(note, RECORD_NODE_TEXT, "GPU %s: %d of %d NVLinks down: %s", gpu->bus, down,
             reading->n_links, which);
    return down > 0;
}

static bool note_link_errors(const struct record_gpu *gpu, char note[RECORD_NODE_TEXT])
{
    double errors = 0;

    for (int i = 0; i < gpu->reading.n_links; ++i) {
        const struct record_nvlink *link = &gpu->reading.link[i];
        const double all[] = {link->crc_flit, link->crc_data, link->replays, link->recoveries};

        for (int k = 0; k < 4; ++k)
            errors += all[k] > 0 ? all[k] : 0;
    }
    snprintf(note, RECORD_NODE_TEXT, "GPU %s: %.0f errors of NVLinks", gpu->bus, errors);
    return errors > 0;
}

static bool note_width(const struct record_gpu *gpu, char note[RECORD_NODE_TEXT])
{
    snprintf(note, RECORD_NODE_TEXT, "GPU %s: PCIe width %.0f of %.0f", gpu->bus,
             gpu->reading.pcie_width, gpu->pcie_width_max);
    return gpu->reading.pcie_width < gpu->pcie_width_max;
}

static bool note_memory(const struct record_gpu *gpu, char note[RECORD_NODE_TEXT])
{
    const struct record_reading *r = &gpu->reading;

    if (r->rows_failed > 0)
        snprintf(note, RECORD_NODE_TEXT, "GPU %s: a row of its memory could not be remapped",
                 gpu->bus);
    else if (r->rows_pending > 0)
        snprintf(note, RECORD_NODE_TEXT, "GPU %s: rows of its memory wait for a reset", gpu->bus);
    else
        snprintf(note, RECORD_NODE_TEXT, "GPU %s: %.0f uncorrected memory errors", gpu->bus,
                 r->ecc_uncorrected);
    return r->rows_failed > 0 || r->rows_pending > 0 || r->ecc_uncorrected > 0;
}

static bool note_throttle(const struct record_gpu *gpu, char note[RECORD_NODE_TEXT])
{
    const unsigned usual = RECORD_THROTTLE_IDLE | RECORD_THROTTLE_SET;
    const double throttle = gpu->reading.throttle;
    char words[RECORD_NODE_TEXT];

    if (!(throttle > 0) || throttle > (double)RECORD_EXACT_MAX ||
        ((unsigned long long)throttle & ~(unsigned long long)usual) == 0)
        return false;
    record_throttle_words(throttle, words);
    snprintf(note, RECORD_NODE_TEXT, "GPU %s: %.200s", gpu->bus, words);
    return true;
}

static bool note_foreign(const struct record_gpu *gpu, char note[RECORD_NODE_TEXT])
{
    const double foreign = gpu->reading.foreign_processes;

    snprintf(note, RECORD_NODE_TEXT, "GPU %s: %.0f process%s of others compute%s on it", gpu->bus,
             foreign, foreign == 1 ? "" : "es", foreign == 1 ? "s" : "");
    return foreign > 0;
}

bool node_note(const struct record_run *run, int *at, char note[RECORD_NODE_TEXT])
{
    typedef bool note_function(const struct record_gpu *, char[RECORD_NODE_TEXT]);
    static note_function *const notes[] = {note_shown,       note_width,  note_links,
                                           note_link_errors, note_memory, note_throttle,
                                           note_foreign};
    enum { NOTES = sizeof notes / sizeof notes[0] };
    const struct record_node *node = &run->node;
    const int of_gpus = NOTES * node->n_gpus;

    /* One note for all GPUs, if there is no NVML. */
    if (*at == 0 && run->gpu_facts[0] != '\0' && node->n_gpus > 0 && !has_nvml(run)) {
        snprintf(note, RECORD_NODE_TEXT, "%d GPU%s on the PCI bus, and %.159s", node->n_gpus,
                 node->n_gpus == 1 ? "" : "s", run->gpu_facts);
        *at = 1; /* skips the note about the first GPU being hidden, which would say the same */
        return true;
    }
    while (*at < of_gpus + node->n_nics) {
        const int i = (*at)++;

        if (i >= of_gpus) {
            const struct record_nic *nic = &node->nic[i - of_gpus];

            snprintf(note, RECORD_NODE_TEXT, "%s: %s", nic->name, nic->state);
            if (strcmp(nic->layer, "InfiniBand") == 0 && nic->state[0] != '\0' &&
                strcmp(nic->state, "ACTIVE") != 0)
                return true;
        } else if ((i % NOTES > 0 || has_nvml(run)) &&
                   notes[i % NOTES](&node->gpu[i / NOTES], note)) {
            return true;
        }
    }
    return false;
}
