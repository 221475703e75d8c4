/* record/file.c: whole files of records, and single lines in and out of them.
 *
 * A file is only ever appended to, so the only damage that an interrupted sitting can leave is a
 * torn last line; anything else that cannot be read is an error, never skipped. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/json.h"
#include "record/memory.h"
#include "record/planned.h"

/* Loads one line that must be of that type. */
static json_t *load_type(const char *line, enum record_type type, struct record_raw *raw,
                         struct text_error *err)
{
    json_t *root = record_json_load(line, strlen(line), raw, err);
    const int found = !root ? -1 : record_json_type(root, err);
    if (found < 0 || found != (int)type) {
        if (found >= 0) {
            record_fail(err, "a lockstep/%s record, expected lockstep/%s", record_type_names[found],
                        record_type_names[type]);
        }
        json_decref(root);
        return NULL;
    }
    return root;
}

int record_run_parse(const char *line, struct record_run *run, struct text_error *err)
{
    struct record_raw raw = {0};
    json_t *root = load_type(line, RECORD_IS_RUN, &raw, err);
    const int status = !root ? -1 : record_run_from_json(root, run, err);
    json_decref(root);
    record_raw_free(&raw);
    return status;
}

int record_cell_parse(const char *line, struct record_cell *cell, struct text_error *err)
{
    struct record_raw raw = {0};
    json_t *root = load_type(line, RECORD_IS_CELL, &raw, err);
    const int status = !root ? -1 : record_cell_from_json(root, &raw, cell, err);
    json_decref(root);
    record_raw_free(&raw);
    return status;
}

/* Everything, or -1 with errno. A short write is tried again for its reason: the disk is full. */
static int write_all(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t n = write(fd, text, bytes);
        if (n < 0 && errno != EINTR) {
            return -1;
        }
        if (n > 0) {
            text += n;
            bytes -= (size_t)n;
        }
    }
    return 0;
}

/* Pipes and terminals cannot be synchronised, and need not be. */
static int sync_file(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : -1;
}

int record_append(int fd, const char *line, struct text_error *err)
{
    const size_t length = strlen(line);
    if (memchr(line, '\n', length)) {
        return record_fail(err, "a record must be one line");
    }
    char *text = malloc(length + 1);
    if (!text) {
        return record_fail(err, "no memory to append %zu bytes", length);
    }
    memcpy(text, line, length);
    text[length] = '\n';

    /* -1: not a file that can be cut back. */
    const off_t before = lseek(fd, 0, SEEK_END);
    const int status = write_all(fd, text, length + 1) == 0 ? sync_file(fd) : -1;
    const int reason = errno;
    free(text);
    if (status == 0) {
        return 0;
    }
    struct stat info;
    const bool cut = before >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                     ftruncate(fd, before) == 0 && lseek(fd, before, SEEK_SET) == before;
    return record_fail(err, "cannot append a record of %zu bytes: %s%s", length + 1,
                       strerror(reason), cut ? "; the file is as it was" : "");
}

/* A file being read. */
struct reader {
    FILE *stream;
    const char *path;
    char *line; /* without its newline */
    size_t length, capacity;
    bool complete;       /* the line had a newline */
    size_t number;       /* of the line, from 1 */
    long offset;         /* of the line */
    long next;           /* of the next one */
    char chunk[1 << 16]; /* read, but not yet part of a line: chunk[at .. end-1] */
    size_t at, end;
    size_t capacity_cells;
    size_t *place;         /* by cell_id: its index in the cells and 1, or 0; open addressing */
    size_t places;         /* a power of two, more than twice the cells */
    struct record_raw raw; /* of the current line */
    struct record_chain chain;
    struct record_plan plan; /* unless the file has none */
};

/* err becomes "FILE:LINE: text"; of a long path the end is shown. */
static int locate(const struct reader *reader, struct text_error *err)
{
    const struct text_error cause = *err;
    const size_t length = strlen(reader->path);
    const bool cut = length > 100;
    const char *shown = cut ? reader->path + (length - 97) : reader->path;
    return record_fail(err, "%s%s:%zu: %.*s", cut ? "..." : "", shown, reader->number, 130,
                       cause.text);
}

/* Adds n bytes of the chunk to the line. */
static int take_bytes(struct reader *reader, size_t n, struct text_error *err)
{
    size_t capacity = reader->capacity == 0 ? 4096 : reader->capacity;
    while (capacity < reader->length + n) {
        capacity *= 2;
    }
    if (capacity > RECORD_LINE_BYTES) {
        return record_fail(err, "the line is longer than %zu bytes", RECORD_LINE_BYTES);
    }
    char *line = capacity == reader->capacity ? reader->line : realloc(reader->line, capacity);
    if (!line) {
        return record_fail(err, "no memory for a line of %zu bytes", reader->length + n);
    }
    reader->line = line;
    reader->capacity = capacity;
    memcpy(reader->line + reader->length, reader->chunk + reader->at, n);
    reader->length += n;
    reader->at += n;
    return 0;
}

/* 1: a line; 0: the end; -1: an error. */
static int next_line(struct reader *reader, struct text_error *err)
{
    reader->length = 0;
    reader->complete = false;
    reader->offset = reader->next;
    ++reader->number;
    while (!reader->complete) {
        if (reader->at == reader->end) {
            reader->at = 0;
            reader->end = fread(reader->chunk, 1, sizeof reader->chunk, reader->stream);
        }
        const char *begin = reader->chunk + reader->at;
        const size_t left = reader->end - reader->at;
        const char *newline = memchr(begin, '\n', left);
        if (left == 0) {
            break;
        }
        if (take_bytes(reader, newline == NULL ? left : (size_t)(newline - begin), err) != 0) {
            return locate(reader, err);
        }
        reader->complete = newline != NULL;
        reader->at += reader->complete;
    }
    reader->next += (long)(reader->length + reader->complete);
    if (ferror(reader->stream)) {
        record_fail(err, "cannot read: %s", strerror(errno));
        return locate(reader, err);
    }
    return reader->complete || reader->length > 0;
}

/* Where the cell of that id is, or where it has to go. Ids are hashes already. */
static size_t *find_place(const struct reader *reader, const struct record_file *file,
                          const char *cell_id)
{
    size_t i = (size_t)strtoull(cell_id, NULL, 16) & (reader->places - 1);
    while (reader->place[i] != 0 &&
           strcmp(file->cell[reader->place[i] - 1].cell_id, cell_id) != 0) {
        i = (i + 1) & (reader->places - 1);
    }
    return &reader->place[i];
}

static int grow_places(struct reader *reader, const struct record_file *file)
{
    const size_t places = 4 * reader->capacity_cells;
    size_t *place = calloc(places, sizeof place[0]);
    if (!place) {
        return -1;
    }
    free(reader->place);
    reader->place = place;
    reader->places = places;
    for (size_t i = 0; i < file->n_cells; ++i) {
        *find_place(reader, file, file->cell[i].cell_id) = i + 1;
    }
    return 0;
}

static int grow_cells(struct reader *reader, struct record_file *file, struct text_error *err)
{
    const size_t capacity = reader->capacity_cells == 0 ? 16 : 2 * reader->capacity_cells;
    struct record_cell *cells = realloc(file->cell, capacity * sizeof cells[0]);
    if (cells) {
        file->cell = cells;
        reader->capacity_cells = capacity;
    }
    return cells && grow_places(reader, file) == 0
               ? 0
               : record_fail(err, "no memory for %zu cells", capacity);
}

/* A cell of an id that is there replaces the older one. */
static int keep_cell(struct reader *reader, struct record_file *file, struct record_cell *cell,
                     struct text_error *err)
{
    if (file->n_cells == reader->capacity_cells && grow_cells(reader, file, err) != 0) {
        return -1;
    }
    size_t *place = find_place(reader, file, cell->cell_id);
    if (*place != 0) {
        record_cell_free(&file->cell[*place - 1]);
        file->cell[*place - 1] = *cell;
        return 0;
    }
    file->cell[file->n_cells++] = *cell;
    *place = file->n_cells;
    return 0;
}

static int same_run(const char *run_id, const struct record_file *file, struct text_error *err)
{
    if (strcmp(run_id, file->run.run_id) == 0) {
        return 0;
    }
    return record_fail(err, "belongs to run %s, the file to run %s", run_id, file->run.run_id);
}

static int take_cell(struct reader *reader, const json_t *root, struct record_file *file,
                     struct text_error *err)
{
    struct record_cell cell;
    if (record_cell_from_json(root, &reader->raw, &cell, err) != 0) {
        return -1;
    }
    if (same_run(cell.run_id, file, err) != 0 ||
        (file->planned && record_plan_take(&reader->plan, &cell, err) != 0) ||
        keep_cell(reader, file, &cell, err) != 0) {
        record_cell_free(&cell);
        return -1;
    }
    file->ended = false;
    return 0;
}

static int take_end(const struct reader *reader, const json_t *root, struct record_file *file,
                    struct text_error *err)
{
    struct record_end end;
    if (record_end_from_json(root, &end, err) != 0 || same_run(end.run_id, file, err) != 0 ||
        (file->planned && record_plan_end(&reader->plan, &end, err) != 0)) {
        return -1;
    }
    file->ended = true;
    file->interrupted = end.interrupted;
    return 0;
}

/* Files of minor 0 had no launches, and their commands were others: they have no plan. */
static int take_run(struct reader *reader, const json_t *root, struct record_file *file,
                    struct text_error *err)
{
    file->planned = json_object_get(root, "launches") != NULL;
    if (record_run_from_json(root, &file->run, err) != 0) {
        return -1;
    }
    return file->planned ? record_plan_open(&file->run, &reader->plan, err) : 0;
}

static int take_record(struct reader *reader, const json_t *root, struct record_file *file,
                       struct text_error *err)
{
    const int type = record_json_type(root, err);
    if (type < 0) {
        return -1;
    }
    if ((type == RECORD_IS_RUN) != (reader->number == 1)) {
        return record_fail(err, "a file has one lockstep/run record, as its first line");
    }
    if (record_chain_check(root, reader->line, reader->length, type == RECORD_IS_END,
                           &reader->chain, err) != 0) {
        return -1;
    }
    file->sealed = reader->chain.sealed;
    memcpy(file->last, reader->chain.last, sizeof file->last);
    if (type == RECORD_IS_RUN) {
        return take_run(reader, root, file, err);
    }
    return type == RECORD_IS_CELL ? take_cell(reader, root, file, err)
                                  : take_end(reader, root, file, err);
}

/* The current line is not a record. As the last line of several it is what an interrupted write
 * leaves; anywhere else it is an error, which err already holds. */
static int accept_torn(struct reader *reader, struct record_file *file, struct text_error *err)
{
    const long torn_at = reader->offset;
    if (!reader->complete) {
        record_fail(err, "the line is incomplete");
    }
    locate(reader, err);
    struct text_error later;
    if (torn_at == 0 || next_line(reader, &later) != 0) {
        return -1;
    }
    file->torn = true;
    file->torn_offset = torn_at;
    return 0;
}

static int read_lines(struct reader *reader, struct record_file *file, struct text_error *err)
{
    int more = next_line(reader, err);
    if (more == 0) {
        record_fail(err, "the file is empty");
        return locate(reader, err);
    }
    while (more > 0) {
        json_t *root = record_json_load(reader->line, reader->length, &reader->raw, err);
        if (record_memory_failed()) {
            json_decref(root);
            return locate(reader, err); /* the line may be whole: it is not torn */
        }
        if (!root || !reader->complete) {
            json_decref(root);
            return accept_torn(reader, file, err);
        }
        const int status = take_record(reader, root, file, err);
        json_decref(root);
        if (status != 0) {
            return locate(reader, err);
        }
        more = next_line(reader, err);
    }
    return more;
}

int record_read(const char *path, struct record_file *file, struct text_error *err)
{
    memset(file, 0, sizeof *file);
    struct reader reader = {.path = path, .stream = fopen(path, "rb")};
    if (!reader.stream) {
        return record_fail(err, "%.160s: %s", path, strerror(errno));
    }
    const int status = read_lines(&reader, file, err);
    fclose(reader.stream);
    free(reader.line);
    free(reader.place);
    record_raw_free(&reader.raw);
    record_plan_close(&reader.plan);
    if (status != 0) {
        record_file_free(file);
    }
    return status;
}

void record_file_free(struct record_file *file)
{
    for (size_t i = 0; i < file->n_cells; ++i) {
        record_cell_free(&file->cell[i]);
    }
    free(file->cell);
    file->cell = NULL;
    file->n_cells = 0;
}
