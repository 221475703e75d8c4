/* machine/words.c: prints the facts of GPUs in words. A fact that is not known is printed as
 * unknown. */
#include "machine/node.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "text/text.h"

/* Appends "1980" for 1.98e9 in units of 1e6; "unknown" if it is not known. */
static void words_number(char text[NODE_WORDS], double value, double unit)
{
    if (isfinite(value))
        text_add(text, NODE_WORDS, "%.0f", value / unit);
    else
        text_add(text, NODE_WORDS, "unknown");
}

void node_line(FILE *to, enum text_form form, const char *first, const char *others,
               const char *text)
{
    fputs(first, to);
    text_wrap(to, form, text, NODE_COLUMNS - strlen(first), others, NODE_COLUMNS);
}

static void add_ends(char text[NODE_WORDS], const struct record_reading *reading)
{
    const char *between = ": ";

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

void node_link_words(const struct record_reading *reading, char text[NODE_WORDS])
{
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
    add_ends(text, reading);
}

void node_pcie_words(const struct record_gpu *gpu, char text[NODE_WORDS])
{
    const struct record_reading *now = &gpu->reading;

    snprintf(text, NODE_WORDS, "PCIe ");
    words_number(text, now->pcie_generation, 1);
    text_add(text, NODE_WORDS, " x");
    words_number(text, now->pcie_width, 1);
    if (!(now->pcie_generation >= gpu->pcie_generation_max &&
          now->pcie_width >= gpu->pcie_width_max)) {
        text_add(text, NODE_WORDS, " of ");
        words_number(text, gpu->pcie_generation_max, 1);
        text_add(text, NODE_WORDS, " x");
        words_number(text, gpu->pcie_width_max, 1);
    }
}

/* ---- a GPU, a few lines -------------------------------------------------------------------- */

static void clock_words(const struct record_gpu *gpu, char text[NODE_WORDS])
{
    const struct record_reading *now = &gpu->reading;
    char throttle[RECORD_NODE_TEXT];

    text[0] = '\0';
    words_number(text, now->clock_sm_hz, 1e6);
    text_add(text, NODE_WORDS, " MHz of ");
    words_number(text, gpu->clock_sm_max_hz, 1e6);
    if (isfinite(gpu->clock_sm_set_hz)) {
        text_add(text, NODE_WORDS, " (set: ");
        words_number(text, gpu->clock_sm_set_hz, 1e6);
        text_add(text, NODE_WORDS, ")");
    }
    text_add(text, NODE_WORDS, ", memory ");
    words_number(text, now->clock_memory_hz, 1e6);
    text_add(text, NODE_WORDS, " of ");
    words_number(text, gpu->clock_memory_max_hz, 1e6);
    text_add(text, NODE_WORDS, "; ");
    words_number(text, now->power_w, 1);
    text_add(text, NODE_WORDS, " W of ");
    words_number(text, gpu->power_limit_w, 1);
    text_add(text, NODE_WORDS, "; ");
    words_number(text, now->temperature_c, 1);
    record_throttle_words(now->throttle, throttle);
    text_add(text, NODE_WORDS, " degrees C; throttle reasons: %s", throttle);
}

static void memory_words(const struct record_gpu *gpu, char text[NODE_WORDS])
{
    const struct record_reading *now = &gpu->reading;
    const char *const known = gpu->ecc_mode > 0 ? "on" : "off";
    const char *const mode = isnan(gpu->ecc_mode) ? "unknown" : known;

    snprintf(text, NODE_WORDS, "memory ");
    words_number(text, gpu->memory_bytes, 1 << 20);
    text_add(text, NODE_WORDS, " MiB, in use ");
    words_number(text, now->used_bytes, 1 << 20);
    text_add(text, NODE_WORDS, "; ECC %s, errors corrected ", mode);
    words_number(text, now->ecc_corrected, 1);
    text_add(text, NODE_WORDS, ", uncorrected ");
    words_number(text, now->ecc_uncorrected, 1);
    text_add(text, NODE_WORDS, " (ever ");
    words_number(text, now->ecc_corrected_ever, 1);
    text_add(text, NODE_WORDS, ", ");
    words_number(text, now->ecc_uncorrected_ever, 1);
    text_add(text, NODE_WORDS, "); rows remapped ");
    words_number(text, now->rows_corrected, 1);
    text_add(text, NODE_WORDS, " and ");
    words_number(text, now->rows_uncorrected, 1);
    text_add(text, NODE_WORDS, ", foreign processes ");
    words_number(text, now->foreign_processes, 1);
}

static void print_gpu(FILE *to, const struct record_gpu *gpu)
{
    static const char indent[] = "               ";
    char text[NODE_WORDS], pcie[NODE_WORDS], first[24];

    node_pcie_words(gpu, pcie);
    snprintf(first, sizeof first, "  %-12.12s ", gpu->bus);
    snprintf(text, sizeof text, "%s, %.100s, NUMA node ",
             gpu->model[0] != '\0' ? gpu->model : "unknown model", pcie);
    words_number(text, gpu->numa_node, 1);
    node_line(to, TEXT_PLAIN, first, indent, text);
    if (gpu->shown) {
        clock_words(gpu, text);
        node_line(to, TEXT_PLAIN, indent, indent, text);
        memory_words(gpu, text);
        node_line(to, TEXT_PLAIN, indent, indent, text);
        node_link_words(&gpu->reading, text);
        if (text[0] != '\0')
            node_line(to, TEXT_PLAIN, indent, indent, text);
    }
    if (gpu->absent[0] != '\0') {
        snprintf(text, sizeof text, "absent: %.600s", gpu->absent);
        node_line(to, TEXT_PLAIN, indent, indent, text);
    }
}

void node_print(FILE *to, const struct record_run *run)
{
    char note[RECORD_NODE_TEXT];
    int at = 0;

    if (run->node.n_gpus == 0 || run->gpu_facts[0] == '\0')
        return;
    fputs("\nGPUs\n", to);
    node_line(to, TEXT_PLAIN, "  ", "  ", run->gpu_facts);
    for (int i = 0; i < run->node.n_gpus; ++i)
        print_gpu(to, &run->node.gpu[i]);
    while (node_note(run, &at, note))
        node_line(to, TEXT_PLAIN, "  NOTE ", "       ", note);
}
