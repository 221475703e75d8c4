/* machine/words.c: prints the facts of GPUs in words. A fact that is not known is printed as
 * unknown. */
#include "machine/node.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/text.h"

struct words {
    char text[40];
};

/* "1980" for 1.98e9 in units of 1e6; "unknown" if it is not known. */
static struct words words_number(double value, double unit)
{
    struct words words = {"unknown"};

    if (isfinite(value))
        snprintf(words.text, sizeof words.text, "%.0f", value / unit);
    return words;
}

void node_line(FILE *to, enum text_form form, const char *first, const char *others,
               const char *text)
{
    fputs(first, to);
    text_wrap(to, form, text, NODE_COLUMNS - strlen(first), others, NODE_COLUMNS);
}

void node_link_words(const struct record_reading *reading, char text[NODE_WORDS])
{
    const char *between = ": ";
    int up = 0, unknown = 0;

    text[0] = '\0';
    for (int i = 0; i < reading->n_links; ++i) {
        up += reading->link[i].active > 0;
        unknown += isnan(reading->link[i].active) != 0;
    }
    if (reading->n_links == 0)
        return;
    text_add(text, NODE_WORDS, "%d of %d NVLinks up", up, reading->n_links);
    if (unknown > 0)
        text_add(text, NODE_WORDS, " (%d unknown)", unknown);
    /* The GPUs at the other ends, each once. */
    for (int i = 0; i < reading->n_links; ++i) {
        const char *end = reading->link[i].to;
        bool before = false;
        int n = 0;

        for (int k = 0; k < reading->n_links; ++k) {
            const bool same = strcmp(reading->link[k].to, end) == 0;

            before = before || (same && k < i);
            n += same;
        }
        if (end[0] == '\0' || before)
            continue;
        text_add(text, NODE_WORDS, "%s%d to %s", between, n, end);
        between = ", ";
    }
}

void node_pcie_words(const struct record_gpu *gpu, char text[NODE_WORDS])
{
    const struct record_reading *now = &gpu->reading;

    snprintf(text, NODE_WORDS, "PCIe %s x%s", words_number(now->pcie_generation, 1).text,
             words_number(now->pcie_width, 1).text);
    if (!(now->pcie_generation >= gpu->pcie_generation_max &&
          now->pcie_width >= gpu->pcie_width_max))
        text_add(text, NODE_WORDS, " of %s x%s", words_number(gpu->pcie_generation_max, 1).text,
                 words_number(gpu->pcie_width_max, 1).text);
}

/* ---- a GPU, a few lines -------------------------------------------------------------------- */

static void print_state(FILE *to, const struct record_gpu *gpu, const char *indent)
{
    const struct record_reading *now = &gpu->reading;
    const char *const known = gpu->ecc_mode > 0 ? "on" : "off";
    char text[NODE_WORDS], set[64] = "", throttle[RECORD_NODE_TEXT];

    if (isfinite(gpu->clock_sm_set_hz))
        snprintf(set, sizeof set, " (set: %s)", words_number(gpu->clock_sm_set_hz, 1e6).text);
    record_throttle_words(now->throttle, throttle);
    snprintf(text, sizeof text,
             "%s MHz of %s%s, memory %s of %s; %s W of %s; %s degrees C; throttle reasons: %s",
             words_number(now->clock_sm_hz, 1e6).text, words_number(gpu->clock_sm_max_hz, 1e6).text,
             set, words_number(now->clock_memory_hz, 1e6).text,
             words_number(gpu->clock_memory_max_hz, 1e6).text, words_number(now->power_w, 1).text,
             words_number(gpu->power_limit_w, 1).text, words_number(now->temperature_c, 1).text,
             throttle);
    node_line(to, TEXT_PLAIN, indent, indent, text);
    snprintf(
        text, sizeof text,
        "memory %s MiB, in use %s; ECC %s, errors corrected %s, uncorrected %s (ever %s, %s); "
        "rows remapped %s and %s, foreign processes %s",
        words_number(gpu->memory_bytes, 1 << 20).text, words_number(now->used_bytes, 1 << 20).text,
        isnan(gpu->ecc_mode) ? "unknown" : known, words_number(now->ecc_corrected, 1).text,
        words_number(now->ecc_uncorrected, 1).text, words_number(now->ecc_corrected_ever, 1).text,
        words_number(now->ecc_uncorrected_ever, 1).text, words_number(now->rows_corrected, 1).text,
        words_number(now->rows_uncorrected, 1).text, words_number(now->foreign_processes, 1).text);
    node_line(to, TEXT_PLAIN, indent, indent, text);
    node_link_words(now, text);
    if (text[0] != '\0')
        node_line(to, TEXT_PLAIN, indent, indent, text);
}

void node_print(FILE *to, const struct record_run *run)
{
    static const char indent[] = "               ";
    char text[NODE_WORDS], pcie[NODE_WORDS], first[24], note[RECORD_NODE_TEXT];
    int at = 0;

    if (run->node.n_gpus == 0 || run->gpu_facts[0] == '\0')
        return;
    fputs("\nGPUs\n", to);
    node_line(to, TEXT_PLAIN, "  ", "  ", run->gpu_facts);
    for (int i = 0; i < run->node.n_gpus; ++i) {
        const struct record_gpu *gpu = &run->node.gpu[i];

        node_pcie_words(gpu, pcie);
        snprintf(first, sizeof first, "  %-12.12s ", gpu->bus);
        snprintf(text, sizeof text, "%s, %.100s, NUMA node %s",
                 gpu->model[0] != '\0' ? gpu->model : "unknown model", pcie,
                 words_number(gpu->numa_node, 1).text);
        node_line(to, TEXT_PLAIN, first, indent, text);
        if (gpu->shown)
            print_state(to, gpu, indent);
        if (gpu->absent[0] != '\0') {
            snprintf(text, sizeof text, "absent: %.600s", gpu->absent);
            node_line(to, TEXT_PLAIN, indent, indent, text);
        }
    }
    while (node_note(run, &at, note))
        node_line(to, TEXT_PLAIN, "  NOTE ", "       ", note);
}
