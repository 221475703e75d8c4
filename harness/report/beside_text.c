/* report/beside_text.c: what nccl-tests prints. Lines of '#' say what was run and name the columns;
 * each other line is one size, out of place and in place. */
#include "report/beside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/json.h"
#include "verify/collective.h"

enum { WORDS_MOST = 48, PLACES = 2, LINES_MOST = 1000000 };

struct words {
    char *word[WORDS_MOST];
    size_t n;
};

/* Where the columns are; 0: there is no such column, as the first is "size". */
struct columns {
    size_t type, op, time[PLACES], algbw[PLACES], busbw[PLACES], wrong[PLACES];
    size_t n;
};

/* Cuts up line. */
static struct words cut(char *line)
{
    struct words words = {.n = 0};
    char *rest = line;

    while (words.n < WORDS_MOST && (words.word[words.n] = strtok_r(NULL, " \t\r\n", &rest)))
        ++words.n;
    return words;
}

/* The first place of a word is out of place, the second in place. */
static void note_column(size_t place[PLACES], size_t column)
{
    place[place[0] == 0 ? 0 : 1] = column;
}

/* "# size count type redop root time algbw busbw #wrong ..." */
static bool read_heading(const struct words *words, struct columns *columns)
{
    struct columns found = {.n = words->n - 1};

    if (words->n < 2 || strcmp(words->word[1], "size") != 0)
        return false;
    for (size_t i = 2; i < words->n; ++i) {
        const char *word = words->word[i];

        if (strcmp(word, "type") == 0)
            found.type = i - 1;
        else if (strcmp(word, "redop") == 0)
            found.op = i - 1;
        else if (strcmp(word, "time") == 0)
            note_column(found.time, i - 1);
        else if (strcmp(word, "algbw") == 0)
            note_column(found.algbw, i - 1);
        else if (strcmp(word, "busbw") == 0)
            note_column(found.busbw, i - 1);
        else if (strcmp(word, "#wrong") == 0)
            note_column(found.wrong, i - 1);
        else if (strcmp(word, "timestamp") == 0)
            --found.n; /* it is two words in a line */
    }
    *columns = found;
    return true;
}

static bool is_whole(const struct columns *columns)
{
    bool whole = columns->type > 0 && columns->op > 0;

    for (int place = 0; place < PLACES; ++place)
        whole = whole && columns->time[place] > 0 && columns->algbw[place] > 0 &&
                columns->busbw[place] > 0 && columns->wrong[place] > 0;
    return whole;
}

static int read_program(const char *program, struct beside *beside, struct text_error *err)
{
    if (beside->collective)
        return record_fail(err, "a second run begins there: name a file for each");
    beside->collective = collective_of_nccl(program);
    return beside->collective ? 0 : record_fail(err, "'%.40s' is not measured here", program);
}

/* What a comment says of the run. */
static int read_comment(const struct words *words, struct beside *beside, struct columns *columns,
                        struct text_error *err)
{
    if (words->n >= 5 && strcmp(words->word[1], "Collective") == 0 &&
        strcmp(words->word[3], "starting:") == 0)
        return read_program(words->word[4], beside, err);
    if (words->n >= 2 && strcmp(words->word[1], "Rank") == 0)
        ++beside->ranks;
    if (words->n >= 8 && strcmp(words->word[1], "Out") == 0) {
        beside->finished = true;
        beside->failed = beside->failed || strcmp(words->word[words->n - 1], "OK") != 0;
    }
    read_heading(words, columns);
    return 0;
}

static double read_real(const char *word)
{
    char *end;
    const double number = strtod(word, &end);

    return end != word && *end == '\0' ? number : (double)NAN;
}

static int add_place(const struct words *words, const struct columns *columns, int place,
                     struct beside *beside, struct text_error *err)
{
    const char *wrong = words->word[columns->wrong[place]];
    struct beside_line line = {.type = collective_type_of_nccl(words->word[columns->type]),
                               .out_of_place = place == 0,
                               .ns = 1e3 * read_real(words->word[columns->time[place]]),
                               .algbw = 1e9 * read_real(words->word[columns->algbw[place]]),
                               .busbw = 1e9 * read_real(words->word[columns->busbw[place]]),
                               .wrong = read_real(wrong)};
    char *end;

    errno = 0;
    line.bytes = strtoull(words->word[0], &end, 10);
    if (*end != '\0' || errno != 0)
        return record_fail(err, "'%.40s' is no number of bytes", words->word[0]);
    if (isnan(line.wrong) && strcmp(wrong, "N/A") != 0)
        return record_fail(err, "'%.40s' is no number of wrong values", wrong);
    return beside_add(beside, &line, err);
}

/* It is not shown; what is wrong in it is said all the same. */
static void note_other(const struct words *words, const struct columns *columns,
                       struct beside *beside)
{
    ++beside->others;
    for (int place = 0; place < PLACES; ++place)
        beside->failed = beside->failed || read_real(words->word[columns->wrong[place]]) > 0;
}

static int read_line(const struct words *words, const struct columns *columns,
                     struct beside *beside, struct text_error *err)
{
    if (!is_whole(columns))
        return record_fail(err, "there is no heading of nccl-tests above it");
    if (words->n < columns->n)
        return record_fail(err, "it has %zu columns, its heading %zu", words->n, columns->n);
    if (!beside->collective)
        return record_fail(err, "no line above it says which collective it is, as \"# Collective "
                                "test starting: all_reduce_perf\" does");
    if (!collective_type_of_nccl(words->word[columns->type]) ||
        strcmp(words->word[columns->op], beside->collective->nccl_op) != 0) {
        note_other(words, columns, beside);
        return 0;
    }
    for (int place = 0; place < PLACES; ++place) {
        /* What has no such place says so. */
        if (strcmp(words->word[columns->time[place]], "N/A") == 0)
            continue;
        if (add_place(words, columns, place, beside, err))
            return -1;
    }
    return 0;
}

static int read_lines(FILE *file, struct beside *beside, struct text_error *err)
{
    struct columns columns = {.n = 0};
    struct text_error why = {""};
    size_t capacity = 0, number = 0;
    char *text = NULL;
    int status = 0;

    while (status == 0 && number < LINES_MOST && getline(&text, &capacity, file) > 0) {
        const struct words words = cut(text);

        ++number;
        if (words.n == 0)
            continue;
        if (words.word[0][0] == '#')
            status = read_comment(&words, beside, &columns, &why);
        else if (words.word[0][0] >= '0' && words.word[0][0] <= '9')
            status = read_line(&words, &columns, beside, &why);
        if (status)
            record_fail(err, "line %zu: %.250s", number, why.text);
    }
    free(text);
    if (status == 0 && ferror(file))
        status = record_fail(err, "cannot be read: %s", strerror(errno));
    return status;
}

int beside_text(const char *path, struct beside *beside, struct text_error *err)
{
    FILE *file = fopen(path, "re");
    struct stat info;
    int status;

    if (!file)
        return record_fail(err, "%s", strerror(errno));
    if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode))
        status = record_fail(err, "it is not a regular file");
    else
        status = read_lines(file, beside, err);
    fclose(file);
    return status;
}
