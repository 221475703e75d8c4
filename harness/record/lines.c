/* record/lines.c: the lines of a file: record/reading.h.
 *
 * What a line says by itself depends on no other line, so the lines of a batch are read and checked
 * on several cores. Whether they fit together is judged line by line, in record/file.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "record/json.h"
#include "record/reading.h"
#include "text/alloc.h"

/* THREAD_BYTES: enough work for a thread. */
enum { BLOCK_BYTES = 4 << 20, THREAD_BYTES = 64 << 10 };

struct record_lines *record_lines_open(FILE *stream)
{
    struct record_lines *lines = cli_alloc(1, sizeof *lines);

    lines->stream = stream;
    return lines;
}

/* Reads until the text has the end of a line, or of the file. The rest of the last batch moves to
 * the front. */
static int lines_read(struct record_lines *lines)
{
    size_t looked = lines->at;

    while (!lines->ended &&
           !(lines->end > looked && memchr(lines->text + looked, '\n', lines->end - looked))) {
        if (lines->at > 0)
            memmove(lines->text, lines->text + lines->at, lines->end - lines->at);
        lines->end -= lines->at;
        lines->at = 0;
        looked = lines->end;
        if (lines->end > RECORD_LINE_BYTES)
            return record_fail(&lines->err, "the line is longer than %zu bytes", RECORD_LINE_BYTES);
        if (lines->end == lines->capacity) {
            const size_t twice = lines->capacity == 0 ? BLOCK_BYTES : 2 * lines->capacity;
            const size_t capacity = twice <= RECORD_LINE_BYTES ? twice : RECORD_LINE_BYTES + 1;

            lines->text = cli_resize(lines->text, capacity, 1);
            lines->capacity = capacity;
        }
        const size_t room = lines->capacity - lines->end;
        const size_t n = fread(lines->text + lines->end, 1, room, lines->stream);

        lines->reason = errno;
        lines->end += n;
        lines->ended = n < room;
    }
    return 0;
}

/* Takes the next line from the text. Returns false if the line is not whole yet, or there is none.
 */
static bool cut_line(struct record_lines *lines, struct record_line *line)
{
    const char *begin = lines->text + lines->at;
    const size_t left = lines->end - lines->at;
    const char *newline = left > 0 ? memchr(begin, '\n', left) : NULL;
    const bool broken = lines->ended && ferror(lines->stream);

    if (left == 0 || (!newline && (!lines->ended || broken)))
        return false;
    line->text = begin;
    line->length = newline ? (size_t)(newline - begin) : left;
    line->complete = newline != NULL;
    line->number = ++lines->number;
    line->offset = lines->next;
    line->digest[0] = '\0';
    line->has_cell = false;
    lines->at += line->length + line->complete;
    lines->next += (long)(line->length + line->complete);
    return true;
}

/* Loads one line, and reads and checks the cell in it. The numbers of a cell are freed as JSON,
 * which needs several times their memory. */
static void lines_look(void *context, size_t i)
{
    struct record_lines *lines = context;
    struct record_line *line = &lines->line[i];
    struct text_error unused;

    line->root = record_json_load(line->text, line->length, &line->err);
    if (!line->root || !line->complete)
        return;
    if (lines->sealed && digest_sha256(line->text, line->length, line->digest) != 0)
        line->digest[0] = '\0';
    if (record_json_type(line->root, &unused) != RECORD_IS_CELL)
        return;
    line->has_cell = record_cell_from_json(line->root, &line->cell, &line->err) == 0;
    json_object_del(line->root, "raw");
    if (line->has_cell && lines->steps)
        record_cell_keep_steps(&line->cell);
}

static void free_lines(struct record_lines *lines)
{
    for (size_t i = 0; i < lines->n; ++i) {
        if (lines->line[i].has_cell)
            record_cell_free(&lines->line[i].cell);
        json_decref(lines->line[i].root);
    }
    lines->n = 0;
}

void record_lines_next(struct record_lines *lines)
{
    const size_t most = lines->number == 0 ? 1 : RECORD_BATCH, cores = parallel_cores();
    size_t bytes = 0;

    free_lines(lines);
    if (lines_read(lines) != 0) {
        lines->status = -1;
        return;
    }
    while (lines->n < most && cut_line(lines, &lines->line[lines->n]))
        bytes += lines->line[lines->n++].length;
    if (lines->n == 0 && ferror(lines->stream))
        lines->status = record_fail(&lines->err, "cannot read: %s", strerror(lines->reason));
    const size_t worth = 1 + bytes / THREAD_BYTES;

    parallel_each(lines->n, worth < cores ? worth : cores, lines_look, lines);
}

void record_lines_close(struct record_lines *lines)
{
    free_lines(lines);
    fclose(lines->stream);
    free(lines->text);
    free(lines);
}
