/* records.c: judges the raw lines of a file of records more strictly than its readers do. */
#include "records.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int records_say(struct text_error *err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return -1;
}

/* Reads the whole file, with a NUL after it. */
static int records_read_text(const char *path, struct records *records, struct text_error *err)
{
    FILE *file = fopen(path, "rb");
    size_t capacity = 1 << 16, n;

    if (!file && errno != ENOENT)
        return records_say(err, "%.100s: %s", path, strerror(errno));
    records->text = malloc(capacity);
    while (records->text && file &&
           (n = fread(records->text + records->bytes, 1, capacity - records->bytes - 1, file)) >
               0) {
        char *longer;

        records->bytes += n;
        if (records->bytes + 1 < capacity)
            continue;
        longer = realloc(records->text, capacity *= 2);
        if (!longer)
            free(records->text);
        records->text = longer;
    }
    if (file)
        fclose(file);
    if (!records->text)
        return records_say(err, "out of memory for %.100s", path);
    records->text[records->bytes] = '\0';
    return 0;
}

static bool begins(const char *line, const char *record)
{
    char text[64];

    snprintf(text, sizeof text, "{\"schema\":\"lockstep/%s/1.", record);
    return strncmp(line, text, strlen(text)) == 0;
}

static int take_cell(struct records *records, const char *line, struct text_error *err)
{
    struct records_cell *cells =
        realloc(records->cell, (records->n_cells + 1) * sizeof *records->cell);
    struct record_cell cell;

    if (!cells)
        return records_say(err, "out of memory for the cells");
    records->cell = cells;
    if (record_cell_parse(line, &cell, err))
        return -1;
    cells += records->n_cells++;
    memcpy(cells->id, cell.cell_id, sizeof cells->id);
    cells->status = cell.status;
    const bool foreign = strcmp(cell.run_id, records->run.run_id) != 0;

    record_cell_free(&cell);
    return foreign ? records_say(err, "it is of another run") : 0;
}

static void take_end(struct records *records, const char *line)
{
    char text[256];

    snprintf(text, sizeof text,
             "\"run_id\":\"%s\",\"planned\":%zu,\"ok\":%zu,\"not_ok\":0,\"interrupted\":false,",
             records->run.run_id, records->run.planned, records->run.planned);
    ++records->n_ends;
    records->end_says_all = strstr(line, text) != NULL;
}

static int take_line(struct records *records, const char *line, bool first, struct text_error *err)
{
    records->end_is_last = begins(line, "end");
    if (first != begins(line, "run"))
        return records_say(err, first ? "it is no header" : "it is a second header");
    if (first) {
        ++records->n_headers;
        return record_run_parse(line, &records->run, err);
    }
    if (begins(line, "cell"))
        return take_cell(records, line, err);
    if (!records->end_is_last || line[strlen(line) - 1] != '}')
        return records_say(err, "it is no record: %.40s", line);
    take_end(records, line);
    return 0;
}

int records_load(const char *path, struct records *records, struct text_error *err)
{
    *records = (struct records){.text = NULL};
    if (records_read_text(path, records, err))
        return -1;

    char *line = records->text;
    char *end;

    for (size_t number = 1; (end = memchr(line, '\n', records->bytes - records->whole)); ++number) {
        struct text_error why = {""};

        *end = '\0';
        if (strlen(line) != (size_t)(end - line))
            records_say(&why, "it holds a NUL");
        if (why.text[0] != '\0' || take_line(records, line, number == 1, &why)) {
            records_free(records);
            return records_say(err, "line %zu: %.200s", number, why.text);
        }
        *end = '\n';
        line = end + 1;
        records->whole = (size_t)(line - records->text);
    }
    return 0;
}

void records_free(struct records *records)
{
    free(records->text);
    free(records->cell);
    *records = (struct records){.text = NULL};
}

bool records_continue(const struct records *before, const struct records *after)
{
    return before->whole == 0 ||
           (after->bytes >= before->whole && memcmp(before->text, after->text, before->whole) == 0);
}

/* Counts how often the id is verified; *last says whether its last line is such a one. */
static size_t count_verified(const struct records *records, const char *id, bool *last)
{
    size_t n = 0;

    *last = false;
    for (size_t i = 0; i < records->n_cells; ++i) {
        if (strcmp(records->cell[i].id, id) != 0)
            continue;
        *last = records->cell[i].status == RECORD_OK;
        n += *last;
    }
    return n;
}

int records_compare(const struct records *undisturbed, const struct records *records,
                    size_t not_verified, struct text_error *err)
{
    const size_t planned = undisturbed->run.planned;

    if (records->whole != records->bytes)
        return records_say(err, "%zu bytes of a torn line are left",
                           records->bytes - records->whole);
    if (records->n_headers != 1 || records->run.planned != planned)
        return records_say(err, "%zu headers, the first of %zu cells: wanted one of %zu",
                           records->n_headers, records->run.planned, planned);
    if (undisturbed->n_cells != planned || records->n_cells != planned + not_verified)
        return records_say(err, "%zu lines of cells, wanted %zu and %zu not verified",
                           records->n_cells, planned, not_verified);
    for (size_t i = 0; i < planned; ++i) {
        bool last;
        const size_t n = count_verified(records, undisturbed->cell[i].id, &last);

        if (n != 1 || !last)
            return records_say(err, "cell %s is verified %zu times%s", undisturbed->cell[i].id, n,
                               last ? "" : ", not by its last line");
    }
    if (!records->end_is_last || !records->end_says_all)
        return records_say(err, "the last line is no end line that counts %zu verified cells",
                           planned);
    return 0;
}
