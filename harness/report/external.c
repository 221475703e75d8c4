/* report/external.c: reads the files of other programs: what nccl-tests prints, or writes with -J,
 * and what nvbandwidth writes with -j. It also looks up results in them. */
#include "report/page.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/json.h"
#include "text/alloc.h"
#include "verify/collective.h"

enum { MOST_LINES = 1000000, MOST_WORDS = 48, PLACES = 2, MOST_RANKS = 1 << 20, NEWEST_JSON = 3 };

static int set_program(const char *program, struct nccl_tests *file, struct text_error *err)
{
    file->collective = collective_of_nccl(program);
    return file->collective ? 0 : record_fail(err, "'%.40s' is not measured here", program);
}

/* ---- a result of nccl-tests ------------------------------------------------------------------ */

/* Adds a result. Its bus bandwidth must be the algorithm bandwidth times the factor of the
 * collective on so many ranks; otherwise it is from another number of ranks than the file says.
 * nccl-tests rounds its numbers, to 0.01 GB/s, and to four digits if they have more. */
static int add_result(struct nccl_tests *file, const struct nccl_tests_line *line,
                      struct text_error *err)
{
    if (file->ranks < 2)
        return record_fail(err, "it has %d ranks, a collective needs two", file->ranks);
    if (!(line->ns > 0) || !isfinite(line->ns) || !(line->algbw >= 0) || !isfinite(line->algbw) ||
        !(line->busbw >= 0) || !isfinite(line->busbw) || line->wrong < 0)
        return record_fail(err, "%zu bytes: a time or a bandwidth is no number of 0 or more",
                           line->bytes);
    const double factor = file->collective->factor(file->ranks);
    const double most = 0.006e9 * (1 + factor) + 1e-3 * line->busbw;

    if (!(fabs(line->busbw - line->algbw * factor) <= most))
        return record_fail(err,
                           "%zu bytes: bus bandwidth %g GB/s is not %g times the algorithm "
                           "bandwidth of %g GB/s, as on %d ranks",
                           line->bytes, line->busbw / 1e9, factor, line->algbw / 1e9, file->ranks);
    if (file->n == NCCL_TESTS_LINES)
        return record_fail(err, "more than %d results", NCCL_TESTS_LINES);
    file->line[file->n++] = *line;
    return 0;
}

/* ---- its text -------------------------------------------------------------------------------- */

/* Lines of '#' say what was run and name the columns; any other line is one size. */

struct words {
    char *word[MOST_WORDS];
    size_t n;
};

/* The positions of the columns. 0: there is no such column; position 0 itself is "size". */
struct columns {
    size_t type, op, time[PLACES], algbw[PLACES], busbw[PLACES], wrong[PLACES];
    size_t n;
};

/* Reads what was run, the ranks, the end, and a heading "# size count type redop root time algbw
 * busbw #wrong ...". The first column of a name is out of place, the second is in place. */
static int read_comment(const struct words *words, struct nccl_tests *file, struct columns *columns,
                        struct text_error *err)
{
    struct columns found = {.n = words->n - 1};
    const struct {
        const char *name;
        size_t *column;
        bool twice;
    } known[] = {{"type", &found.type, false}, {"redop", &found.op, false},
                 {"time", found.time, true},   {"algbw", found.algbw, true},
                 {"busbw", found.busbw, true}, {"#wrong", found.wrong, true}};

    if (words->n >= 5 && strcmp(words->word[1], "Collective") == 0 &&
        strcmp(words->word[3], "starting:") == 0)
        return file->collective
                   ? record_fail(err, "a second run begins there: name a file for each")
                   : set_program(words->word[4], file, err);
    if (words->n >= 2 && strcmp(words->word[1], "Rank") == 0)
        ++file->ranks;
    if (words->n >= 8 && strcmp(words->word[1], "Out") == 0) {
        file->finished = true;
        file->failed = file->failed || strcmp(words->word[words->n - 1], "OK") != 0;
    }
    if (words->n < 2 || strcmp(words->word[1], "size") != 0)
        return 0;
    for (size_t i = 2; i < words->n; ++i) {
        for (size_t k = 0; k < sizeof known / sizeof known[0]; ++k)
            if (strcmp(words->word[i], known[k].name) == 0)
                known[k].column[known[k].twice && known[k].column[0] > 0 ? 1 : 0] = i - 1;
        if (strcmp(words->word[i], "timestamp") == 0)
            --found.n; /* the timestamp is two words in a line */
    }
    *columns = found;
    return 0;
}

static double read_real(const char *word)
{
    char *end;
    const double number = strtod(word, &end);

    return end != word && *end == '\0' ? number : (double)NAN;
}

static int read_text_line(const struct words *words, const struct columns *columns,
                          struct nccl_tests *file, struct text_error *err)
{
    bool whole = columns->type > 0 && columns->op > 0;

    for (int place = 0; place < PLACES; ++place)
        whole = whole && columns->time[place] > 0 && columns->algbw[place] > 0 &&
                columns->busbw[place] > 0 && columns->wrong[place] > 0;
    if (!whole)
        return record_fail(err, "there is no heading of nccl-tests above it");
    if (words->n < columns->n)
        return record_fail(err, "it has %zu columns, its heading %zu", words->n, columns->n);
    if (!file->collective)
        return record_fail(err, "no line above it says which collective it is, as \"# Collective "
                                "test starting: all_reduce_perf\" does");
    const struct collective_type *type = collective_type_of_nccl(words->word[columns->type]);
    const bool other = !type || strcmp(words->word[columns->op], file->collective->nccl_op) != 0;

    file->others += other;
    for (int place = 0; place < PLACES; ++place) {
        const char *wrong = words->word[columns->wrong[place]];
        struct nccl_tests_line line = {
            .type = type,
            .out_of_place = place == 0,
            .ns = 1e3 * read_real(words->word[columns->time[place]]),
            .algbw = 1e9 * read_real(words->word[columns->algbw[place]]),
            .busbw = 1e9 * read_real(words->word[columns->busbw[place]]),
            .wrong = read_real(wrong),
        };
        char *end;

        /* A line of another type is not shown, but wrong values in it are counted. */
        if (other)
            file->failed = file->failed || line.wrong > 0;
        /* The columns of a place that was not measured have "N/A". */
        if (other || strcmp(words->word[columns->time[place]], "N/A") == 0)
            continue;
        errno = 0;
        line.bytes = strtoull(words->word[0], &end, 10);
        if (*end != '\0' || errno != 0)
            return record_fail(err, "'%.40s' is no number of bytes", words->word[0]);
        if (isnan(line.wrong) && strcmp(wrong, "N/A") != 0)
            return record_fail(err, "'%.40s' is no number of wrong values", wrong);
        if (add_result(file, &line, err))
            return -1;
    }
    return 0;
}

static int read_text(const char *path, struct nccl_tests *file, struct text_error *err)
{
    FILE *from = fopen(path, "re");
    struct columns columns = {.n = 0};
    struct text_error why = {""};
    size_t capacity = 0, number = 0;
    char *text = NULL;
    struct stat info;
    int status = 0;

    if (!from)
        return record_fail(err, "%s", strerror(errno));
    if (fstat(fileno(from), &info) != 0 || !S_ISREG(info.st_mode))
        status = record_fail(err, "it is not a regular file");
    while (status == 0 && number < MOST_LINES && getline(&text, &capacity, from) > 0) {
        struct words words = {.n = 0};
        char *rest = text;

        while (words.n < MOST_WORDS && (words.word[words.n] = strtok_r(NULL, " \t\r\n", &rest)))
            ++words.n;
        ++number;
        if (words.n == 0)
            continue;
        if (words.word[0][0] == '#')
            status = read_comment(&words, file, &columns, &why);
        else if (isdigit((unsigned char)words.word[0][0]))
            status = read_text_line(&words, &columns, file, &why);
        if (status)
            record_fail(err, "line %zu: %.250s", number, why.text);
    }
    free(text);
    if (status == 0 && ferror(from))
        status = record_fail(err, "cannot be read: %s", strerror(errno));
    fclose(from);
    return status;
}

/* ---- its JSON -------------------------------------------------------------------------------- */

static const char *text_of_member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

static int read_json_result(const json_t *result, struct nccl_tests *file, struct text_error *err)
{
    static const char *const places[PLACES] = {"out_of_place", "in_place"};
    struct nccl_tests_line line = {.type = collective_type_of_nccl(text_of_member(result, "type"))};
    json_int_t bytes = 0;

    if (record_json_integer(json_object_get(result, "size"), "size", 0, RECORD_EXACT_MAX, &bytes,
                            err))
        return -1;
    const bool other =
        !line.type || strcmp(text_of_member(result, "redop"), file->collective->nccl_op) != 0;

    line.bytes = (size_t)bytes;
    file->others += other;
    for (int i = 0; i < PLACES; ++i) {
        const json_t *place = json_object_get(result, places[i]);
        const json_t *wrong = json_object_get(place, "nwrong");

        line.out_of_place = i == 0;
        /* A line of another type is not shown, but wrong values in it are counted. */
        if (other)
            file->failed = file->failed || json_number_value(wrong) > 0;
        if (other || !place || json_is_null(place))
            continue;
        if (json_object_get(place, "cpu_time"))
            return record_fail(err, "its times are those of the CPU (-C 1)");
        if (record_json_real(json_object_get(place, "time"), "time", &line.ns, err) ||
            record_json_real(json_object_get(place, "alg_bw"), "alg_bw", &line.algbw, err) ||
            record_json_real(json_object_get(place, "bus_bw"), "bus_bw", &line.busbw, err))
            return -1;
        line.wrong = NAN;
        if (wrong && !json_is_null(wrong) && record_json_real(wrong, "nwrong", &line.wrong, err))
            return -1;
        line.ns *= 1e3;
        line.algbw *= 1e9;
        line.busbw *= 1e9;
        if (add_result(file, &line, err))
            return -1;
    }
    return 0;
}

/* Reads the program, the number of ranks ("devices" has one entry per process), and the results. */
static int read_json_root(const json_t *root, struct nccl_tests *file, struct text_error *err)
{
    const char *path = json_string_value(json_array_get(json_object_get(root, "args"), 0));
    const char *slash = path ? strrchr(path, '/') : NULL;
    const json_t *config = json_object_get(root, "config");
    const json_t *results = json_object_get(root, "results");
    const json_t *bounds = json_object_get(root, "out_of_bounds");
    const size_t processes = json_array_size(json_object_get(config, "devices"));
    json_int_t version = 0, threads = 0, gpus = 0;

    if (record_json_integer(json_object_get(root, "version"), "version", 1, NEWEST_JSON, &version,
                            err))
        return -1;
    if (!path)
        return record_fail(err, "\"args\" does not say which program it is of");
    if (set_program(slash ? slash + 1 : path, file, err) ||
        record_json_integer(json_object_get(config, "nthreads"), "nthreads", 1, MOST_RANKS,
                            &threads, err) ||
        record_json_integer(json_object_get(config, "ngpus"), "ngpus", 1, MOST_RANKS, &gpus, err))
        return -1;
    if (processes < 1 || processes > MOST_RANKS ||
        (double)processes * (double)threads * (double)gpus > MOST_RANKS)
        return record_fail(err, "\"devices\" has %zu processes, with %lld times %lld ranks each",
                           processes, (long long)threads, (long long)gpus);
    file->ranks = (int)((json_int_t)processes * threads * gpus);
    if (!json_is_array(results))
        return record_fail(err, "\"results\" is missing or no array");
    for (size_t i = 0; i < json_array_size(results); ++i) {
        struct text_error why = {""};

        if (read_json_result(json_array_get(results, i), file, &why))
            return record_fail(err, "result %zu: %.250s", i + 1, why.text);
    }
    file->finished = bounds != NULL;
    file->failed = file->failed || (bounds && strcmp(text_of_member(bounds, "okay"), "true") != 0);
    return 0;
}

/* root is the JSON of the file, or NULL if it is text. */
static int add_nccl_tests(const char *path, const json_t *root, struct report *report,
                          struct text_error *err)
{
    struct nccl_tests *file = cli_alloc(1, sizeof *file);
    int status = root ? read_json_root(root, file, err) : read_text(path, file, err);

    if (status == 0 && file->n == 0 && file->others == 0)
        status =
            record_fail(err, "no result of nccl-tests is in it, nor is it the JSON of nvbandwidth");
    if (status == 0)
        report->external[report->n_external++] = file;
    else
        free(file);
    return status;
}

/* ---- results of nccl-tests ------------------------------------------------------------------- */

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
        if (is_same_cell(file, &file->line[i], point->key))
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
                measured = is_same_cell(file, &file->line[i], own->point[p].key);
            unmatched += !measured;
        }
    }
    if (unmatched > 0)
        report_add(text, "%zu results of nccl-tests have no cell here. ", unmatched);
}

/* ---- nvbandwidth ---------------------------------------------------------------------------- */

static const double SPEED_MOST = 1e6; /* GB/s */

/* The ends of the copies in the matrix of a test, taken from the source of its tests: the arrows in
 * their descriptions do not show the direction of the data. */
enum end { THE_HOST, THE_ROW, THE_COLUMN, ENDS };

static const struct known {
    const char *name;
    enum end from, to;
    bool between, read; /* devices; see struct nvbandwidth */
} known[] = {
    {"host_to_device_memcpy_ce", THE_HOST, THE_COLUMN, false, false},
    {"device_to_host_memcpy_ce", THE_COLUMN, THE_HOST, false, false},
    {"device_local_copy", THE_COLUMN, THE_COLUMN, false, false},
    {"device_to_device_memcpy_write_ce", THE_ROW, THE_COLUMN, true, false},
    {"device_to_device_memcpy_read_ce", THE_COLUMN, THE_ROW, true, true},
};
enum { KNOWN = sizeof known / sizeof known[0] };

static int read_matrix(const json_t *matrix, size_t test, struct nvbandwidth *nvbandwidth,
                       struct text_error *err)
{
    const struct known *of = &known[test];
    const size_t rows = json_array_size(matrix);
    const size_t columns = json_array_size(json_array_get(matrix, 0));

    if (nvbandwidth->passed >> test & 1)
        return record_fail(err, "it has results twice");
    if (columns < 1 || columns > NVBANDWIDTH_DEVICES)
        return record_fail(err, "\"bandwidth_matrix\" has %zu columns, 1 to %d are allowed",
                           columns, NVBANDWIDTH_DEVICES);
    if (rows != (of->between ? columns : 1))
        return record_fail(err, "\"bandwidth_matrix\" has %zu rows of %zu columns, not %zu", rows,
                           columns, of->between ? columns : 1);
    if (nvbandwidth->devices != 0 && columns != (size_t)nvbandwidth->devices)
        return record_fail(err, "\"bandwidth_matrix\" is of %zu devices, one before it of %d",
                           columns, nvbandwidth->devices);
    for (size_t row = 0; row < rows; ++row)
        if (json_array_size(json_array_get(matrix, row)) != columns)
            return record_fail(err,
                               "row %zu of \"bandwidth_matrix\" has %zu columns, row 0 has %zu",
                               row, json_array_size(json_array_get(matrix, row)), columns);
    nvbandwidth->passed |= 1U << test;
    nvbandwidth->devices = (int)columns;
    for (size_t i = 0; i < rows * columns; ++i) {
        const size_t row = i / columns, column = i % columns;
        /* "26.03", or "N/A" as NaN */
        const char *text = json_string_value(json_array_get(json_array_get(matrix, row), column));
        const size_t end[ENDS] = {[THE_ROW] = row + 1, [THE_COLUMN] = column + 1};
        char *rest = NULL;

        if (!text)
            return record_fail(err, "an element of \"bandwidth_matrix\" is no text");
        if (strcmp(text, "N/A") == 0)
            continue;
        const double number = isdigit((unsigned char)text[0]) ? strtod(text, &rest) : -1;

        if (!(number > 0) || !(number <= SPEED_MOST) || *rest != '\0')
            return record_fail(err,
                               "\"%.40s\" is no bandwidth above 0 and up to %g GB/s, and not N/A",
                               text, SPEED_MOST);
        if (of->between && row == column)
            ++nvbandwidth->others; /* no copy between two devices */
        else
            nvbandwidth->rate[of->read][end[of->from]][end[of->to]] = 1e9 * number;
    }
    return 0;
}

static void keep_name(char to[NVBANDWIDTH_NAME], const char *name)
{
    snprintf(to, NVBANDWIDTH_NAME, "%s", name);
    text_clean(to, ' ');
}

static int read_nvbandwidth_test(const json_t *test, struct nvbandwidth *nvbandwidth,
                                 struct text_error *err)
{
    const char *name = json_string_value(json_object_get(test, "name"));
    const char *status = json_string_value(json_object_get(test, "status"));
    struct text_error why = {""};

    if (!name || name[0] == '\0')
        return record_fail(err, "\"name\" is missing or no text");
    if (!status)
        return record_fail(err, "%.60s: \"status\" is missing or no text", name);
    if (strcmp(status, "Passed") == 0) {
        const json_t *matrix = json_object_get(test, "bandwidth_matrix");
        size_t which = 0;

        if (!json_is_array(matrix))
            return record_fail(err, "%.60s: \"bandwidth_matrix\" is missing or no array", name);
        while (which < KNOWN && strcmp(name, known[which].name) != 0)
            ++which;
        if (which < KNOWN && read_matrix(matrix, which, nvbandwidth, &why))
            return record_fail(err, "%.60s: %.200s", name, why.text);
        /* The numbers of any other test are counted. */
        for (size_t row = 0; which == KNOWN && row < json_array_size(matrix); ++row)
            for (size_t i = 0; i < json_array_size(json_array_get(matrix, row)); ++i) {
                const char *text =
                    json_string_value(json_array_get(json_array_get(matrix, row), i));

                nvbandwidth->others += text && strcmp(text, "N/A") != 0;
            }
        return 0;
    }
    if (strcmp(status, "Error") == 0 || strcmp(status, "ERROR") == 0) {
        char failed[NVBANDWIDTH_NAME];

        /* nvbandwidth adds a failed test a second time, after the entry with which it began. */
        keep_name(failed, name);
        if (nvbandwidth->failed++ == 0)
            keep_name(nvbandwidth->first, name);
        if (strcmp(nvbandwidth->running, failed) == 0)
            nvbandwidth->running[0] = '\0';
    } else if (strcmp(status, "Waived") == 0 || strcmp(status, "Not Found") == 0)
        ++nvbandwidth->idle;
    else if (strcmp(status, "Running") == 0)
        keep_name(nvbandwidth->running, name);
    else
        return record_fail(err,
                           "%.60s: \"status\" is \"%.40s\"; allowed are Passed, Error, Waived, Not "
                           "Found and Running",
                           name, status);
    return 0;
}

static int read_nvbandwidth(const json_t *root, struct nvbandwidth *nvbandwidth,
                            struct text_error *err)
{
    const json_t *all = json_object_get(root, "nvbandwidth");
    const json_t *tests = json_object_get(all, "testcases"), *error = json_object_get(all, "error");
    const json_t *gpus = json_object_get(all, "GPU Device list");

    if (error && !json_is_string(error))
        return record_fail(err, "\"error\" is no text");
    if (tests && !json_is_array(tests))
        return record_fail(err, "\"testcases\" is no array");
    for (size_t i = 0; i < json_array_size(tests); ++i) {
        struct text_error why = {""};

        if (read_nvbandwidth_test(json_array_get(tests, i), nvbandwidth, &why))
            return record_fail(err, "test %zu: %.280s", i + 1, why.text);
    }
    /* Texts like "0: NVIDIA H100 80GB HBM3 (00000000:19:00): (node)". */
    for (size_t i = 0; i < json_array_size(gpus) && i < NVBANDWIDTH_DEVICES; ++i) {
        const char *text = json_string_value(json_array_get(gpus, i));
        struct nvbandwidth_place found = {.known = true};

        for (const char *at = text ? strchr(text, '(') : NULL; at; at = strchr(at + 1, '('))
            if (sscanf(at, "(%8x:%2x:%2x)", &found.domain, &found.bus, &found.device) == 3)
                nvbandwidth->place[i] = found;
    }
    nvbandwidth->stopped = error != NULL;
    if (error) {
        snprintf(nvbandwidth->error, sizeof nvbandwidth->error, "%s", json_string_value(error));
        text_clean(nvbandwidth->error, ' ');
    }
    return json_array_size(tests) > 0 || error ? 0 : record_fail(err, "it has no test");
}

double nvbandwidth_rate(const struct nvbandwidth *nvbandwidth, int from, int to, bool read)
{
    const bool ends = from >= NVBANDWIDTH_HOST && from < NVBANDWIDTH_DEVICES &&
                      to >= NVBANDWIDTH_HOST && to < NVBANDWIDTH_DEVICES;
    const double rate = ends ? nvbandwidth->rate[read][from + 1][to + 1] : 0;

    return rate > 0 ? rate : (double)NAN;
}

bool nvbandwidth_is_wrong(const struct nvbandwidth *nvbandwidth)
{
    return nvbandwidth->failed > 0 || nvbandwidth->stopped;
}

/* ---- files ---------------------------------------------------------------------------------- */

enum { BYTES_MOST = 256 << 20 };

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
        else {
            report->nvbandwidth = cli_alloc(1, sizeof *report->nvbandwidth);
            status = read_nvbandwidth(root, report->nvbandwidth, err);
            if (status != 0) {
                free(report->nvbandwidth);
                report->nvbandwidth = NULL;
            }
        }
    } else if (json_object_get(root, "args") || json_object_get(root, "results"))
        status = add_nccl_tests(path, root, report, err);
    else if (root)
        record_fail(err, "it is JSON of neither nccl-tests nor nvbandwidth");
    json_decref(root);
    return status;
}

void external_free(struct report *report)
{
    while (report->n_external > 0)
        free(report->external[--report->n_external]);
    free(report->nvbandwidth);
    report->nvbandwidth = NULL;
}
