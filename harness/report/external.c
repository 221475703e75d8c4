/* report/external.c: reads the files of other programs. */
#include "report/external.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"

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

/* The beginning of a file, without spaces, tells which program wrote it. */
int external_add(const char *path, struct report *report, struct text_error *err)
{
    FILE *file = fopen(path, "re");
    char word[16] = "";
    json_t *root;
    int status = -1;

    if (!file)
        return record_fail(err, "%s", strerror(errno));
    if (fscanf(file, "%15s", word) != 1)
        word[0] = '\0';
    const bool failed = ferror(file) != 0;

    fclose(file);
    if (failed)
        return record_fail(err, "%s", strerror(errno));
    if (strcmp(word, "nvbandwidth") == 0)
        return record_fail(err, "it is the text of nvbandwidth: its JSON is read here, which -j "
                                "writes");
    if (word[0] != '{')
        return add_nccl_tests(path, NULL, report, err);
    root = record_json_file(path, BYTES_MOST, err);
    if (json_is_object(json_object_get(root, "nvbandwidth"))) {
        if (report->nvbandwidth)
            record_fail(err, "it is a second file of nvbandwidth, and one is allowed");
        else
            status = (report->nvbandwidth = nvbandwidth_read(root, err)) ? 0 : -1;
    } else if (json_object_get(root, "args") || json_object_get(root, "results"))
        status = add_nccl_tests(path, root, report, err);
    else if (root)
        record_fail(err, "it is JSON of neither nccl-tests nor nvbandwidth");
    json_decref(root);
    return status;
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
