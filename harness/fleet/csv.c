/* fleet/csv.c: a line for each node (RFC 4180). */
#include "fleet/fleet.h"

int fleet_csv(FILE *stream, const struct fleet *fleet)
{
    char words[2 * FLEET_TEXT];
    size_t at = 0;

    fputs("node,status,passes,expected,worse_numbers,better_numbers,differences,file,reason,"
          "outlier\r\n",
          stream);
    for (size_t i = 0; i < fleet->n; ++i) {
        const struct fleet_node *node = &fleet->node[i];
        /* The worst number of each node comes first, and nodes are in the order of names in both.
         */
        while (at < fleet->n_outliers && fleet->outlier[at].node < node)
            ++at;
        const struct fleet_outlier *outlier =
            at < fleet->n_outliers && fleet->outlier[at].node == node ? &fleet->outlier[at] : NULL;

        text_write_field(stream, node->name);
        fprintf(stream, ",\"%s\",%s,%s,%zu,%zu,%zu,", fleet_status_words[node->status],
                fleet_passes(node) ? "yes" : "no",
                !fleet->expects  ? ""
                : node->expected ? "yes"
                                 : "no",
                node->worse, node->better, node->drifts);
        text_write_field(stream, node->file);
        fputc(',', stream);
        text_write_field(stream, node->why);
        fputc(',', stream);
        words[0] = '\0';
        if (outlier)
            fleet_outlier_words(outlier, words);
        text_write_field(stream, words);
        fputs("\r\n", stream);
    }
    return 0;
}
