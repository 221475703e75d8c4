/* machine/tree.c: draws a node as text. Each thing has a line, below the thing that it is connected
 * to. */
#include "machine/node.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The depth of a line, and which things can be connected to which. */
enum { ROOM = 32 };

struct tree {
    FILE *to;
    enum text_form form;
    const struct record_node *node;
};

static const double NOWHERE = -1; /* not near a known NUMA node */

static void branch(const struct tree *tree, int depth, const char *text)
{
    char first[ROOM] = "", others[ROOM] = "";

    for (int i = 0; i < depth; ++i) {
        strcat(first, i == depth - 1 ? "+- " : "|  ");
        strcat(others, "|  ");
    }
    strcat(others, "     ");
    node_line(tree->to, tree->form, first, others, text);
}

static void memory_words(double bytes, char text[24])
{
    if (bytes > 0)
        snprintf(text, 24, "%.4g GiB", bytes / (double)(1 << 30));
    else
        snprintf(text, 24, "unknown memory");
}

/* Whether a device of that NUMA node is drawn at this place. */
static bool is_at(const struct record_node *node, double device, double place)
{
    bool known = false;

    for (int i = 0; i < node->n_numa; ++i)
        known = known || device == node->numa[i].node;
    return place == NOWHERE ? !known : device == place;
}

static void draw_devices(const struct tree *tree, int depth, double place)
{
    const struct record_node *node = tree->node;
    char text[NODE_WORDS], pcie[NODE_WORDS], links[NODE_WORDS], memory[24];

    for (int i = 0; i < node->n_gpus; ++i) {
        const struct record_gpu *gpu = &node->gpu[i];

        if (!is_at(node, gpu->numa_node, place))
            continue;
        memory_words(gpu->memory_bytes, memory);
        node_pcie_words(gpu, pcie);
        node_link_words(&gpu->reading, links);
        snprintf(text, sizeof text, "GPU %s %s, %s, %.100s%s", gpu->bus,
                 gpu->model[0] != '\0' ? gpu->model : "unknown model", memory, pcie,
                 gpu->shown ? "" : ", not shown by NVML");
        branch(tree, depth, text);
        if (links[0] != '\0')
            branch(tree, depth + 1, links);
    }
    for (int i = 0; i < node->n_nics; ++i) {
        const struct record_nic *nic = &node->nic[i];
        char rate[32] = "rate unknown";

        if (!is_at(node, nic->numa_node, place))
            continue;
        if (isfinite(nic->rate_bits_per_s))
            snprintf(rate, sizeof rate, "%.4g Gb/s", nic->rate_bits_per_s / 1e9);
        snprintf(text, sizeof text, "port %s %s, %s, %s, PCI %s", nic->name,
                 nic->layer[0] != '\0' ? nic->layer : "of unknown kind", rate,
                 nic->state[0] != '\0' ? nic->state : "state unknown",
                 nic->bus[0] != '\0' ? nic->bus : "unknown");
        branch(tree, depth, text);
    }
}

void node_tree(FILE *to, enum text_form form, const struct record_run *run)
{
    const struct record_node *node = &run->node;
    const struct tree tree = {to, form, node};
    char text[NODE_WORDS];
    bool nowhere = false;

    snprintf(text, sizeof text, "node: %s",
             run->cpu_model[0] != '\0' ? run->cpu_model : "unknown processor");
    branch(&tree, 0, text);
    for (int i = 0; i < node->n_numa; ++i) {
        const struct record_numa *numa = &node->numa[i];
        char memory[24];

        if (i == 0 || numa[-1].package != numa->package) {
            snprintf(text, sizeof text, "package %d", numa->package);
            branch(&tree, 1, numa->package >= 0 ? text : "several packages");
        }
        memory_words(numa->memory_bytes, memory);
        snprintf(text, sizeof text, "NUMA node %d: %d core%s, %d processing unit%s (%s), %s",
                 numa->node, numa->cores, numa->cores == 1 ? "" : "s", numa->pus,
                 numa->pus == 1 ? "" : "s", numa->cpus[0] != '\0' ? numa->cpus : "none", memory);
        branch(&tree, 2, text);
        draw_devices(&tree, 3, numa->node);
    }
    for (int i = 0; i < node->n_gpus; ++i)
        nowhere = nowhere || is_at(node, node->gpu[i].numa_node, NOWHERE);
    for (int i = 0; i < node->n_nics; ++i)
        nowhere = nowhere || is_at(node, node->nic[i].numa_node, NOWHERE);
    if (!nowhere)
        return;
    branch(&tree, 1, "near no NUMA node that is known");
    draw_devices(&tree, 2, NOWHERE);
}
