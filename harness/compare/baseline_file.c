/* compare/baseline_file.c: reads the file of a baseline, and checks it line by line; and whether a
 * session fits those in it.
 *
 * Every line is chained to the one before, and has a seal, so a line that was edited, removed,
 * added or moved is found. The lines of a session are numbered, and so are the sessions. If whole
 * sessions are missing at the end, that cannot be found. */
#include "compare/baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plan/plan.h"
#include "record/json.h"
#include "text/alloc.h"

enum { MOST_BYTES = 1 << 30, MOST_NAME = 100 };

/* clang-format off */
#define PLACE(member) \
    #member, .offset = offsetof(struct baseline_line, member), \
    .bytes = sizeof((struct baseline_line *)0)->member
#define MEMBER(as, member, of) {.kind = (as), .unit = (of), .name = PLACE(member)},
#define COUNT(member, least) \
    {.kind = RECORD_COUNT, .unit = "", .min = (least), .max = RECORD_EXACT_MAX, .name = PLACE(member)},

const struct record_field baseline_names[] = {
    MEMBER(RECORD_TEXT, machine_class, "SHA-256")
    MEMBER(RECORD_TEXT, machine_instance, "SHA-256")
    MEMBER(RECORD_TEXT, created_utc, "ISO 8601")
    MEMBER(RECORD_BIG, start_epoch_ns, "ns since 1970")
    MEMBER(RECORD_TEXT, git_sha, "commit")
    {.kind = RECORD_TEXT, .unit = "", .later = true, .name = PLACE(blas)},
    MEMBER(RECORD_HASH, run_id, "16 hex digits")
    MEMBER(RECORD_TEXT, plan_sha256, "SHA-256")
    MEMBER(RECORD_TEXT, records_sha256, "SHA-256")
    COUNT(sitting, 1)
    COUNT(line, 1)
    COUNT(of, 1)
    {0}};
const struct record_field baseline_numbers[] = {
    COUNT(launches, 1)
    COUNT(steps, 1)
    MEMBER(RECORD_TEXT, floor_statistic, "not empty")
    MEMBER(RECORD_REAL, floor_log, "signed ratio")
    MEMBER(RECORD_REAL, cost_log, "signed ratio")
    MEMBER(RECORD_REAL, sd_floor, "")
    {0}};
/* clang-format on */

int baseline_name(const char *folder, const char *name, struct baseline *baseline,
                  struct text_error *err)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t length = strlen(name);

    *baseline = (struct baseline){.mode = 0666};
    if (length == 0 || length > MOST_NAME || strspn(name, allowed) != length || name[0] == '.' ||
        name[0] == '-')
        return record_fail(err,
                           "'%.60s' is no name of a baseline: 1 to %d letters, digits, '.', '_' "
                           "and '-', a letter or digit first",
                           name, MOST_NAME);
    const int n = snprintf(baseline->path, sizeof baseline->path, "%s/%s.jsonl", folder, name);

    return n > 0 && (size_t)n < sizeof baseline->path - 64
               ? 0
               : record_fail(err, "the folder '%.60s..' has a path that is too long", folder);
}

bool baseline_is_gate(const struct baseline *baseline)
{
    return baseline->sessions >= BASELINE_GATE;
}

void baseline_free(struct baseline *baseline)
{
    free(baseline->lines.line);
    free(baseline->text);
    baseline->text = NULL;
}

/* ---- read ---------------------------------------------------------------------------------- */

/* Whether both lines are of one session, whatever the name of its run. */
static bool baseline_same_run(const struct baseline_line *a, const struct baseline_line *b)
{
    return strcmp(a->run_id, b->run_id) == 0 || a->start_epoch_ns == b->start_epoch_ns ||
           strcmp(a->records_sha256, b->records_sha256) == 0;
}

/* Checks that the line is the next one, of the same class, library, plan and cells as those before
 * it. */
static int check_line_place(const struct baseline *baseline, const struct baseline_line *line,
                            struct text_error *err)
{
    const struct baseline_line *lines = baseline->lines.line;
    const size_t n = baseline->lines.n, cells = n > 0 ? lines[0].of : line->of;
    const size_t session = n / cells + 1, number = n % cells + 1;

    if (line->sitting != session || line->line != number || line->of != cells)
        return record_fail(err,
                           "line %zu of %zu of session %zu stands where line %zu of %zu of session "
                           "%zu belongs: there is a gap",
                           line->line, line->of, line->sitting, number, cells, session);
    if (n > 0 && strcmp(line->machine_class, lines[0].machine_class) != 0)
        return record_fail(err, "another class of machine, %.12s, than %.12s of line 1",
                           line->machine_class, lines[0].machine_class);
    if (n > 0 && strcmp(line->blas, lines[0].blas) != 0)
        return record_fail(err, "another library of matrix products than line 1");
    if (n > 0 && strcmp(line->plan_sha256, lines[0].plan_sha256) != 0)
        return record_fail(err, "another plan, %.12s, than %.12s of line 1", line->plan_sha256,
                           lines[0].plan_sha256);
    if (n >= cells && compare_key_order(&line->key, &lines[number - 1].key) != 0)
        return record_fail(err, "another cell than that of line %zu", number);
    if (n < cells && n > 0 && compare_key_order(&lines[n - 1].key, &line->key) >= 0)
        return record_fail(err, "the cell does not come after that of line %zu in order", n);
    if (number > 1 && (strcmp(line->run_id, lines[n - 1].run_id) != 0 ||
                       line->start_epoch_ns != lines[n - 1].start_epoch_ns ||
                       strcmp(line->machine_instance, lines[n - 1].machine_instance) != 0 ||
                       strcmp(line->records_sha256, lines[n - 1].records_sha256) != 0))
        return record_fail(err, "another run than the line before, in one session");
    for (size_t i = 0; number == 1 && i < n; i += cells)
        if (baseline_same_run(&lines[i], line))
            return record_fail(err, "run %s is there twice: line %zu has it already, as run %s",
                               line->run_id, i + 1, lines[i].run_id);
    return 0;
}

/* Reads one line of the text, without its newline, into the next of lines. */
static int read_baseline_line(struct baseline *baseline, const char *text, size_t bytes,
                              struct record_chain *chain, struct text_error *err)
{
    struct baseline_lines *const lines = &baseline->lines;

    lines->line = cli_grow(lines->line, lines->n, sizeof lines->line[0]);
    struct baseline_line *line = &lines->line[lines->n];
    json_t *root = record_json_load(text, bytes, err);
    const json_t *cell = json_object_get(root, "cell");
    const struct record_link link = record_link_of(root);
    int status = root ? record_chain_check(&link, text, bytes, true, chain, err) : -1;

    *line = (struct baseline_line){.line = 0};
    if (status == 0 && !chain->sealed)
        status = record_fail(err, "\"chain\" is missing");
    if (status == 0 && (record_json_schema(root, "baseline", err) != 0 ||
                        record_json_fields(root, baseline_names, line, err) != 0 ||
                        record_json_fields(root, baseline_numbers, line, err) != 0))
        status = -1;
    for (const struct record_field *field = record_key_fields; field->name && status == 0; ++field)
        if (field->role == RECORD_IDENTITY)
            status = record_json_fields(cell, (const struct record_field[]){*field, {0}},
                                        &line->key, err);
    const enum compare_floor rule = compare_floor_rule(line->steps);
    const double most = log((double)RECORD_EXACT_MAX);
    /* No session can have measured other numbers. Nine of ten steps are at or above a percentile up
     * to the 10th; with few steps the floor may leave out some that the mean includes. */
    const struct record_bound bounds[] = {
        {"floor_log", line->floor_log, 0, most},
        {"cost_log", line->cost_log, rule == COMPARE_LEAST ? 0 : line->floor_log + log(0.9), most},
        {"sd_floor", line->sd_floor, 0, line->launches > 1 ? most : 0},
        {"launches", (double)line->launches, 1, PLAN_MAX_LAUNCHES},
    };

    if (status == 0 && strcmp(line->floor_statistic, compare_floor_words[rule]) != 0)
        status = record_fail(err, "\"floor_statistic\" is \"%.30s\"; of %zu steps it is \"%s\"",
                             line->floor_statistic, line->steps, compare_floor_words[rule]);
    if (status == 0 && (record_check_bounds(bounds, sizeof bounds / sizeof bounds[0], err) != 0 ||
                        check_line_place(baseline, line, err) != 0))
        status = -1;
    for (size_t m = 0; m < EXACT_METRICS && status == 0; ++m) {
        const char *const name = exact_metrics[m].name;
        const json_t *array = json_object_get(json_object_get(root, "exact"), name);

        line->n[m] = json_array_size(array);
        if (!array && exact_metrics[m].later)
            continue;
        if (!json_is_array(array) || line->n[m] > RECORD_MAX_RANKS)
            status = record_fail(err, "\"%s\" of \"exact\" is no array of at most %d numbers", name,
                                 RECORD_MAX_RANKS);
        for (size_t i = 0; i < line->n[m] && status == 0; ++i)
            status = record_json_real(json_array_get(array, i), name, &line->exact[m][i], err);
    }
    lines->n += status == 0;
    json_decref(root);
    return status;
}

int baseline_read_lines(struct baseline *baseline, struct text_error *err)
{
    struct record_chain chain = {.lines = 0};
    const char *at = baseline->text, *const end = at + baseline->bytes;
    struct text_error why = {{0}};
    size_t number = 0;
    int status = 0;

    if (baseline->bytes > MOST_BYTES)
        return record_fail(err, "%.160s: more than %d MiB", baseline->path, MOST_BYTES >> 20);
    while (at < end && status == 0) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));

        ++number;
        status = newline ? read_baseline_line(baseline, at, (size_t)(newline - at), &chain, &why)
                         : record_fail(&why, "the line is torn: it has no newline");
        at = newline ? newline + 1 : end;
    }
    baseline->cells = baseline->lines.n > 0 ? baseline->lines.line[0].of : 0;
    baseline->sessions = baseline->cells > 0 ? baseline->lines.n / baseline->cells : 0;
    memcpy(baseline->last, chain.last, sizeof baseline->last);
    if (status == 0 && baseline->lines.n != baseline->sessions * baseline->cells)
        status =
            record_fail(&why, "the last session has %zu of %zu lines: there is a gap",
                        baseline->lines.n - baseline->sessions * baseline->cells, baseline->cells);
    if (status == 0 && number == 0)
        status = record_fail(&why, "the file is empty");
    return status == 0 ? 0
                       : record_fail(err, "%.120s:%zu: %.180s", baseline->path,
                                     number > 0 ? number : 1, why.text);
}

int baseline_read(struct baseline *baseline, struct text_error *err)
{
    const int fd = open(baseline->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat info;
    ssize_t n = 0;
    int status = 0;

    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0)
        return record_fail(err, "%.160s: %s", baseline->path,
                           errno == ELOOP ? "it is a symbolic link" : strerror(errno));
    baseline->is_there = true;
    if (fstat(fd, &info) != 0) {
        status = record_fail(err, "%.160s: %s", baseline->path, strerror(errno));
    } else if (!S_ISREG(info.st_mode) || info.st_size > MOST_BYTES) {
        status = record_fail(err, "%.160s: it is no regular file of at most %d MiB", baseline->path,
                             MOST_BYTES >> 20);
    } else {
        const size_t all = (size_t)info.st_size;

        baseline->mode = info.st_mode & 0777;
        baseline->text = malloc(all + 1);
        if (!baseline->text)
            status = record_fail(err, "%.160s: no memory for it", baseline->path);
        while (status == 0 && baseline->bytes < all &&
               ((n = read(fd, baseline->text + baseline->bytes, all - baseline->bytes)) > 0 ||
                (n < 0 && errno == EINTR)))
            baseline->bytes += n > 0 ? (size_t)n : 0;
        if (n < 0)
            status = record_fail(err, "%.160s: %s", baseline->path, strerror(errno));
    }
    close(fd);
    return status == 0 ? baseline_read_lines(baseline, err) : -1;
}

/* ---- whether a session fits ---------------------------------------------------------------- */

static int say_why(char why[BASELINE_WHY], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int say_why(char why[BASELINE_WHY], const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, BASELINE_WHY, format, args);
    va_end(args);
    return -1;
}

int baseline_fits(const struct baseline *baseline, const struct baseline_source *source, bool fresh,
                  char why[BASELINE_WHY])
{
    const struct baseline_line *first = baseline->lines.line, *own = source->lines.line;
    const char *const path = source->path, *const there = baseline->path;

    if (baseline->sessions == 0 || source->lines.n == 0)
        return 0;
    if (strcmp(first->machine_class, own->machine_class) != 0)
        return say_why(why, "%.100s:1: another class of machine, %.12s, than %.12s of %.100s:1",
                       path, own->machine_class, first->machine_class, there);
    if (strcmp(first->plan_sha256, own->plan_sha256) != 0)
        return say_why(why,
                       "%.100s:1: another plan than %.100s:1: other options than the seed differ, "
                       "the clock, or the build type",
                       path, there);
    /* The library is known by its name, version and kernels. A baseline of an older program may
     * have sessions of two libraries. */
    if (first->blas[0] == '\0')
        return say_why(why,
                       "%.100s:1: it does not say of which library of matrix products it is, and "
                       "%.100s is of \"%s\": begin a baseline of another name",
                       there, path, own->blas);
    if (strcmp(first->blas, own->blas) != 0)
        return say_why(why,
                       "%.100s:1: another library of matrix products, \"%s\", than \"%s\" of "
                       "%.100s:1: measure with that one, or take a baseline of another name",
                       path, own->blas, first->blas, there);
    for (size_t s = 0; s < baseline->sessions; ++s) {
        const size_t number = s * baseline->cells;
        const struct baseline_line *line = &first[number];
        const uint64_t apart = line->start_epoch_ns > own->start_epoch_ns
                                   ? line->start_epoch_ns - own->start_epoch_ns
                                   : own->start_epoch_ns - line->start_epoch_ns;

        if (baseline_same_run(line, own))
            return say_why(why,
                           "%.100s:1: run %s is there already: run %s of session %zu, %.100s:%zu",
                           path, own->run_id, line->run_id, s + 1, there, number + 1);
        if (fresh && apart < RECORD_SITTINGS_APART &&
            strcmp(line->machine_instance, own->machine_instance) == 0)
            return say_why(why,
                           "%.90s:1: %.1f hours from session %zu (%.90s:%zu), in the same start of "
                           "the machine: it takes 6 hours, or another start",
                           path, (double)apart / 3.6e12, s + 1, there, number + 1);
    }
    if (fresh && source->lines.n != baseline->cells)
        return say_why(why, "%.100s:1: %zu cells, and %zu in each session of %.100s", path,
                       source->lines.n, baseline->cells, there);
    for (size_t c = 0; fresh && c < baseline->cells; ++c)
        if (compare_key_order(&first[c].key, &own[c].key) != 0)
            return say_why(why, "%.100s: it does not have the cell of %.100s:%zu", path, there,
                           c + 1);
    return 0;
}
