/* report/beside_file.c: see report/beside.h. */

#include <errno.h>
#include <string.h>

#include "record/json.h"
#include "report/beside.h"
#include "report/nvbandwidth.h"

enum { BYTES_MOST = 256 << 20 };

/* How a file begins, without spaces. 0, or -1: it cannot be opened. */
static int read_beginning(const char *path, char word[16])
{
    FILE *file = fopen(path, "re");

    if (!file)
        return -1;
    if (fscanf(file, "%15s", word) != 1)
        word[0] = '\0';
    const int status = ferror(file) ? -1 : 0;

    fclose(file);
    return status;
}

static int add_nccl_tests(const char *path, const json_t *root, struct report *report,
                          struct text_error *err)
{
    struct beside *beside = beside_read(path, root, err);

    if (beside)
        report->beside[report->n_beside++] = beside;
    return beside ? 0 : -1;
}

static int add_nvbandwidth(const json_t *root, struct report *report, struct text_error *err)
{
    if (report->nvbandwidth)
        return record_fail(err, "it is a second file of nvbandwidth, and one is allowed");
    report->nvbandwidth = nvbandwidth_read(root, err);
    return report->nvbandwidth ? 0 : -1;
}

static int add_json(const char *path, struct report *report, struct text_error *err)
{
    json_t *root = record_json_file(path, BYTES_MOST, err);
    int status = -1;

    if (root && nvbandwidth_is(root))
        status = add_nvbandwidth(root, report, err);
    else if (root && beside_is(root))
        status = add_nccl_tests(path, root, report, err);
    else if (root)
        record_fail(err, "it is JSON of neither nccl-tests nor nvbandwidth");
    json_decref(root);
    return status;
}

int beside_file_add(const char *path, struct report *report, struct text_error *err)
{
    char word[16];

    if (read_beginning(path, word))
        return record_fail(err, "%s", strerror(errno));
    if (word[0] == '{')
        return add_json(path, report, err);
    if (strcmp(word, "nvbandwidth") == 0)
        return record_fail(err, "it is the text of nvbandwidth: its JSON is read here, which -j "
                                "writes");
    return add_nccl_tests(path, NULL, report, err);
}

int beside_file_check(const struct report *report, struct text_error *err)
{
    if (report->n_beside > 0 && report->collectives->n_points == 0)
        return record_fail(err, "--beside is of collectives, and there are none");
    if (report->nvbandwidth && report->n_copies == 0)
        return record_fail(err, "--beside is of copies, which `lockstep sweep --parts` measures, "
                                "and there are none");
    return 0;
}

void beside_files_free(struct report *report)
{
    while (report->n_beside > 0)
        beside_free(report->beside[--report->n_beside]);
    nvbandwidth_free(report->nvbandwidth);
    report->nvbandwidth = NULL;
}
