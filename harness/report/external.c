/* report/external.c: reads the files of other programs, and looks up results in those of
 * nccl-tests. */
#include "report/external.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "record/json.h"
#include "verify/collective.h"

enum { BYTES_MOST = 256 << 20 };

/* ---- files -------------------------------------------------------------------------------- */

static int add_nccl_tests(const char *path, const json_t *root, struct report *report,
                          struct text_error *err)
{
    struct nccl_tests *file = nccl_tests_read(path, root, err);

    if (file)
        report->external[report->n_external++] = file;
    return file ? 0 : -1;
}

static int add_json(const char *path, struct report *report, struct text_error *err)
{
    json_t *root = record_json_file(path, BYTES_MOST, err);
    const bool nvbandwidth = json_is_object(json_object_get(root, "nvbandwidth"));
    int status = -1;

    if (nvbandwidth && report->nvbandwidth)
        record_fail(err, "it is a second file of nvbandwidth, and one is allowed");
    else if (nvbandwidth) {
        report->nvbandwidth = nvbandwidth_read(root, err);
        status = report->nvbandwidth ? 0 : -1;
    } else if (json_object_get(root, "args") || json_object_get(root, "results"))
        status = add_nccl_tests(path, root, report, err);
    else if (root)
        record_fail(err, "it is JSON of neither nccl-tests nor nvbandwidth");
    json_decref(root);
    return status;
}

/* The beginning of a file, without spaces, tells which program wrote it. */
int external_add(const char *path, struct report *report, struct text_error *err)
{
    FILE *file = fopen(path, "re");
    char word[16] = "";

    if (!file)
        return record_fail(err, "%s", strerror(errno));
    if (fscanf(file, "%15s", word) != 1)
        word[0] = '\0';
    const bool failed = ferror(file) != 0;

    fclose(file);
    if (failed)
        return record_fail(err, "%s", strerror(errno));
    if (word[0] == '{')
        return add_json(path, report, err);
    if (strcmp(word, "nvbandwidth") == 0)
        return record_fail(err, "it is the text of nvbandwidth: its JSON is read here, which -j "
                                "writes");
    return add_nccl_tests(path, NULL, report, err);
}

int external_check(const struct report *report, struct text_error *err)
{
    if (report->n_external > 0 && report->collectives->n_points == 0)
        return record_fail(err, "--beside is of collectives, and there are none");
    if (report->nvbandwidth && report->n_copies == 0)
        return record_fail(err, "--beside is of copies, which `lockstep sweep --parts` measures, "
                                "and there are none");
    return 0;
}

void external_free(struct report *report)
{
    while (report->n_external > 0)
        nccl_tests_free(report->external[--report->n_external]);
    nvbandwidth_free(report->nvbandwidth);
    report->nvbandwidth = NULL;
}

/* ---- lines of nccl-tests ------------------------------------------------------------------ */

void nccl_tests_free(struct nccl_tests *file)
{
    if (file)
        free(file->line);
    free(file);
}

bool nccl_tests_is_wrong(const struct nccl_tests *file)
{
    bool wrong = file->failed;

    for (size_t i = 0; i < file->n; ++i)
        wrong = wrong || file->line[i].wrong > 0;
    return wrong;
}

static bool is_same_cell(const struct nccl_tests *file, const struct nccl_tests_line *line,
                         const struct record_key *key)
{
    return line->bytes == key->size_bytes && line->out_of_place == (key->out_of_place != 0) &&
           key->n_devices == file->ranks && strcmp(line->type->name, key->dtype) == 0 &&
           collective_find(key->workload) == file->collective;
}

const struct nccl_tests_line *nccl_tests_find(const struct nccl_tests *file,
                                              const struct report_point *point)
{
    for (size_t i = 0; i < file->n; ++i)
        if (is_same_cell(file, &file->line[i], &point->row->cell->key))
            return &file->line[i];
    return NULL;
}

void nccl_tests_remarks(const struct report *report, char text[REPORT_CELL_TEXT])
{
    const struct report *own = report->collectives;
    size_t unmatched = 0;

    text[0] = '\0';
    for (size_t b = 0; b < report->n_external; ++b) {
        const struct nccl_tests *file = report->external[b];
        const char *name = file->collective->nccl_program;

        if (nccl_tests_is_wrong(file))
            report_add(text, "%s found wrong numbers. ", name);
        if (!file->finished)
            report_add(text, "%s did not come to its end. ", name);
        unmatched += file->others;
        for (size_t i = 0; i < file->n; ++i) {
            bool measured = false;

            for (size_t p = 0; p < own->n_points && !measured; ++p)
                measured = is_same_cell(file, &file->line[i], &own->point[p].row->cell->key);
            unmatched += !measured;
        }
    }
    if (unmatched > 0)
        report_add(text, "%zu results of nccl-tests have no cell here. ", unmatched);
}
