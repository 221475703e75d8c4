/* machine/tree.h: prints the node in words, and as a picture of plain text that is at most 80
 * columns wide. Texts from the system are escaped for the form. */
#ifndef HARNESS_NODE_TREE_H
#define HARNESS_NODE_TREE_H

#include <stdio.h>

#include "record/record.h"

enum { NODE_COLUMNS = 80 };

/* Prints packages and NUMA nodes with their cores and memory, and the GPUs and network ports near
 * each. */
void node_tree(FILE *to, enum text_form form, const struct record_run *run);

/* Prints a line. If it is too wide, it continues below its text. */
void node_line(FILE *to, enum text_form form, const char *first, const char *others,
               const char *text);

/* Writes the NVLinks of a reading: "18 of 18 NVLinks up: 9 to 0000:05:00.0, 9 to 0000:06:00.0". "":
 * the GPU has none. */
enum { NODE_WORDS = 640 };
void node_link_words(const struct record_reading *reading, char text[NODE_WORDS]);
/* Writes "PCIe 5 x16"; if the current link differs from the best one, "PCIe 1 x16 of 5 x16". */
void node_pcie_words(const struct record_gpu *gpu, char text[NODE_WORDS]);
/* Prints the current state of the GPUs, a few lines each, and notes about it. */
void node_print(FILE *to, const struct record_run *run);

#endif
