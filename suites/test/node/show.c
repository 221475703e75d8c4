/* show.c: prints what node_read finds, in words, as a picture and as JSON.
 *
 *   show LIBRARY ROOT words|tree|html|json      the machine of that NVML and that /sys
 *   show LIBRARY ROOT watch BUS                 readings of a GPU before and after, as of a cell
 *
 * json is written, read again and written: both must be the same text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/node.h"
#include "machine/nvml.h"

static int show_fail(const char *what)
{
    fprintf(stderr, "show: %s\n", what);
    return 1;
}

/* Fills the smallest possible header. */
static void show_fill(struct record_run *run)
{
    snprintf(run->run_id, sizeof run->run_id, "feedface00000001");
    snprintf(run->node_hash, sizeof run->node_hash, "feedface00000002");
    snprintf(run->created_utc, sizeof run->created_utc, "2026-11-21T08:00:00Z");
    snprintf(run->program_version, sizeof run->program_version, "0.1.0");
    snprintf(run->hwloc_version, sizeof run->hwloc_version, "2.9.0");
    snprintf(run->clock, sizeof run->clock, "CLOCK_MONOTONIC_RAW");
    snprintf(run->sync_method, sizeof run->sync_method, "barrier before each step");
    snprintf(run->rank_reduction, sizeof run->rank_reduction, "slowest replica of each step");
    snprintf(run->compiler, sizeof run->compiler, "gcc 12");
    snprintf(run->libc, sizeof run->libc, "glibc 2.36");
    snprintf(run->governor, sizeof run->governor, "unknown");
    snprintf(run->source, sizeof run->source, "measured");
    snprintf(run->scaling, sizeof run->scaling, "strong");
    snprintf(run->cpu_model, sizeof run->cpu_model, "Example CPU <b>");
    run->launches = 1;
    run->numa_nodes = RECORD_MAX_NUMA;
}

static int show_json(const struct record_run *run)
{
    struct record_run *again = calloc(1, sizeof *again);
    struct text_error err = {""};
    char *text = record_run_text(run), *second = NULL;
    int status = 1;

    if (!again || !text)
        show_fail("no memory");
    else if (record_run_parse(text, again, &err) != 0)
        show_fail(err.text);
    else if (!(second = record_run_text(again)) || strcmp(text, second) != 0)
        show_fail("what is read is not what was written");
    else
        status = puts(text) < 0;
    free(text);
    free(second);
    free(again);
    return status;
}

static int watch(const char *library, const char *bus)
{
    struct node_nvml nvml;
    struct record_cell cell = {.n_gpus = 1, .gpu = calloc(1, sizeof *cell.gpu)};
    char why[RECORD_NODE_TEXT] = "", note[RECORD_NODE_TEXT];
    node_device device = NULL;

    if (!cell.gpu || node_nvml_open(library, &nvml, why) != 0)
        return show_fail(why);
    for (int i = 0; i < node_nvml_count(&nvml) && strcmp(cell.gpu->bus, bus) != 0; ++i)
        if (node_nvml_device(&nvml, i, &device) == NVML_SUCCESS)
            node_nvml_bus(&nvml, device, cell.gpu->bus);
    node_reading_read(&nvml, device, false, &cell.gpu->before);
    node_reading_read(&nvml, device, true, &cell.gpu->before);
    node_reading_read(&nvml, device, false, &cell.gpu->after);
    node_reading_read(&nvml, device, true, &cell.gpu->after);
    puts(record_gpu_doubt(&cell, why) ? why : "no doubt");
    for (int which = 0; which < RECORD_NOTES; ++which)
        if (record_gpu_note(&cell, (enum record_gpu_note)which, note))
            puts(note);
    node_nvml_close(&nvml);
    free(cell.gpu);
    return 0;
}

int main(int argc, char **argv)
{
    struct record_run *run = calloc(1, sizeof *run);
    int status = 0;

    if (argc < 4 || !run)
        return show_fail("LIBRARY ROOT words|tree|html|json|watch");
    show_fill(run);
    if (strcmp(argv[3], "watch") != 0 && node_read(argv[2], argv[1], true, run) != 0)
        return show_fail("the node cannot be read");
    if (strcmp(argv[3], "words") == 0)
        node_print(stdout, run);
    else if (strcmp(argv[3], "tree") == 0)
        node_tree(stdout, TEXT_PLAIN, run);
    else if (strcmp(argv[3], "html") == 0)
        node_tree(stdout, TEXT_HTML, run);
    else if (strcmp(argv[3], "json") == 0)
        status = show_json(run);
    else
        status = argc == 5 ? watch(argv[1], argv[4]) : show_fail("watch BUS");
    free(run);
    return status;
}
