/* peer_record.c: a record of scripts/compare-pytorch, and the numbers that are made from it. */
#include "fuzz.h"

#include "report/peer.h"

static void try_cell(const struct peer_record *record, const struct peer_cell *cell)
{
    struct peer_comparison list[PEER_COMPARISONS];

    fuzz_must(cell->n_arms <= PEER_MAX_ARMS, "more arms than there is room for");
    fuzz_must(peer_compare(record, cell, list) <= PEER_COMPARISONS, "too many comparisons");
    for (size_t a = 0; a < cell->n_arms; ++a) {
        const struct peer_arm *arm = &cell->arm[a];

        for (size_t i = 0; i < arm->point->n; ++i)
            fuzz_must(!arm->row[i].verified || arm->cell[i].median_ns >= 1,
                      "a launch is good and took no time");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = fuzz_file(data, bytes);
    struct text_error err = {""};
    struct peer_record *record = peer_record_read(path, &err);

    if (!record) {
        fuzz_must_be_line(err.text);
        return 0;
    }
    for (size_t c = 0; c < record->n_cells; ++c)
        try_cell(record, &record->cell[c]);
    fuzz_must(!peer_is_good(record) || peer_failed(record) == 0, "good with failed launches");
    peer_record_free(record);
    return 0;
}
