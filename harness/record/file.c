/* record/file.c: reads whole files of records, and single lines of them.
 *
 * A file is only ever appended to, so an interrupted session can leave only one kind of damage, a
 * torn last line. Any other line that cannot be read is an error, and is never skipped. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "record/reading.h"
#include "text/alloc.h"

/* Loads one line, which must be of that type. */
static json_t *load_type(const char *line, enum record_type type, struct text_error *err)
{
    json_t *root = record_json_load(line, strlen(line), err);
    const int found = !root ? -1 : record_json_type(root, err);

    if (found == (int)type)
        return root;
    if (found >= 0)
        record_fail(err, "a lockstep/%s record, expected lockstep/%s", record_type_names[found],
                    record_type_names[type]);
    json_decref(root);
    return NULL;
}

int record_run_parse(const char *line, struct record_run *run, struct text_error *err)
{
    json_t *root = load_type(line, RECORD_IS_RUN, err);
    const int status = !root ? -1 : record_run_from_json(root, run, err);

    json_decref(root);
    return status;
}

int record_cell_parse(const char *line, struct record_cell *cell, struct text_error *err)
{
    json_t *root = load_type(line, RECORD_IS_CELL, err);
    const int status = !root ? -1 : record_cell_from_json(root, cell, err);

    json_decref(root);
    return status;
}

/* A file that is being read. */
struct reader {
    const char *path;
    struct record_lines *lines;
    struct record_line *line; /* the current one */
    size_t *place; /* hash table of cell_id with open addressing: index in the cells plus 1, or 0 */
    size_t places; /* a power of two, more than twice the number of cells */
    struct record_chain chain;
    struct record_plan plan; /* not used if the file has none */
    struct record_sittings sittings;
};

/* Makes err "FILE:LINE: text". If the path is long, its end is shown. */
static int locate(const struct reader *reader, size_t number, struct text_error *err)
{
    const struct text_error cause = *err;
    const size_t length = strlen(reader->path);
    const bool cut = length > 100;
    const char *shown = cut ? reader->path + (length - 97) : reader->path;

    return record_fail(err, "%s%s:%zu: %.*s", cut ? "..." : "", shown, number, 130, cause.text);
}

/* Finds the place of the cell with that id, or the place where it has to go. Ids are hashes
 * already. */
static size_t *find_place(const struct reader *reader, const struct record_file *file,
                          const char *cell_id)
{
    size_t i = (size_t)strtoull(cell_id, NULL, 16) & (reader->places - 1);

    while (reader->place[i] != 0 && strcmp(file->cell[reader->place[i] - 1].cell_id, cell_id) != 0)
        i = (i + 1) & (reader->places - 1);
    return &reader->place[i];
}

static int same_run(const char *run_id, const struct record_file *file, struct text_error *err)
{
    if (strcmp(run_id, file->run.run_id) == 0)
        return 0;
    return record_fail(err, "belongs to run %s, the file to run %s", run_id, file->run.run_id);
}

/* Takes a cell, which is freed on failure. It replaces an earlier cell with the same id. */
static int take_cell(struct reader *reader, struct record_cell *cell, struct record_file *file,
                     struct text_error *err)
{
    size_t *place;

    if (same_run(cell->run_id, file, err) != 0 ||
        (file->planned && record_plan_take(&reader->plan, cell, err) != 0)) {
        record_cell_free(cell);
        return -1;
    }
    record_sittings_cell(&reader->sittings, cell);
    file->cell = cli_grow(file->cell, file->n_cells, sizeof file->cell[0]);
    if (reader->places <= 2 * file->n_cells) {
        reader->places = reader->places == 0 ? 64 : 2 * reader->places;
        free(reader->place);
        reader->place = cli_alloc(reader->places, sizeof reader->place[0]);
        for (size_t i = 0; i < file->n_cells; ++i)
            *find_place(reader, file, file->cell[i].cell_id) = i + 1;
    }
    place = find_place(reader, file, cell->cell_id);
    if (*place == 0)
        *place = ++file->n_cells;
    else
        record_cell_free(&file->cell[*place - 1]);
    file->cell[*place - 1] = *cell;
    file->ended = false;
    file->seconds = file->writing = (double)NAN;
    return 0;
}

static int take_record(struct reader *reader, struct record_file *file, struct text_error *err)
{
    struct record_line *line = reader->line;
    const json_t *root = line->root;
    struct record_link link = record_link_of(root);
    struct record_end end;
    const int type = record_json_type(root, err);

    if (type < 0)
        return -1;
    if ((type == RECORD_IS_RUN) != (line->number == 1))
        return record_fail(err, "a file has one lockstep/run record, as its first line");
    link.digest = line->digest;
    if (record_chain_check(&link, line->text, line->length, type == RECORD_IS_END, &reader->chain,
                           err) != 0)
        return -1;
    file->sealed = reader->lines->sealed = reader->chain.sealed;
    memcpy(file->last, reader->chain.last, sizeof file->last);
    if (type == RECORD_IS_RUN) {
        /* Files of minor 0 had no launches, and their commands were different: they have no plan.
         */
        file->planned = json_object_get(root, "launches") != NULL;
        if (record_run_from_json(root, &file->run, err) != 0)
            return -1;
        return file->planned ? record_plan_open(&file->run, &reader->plan, err) : 0;
    }
    if (type == RECORD_IS_END) {
        if (record_end_from_json(root, &end, err) != 0 || same_run(end.run_id, file, err) != 0 ||
            (file->planned && record_plan_end(&reader->plan, &end, err) != 0) ||
            record_sittings_end(&reader->sittings, &end, err) != 0)
            return -1;
        file->ended = true;
        file->seconds = reader->sittings.seconds;
        file->writing = reader->sittings.writing;
        file->interrupted = end.interrupted;
        return 0;
    }
    if (!line->has_cell) {
        *err = line->err;
        return -1;
    }
    line->has_cell = false; /* the cell is the file's now */
    return take_cell(reader, &line->cell, file, err);
}

/* Takes the current line. Returns 1 if it was torn, and no line follows it. */
static int take_line(struct reader *reader, struct record_file *file, struct text_error *err)
{
    struct record_lines *lines = reader->lines;
    const struct record_line *line = reader->line;

    if (!line->root || !line->complete) {
        /* As the last one of several lines it is the remainder of an interrupted write; anywhere
         * else it is an error, which err already holds. */
        const bool last = line + 1 == lines->line + lines->n;
        const long torn_at = line->offset;

        file->partial = !line->root && !line->complete;
        *err = line->err;
        if (!line->complete)
            record_fail(err, "the line is incomplete");
        locate(reader, line->number, err);
        if (torn_at == 0 || !last)
            return -1;
        record_lines_next(lines); /* the current line is gone */
        if (lines->n > 0 || lines->status != 0)
            return -1;
        file->torn = true;
        file->torn_offset = torn_at;
        return 1;
    }
    return take_record(reader, file, err) == 0 ? 0 : locate(reader, line->number, err);
}

int record_read(const char *path, bool steps, struct record_file *file, struct text_error *err)
{
    memset(file, 0, sizeof *file);
    FILE *stream = fopen(path, "rb");

    if (!stream)
        return record_fail(err, "%.160s: %s", path, strerror(errno));
    struct reader reader = {.path = path, .lines = record_lines_open(stream)};

    struct record_lines *const lines = reader.lines;
    int status = 0;

    lines->steps = steps;
    do {
        record_lines_next(lines);
        for (size_t i = 0; i < lines->n && status == 0; ++i) {
            reader.line = &lines->line[i];
            status = take_line(&reader, file, err);
        }
    } while (status == 0 && lines->n > 0);
    if (status == 0 && lines->status != 0) {
        *err = lines->err;
        status = locate(&reader, lines->number + 1, err);
    } else if (status == 0 && lines->number == 0) {
        record_fail(err, "the file is empty");
        status = locate(&reader, 1, err);
    }
    record_lines_close(lines);
    free(reader.place);
    record_plan_close(&reader.plan);
    if (status < 0)
        record_file_free(file);
    return status < 0 ? -1 : 0;
}

void record_file_free(struct record_file *file)
{
    for (size_t i = 0; i < file->n_cells; ++i)
        record_cell_free(&file->cell[i]);
    free(file->cell);
    file->cell = NULL;
    file->n_cells = 0;
}

/* Whatever its run or its cell is called there: if a launch were counted twice, it would narrow an
 * interval without a measurement. */
int record_copied(const struct record_file *a, const struct record_file *b, struct text_error *err)
{
    const bool resumed = a != b && strcmp(a->run.run_id, b->run.run_id) == 0;
    /* One machine never starts two launches in the same nanosecond. */
    const bool one_machine = a->run.machine_instance[0] != '\0' &&
                             strcmp(a->run.machine_instance, b->run.machine_instance) == 0;

    for (size_t i = 0; i < a->n_cells; ++i)
        for (size_t k = 0; k < (a == b ? i : b->n_cells); ++k) {
            const struct record_cell *x = &a->cell[i], *y = &b->cell[k];

            if (x->start_epoch_ns != y->start_epoch_ns || x->n_samples == 0 || y->n_samples == 0)
                continue;
            const size_t bytes = x->n_samples * sizeof x->t_step_ns[0];

            if (!(one_machine || (x->n_samples == y->n_samples &&
                                  memcmp(x->t_step_ns, y->t_step_ns, bytes) == 0)) ||
                (resumed && strcmp(x->cell_id, y->cell_id) == 0))
                continue;
            return record_fail(err,
                               "run %s, cell %s, and run %s, cell %s, are one launch: both have "
                               "\"start_epoch_ns\" %llu; a launch counts once",
                               b->run.run_id, y->cell_id, a->run.run_id, x->cell_id,
                               (unsigned long long)x->start_epoch_ns);
        }
    return 0;
}
