/* record/output.c: opens, locks, repairs and appends to a file of records. */
#include "record/files.h"
#include "record/record.h"

#include "record/reading.h"
#include "text/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_NAMES = 100, OPEN_FLAGS = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

/* Opens a new file. Two sweeps that begin in one second get two names. */
static int open_default(struct output *output, struct text_error *err)
{
    static const char *const folders[] = {"results", "results/local"};
    const time_t now = time(NULL);
    struct tm utc;
    char stamp[32] = "", suffix[16] = "";

    for (int i = 0; i < 2; ++i)
        if (mkdir(folders[i], 0777) && errno != EEXIST)
            return text_fail(err, "cannot make the folder %s: %s", folders[i], strerror(errno));
    if (gmtime_r(&now, &utc))
        strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    for (int i = 2; i < DEFAULT_NAMES; ++i) {
        snprintf(output->path, sizeof output->path, "results/local/sweep-%s%s.jsonl", stamp,
                 suffix);
        output->fd = open(output->path, OPEN_FLAGS | O_CREAT | O_EXCL, 0666);
        if (output->fd >= 0 || errno != EEXIST)
            break;
        snprintf(suffix, sizeof suffix, "-%d", i);
    }
    output->made = output->fd >= 0;
    return 0;
}

int output_open(struct output *output, const char *path, bool resume, struct text_error *err)
{
    static const char header[] = "{\"schema\":\"lockstep/run/";
    char text[4096];
    struct stat info;

    *output = (struct output){.fd = -1};
    if (!path && open_default(output, err))
        return -1;
    if (path) {
        if (strlen(path) >= sizeof output->path)
            return text_fail(err, "--out: the path is longer than %zu characters",
                             sizeof output->path - 1);
        snprintf(output->path, sizeof output->path, "%s", path);
        output->made = lstat(output->path, &info) != 0;
        output->fd = open(output->path, OPEN_FLAGS | (resume ? 0 : O_CREAT), 0666);
    }
    if (output->fd < 0 && resume && errno == ENOENT)
        return text_fail(err, "%.180s is not there: nothing to resume", output->path);
    if (output->fd < 0 || fstat(output->fd, &info))
        return text_fail(err, "cannot write to %.180s: %s", output->path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return text_fail(err, "%.180s is not a regular file: records would be lost", output->path);
    /* The lock belongs to this descriptor: unlike with fcntl, closing another descriptor does not
     * release it. A file system that has no locks goes on without one. */
    if (flock(output->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return text_fail(err, "%.180s: another lockstep is writing to it", output->path);
    /* Another sweep may have filled it before this process got the lock. */
    if (fstat(output->fd, &info))
        return text_fail(err, "cannot read %.180s: %s", output->path, strerror(errno));
    if (info.st_size > 0 && !resume)
        return text_fail(err, "%.180s holds records already; use --resume or another file",
                         output->path);
    if (output->made)
        cli_begin_file(output->path);
    /* Whether it is the beginning of a header whose write was interrupted. Then nothing is lost if
     * the sweep starts again. */
    const ssize_t n = pread(output->fd, text, sizeof text, 0);
    const size_t length = n > 0 ? (size_t)n : 0;
    const size_t common = length < sizeof header - 1 ? length : sizeof header - 1;

    output->started = n >= 0 && length < sizeof text && memcmp(text, header, common) == 0 &&
                      !memchr(text, '\n', length);
    if (output->started)
        return 0;
    output->resumed = record_read(output->path, false, &output->file, err) == 0;
    if (output->resumed)
        return 0;
    const enum input_kind is = input_kind_of(output->path);

    if (is != INPUT_RECORDS && is != INPUT_KINDS)
        text_fail(err, "%.150s holds %s, not %s", output->path, input_kind_words[is],
                  input_kind_words[INPUT_RECORDS]);
    return -1;
}

void output_abandon(const struct output *output)
{
    struct stat info;

    if (output->made && fstat(output->fd, &info) == 0 && info.st_size == 0)
        unlink(output->path);
    cli_finish_file(output->path);
}

static int cut_torn(const struct output *output, off_t size, struct text_error *err)
{
    if (ftruncate(output->fd, size) == 0 && fsync(output->fd) == 0)
        return 0;
    return text_fail(err, "%.180s: cannot cut off its torn end: %s", output->path, strerror(errno));
}

static int repair(struct output *output, struct text_error *err)
{
    const off_t size = lseek(output->fd, 0, SEEK_END);

    if (output->started)
        return size > 0 ? cut_torn(output, 0, err) : 0;
    if (!output->file.torn)
        return 0;
    /* After a part of a line there is no newline to write: a sweep that is killed here would leave
     * a bad line that ends, which the next one refuses. With a newline, a line that is whole is a
     * record, and a bad one that ended before is an error. */
    if (output->file.partial || write(output->fd, "\n", 1) != 1)
        return cut_torn(output, (off_t)output->file.torn_offset, err);
    record_file_free(&output->file);
    if (record_read(output->path, false, &output->file, err)) {
        struct text_error ignored;

        cut_torn(output, size, &ignored);
        return -1;
    }
    return output->file.torn ? cut_torn(output, (off_t)output->file.torn_offset, err) : 0;
}

static void note_size(struct output *output)
{
    struct stat info;

    output->size = fstat(output->fd, &info) == 0 ? info.st_size : -1;
}

int output_repair(struct output *output, struct text_error *err)
{
    const int status = repair(output, err);

    output->sealed = !output->resumed || output->file.sealed;
    memcpy(output->last, output->file.last, sizeof output->last);
    note_size(output);
    return status;
}

/* The bytes of another program must not get mixed up with records. */
static int check_size(const struct output *output, struct text_error *err)
{
    struct stat info;

    if (fstat(output->fd, &info) || info.st_size == output->size)
        return 0;
    return text_fail(
        err,
        "%.100s was changed by another program: it has %lld bytes, not %lld; nothing more "
        "is added to it",
        output->path, (long long)info.st_size, (long long)output->size);
}

static bool leads_to(const char *path, const struct stat *file)
{
    struct stat info;

    return stat(path, &info) == 0 && info.st_dev == file->st_dev && info.st_ino == file->st_ino;
}

/* No name leads to the file any more. This copies it to a name that is free. */
static int rescue(const struct output *output, const char *what, struct text_error *err)
{
    char path[sizeof output->path + 16], block[8192];
    ssize_t n = 0, done = 1;
    int fd = -1;

    for (int i = 1; i < DEFAULT_NAMES && fd < 0; ++i) {
        snprintf(path, sizeof path, i == 1 ? "%s.rescued" : "%s.rescued-%d", output->path, i);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    for (off_t at = 0; fd >= 0 && done > 0 && (n = pread(output->fd, block, sizeof block, at)) > 0;
         at += n)
        for (ssize_t m = 0; m < n && done > 0; m += done)
            done = write(fd, block + m, (size_t)(n - m));
    const bool saved = fd >= 0 && n == 0 && done > 0 && fsync(fd) == 0;
    const int reason = errno;

    if (fd >= 0)
        close(fd);
    if (!saved)
        return text_fail(err, "the file was %s and what was measured cannot be saved in %.100s: %s",
                         what, path, strerror(reason));
    return text_fail(err, "the file was %s while it was written; what was measured is in %.150s",
                     what, path);
}

/* Records are lost if no name leads to their file. */
static int check_named(const struct output *output, struct text_error *err)
{
    char link[64], path[sizeof output->path] = "";
    struct stat file, there;

    if (fstat(output->fd, &file) || leads_to(output->path, &file))
        return 0;
    const bool replaced = stat(output->path, &there) == 0;

    if (!replaced && errno != ENOENT && errno != ENOTDIR)
        return 0; /* it is not known */
    snprintf(link, sizeof link, "/proc/self/fd/%d", output->fd);
    if (readlink(link, path, sizeof path - 1) > 0 && leads_to(path, &file))
        return text_fail(
            err, "the file was moved while it was written; what was measured is in %.150s", path);
    return rescue(output, replaced ? "replaced" : "removed", err);
}

/* The line is either wholly on the disk or not at all. */
int record_append(int fd, const char *line, struct text_error *err)
{
    const size_t length = strlen(line);
    struct stat info;
    ssize_t n = 0;

    if (memchr(line, '\n', length))
        return record_fail(err, "a record must be one line");
    char *text = malloc(length + 2);

    if (!text) /* a training goes on without the line */
        return record_fail(err, "no memory to append %zu bytes", length);

    snprintf(text, length + 2, "%s\n", line);

    /* -1: the file cannot be truncated to what it was */
    const off_t before = lseek(fd, 0, SEEK_END);

    /* A short write is tried again, so that errno tells the reason: the disk is full. */
    for (size_t done = 0; done <= length && (n >= 0 || errno == EINTR);
         done += n > 0 ? (size_t)n : 0)
        n = write(fd, text + done, length + 1 - done);
    /* Pipes and terminals cannot be synchronised, and need not be. */
    const bool written = n >= 0 && (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP);
    const int reason = errno;

    free(text);
    if (written)
        return 0;
    const bool cut = before >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                     ftruncate(fd, before) == 0 && lseek(fd, before, SEEK_SET) == before;

    return record_fail(err, "cannot append a record of %zu bytes: %s%s", length + 1,
                       strerror(reason), cut ? "; the file is as it was" : "");
}

int output_append(struct output *output, char *line, bool closes, struct text_error *err)
{
    struct text_error cause = {""};
    char next[DIGEST_HEX];
    off_t added;
    int status;

    if (output->sealed)
        line = record_chain_add(line, output->last, closes);
    /* The next line has the SHA-256 of this one. */
    if (!line || digest_sha256(line, strlen(line), next) != 0) {
        free(line);
        return text_fail(err, "out of memory for a record");
    }
    cli_finish_file(output->path); /* from here on it may have bytes */
    if (check_size(output, err)) {
        free(line);
        return -1;
    }
    added = (off_t)strlen(line) + 1;
    status = record_append(output->fd, line, &cause);
    free(line);
    if (status == 0)
        memcpy(output->last, next, sizeof output->last);
    /* The size is computed and not read from the file: the file would give a right size even if it
     * was changed during the append. */
    if (status == 0 && output->size >= 0)
        output->size += added;
    else
        note_size(output);
    if (check_named(output, err))
        return -1;
    return status ? text_fail(err, "%.120s: %.120s", output->path, cause.text)
                  : check_size(output, err);
}

int output_begin(struct output *output, const struct record_run *run, struct text_error *err)
{
    struct record_file *const file = &output->file;
    char *line = output->resumed ? NULL : record_run_text(run);

    if (output->resumed && !file->planned)
        return 0;
    output->plan = cli_alloc(1, sizeof *output->plan);
    if ((line && record_run_parse(line, &file->run, err) != 0) ||
        record_plan_open(&file->run, output->plan, err) != 0) {
        free(line);
        return -1;
    }
    for (size_t i = 0; i < file->n_cells; ++i) {
        output->plan->sitting = 0; /* cells that were run again are not in the order of lines */
        if (record_plan_take(output->plan, &file->cell[i], err) != 0)
            return -1;
    }
    return output->resumed ? 0 : output_append(output, line, false, err);
}

/* Whether a reader accepts this line as the next one of the file. */
static int read_back(const struct output *output, const char *line, double ns,
                     struct text_error *why)
{
    struct record_cell cell;
    int status;

    if (record_cell_parse(line, &cell, why) != 0)
        return -1;
    status = record_check_wall(&cell, ns, why);
    if (status == 0 && output->plan)
        status = record_plan_take(output->plan, &cell, why);
    record_cell_free(&cell);
    return status;
}

int output_cell(struct output *output, const struct cell_config *config, double ns,
                struct record_cell *cell, struct text_error *err)
{
    const struct record_cell sent = *cell;
    struct text_error why = {""};
    char *line;

    /* The clock of the process and this one need not agree. */
    cell->launch_ns = ns > (double)cell->wall_ns ? (uint64_t)ns : cell->wall_ns;
    line = record_cell_text(cell);
    if (line && read_back(output, line, ns, &why) != 0) {
        free(line);
        record_cell_free(cell);
        cell_identify(config, cell);
        cell->sitting = sent.sitting;
        cell->launch_ns = (uint64_t)ns;
        snprintf(cell->reason, sizeof cell->reason, "the worker's record cannot be used: %.200s",
                 why.text);
        line = record_cell_text(cell);
        if (line && read_back(output, line, ns, err) != 0) {
            free(line);
            return -1;
        }
    }
    return output_append(output, line, false, err);
}

void output_close(struct output *output)
{
    if (output->resumed)
        record_file_free(&output->file);
    if (output->plan)
        record_plan_close(output->plan);
    free(output->plan);
    output->plan = NULL;
    cli_finish_file(output->path);
    if (output->fd >= 0)
        close(output->fd);
    output->fd = -1;
}
