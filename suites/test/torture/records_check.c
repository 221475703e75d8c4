/* records_check.c: whether a file of records is complete, judged by its raw lines. */
#include <stdio.h>
#include <stdlib.h>

#include "records.h"

static const char usage[] =
    "usage: torture_records UNDISTURBED FILE N   FILE holds the cells of UNDISTURBED, and N more\n"
    "                                            lines of cells that were not verified\n"
    "       torture_records FILE                 the number of cells in its complete lines\n";

static int records_check_complain(const char *path, const struct text_error *err)
{
    fprintf(stderr, "torture_records: %s: %s\n", path, err->text);
    return 1;
}

static int records_check_count(const char *path)
{
    struct text_error err = {""};
    struct records records;

    if (records_load(path, &records, &err))
        return records_check_complain(path, &err);
    printf("%zu\n", records.n_cells);
    records_free(&records);
    return 0;
}

static int records_check_compare(const char *whole, const char *path, size_t not_verified)
{
    struct text_error err = {""};
    struct records undisturbed, records;

    if (records_load(whole, &undisturbed, &err) ||
        records_compare(&undisturbed, &undisturbed, 0, &err))
        return records_check_complain(whole, &err);
    if (records_load(path, &records, &err)) {
        records_free(&undisturbed);
        return records_check_complain(path, &err);
    }
    const int status = records_compare(&undisturbed, &records, not_verified, &err);

    records_free(&undisturbed);
    records_free(&records);
    return status ? records_check_complain(path, &err) : 0;
}

int main(int argc, char **argv)
{
    char *end = NULL;
    unsigned long not_verified = 0;

    if (argc == 4)
        not_verified = strtoul(argv[3], &end, 10);
    if (argc == 2 && argv[1][0] != '-')
        return records_check_count(argv[1]);
    if (argc == 4 && end != argv[3] && *end == '\0')
        return records_check_compare(argv[1], argv[2], not_verified);
    fputs(usage, stderr);
    return 2;
}
